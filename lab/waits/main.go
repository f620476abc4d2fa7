// Waits is a collection of small programs in which goroutines wait: for a lock, a channel,
// a connection, each other. A shape is there stuck (they wait for ever), slow (they wait
// long, again and again) and fine (the same shape, and well), as far as each makes sense.
// gowhy must name what they wait for and who holds it, and say nothing of the fine ones;
// CASE.md has the list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"
)

// A program starts what it is and returns: its goroutines go on until the process ends.
type program struct {
	name  string // SHAPE-stuck, SHAPE-slow or SHAPE-fine
	about string
	start func() error
}

// programs are all of them, by subject.
var programs = slices.Concat(locks, heldLocks, readers, orders, channels, selects, answers, stages, groups, flights, finalizers, networks, servers, databases, timers)

// steps counts what the programs did: one that is stuck does nothing more.
var steps atomic.Int64

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "waits:", err)
		os.Exit(1)
	}
}

func run(args []string, out, help io.Writer) error {
	flags := flag.NewFlagSet("waits", flag.ContinueOnError)
	name := flags.String("case", "", "which `NAME` to be")
	length := flags.Duration("for", 4*time.Second, "how long")
	procs := flags.Int("procs", 2, "GOMAXPROCS")
	dir := flags.String("evidence", "", "after a second, leave a trace and a goroutine profile in this `DIRECTORY`")
	flags.SetOutput(help)
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	at := slices.IndexFunc(programs, func(p program) bool { return p.name == *name })
	if at < 0 || flags.NArg() > 0 || *procs < 1 {
		return fmt.Errorf("-case %q is none of the programs; -h lists them", *name)
	}
	runtime.GOMAXPROCS(*procs)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	if err := programs[at].start(); err != nil {
		return err
	}
	if *dir != "" {
		if err := leave(ctx, *dir); err != nil {
			return err
		}
		fmt.Fprintln(out, evidenceLeft)
	}
	half := time.NewTimer(*length / 2)
	defer half.Stop()
	var before int64
	select {
	case <-half.C:
		before = steps.Load()
		<-ctx.Done()
	case <-ctx.Done():
	}
	n := steps.Load()
	fmt.Fprintf(out, "in the second half: %d\noperations: %d\n", n-before, n)
	return nil
}

func usage(flags *flag.FlagSet) {
	out := flags.Output()
	fmt.Fprint(out, "usage: waits -case NAME [flags]\n\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range programs {
		fmt.Fprintf(table, "  %s\t%s\n", p.name, p.about)
	}
	table.Flush()
	fmt.Fprintln(out)
	flags.PrintDefaults()
}

// crowd starts n goroutines that do something again and again.
func crowd(n int, something func()) {
	for range n {
		go func() {
			for {
				something()
				steps.Add(1)
			}
		}()
	}
}

// every does something again and again, with pauses.
func every(pause time.Duration, something func()) {
	forEachTick(pause, func() {
		something()
		steps.Add(1)
	})
}

// forEachTick does something whose steps are counted elsewhere. Many who do so are not
// in step with each other, nor with who takes the evidence.
func forEachTick(pause time.Duration, something func()) {
	time.Sleep(rand.N(pause))
	for range time.Tick(pause) {
		something()
	}
}
