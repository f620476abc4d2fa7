package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/show/report"
)

// holdersFlags are those of memory --holders.
type holdersFlags struct {
	wanted, twice, freeze, strings bool
	top                            int
	budget                         uint
}

// holdersShown are more than have a part that counts.
const holdersShown = 12

func (f *holdersFlags) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.wanted, "holders", false, "say who holds the heap, of a process, a core, a heap dump or a recording")
	fs.IntVar(&f.top, "top", holdersShown, "with --holders: show this `NUMBER` of them, 0 for all")
	fs.BoolVar(&f.freeze, "freeze", false, fmt.Sprintf("with --holders, of a process: stop it while variables and stacks are read, for %v at most", heap.FreezeTime))
	fs.BoolVar(&f.strings, "show-strings", false, "with --holders: show beginnings of some strings that are held, contents of the memory")
	fs.UintVar(&f.budget, "budget", heap.Budget>>20, "with --holders: use at most so much memory, in `MIB`")
}

// memoryHolders says who holds the heap of a running process.
func (c *command) memoryHolders(ctx context.Context, args []string, f *memoryFlags) error {
	if t, ok := memoryTarget(args[:1]); ok && t.URL != "" && len(args) <= 2 {
		return c.remoteHolders(ctx, t.URL, args, f)
	}
	t, ok := memoryTarget(args)
	if !ok {
		return c.coreHolders(ctx, args, f)
	}
	if t.PID <= 0 {
		return noHeap()
	}
	line := c.statusLine()
	look, err := c.lookAtHolders(ctx, t.PID, f, line)
	line.Clear()
	if err != nil {
		return heapProblem(fmt.Sprintf("process %d", t.PID), args, err)
	}
	if p, err := proc.OpenAlone(t.PID); err == nil {
		if s, err := p.Sample(false); err == nil {
			look.Resident = s.Process.RSS
		}
		p.Close()
	}
	return c.writeHolders(f, look, "gowhy memory "+shell.Words(args))
}

// coreHolders says who holds the heap in a core, or held it when a recording was made.
func (c *command) coreHolders(ctx context.Context, args []string, f *memoryFlags) error {
	if f.holders.freeze {
		return usageError("gowhy memory 4242 --holders --freeze", "--freeze stops a running process of this machine: a core, a heap dump and a recording stand still")
	}
	r, done, err := evidence.OpenCore(ctx, args)
	if err != nil {
		return err
	}
	if r == nil {
		return c.dumpHolders(ctx, args, "", f)
	}
	defer done()
	line := c.statusLine()
	look, err := heap.Of(ctx, r, f.holders.options(line))
	line.Clear()
	if err != nil {
		return heapProblem(strconv.Quote(args[0]), args, err)
	}
	look.Core = true
	return c.writeHolders(f, look, "")
}

// dumpHolders says who holds the heap in a heap dump, which a URL may have given, or held it when a recording
// was made.
func (c *command) dumpHolders(ctx context.Context, args []string, url string, f *memoryFlags) error {
	line := c.statusLine()
	o := f.holders.options(line)
	dump, p, done, err := evidence.OpenHeapDump(ctx, args, url, o.Budget)
	if err != nil {
		return err
	}
	if dump == nil {
		return c.recordedHolders(ctx, args, f)
	}
	defer done()
	look, err := heap.ReadDump(ctx, dump, p, o)
	line.Clear()
	if errors.Is(err, heap.ErrCut) {
		return problem.New(problem.Absence, evidence.WriteHint, "who holds the heap is not known of %q: %w", cmp.Or(url, args[0]), err)
	}
	if err != nil {
		if url != "" {
			args = slices.Concat([]string{url}, args[1:])
		}
		return heapProblem(strconv.Quote(args[0]), args, err)
	}
	return c.writeHolders(f, look, "")
}

