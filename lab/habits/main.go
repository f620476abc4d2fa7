// Habits is a collection of small illnesses that have no story of their own:
// what reviews of Go programs find again and again. Each is a habit that can be
// healed; CASE.md tells what each is.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A habit does its work until ctx ends and counts it, as people have the habit
// of doing it, or healed.
type habit func(ctx context.Context, healed bool, count *atomic.Int64) error

// habits by name: a flag's value is a word, the function has the reason.
var habits = map[string]habit{
	"collect":  collect,
	"append":   appendAll,
	"pipes":    followPipes,
	"dial":     dialAgain,
	"regexp":   compileAgain,
	"log":      logLocked,
	"closed":   spinClosed,
	"refused":  retryRefused,
	"forgot":   forgetGoroutines,
	"remember": rememberAll,
	"holdio":   holdAndWait,
}

func main() {
	name := flag.String("habit", "collect", "the habit: "+strings.Join(slices.Sorted(maps.Keys(habits)), ", "))
	healed := flag.Bool("healed", false, "do the same work without the habit")
	turns := flag.Duration("turns", 0, "change between without and with the habit each time that this has passed, beginning without")
	length := flag.Duration("time", 3*time.Second, "for how long")
	evidence := observed.Flags(flag.CommandLine)
	flag.Parse()
	h, ok := habits[*name]
	if !ok || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "habits: there is no habit %q\n", *name)
		flag.Usage()
		os.Exit(2)
	}
	if *turns > 0 {
		h = inTurns(h, *turns)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	var count atomic.Int64
	if _, err := evidence.Run(func() error { return h(ctx, *healed, &count) }); err != nil {
		fmt.Fprintln(os.Stderr, "habits:", err)
		os.Exit(1)
	}
	fmt.Printf("operations: %d\n", count.Load())
}

// inTurns returns a program that changes while it is looked at.
func inTurns(h habit, turn time.Duration) habit {
	return func(ctx context.Context, _ bool, count *atomic.Int64) error {
		for healed := true; ctx.Err() == nil; healed = !healed {
			now, cancel := context.WithTimeout(ctx, turn)
			err := h(now, healed, count)
			cancel()
			if err != nil {
				return err
			}
		}
		return nil
	}
}
