package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/blang/semver"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// About tells which Python runs the program, and that this host is not Pulumi's.
func (h *host) About(ctx context.Context, req *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	chain, options, err := chainOf(req.GetInfo())
	if err != nil {
		return nil, err
	}
	info, err := aboutChain(ctx, chain, options)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AboutResponse{
		Executable: info.PythonExecutable,
		Version:    info.PythonVersion.String(),
		Metadata: map[string]string{
			"languageHost":     fmt.Sprintf("ack-training %s (of this project, not Pulumi's own)", hostVersion),
			"toolchain":        toolchain.Name(options.Toolchain),
			"toolchainVersion": info.ToolchainVersion.String(),
			"typechecker":      toolchain.TypeCheckerName(options.Typechecker),
		},
	}, nil
}

// aboutChain asks the files of a virtual environment that pip fills. The engine asks at each preview, and to start
// Python twice and pip once for the same answer took a third of a small preview.
func aboutChain(
	ctx context.Context, chain toolchain.Toolchain, options toolchain.PythonOptions,
) (toolchain.Info, error) {
	if options.Toolchain == toolchain.Pip || options.Toolchain == toolchain.Auto {
		if venv, err := chain.VirtualEnvPath(ctx); err == nil && venv != "" {
			if info, ok := aboutVirtualEnvironment(venv); ok {
				return info, nil
			}
		}
	}
	return chain.About(ctx)
}

// aboutVirtualEnvironment is false where the files do not tell all of it.
func aboutVirtualEnvironment(venv string) (toolchain.Info, bool) {
	info := toolchain.Info{PythonExecutable: filepath.Join(venv, "bin", "python")}
	if _, err := os.Stat(info.PythonExecutable); err != nil {
		return info, false
	}
	python, err := pythonVersion(filepath.Join(venv, "pyvenv.cfg"))
	if err != nil {
		return info, false
	}
	pip, err := pipVersion(filepath.Join(venv, "lib", fmt.Sprintf("python%d.%d", python.Major, python.Minor)))
	if err != nil {
		return info, false
	}
	info.PythonVersion, info.ToolchainVersion = python, pip
	return info, true
}

// pythonVersion is what venv writes as `version`, and virtualenv and uv as `version_info`.
func pythonVersion(config string) (semver.Version, error) {
	file, err := os.Open(config)
	if err != nil {
		return semver.Version{}, err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		switch strings.TrimSpace(key) {
		case "version", "version_info":
			return semver.ParseTolerant(firstThree(strings.TrimSpace(value)))
		}
	}
	return semver.Version{}, fmt.Errorf("%s names no version", config)
}

// pipVersion is part of the name of the folder that holds pip's metadata.
func pipVersion(library string) (semver.Version, error) {
	found, err := filepath.Glob(filepath.Join(literal(library), "site-packages", "pip-*.dist-info"))
	if err != nil {
		return semver.Version{}, err
	}
	if len(found) != 1 {
		return semver.Version{}, fmt.Errorf("%d versions of pip in %s", len(found), library)
	}
	name := strings.TrimSuffix(filepath.Base(found[0]), ".dist-info")
	return semver.ParseTolerant(strings.TrimPrefix(name, "pip-"))
}

// firstThree cuts `3.12.1.final.0` to `3.12.1`.
func firstThree(version string) string {
	parts := strings.Split(version, ".")
	return strings.Join(parts[:min(3, len(parts))], ".")
}
