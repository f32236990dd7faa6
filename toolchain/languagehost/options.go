package main

import (
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// chainOf gives the package manager and the virtual environment that the `runtime:` options of a Pulumi.yaml,
// PulumiPolicy.yaml or PulumiPlugin.yaml name.
func chainOf(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, toolchain.PythonOptions, error) {
	options, err := pythonOptions(info.GetRootDirectory(), info.GetProgramDirectory(), info.GetOptions())
	if err != nil {
		return nil, options, err
	}
	chain, err := toolchain.ResolveToolchain(options)
	return chain, options, err
}

func pythonOptions(root, program string, given *structpb.Struct) (toolchain.PythonOptions, error) {
	options := toolchain.PythonOptions{Root: root, ProgramDir: program}
	for key, value := range given.GetFields() {
		text, isText := value.GetKind().(*structpb.Value_StringValue)
		if !isText {
			return options, fmt.Errorf("runtime option %s must be a string", key)
		}
		var err error
		switch key {
		case "virtualenv":
			options.Virtualenv = text.StringValue
		case "toolchain":
			err = setToolchain(&options, text.StringValue)
		case "typechecker":
			err = setTypechecker(&options, text.StringValue)
		}
		if err != nil {
			return options, err
		}
	}
	return options, nil
}

func setToolchain(options *toolchain.PythonOptions, name string) error {
	switch name {
	case "auto":
		options.Toolchain = toolchain.Auto
	case "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	default:
		return fmt.Errorf("runtime option toolchain is %q; it must be auto, pip, poetry or uv", name)
	}
	return nil
}

func setTypechecker(options *toolchain.PythonOptions, name string) error {
	switch name {
	case "mypy":
		options.Typechecker = toolchain.TypeCheckerMypy
	case "pyright":
		options.Typechecker = toolchain.TypeCheckerPyright
	default:
		return fmt.Errorf("runtime option typechecker is %q; it must be mypy or pyright", name)
	}
	return nil
}
