package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/show/report"
)

// holdersFlags are those of memory --holders.
type holdersFlags struct {
	wanted, twice bool
	top           int
	budget        uint
}

// holdersShown are more than have a part that counts.
const holdersShown = 12

func (f *holdersFlags) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.wanted, "holders", false, "say who holds the heap of a process")
	fs.IntVar(&f.top, "top", holdersShown, "with --holders: show this `NUMBER` of them, 0 for all")
	fs.UintVar(&f.budget, "budget", heap.Budget>>20, "with --holders: use at most so much memory, in `MIB`")
}

// memoryHolders says who holds the heap of a running process.
func (c *command) memoryHolders(ctx context.Context, args []string, f *memoryFlags) error {
	t, ok := memoryTarget(args)
	if !ok || t.PID <= 0 {
		return misused("gowhy memory 4242 --holders", "--holders reads a running process of this machine: give its number")
	}
	line := c.statusLine()
	look, err := c.lookAtHolders(ctx, t.PID, f, line)
	line.Clear()
	if err != nil {
		return heapProblem(t.PID, err)
	}
	return c.output(f.out, func(w io.Writer, l layout.Options) error {
		return report.Holders(w, look, report.HoldersOptions{Options: l, Top: f.holders.top, JSON: f.format == jsonFormat})
	})
}

func (c *command) lookAtHolders(ctx context.Context, pid int, f *memoryFlags, line *statusLine) (*model.HeapLook, error) {
	o := heap.Options{Budget: uint64(f.holders.budget) << 20, Progress: func(what string, share float64) { line.Set("%s… %s", what, figures.Percent(share)) }}
	first, err := heap.Read(ctx, pid, o)
	if err != nil || !f.holders.twice {
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

// heapProblem says what to do about a heap that was not read.
func heapProblem(pid int, err error) error {
	var small *heap.BudgetError
	switch {
	case errors.As(err, &small):
		return problem.New(problem.Failure, fmt.Sprintf("gowhy memory %d --holders --budget %d", pid, max(small.Need>>20+1, 2*small.Budget>>20)), "process %d: %v", pid, err)
	case errors.Is(err, goroutines.ErrGone):
		return problem.New(problem.Absence, "gowhy list", "there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		return problem.New(problem.Failure, fmt.Sprintf("sudo gowhy memory %d --holders", pid), "the memory of process %d may not be read: it is another user's, or the system forbids it", pid)
	case errors.Is(err, context.Canceled):
		return problem.New(problem.Interrupt, "", "interrupted before the heap was read")
	case errors.Is(err, goroutines.ErrUnsure):
		hint := fmt.Sprintf("gowhy memory %d", pid)
		if strings.Contains(err.Error(), "no symbols") {
			hint = "build it without -ldflags=-s; until then: " + hint
		}
		why := strings.TrimPrefix(err.Error(), goroutines.ErrUnsure.Error()+": ")
		return problem.New(problem.Absence, hint, "the heap of process %d cannot be read: %s", pid, why)
	}
	return err
}
