package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
)

// diagnoseCommand makes the command by which a server diagnoses a recording: this program
// again, with as much memory as it is given. A recording that needs more ends it, and not the
// server.
func (c *command) diagnoseCommand() *cobra.Command {
	var memory int64
	cmd := &cobra.Command{
		Use:    "diagnose FILE",
		Hidden: true,
		Args:   one("recording"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := limitData(memory << 20); err != nil {
				return err
			}
			d, err := runs.Diagnose(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return json.NewEncoder(c.stdout).Encode(d)
		},
	}
	cmd.Flags().Int64Var(&memory, "memory", leastDiagnosis, "have at most so many `MIB`")
	return cmd
}

// leastDiagnosis is what one may have at least, in MiB: of a recording of 30 MiB it took 66.
const leastDiagnosis = 256

// subprocessDiagnoser diagnoses in a process of its own, which a program begins with arguments.
func subprocessDiagnoser(begin func(ctx context.Context, args ...string) *exec.Cmd, memory int64) func(ctx context.Context, file string) (api.Diagnosis, error) {
	memory = max(memory, leastDiagnosis)
	return func(ctx context.Context, file string) (d api.Diagnosis, err error) {
		child := begin(ctx, "diagnose", "--memory", strconv.FormatInt(memory, 10), file)
		child.Env = append(child.Environ(), fmt.Sprintf("GOMEMLIMIT=%dMiB", memory*9/10))
		var said, failed bytes.Buffer
		child.Stdout, child.Stderr = &said, &limited{to: &failed}
		err = child.Run()
		var exit *exec.ExitError
		ours, is := strings.CutPrefix(strings.TrimSpace(failed.String()), "gowhy-fleet: ") // whatever its code
		switch {
		case ctx.Err() != nil:
			return d, ctx.Err()
		case errors.As(err, &exit) && (is || exit.ExitCode() == 1):
			ours, _, _ = strings.Cut(ours, "\n") // the hint has a path of this machine
			return d, errors.New(ours)
		case errors.As(err, &exit): // by the runtime, which has many words for too little memory, or the kernel
			line, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(failed.String()), "fatal error: "), "\n")
			return d, fmt.Errorf("with %d MiB of memory it ended (%.60s): fetch it with gowhy fleet runs get, and run gowhy on it", memory, cmp.Or(line, exit.String()))
		case err != nil:
			return d, fmt.Errorf("gowhy failed at it: %w", err)
		}
		return d, json.Unmarshal(said.Bytes(), &d)
	}
}

// A limited writer keeps the first of what a process says before it ends.
type limited struct{ to *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	const most = 4 << 10
	l.to.Write(p[:min(len(p), max(0, most-l.to.Len()))])
	return len(p), nil
}

// selfCommand begins this program once more.
func selfCommand(ctx context.Context, args ...string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return exec.CommandContext(ctx, program, args...)
}
