package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"

	sdk "github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// RunPlugin runs a policy pack, or a provider written in Python, until the engine closes the request.
func (h *host) RunPlugin(
	req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	if req.GetAttachDebugger() {
		return errors.New("--attach-debugger needs Pulumi's own Python language host")
	}
	ctx := server.Context()
	chain, _, err := chainOf(req.GetInfo())
	if err != nil {
		return err
	}
	if err := chain.ValidateVenv(ctx); err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()

	plugin := runtimePlugin{chain: chain, request: req, stdout: stdout, stderr: stderr}
	if req.GetKind() == "analyzer" {
		err = plugin.runPolicyPack(ctx, h.engine)
	} else {
		err = plugin.runProgram(ctx)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return server.Send(&pulumirpc.RunPluginResponse{
			Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())},
		})
	}
	return err
}

// runtimePlugin is one plugin and where its output goes.
type runtimePlugin struct {
	chain          toolchain.Toolchain
	request        *pulumirpc.RunPluginRequest
	stdout, stderr io.Writer
}

func (p runtimePlugin) runProgram(ctx context.Context) error {
	info := p.request.GetInfo()
	program := filepath.Join(info.GetProgramDirectory(), info.GetEntryPoint())
	cmd, err := p.command(ctx, p.request.GetEnv(), append([]string{"-u", program}, p.request.GetArgs()...))
	if err != nil {
		return err
	}
	cmd.Dir = p.request.GetPwd()
	cmd.Stdout = p.stdout
	return cmd.Run()
}

// runPolicyPack starts the pack once the engine has said which stack it looks at: the pack reads that from its
// environment, while the engine says it only after it has a port to talk to. The proxy is that port.
func (p runtimePlugin) runPolicyPack(ctx context.Context, engine string) error {
	proxy, packOutput, err := sdk.NewPolicyProxy(ctx, p.stdout)
	if err != nil {
		return err
	}
	stack, err := proxy.AwaitConfiguration(ctx)
	if err != nil {
		return err
	}
	pack, err := filepath.Abs(p.request.GetInfo().GetProgramDirectory())
	if err != nil {
		proxy.Abort(err)
		return err
	}
	environment, err := policyEnvironment(p.request.GetEnv(), stack)
	if err != nil {
		proxy.Abort(err)
		return err
	}
	cmd, err := p.command(ctx, environment, []string{"-u", "-m", "pulumi.policy", engine, pack})
	if err != nil {
		proxy.Abort(err)
		return err
	}
	cmd.Dir = pack
	cmd.Stdout = packOutput
	if err := cmd.Start(); err != nil {
		proxy.Abort(err)
		return fmt.Errorf("cannot start the policy pack: %w", err)
	}
	return proxy.Attach(ctx, cmd)
}

// policyEnvironment tells a pack its stack; without one (as when a pack is only described) the pack gets nothing.
func policyEnvironment(base []string, stack *pulumirpc.AnalyzerStackConfigureRequest) ([]string, error) {
	environment := append([]string{}, base...)
	if stack == nil {
		return environment, nil
	}
	config, err := configEnvironment(stack.GetConfig(), stack.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	environment = append(environment, config...)
	environment = append(environment,
		"PULUMI_PROJECT="+stack.GetProject(),
		"PULUMI_STACK="+stack.GetStack(),
		"PULUMI_DRY_RUN="+strconv.FormatBool(stack.GetDryRun()))
	if organization := stack.GetOrganization(); organization != "" {
		environment = append(environment, "PULUMI_ORGANIZATION="+organization)
	}
	return environment, nil
}

// command is Python with the engine's environment, in the plugin's own virtual environment when it has one.
func (p runtimePlugin) command(ctx context.Context, environment, args []string) (*exec.Cmd, error) {
	cmd, err := p.chain.Command(ctx, args...)
	if err != nil {
		return nil, err
	}
	cmd.Env = environment
	if venv, err := p.chain.VirtualEnvPath(ctx); err == nil && venv != "" {
		cmd.Env = toolchain.ActivateVirtualEnv(environment, venv)
	}
	cmd.Stderr = p.stderr
	stopWithRequest(cmd)
	return cmd, nil
}
