package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/report"
)

func (c *command) recordCommand() *cobra.Command {
	var target evidence.Target
	var out string
	duration := 5 * time.Second
	cmd := &cobra.Command{
		Use:   "record [-o FILE] [-d TIME] (--url URL | -- CMD [ARG...])",
		Short: "Record a trace and profiles of a server, a command or a test",
		Long: `Records an execution trace, a CPU profile and an allocation profile of the same
seconds into one file.

  --url URL   a server with net/http/pprof; give the path if it is not
              /debug/pprof/
  -- CMD      a Go test binary records itself from start to end; any other
              program is searched for a port with net/http/pprof, recorded for
              -d, and then ended with an interrupt. The exit code is CMD's.

An interrupt ends the recording and keeps what there is.`,
		Example: `  gowhy record -o run.gowhy --url http://localhost:6060
  gowhy record -o run.gowhy -d 10s -- ./server -listen :8080
  go test -exec 'gowhy record -o run.gowhy --' -bench .
  gowhy run.gowhy`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case target.URL == "" && len(args) == 0:
				return misused("gowhy record -o run.gowhy -- ./PROGRAM   or   --url http://localhost:6060", "nothing to record was given")
			case target.URL != "" && len(args) > 0:
				return misused("give one of them", "both --url and a command were given")
			case duration <= 0:
				return misused("-d 5s", "-d %v is no time", duration)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target.Command = args
			if out == "" {
				out = recordingName(target)
			}
			if err := checkOutput(out); err != nil {
				return err
			}
			res, err := evidence.Record(cmd.Context(), target, evidence.RecordOptions{
				Out: out, Duration: duration,
				Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
				Log: func(s string) { fmt.Fprintln(c.Stderr, "gowhy: "+report.Safe(s)) },
			})
			return c.recorded(res, err, out)
		},
	}
	// What follows the command is the command's, flags included.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&target.URL, "url", "", "`URL` of a server with net/http/pprof")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the recording to this `FILE` (default NAME-TIME.gowhy)")
	cmd.Flags().DurationVarP(&duration, "duration", "d", duration, "`TIME` for which a server is recorded")
	return cmd
}

// recordingName is a name that replaces no other recording: with go test
// -exec, one is made for each package.
func recordingName(t evidence.Target) string {
	name := "server"
	if len(t.Command) > 0 {
		name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(t.Command[0]), ".exe"), ".test")
	}
	return name + time.Now().Format("-20060102-150405") + ".gowhy"
}

// recorded says what came of a recording. The command's own exit code wins
// over ours, so that `gowhy record -- CMD` can stand for CMD in a script.
func (c *command) recorded(res *evidence.Recorded, err error, out string) error {
	if res == nil {
		return err
	}
	for _, r := range res.Refused {
		fmt.Fprintf(c.Stderr, "gowhy: no %s: %s\n", report.Safe(r.Member), report.Safe(r.Why))
	}
	if res.Written {
		fmt.Fprintf(c.Stderr, "gowhy: recorded; next:   gowhy %s\n", report.Safe(out))
	}
	if res.ExitCode == 0 {
		return err
	}
	fail := &failure{code: res.ExitCode}
	var p *evidence.Problem
	if errors.As(err, &p) {
		fail.what, fail.hint = p.What, p.Hint
	} else if err != nil {
		fail.what = err.Error()
	}
	return fail
}
