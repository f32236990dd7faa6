package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

func options(t *testing.T, given map[string]any) (toolchain.PythonOptions, error) {
	t.Helper()
	fields, err := structpb.NewStruct(given)
	if err != nil {
		t.Fatal(err)
	}
	return pythonOptions("/root", "/root/program", fields)
}

func TestOptionsAreRead(t *testing.T) {
	got, err := options(t, map[string]any{"virtualenv": ".venv", "toolchain": "pip", "typechecker": "mypy", "new": "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := toolchain.PythonOptions{
		Root: "/root", ProgramDir: "/root/program", Virtualenv: ".venv",
		Toolchain: toolchain.Pip, Typechecker: toolchain.TypeCheckerMypy,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, given := range []map[string]any{
		{"toolchain": "conda"}, {"typechecker": "pytype"}, {"virtualenv": true},
	} {
		if _, err := options(t, given); err == nil {
			t.Errorf("%v was accepted", given)
		}
	}
}

func TestNoOptionsMeanDefaults(t *testing.T) {
	got, err := pythonOptions("/r", "/p", nil)
	if err != nil || got != (toolchain.PythonOptions{Root: "/r", ProgramDir: "/p"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestEngineAddressIsThePositionalArgument(t *testing.T) {
	got, err := engineAddress([]string{"--logtostderr", "-v=3", "--tracing", "file:x", "127.0.0.1:99"})
	if err != nil || got != "127.0.0.1:99" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := engineAddress(nil); err == nil {
		t.Error("no address was accepted")
	}
}

func TestRunArguments(t *testing.T) {
	req := &pulumirpc.RunRequest{
		MonitorAddress: "m", Project: "p", Stack: "s", Pwd: "/w", DryRun: true, Parallel: 4, Args: []string{"a b"},
		Info: &pulumirpc.ProgramInfo{RootDirectory: "/r", EntryPoint: "."},
	}
	want := []string{
		"--monitor", "m", "--engine", "e", "--project", "p", "--stack", "s", "--root_directory", "/r", "--pwd", "/w",
		"--dry_run", "true", "--parallel", "4", ".", "a b",
	}
	if got := runArguments("e", req); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	req.Organization = "o"
	if got := runArguments("e", req); !slices.Contains(got, "--organization") {
		t.Errorf("no organization in %q", got)
	}
}

func TestAbsentConfigIsNoNull(t *testing.T) {
	got, err := configEnvironment(nil, nil)
	want := []string{"PULUMI_CONFIG={}", "PULUMI_CONFIG_SECRET_KEYS=[]"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestPolicyPackLearnsItsStack(t *testing.T) {
	base := []string{"A=b"}
	bare, err := policyEnvironment(base, nil)
	if err != nil || !slices.Equal(bare, base) {
		t.Errorf("got %q, %v", bare, err)
	}
	got, err := policyEnvironment(base, &pulumirpc.AnalyzerStackConfigureRequest{
		Project: "p", Stack: "s", Config: map[string]string{"p:k": "v"}, ConfigSecretKeys: []string{"p:k"},
	})
	want := []string{
		"A=b", `PULUMI_CONFIG={"p:k":"v"}`, `PULUMI_CONFIG_SECRET_KEYS=["p:k"]`,
		"PULUMI_PROJECT=p", "PULUMI_STACK=s", "PULUMI_DRY_RUN=false",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRunResponseTellsHowAProgramEnded(t *testing.T) {
	for script, want := range map[string]*pulumirpc.RunResponse{
		"exit 0":        {},
		"exit 32":       {Bail: true},
		"exit 3":        {Error: "Program exited with non-zero exit code: 3"},
		"kill -9 $$":    {Error: "Program was ended from outside: signal: killed"},
		"kill -TERM $$": {Error: "Program was ended from outside: signal: terminated"},
	} {
		got, err := runResponse(exec.Command("sh", "-c", script).Run())
		if err != nil || got.GetError() != want.GetError() || got.GetBail() != want.GetBail() {
			t.Errorf("%s: got %v, %v", script, got, err)
		}
	}
	if _, err := runResponse(errors.New("no such file")); err == nil {
		t.Error("a program that cannot start is no answer of the program")
	}
}

func TestRequiredPackagesComeFromTheirOwnFiles(t *testing.T) {
	site := filepath.Join(t.TempDir(), "with space [1]")
	for name, content := range map[string]string{
		"pulumi_kubernetes": `{"resource": true, "name": "kubernetes", "version": "4.29.0"}`,
		"pulumi_my_cloud":   `{"resource": true, "server": "https://example.test"}`,
		"pulumi_library":    `{"resource": false, "name": "library"}`,
		"pulumi_extended": `{"resource": true, "name": "terraform-provider", "version": "v1.0.0",
			"parameterization": {"name": "x", "version": "2.0.0", "value": "YWJj"}}`,
	} {
		folder := filepath.Join(site, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "pulumi-plugin.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := requiredPackages([]string{site, filepath.Join(site, "absent")})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, p := range got {
		seen[p.GetName()] = p.GetVersion() + " " + p.GetServer() + " " + string(p.GetParameterization().GetValue())
	}
	want := map[string]string{
		"kubernetes": "v4.29.0  ", "my-cloud": " https://example.test ", "terraform-provider": "v1.0.0  abc",
	}
	if len(seen) != len(want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	for name, value := range want {
		if seen[name] != value {
			t.Errorf("%s: got %q, want %q", name, seen[name], value)
		}
	}
	broken := filepath.Join(site, "pulumi_library", "pulumi-plugin.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := requiredPackages([]string{site}); err == nil {
		t.Error("a damaged pulumi-plugin.json was accepted")
	}
}
