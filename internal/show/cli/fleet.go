package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// fleetProgram is the command for many processes. It is a program of its own, from a
// module of its own: its store would double the dependencies of this one.
const fleetProgram = "gowhy-fleet"

func (c *command) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve [FLAG...]",
		Short: "Keep the profiles of many processes, and answer about them",
		Long: `Keeps the profiles that programs send (Pyroscope's protocol) or that it fetches
from them, and answers which service costs most and since which version. It is
gowhy-fleet serve, a program of its own:

  go install github.com/gowhy/gowhy/fleet/cmd/gowhy-fleet@latest`,
		Example:            "  gowhy serve --data ./gowhy-data\n  gowhy serve --help",
		DisableFlagParsing: true, // they are gowhy-fleet's
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.fleet(cmd, slices.Insert(slices.Clone(args), 0, "serve"))
		},
	}
}

func (c *command) fleetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fleet COMMAND",
		Short: "Ask a server of profiles: services, functions, versions",
		Long: `Asks a server that gowhy serve began: which services cost most, which functions,
and which version made it worse. It is gowhy-fleet, a program of its own:

  go install github.com/gowhy/gowhy/fleet/cmd/gowhy-fleet@latest`,
		Example:            "  gowhy fleet services\n  gowhy fleet versions\n  gowhy fleet --help",
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return c.fleet(cmd, args) },
	}
}

func (c *command) agentCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "agent [FLAG...]",
		Short: "Send the profiles of all Go programs of this host to a server",
		Long: `Finds the Go programs of this host, samples the CPU time of each within a
budget, and sends that and the profiles of their net/http/pprof to a server that
gowhy serve began, or to a Pyroscope. It is gowhy-fleet agent, a program of its
own:

  go install github.com/gowhy/gowhy/fleet/cmd/gowhy-fleet@latest`,
		Example:            "  gowhy agent --server http://127.0.0.1:4040\n  gowhy agent --help",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.fleet(cmd, slices.Insert(slices.Clone(args), 0, "agent"))
		},
	}
}

// fleet runs gowhy-fleet in this one's place. Asked for help without it, it gives the
// little that it knows itself.
func (c *command) fleet(cmd *cobra.Command, args []string) error {
	file, err := fleetFile()
	if err != nil {
		if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			return cmd.Help()
		}
		return problem.New(problem.Absence, "go install github.com/gowhy/gowhy/fleet/cmd/gowhy-fleet@latest", "%w", err)
	}
	run := exec.CommandContext(cmd.Context(), file, args...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, c.Stdout, c.Stderr
	// A server ends what it is at when it is interrupted.
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = time.Minute
	err = run.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return &exit{failed.ExitCode(), nil} // it said why
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// fleetFile returns where gowhy-fleet is: beside this program, else on the PATH.
func fleetFile() (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), fleetProgram)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if file, err := exec.LookPath(beside); err == nil {
			return file, nil
		}
	}
	file, err := exec.LookPath(fleetProgram)
	if err != nil {
		return "", errors.New(fleetProgram + " is not installed")
	}
	return file, nil
}
