// Command gowhy-fleet keeps the profiles of many processes and answers about them; gowhy
// serve and gowhy fleet run it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/fleet/config"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit((&command{os.Stdout, os.Stderr, selfCommand}).run(ctx, os.Args[1:]))
}

// run runs a command and gives its exit code: 2 for wrong usage, 1 for what did not work.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return (&command{stdout: stdout, stderr: stderr}).run(ctx, args)
}

func (c *command) run(ctx context.Context, args []string) int {
	root := c.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(c.stderr, "gowhy-fleet: %s\n", layout.Safe(strings.TrimSuffix(line, "\n")))
	}
	var known *problem.Error
	var p config.Problems
	var status *client.Status
	switch {
	case errors.As(err, &p):
		return 2
	case errors.As(err, &known) && known.Kind == problem.Misuse:
		fmt.Fprintf(c.stderr, "hint: %s\n", known.Hint)
		return 2
	case errors.Is(err, client.ErrUnreachable):
		fmt.Fprintln(c.stderr, "hint: gowhy-fleet serve, or --server URL")
	case errors.Is(err, client.ErrToken):
		fmt.Fprintln(c.stderr, "hint: export GOWHY_FLEET_TOKEN=…, a token with the scope read")
	case errors.As(err, &status) && status.Hint != "":
		fmt.Fprintf(c.stderr, "hint: %s\n", layout.Shorten(layout.Safe(status.Hint), 200))
	}
	return 1
}

// usageError returns the error that a command line cannot be meant so, with what to write instead.
func usageError(hint, format string, args ...any) error {
	return problem.New(problem.Misuse, hint, format, args...)
}

type command struct {
	stdout, stderr io.Writer
	// again begins this program once more; nil in tests, which are another.
	again func(ctx context.Context, args ...string) *exec.Cmd
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gowhy-fleet",
		Short: "Which service costs most, which functions, and since which version",
		Example: `  gowhy-fleet serve --scrape shop=http://localhost:6060/debug/pprof
  gowhy-fleet services
  gowhy-fleet findings --from now-24h
  gowhy-fleet versions --from now-24h`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("gowhy-fleet --help", "there is no command %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = version()
	root.SetVersionTemplate("gowhy-fleet {{.Version}}\n")
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd.CommandPath()+" --help", "%w", err)
	})
	root.AddCommand(c.serveCommand(), c.agentCommand(), c.demoCommand(), c.servicesCommand(), c.topCommand(), c.versionsCommand(), c.findingsCommand(), c.diffCommand(), c.evidenceCommand(), c.exportCommand(), c.runsCommand(), c.recordCommand(), c.tokenCommand(), c.backupCommand(), c.restoreCommand(), c.versionCommand(), c.diagnoseCommand())
	return root
}

// one wants the only argument of a command.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError(cmd.CommandPath()+" --help", "%s takes one %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd.CommandPath()+" --help", "%s takes no argument, not %q", cmd.CommandPath(), args[0])
	}
	return nil
}
