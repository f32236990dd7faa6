package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// GetRequiredPackages names the plugins that the installed Python packages ask for. The engine asks before each
// command, so the packages' own pulumi-plugin.json files are read instead of calling pip.
func (h *host) GetRequiredPackages(
	ctx context.Context, req *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	chain, _, err := chainOf(req.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := chain.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	places, err := packageFolders(ctx, chain)
	if err != nil {
		return nil, err
	}
	packages, err := requiredPackages(places)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.GetRequiredPackagesResponse{Packages: packages}, nil
}

// packageFolders gives the folders that hold the installed packages. A virtual environment's are known by their names;
// only without one must Python be asked, which takes longer.
func packageFolders(ctx context.Context, chain toolchain.Toolchain) ([]string, error) {
	if venv, err := chain.VirtualEnvPath(ctx); err == nil && venv != "" {
		return filepath.Glob(filepath.Join(literal(venv), "lib", "python*", "site-packages"))
	}
	cmd, err := chain.Command(ctx, "-c", "import json, sys; print(json.dumps(sys.path))")
	if err != nil {
		return nil, err
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot ask Python for its package folders: %w", err)
	}
	var places []string
	return places, json.Unmarshal(out, &places)
}

func requiredPackages(places []string) ([]*pulumirpc.PackageDependency, error) {
	found := []*pulumirpc.PackageDependency{}
	for _, place := range places {
		files, err := filepath.Glob(filepath.Join(literal(place), "*", "pulumi-plugin.json"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			wanted, err := plugin.LoadPulumiPluginJSON(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed between the listing and now
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if wanted.Resource {
				found = append(found, dependency(file, wanted))
			}
		}
	}
	return found, nil
}

// dependency is the plugin that one pulumi-plugin.json asks for. A name left out is the package's own, without the
// prefix that Pulumi's packages carry.
func dependency(file string, wanted *plugin.PulumiPluginJSON) *pulumirpc.PackageDependency {
	name := wanted.Name
	if name == "" {
		name = strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "pulumi_")
		name = strings.ReplaceAll(name, "_", "-")
	}
	version := wanted.Version
	if version != "" && !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	return &pulumirpc.PackageDependency{
		Name:             name,
		Kind:             "resource",
		Version:          version,
		Server:           wanted.Server,
		Parameterization: parameterization(wanted.Parameterization),
		Extension:        parameterization(wanted.ExtensionParameterization),
	}
}

func parameterization(given *plugin.PulumiParameterizationJSON) *pulumirpc.PackageParameterization {
	if given == nil {
		return nil
	}
	return &pulumirpc.PackageParameterization{Name: given.Name, Version: given.Version, Value: given.Value}
}

// literal protects a path's own characters from being read as a pattern by filepath.Glob.
func literal(path string) string {
	if os.PathSeparator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
