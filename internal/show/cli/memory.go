package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/show/report"
)

const (
	// memoryLook is for how long a running program is looked at when nobody asked for more:
	// most of the account is of its end.
	memoryLook = time.Second

	textFormat, jsonFormat, pprofFormat = "text", "json", "pprof"
)

// memorySources are what the account of memory is made of.
var memorySources = []string{"proc", "metrics", "build"}

// memoryFlags are those of memory.
type memoryFlags struct {
	format, out string
	duration    time.Duration
	reading     readOptions
	holders     holdersFlags
}

func (c *command) memoryCommand() *cobra.Command {
	f := &memoryFlags{}
	cmd := &cobra.Command{
		Use:   "memory (PID | URL | FILE...)",
		Short: "Say what the memory of a program is, and how near its limits are",
		Long: `Divides what is resident: the live heap, garbage, fragmentation, what is free and
not given back, stacks, the runtime's own, the program's text and data, mapped
files, native and shared memory. The parts add up to the resident memory that
the kernel tells, and each has its source; what nothing tells is "not told".
Then what stands beside it, and GOGC's goal, GOMEMLIMIT and the control group's
limits with what they leave, and when they are reached where it grows for sure.

A process (PID) is read from outside: it is neither stopped nor asked. A URL is
of a server with net/http/pprof or gowhy's agent. A file is a recording, a core, a
heap dump (runtime/debug.WriteHeapDump), a heap profile in text form (heap?debug=1),
memory statistics or a scrape of metrics.
Look for ten seconds or longer (-d 30s) to learn when a limit is reached.
"gowhy ledger --by memory" is the same account of files.

With --holders it reads the heap of a process, a core or a heap dump and says who holds it
instead: variables, goroutines by what they do, timers and finalizers, each with
what it holds, how much of that others reach, too, and the way to the most of it.
With -d it looks twice, and says by how much each grew. Of a recording it says
who held it then, if that was made with --holders or at a mark of memory.
The process runs on: what changed meanwhile is said. Contents are never shown,
but beginnings of strings with --show-strings.`,
		Example: `  gowhy memory 4242
  gowhy memory 4242 -d 30s               does it grow, and until when?
  gowhy memory 4242 --holders            who holds the heap?
  gowhy memory 4242 --holders -d 1m      and whose part grows?
  gowhy memory 4242 --holders --format pprof -o held.pb.gz && go tool pprof held.pb.gz
  gowhy memory http://localhost:6060
  gowhy memory run.gowhy
  gowhy memory core.1234 ./server        what a program that died held
  gowhy memory app.heapdump ./app --holders   where a process cannot be read
  gowhy memory 4242 --format json | jq '.[] | select(.of == "resident")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("gowhy memory 4242   or   gowhy memory run.gowhy", "neither a process nor a URL nor a file was given")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", f.format, memoryFormats); err != nil {
				return err
			}
			if f.holders.strings && (!f.holders.wanted || f.format != textFormat) {
				return usageError("gowhy memory 4242 --holders --show-strings", "--show-strings goes with --holders, and with text alone: contents of the memory are written to no file of another kind")
			}
			if f.format == pprofFormat && !f.holders.wanted {
				return usageError("gowhy memory 4242 --holders --format pprof -o held.pb.gz", "--format pprof is of --holders: the account of memory is no profile")
			}
			if _, screen := terminal(c.Stdout); screen && f.out == "" && f.format == pprofFormat {
				return usageError("-o held.pb.gz", "a pprof file is not for the screen")
			}
			if f.duration <= 0 {
				return usageError("-d 10s", "-d %v is no time", f.duration)
			}
			if err := checkOutput(f.out); err != nil {
				return err
			}
			if f.holders.wanted {
				f.holders.twice = cmd.Flags().Changed("duration")
				return c.memoryHolders(cmd.Context(), args, f)
			}
			if f.holders.freeze {
				return usageError("gowhy memory 4242 --holders --freeze", "--freeze goes with --holders: the account of memory reads no variables and stacks")
			}
			return c.memory(cmd.Context(), args, f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", textFormat, "`FORMAT`: text, json; with --holders pprof, too")
	fs.DurationVarP(&f.duration, "duration", "d", memoryLook, "look at a running program for this `TIME`")
	fs.StringVarP(&f.out, "output", "o", "", "write to this `FILE`")
	f.reading.flags(cmd)
	f.holders.flags(cmd)
	complete(cmd, "format", memoryFormats)
	return cmd
}

var memoryFormats = []string{textFormat, jsonFormat, pprofFormat}

func (c *command) memory(ctx context.Context, args []string, f *memoryFlags) error {
	if t, ok := memoryTarget(args); ok {
		dir, err := os.MkdirTemp("", "gowhy-memory-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "memory.gowhy")
		if err := c.lookAtMemory(ctx, t, out, f.duration); err != nil {
			return err
		}
		args, ctx = []string{out}, context.WithoutCancel(ctx) // the interrupt ended the look
	}
	m, err := c.read(ctx, args, f.reading)
	if err != nil {
		return err
	}
	return c.output(f.out, func(w io.Writer, l layout.Options) error {
		return report.Ledger(w, m, report.LedgerOptions{Options: l, By: "memory", JSON: f.format == jsonFormat})
	})
}

// memoryTarget returns the running program that was given, if it is one.
func memoryTarget(args []string) (t record.Target, ok bool) {
	if len(args) != 1 {
		return t, false
	}
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		return record.Target{URL: args[0]}, true
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return t, false
	}
	pid, err := strconv.Atoi(args[0])
	return record.Target{PID: pid}, err == nil
}

// lookAtMemory records what the account needs, and nothing else.
func (c *command) lookAtMemory(ctx context.Context, t record.Target, out string, d time.Duration) error {
	line := c.statusLine()
	defer line.Clear()
	_, err := record.Run(ctx, t, record.Options{Out: out, Duration: d, Only: memorySources, Outside: t.PID != 0,
		Progress: func(left time.Duration, seen record.Seen) { line.Set("looking… %s", seenText(left, seen)) }})
	return err
}
