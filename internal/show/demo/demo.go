// Package demo has small programs with a known problem, and each with the problem
// fixed, so that gowhy can be seen at work with nothing but itself: recorded,
// diagnosed, and the fix proved.
//
// It hides the programs. Its type is [Case], its functions are [Cases], [Find] and
// [Run], which runs one in this process; [Case.Build] builds the one that is source.
//
// demo uses no network, and no file outside its temporary directory. It knows
// nothing of diagnosis: what gowhy says about a case is what it found.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/agent"
)

// A Case is a program with a known problem.
type Case struct {
	Name  string // the problem, or "healthy"
	Story string // what the program does, in a sentence or two
	Fix   string // what it does instead when it is fixed; empty where nothing is wrong
	// Args are arguments with which it shows its problem, for a knob to be seen.
	Args []string
	// Held says that who holds its memory is worth a look while it runs.
	Held bool

	// Trial is how much of its work a run of a trial does, where that shows as much in less time;
	// 0 is all of it.
	Trial int

	// Sizes are amounts of its work with which its rounds are counted, which needs source; none
	// where the program is part of this one.
	Sizes []int

	unit string // of its work, plural
	work int    // how much of it, some two seconds with two processors
	run  func(ctx context.Context, p *program) error
}

// NeedsBuild reports whether the case's program is not part of this one: [Case.Build] makes it.
func (c Case) NeedsBuild() bool { return len(c.Sizes) > 0 }

// A Variant is how a case's program runs.
type Variant struct {
	Fixed   bool
	Workers int // of its pool; 0 is the case's own
	Work    int // how much it does; 0 is the case's own
}

// maxProcs keeps a case the same problem on a large machine: the figures of a
// thousand workers on 64 cores tell another story.
const maxProcs = 4

var cases = []Case{
	{Name: "hotmutex", unit: "orders", work: 20_000, run: hotMutex,
		Story: fmt.Sprintf("%d goroutines price orders and add them to one map. Each holds the map's mutex while it computes the price.", mutexWorkers),
		Fix:   "each goroutine computes the price first, and holds the mutex only to store it."},
	{Name: "oversubscribed", unit: "jobs", work: 3500, run: pooled(manyWorkers, 0), Args: []string{"--workers", fmt.Sprint(manyWorkers)},
		Story: fmt.Sprintf("A pool of %d workers takes small jobs from a channel; each writes a file of %d KiB, "+
			"reads it back, deletes it and computes a little.", manyWorkers, fileSize>>10),
		Fix: "the pool has as many workers as processors."},
	{Name: "allocchurn", unit: "jobs", work: 700, run: pooled(0, churnSize),
		Story: fmt.Sprintf("A pool with as many workers as processors, but each job makes two buffers of %d MiB and drops them.", churnSize>>20),
		Fix:   "each worker keeps one buffer and uses it again."},
	{Name: "leakedtimers", unit: "requests", work: 18_000, run: leakedTimers,
		Story: "Each of thousands of requests a second puts its body into a context with a timeout, " +
			"and never cancels that when it is done.",
		Fix: "each request cancels its context when it is done."},
	{Name: "funnelchannel", unit: "messages", work: 35_000, run: funnel,
		Story: "Hundreds of producers hand their messages to a single goroutine over one channel.",
		Fix:   "there are as many consumers as processors."},
	{Name: "memory", unit: "messages", work: 5400, Trial: 1800, run: keepTitles, Held: true, // a trend wants five seconds
		Story: fmt.Sprintf("A service receives a message of %d KiB each millisecond, answers it, and remembers its title, "+
			"which is a part of its text.", messageSize>>10),
		Fix: "it remembers a copy of the title (strings.Clone), so that the text goes."},
	{Name: "count", unit: "visits", work: 28_000, Trial: 12_000, Sizes: []int{7_000, 14_000, 28_000}, run: countVisitors,
		Story: "A shop counts its different visitors: it keeps those that it has seen in a list, and looks each visit up " +
			"there from the front. The program is built from source, which needs the go command.",
		Fix: "it keeps them in a map."},
	{Name: "healthy", unit: "jobs", work: 3500, run: pooled(0, 0),
		Story: "The pool of the case \"oversubscribed\" with as many workers as processors, each with a buffer of its own."},
}

// Cases returns all cases; the first is the default.
func Cases() []Case { return slices.Clone(cases) }

// Find returns the case of a name.
func Find(name string) (Case, bool) {
	i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == name })
	if i < 0 {
		return Case{}, false
	}
	return cases[i], true
}

// A program is a case that runs.
type program struct {
	Variant
	work  int
	dir   string    // for its files
	began time.Time // its work
	done  atomic.Int64
}

// next returns a unit of work that is still to be done.
func (p *program) next(ctx context.Context) (n int, ok bool) {
	n = int(p.done.Add(1))
	return n, n <= p.work && ctx.Err() == nil
}

// Run does a case's work in this process, or part of it when ctx is cancelled, and
// says how long it took: the same work for each variant, so that they compare.
func Run(ctx context.Context, c Case, v Variant, out io.Writer) (err error) {
	defer agent.Finish()
	runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), maxProcs))
	dir, err := os.MkdirTemp(scratch(), "gowhy-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := &program{Variant: v, work: cmp.Or(v.Work, c.work), dir: dir, began: time.Now()}
	if err := c.run(ctx, p); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err = fmt.Fprintf(out, "%d %s in %.2f s\noperations: %[1]d\n", p.work, c.unit, time.Since(p.began).Seconds())
	return err
}
