package main

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// hostVersion is this host's own; it says nothing about Pulumi's.
const hostVersion = "0.1.0"

// stopGrace is what a program gets between SIGTERM and SIGKILL when the engine no longer wants it.
const stopGrace = 5 * time.Second

// host answers the engine. What it does not implement (code generation, packing, linking, templates, prompts of
// `pulumi new`) answers Unimplemented, which the engine takes for "nothing to do" or reports by name.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	engine string // address of the engine
	runner string // path of pulumi-language-python-exec
}

// Handshake has nothing to add: each request brings its own directories.
func (h *host) Handshake(
	context.Context, *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// GetPluginInfo gives the version of this host.
func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: hostVersion}, nil
}

// Cancel changes nothing: the engine ends the request of a program that it no longer wants, and that ends the program.
func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetProgramDependencies lists the installed Python packages, for `pulumi about`.
func (h *host) GetProgramDependencies(
	ctx context.Context, req *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	chain, _, err := chainOf(req.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := chain.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	packages, err := chain.ListPackages(ctx, req.GetTransitiveDependencies())
	if err != nil {
		return nil, err
	}
	found := make([]*pulumirpc.DependencyInfo, 0, len(packages))
	for _, p := range packages {
		found = append(found, &pulumirpc.DependencyInfo{Name: p.Name, Version: p.Version})
	}
	return &pulumirpc.GetProgramDependenciesResponse{Dependencies: found}, nil
}

// InstallDependencies makes the virtual environment and fills it from requirements.txt, for `pulumi install`.
func (h *host) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	chain, _, err := chainOf(req.GetInfo())
	if err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(server, req.GetIsTerminal())
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	return chain.InstallDependencies(
		server.Context(), req.GetInfo().GetProgramDirectory(), req.GetUseLanguageVersionTools(), true, stdout, stderr)
}

// stopWithRequest has a command end with the request it serves: SIGTERM when the request's context ends, SIGKILL later.
// The command stays in the host's process group, which the engine signals as a whole when it closes the host.
func stopWithRequest(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
}
