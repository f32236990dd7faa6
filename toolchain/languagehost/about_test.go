package main

import (
	"os"
	"path/filepath"
	"testing"
)

func environment(t *testing.T, config string, pips ...string) string {
	t.Helper()
	venv := filepath.Join(t.TempDir(), "with space [1]")
	files := map[string]string{"bin/python": "", "pyvenv.cfg": config}
	for _, version := range pips {
		files["lib/python3.12/site-packages/pip-"+version+".dist-info/METADATA"] = ""
	}
	for name, content := range files {
		path := filepath.Join(venv, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return venv
}

func TestAVirtualEnvironmentTellsItsVersions(t *testing.T) {
	for _, config := range []string{
		"home = /usr/bin\nversion = 3.12.1\n",
		"home = /usr/bin\nimplementation = CPython\nversion_info = 3.12.1\n",
		"version_info = 3.12.1.final.0\n",
	} {
		venv := environment(t, config, "23.2.1")
		info, ok := aboutVirtualEnvironment(venv)
		if !ok || info.PythonVersion.String() != "3.12.1" || info.ToolchainVersion.String() != "23.2.1" {
			t.Errorf("%q: got %+v, %v", config, info, ok)
		}
		if info.PythonExecutable != filepath.Join(venv, "bin", "python") {
			t.Errorf("got executable %s", info.PythonExecutable)
		}
	}
	// pip's versions often have two parts.
	if info, ok := aboutVirtualEnvironment(environment(t, "version = 3.12.1", "24.0")); !ok {
		t.Errorf("pip 24.0: got %+v", info)
	}
}

func TestWhatTheFilesDoNotTellIsAskedOfPython(t *testing.T) {
	for _, venv := range []string{
		environment(t, "home = /usr/bin\n", "23.2.1"),
		environment(t, "version = x", "23.2.1"),
		environment(t, "version = 3.12.1"),
		environment(t, "version = 3.12.1", "23.2.1", "24.0"),
		filepath.Join(t.TempDir(), "absent"),
	} {
		if info, ok := aboutVirtualEnvironment(venv); ok {
			t.Errorf("got %+v", info)
		}
	}
}
