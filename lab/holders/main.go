// Holders is a collection of small programs that each hold 72 MiB and more in one way: in a map,
// behind a substring, in a timer's function, on the stacks of goroutines that wait. gowhy must
// name who holds it first; of those that hold as much and are well, it must say nothing.
// CASE.md has the list. The toolchains of all releases that are judged build it: nothing is
// newer than Go 1.22.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"
)

// A program begins to hold what it holds, and returns.
type program struct {
	name  string
	about string
	start func() error
}

// programs are all of them: those that hold what nobody wants, and those that are well.
var programs = slices.Concat(collections, parts, waiting, emptied, outside, fine, fineOthers)

// held is how much each holds, in pieces.
const (
	held  = 72 << 20
	piece = 64 << 10
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "holders:", err)
		os.Exit(1)
	}
}

func run(args []string, out, help io.Writer) error {
	flags := flag.NewFlagSet("holders", flag.ContinueOnError)
	name := flags.String("case", "", "which `NAME` to be")
	length := flags.Duration("for", time.Minute, "how long")
	flags.SetOutput(help)
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	at := slices.IndexFunc(programs, func(p program) bool { return p.name == *name })
	if at < 0 || flags.NArg() > 0 {
		return fmt.Errorf("-case %q is none of the programs; -h lists them", *name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	if err := programs[at].start(); err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(out, "holds it, with %d MiB in use and %d MiB from the system\n", m.HeapAlloc>>20, m.Sys>>20)
	<-ctx.Done()
	return nil
}

func usage(flags *flag.FlagSet) {
	fmt.Fprint(flags.Output(), "holders -case NAME\n\n")
	flags.PrintDefaults()
	t := tabwriter.NewWriter(flags.Output(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t)
	for _, p := range programs {
		fmt.Fprintf(t, "  %s\t%s\n", p.name, p.about)
	}
	t.Flush()
}

// filled returns a piece of memory that somebody wrote to.
func filled(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < size; i += 64 {
		b[i] = byte(i>>6) | 1
	}
	return b
}

// collect has the collector find twice what nobody holds.
func collect() {
	runtime.GC()
	runtime.GC()
}
