//go:build tools

// Package tools pins the Pulumi command line, so that `go build` can make it from the checksums in go.sum.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