// remoteHolders says who holds the heap of a program elsewhere, whose agent may write heap dumps.
func (c *command) remoteHolders(ctx context.Context, url string, args []string, f *memoryFlags) error {
	if f.holders.freeze || f.holders.twice {
		return usageError("gowhy memory http://localhost:6060 ./PROGRAM --holders", "of a URL --holders reads one heap dump, while which the program is stopped: neither --freeze nor -d is possible")
	}
	dir, err := os.MkdirTemp("", "gowhy-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dump, err := os.Create(filepath.Join(dir, "app.heapdump"))
	if err != nil {
		return err
	}
	line := c.statusLine()
	line.Set("the program writes its heap")
	err = record.HeapDump(ctx, url, dump)
	line.Clear()
	if err = cmp.Or(err, dump.Close()); err != nil {
		return err
	}
	return c.dumpHolders(ctx, slices.Concat([]string{dump.Name()}, args[1:]), url, f)
}

// recordedHolders says who held the heap at the last look of a recording.
func (c *command) recordedHolders(ctx context.Context, args []string, f *memoryFlags) error {
	m, err := c.read(ctx, args, f.reading)
	if err != nil {
		return err
	}
	looks := m.Run.Holders
	if len(looks) == 0 {
		return noHeap()
	}
	if f.holders.strings {
		return usageError("gowhy memory 4242 --holders --show-strings", "a recording has no contents of the memory: --show-strings is of a process, a core or a heap dump")
	}
	return c.writeHolders(f, looks[len(looks)-1], "")
}

// writeHolders writes a look in the format that is wanted; account is the command that says what else the memory is.
func (c *command) writeHolders(f *memoryFlags, look *model.HeapLook, account string) error {
	return c.output(f.out, func(w io.Writer, l layout.Options) error {
		if f.format == pprofFormat {
			m := &model.Model{Run: model.Run{Start: look.Time, Holders: []*model.HeapLook{look}}}
			return export.Pprof(w, m, export.Options{Profile: export.Held})
		}
		return report.Holders(w, look, report.HoldersOptions{Options: l, Top: f.holders.top, JSON: f.format == jsonFormat, Account: account})
	})
}

func (f *holdersFlags) options(line *statusLine) heap.Options {
	return heap.Options{Budget: uint64(f.budget) << 20, Freeze: f.freeze, Examples: f.strings, Progress: func(what string, share float64) { line.Set("%s… %s", what, figures.Percent(share)) }}
}

func (c *command) lookAtHolders(ctx context.Context, pid int, f *memoryFlags, line *statusLine) (*model.HeapLook, error) {
	o := f.holders.options(line)
	first, err := heap.Read(ctx, pid, o)
	if err != nil || !f.holders.twice || first.Partial {
		return first, err
	}
	line.SetClock("it holds %s; looking again in %v", figures.Bytes(first.Reached.Bytes), f.duration)
	select {
	case <-ctx.Done(): // the second look is now
	case <-time.After(f.duration):
	}
	second, err := heap.Read(context.WithoutCancel(ctx), pid, o)
	if err != nil {
		return nil, err
	}
	second.Since(first)
	return second, nil
}

func noHeap() error {
	return usageError("gowhy memory 4242 --holders", "--holders reads a process of this machine, a core, a heap dump, a URL whose agent gives one, or a recording with holders")
}

// heapProblem says what to do about a heap that was not read, of a process or a core.
func heapProblem(of string, args []string, err error) error {
	var small *heap.BudgetError
	command := "gowhy memory " + shell.Words(args)
	switch {
	case errors.As(err, &small):
		return problem.New(problem.Failure, fmt.Sprintf("%s --holders --budget %d", command, max(small.Need>>20+1, 2*small.Budget>>20)), "%s: %v", of, err)
	case errors.Is(err, heap.ErrNotStopped):
		return problem.New(problem.Failure, command+" --holders", "%s: %v", of, err)
	case errors.Is(err, goroutines.ErrGone):
		return problem.New(problem.Absence, "gowhy list", "there is no %s", of)
	case errors.Is(err, fs.ErrPermission):
		return problem.New(problem.Failure, fmt.Sprintf("sudo %s --holders, or let the program write a heap dump (docs/memory.md)", command),
			"the memory of %s may not be read: it is another user's, or the system forbids it", of)
	case errors.Is(err, goroutines.ErrSystem):
		return problem.New(problem.Absence, "let the program write a heap dump, and give that and the program (docs/memory.md)", "the heap of %s cannot be read: %v", of, err)
	case errors.Is(err, context.Canceled):
		return problem.New(problem.Interrupt, "", "interrupted before the heap was read")
	case errors.Is(err, goroutines.ErrUnsure):
		hint := command
		if strings.Contains(err.Error(), "no symbols") {
			hint = "build it without -ldflags=-s; until then: " + hint
		}
		why := strings.TrimPrefix(err.Error(), goroutines.ErrUnsure.Error()+": ")
		return problem.New(problem.Absence, hint, "the heap of %s cannot be read: %s", of, why)
	}
	return err
}
