// Command pulumi-language-python lets the Pulumi engine run programs and policy packs written in Python.
//
// It is this project's own, small stand-in for the host that Pulumi releases: that one is a Go module which no module
// proxy serves, so a machine that reaches package registries alone cannot build it. The engine starts it as
// `pulumi-language-python [flags] ENGINE_ADDRESS`, reads its port from the first line of stdout and talks gRPC to it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/logging"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// The host must not outlive an engine that was killed: it asks this often whether the engine is still there.
const engineCheckInterval = time.Second

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-python: %v\n", err)
		os.Exit(1)
	}
}

// engineAddress reads the arguments that the engine gives each plugin; the address is the one positional argument.
func engineAddress(args []string) (string, error) {
	flags := flag.NewFlagSet("pulumi-language-python", flag.ContinueOnError)
	logToStderr := flags.Bool("logtostderr", false, "log to stderr")
	verbose := flags.Int("v", 0, "log verbosity")
	flags.String("tracing", "", "accepted and not used")
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if flags.NArg() == 0 {
		return "", fmt.Errorf("needs the engine's address; the Pulumi engine starts this program, not a person")
	}
	logging.InitLogging(*logToStderr, *verbose, false)
	return flags.Arg(0), nil
}

func serve(args []string) error {
	engine, err := engineAddress(args)
	if err != nil {
		return err
	}
	// The script that runs a program lies beside this one, also when the host was found through PATH.
	self, err := os.Executable()
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := rpcutil.Healthcheck(ctx, engine, engineCheckInterval, stop); err != nil {
		return fmt.Errorf("cannot watch the engine at %s: %w", engine, err)
	}
	cancel := make(chan bool)
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: cancel,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &host{
				engine: engine,
				runner: filepath.Join(filepath.Dir(self), "pulumi-language-python-exec"),
			})
			return nil
		},
		Options: rpcutil.TracingServerInterceptorOptions(nil),
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d\n", handle.Port)
	select {
	case <-ctx.Done():
		// The engine is gone, and with it the connections whose end stops their programs (see stopWithRequest).
		close(cancel)
		select {
		case <-handle.Done:
		case <-time.After(stopGrace):
		}
		return nil
	case err := <-handle.Done:
		return err
	}
}
