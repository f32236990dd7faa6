package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// alreadyReported is the exit code with which pulumi-language-python-exec says that the user has seen the error.
const alreadyReported = 32

// Run runs one program to its end. What the program prints goes straight to this host's output, which the engine shows.
func (h *host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	if req.GetAttachDebugger() {
		return nil, errors.New("--attach-debugger needs Pulumi's own Python language host")
	}
	chain, options, err := chainOf(req.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := chain.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	if err := typecheck(ctx, chain, options); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	cmd, err := chain.Command(ctx, append([]string{"-u", h.runner}, runArguments(h.engine, req)...)...)
	if err != nil {
		return nil, err
	}
	config, err := configEnvironment(req.GetConfig(), req.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, config...)
	cmd.Dir = req.GetPwd()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	stopWithRequest(cmd)
	return runResponse(cmd.Run())
}

// runResponse tells a program's end. The engine prints Error; Bail says that there is nothing more to print.
func runResponse(err error) (*pulumirpc.RunResponse, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == alreadyReported:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case errors.As(err, &exit) && exit.Exited():
		return &pulumirpc.RunResponse{
			Error: fmt.Sprintf("Program exited with non-zero exit code: %d", exit.ExitCode()),
		}, nil
	case errors.As(err, &exit):
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("Program was ended from outside: %v", exit)}, nil
	default:
		return nil, fmt.Errorf("cannot run the program: %w", err)
	}
}

func runArguments(engine string, req *pulumirpc.RunRequest) []string {
	args := []string{
		"--monitor", req.GetMonitorAddress(),
		"--engine", engine,
		"--project", req.GetProject(),
		"--stack", req.GetStack(),
		"--root_directory", req.GetInfo().GetRootDirectory(),
		"--pwd", req.GetPwd(),
		"--dry_run", strconv.FormatBool(req.GetDryRun()),
		"--parallel", strconv.Itoa(int(req.GetParallel())),
	}
	if organization := req.GetOrganization(); organization != "" {
		args = append(args, "--organization", organization)
	}
	return append(append(args, req.GetInfo().GetEntryPoint()), req.GetArgs()...)
}

// configEnvironment hands stack config to the SDK, which reads JSON and takes null for an error.
func configEnvironment(config map[string]string, secretKeys []string) ([]string, error) {
	if config == nil {
		config = map[string]string{}
	}
	if secretKeys == nil {
		secretKeys = []string{}
	}
	values, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	keys, err := json.Marshal(secretKeys)
	if err != nil {
		return nil, err
	}
	return []string{"PULUMI_CONFIG=" + string(values), "PULUMI_CONFIG_SECRET_KEYS=" + string(keys)}, nil
}

// typecheck runs the checker that the `typechecker` option names, before the program.
func typecheck(ctx context.Context, chain toolchain.Toolchain, options toolchain.PythonOptions) error {
	var module string
	switch options.Typechecker {
	case toolchain.TypeCheckerMypy:
		module = "mypy"
	case toolchain.TypeCheckerPyright:
		module = "pyright"
	default:
		return nil
	}
	cmd, err := chain.ModuleCommand(ctx, module, options.ProgramDir)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s refused the program: %w\n%s", module, err, out)
	}
	return nil
}
