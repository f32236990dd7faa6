// pulumi-resource-kubernetes, Pulumi's Kubernetes provider, from the module that Pulumi publishes it in.
//
// What upstream's own build embeds lies beside the program: the schema and the Terraform mapping, as they are in the
// module.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// The version that the engine asks for, stamped at build time.
var version string

func main() {
	schema, mapping, err := embedded()
	if err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-resource-kubernetes: %v: run `make setup STACK=…` for it\n", err)
		os.Exit(1)
	}
	provider.Serve("kubernetes", version, schema, mapping)
}

// The schema, with the version that its release would have, and the mapping.
func embedded() ([]byte, []byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Dir(self)
	schema, err := os.ReadFile(filepath.Join(folder, "schema.json"))
	if err != nil {
		return nil, nil, err
	}
	mapping, err := os.ReadFile(filepath.Join(folder, "terraform-mapping.json"))
	if err != nil {
		return nil, nil, err
	}
	start := fmt.Sprintf("{\"version\": %q,", version)
	return bytes.Replace(schema, []byte("{"), []byte(start), 1), mapping, nil
}
