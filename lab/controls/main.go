// Controls are programs that are well: each does honest work in a way that
// looks like an illness from one side or another. gowhy must say nothing of
// them. Which illness each looks like is in CASE.md.
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

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A control is a program. It works until ctx ends, and returns how many
// operations it did and what came of them.
type control struct {
	name  string
	about string
	run   func(ctx context.Context) (done int64, result string, err error)
}

var controls = []control{
	{"cpu", "counts primes on all cores", primes},
	{"bench", "sorts on one core, as a benchmark does", sorting},
	{"fanout", "asks 64 shards for their part of each answer", fanout},
	{"pipeline", "reads, compresses and adds up chunks in three stages", pipeline},
	{"workers", "has a worker for each core and half the work they could do", workers},
	{"burst", "gets a thousand jobs at once, four times a second", burst},
	{"idlewake", "has three sleepers that wake and find nothing to do", idlewake},
	{"timers", "keeps 10,000 sessions that expire when nobody uses them", sessions},
	{"timeouts", "calls a slow service with deadlines, and waits for them", timeouts},
	{"retry", "knocks at a closed door, less and less often", retry},
	{"http", "answers 1000 requests a second", web},
	{"backend", "waits for somebody else most of the time", backend},
	{"longpoll", "has a thousand clients that wait for news", longpoll},
	{"locked", "guards a table with one lock, at a moderate rate", locked},
	{"warmup", "fills a cache to its limit and then lives of it", warmup},
	{"liveheap", "answers from a large index that stays", liveheap},
	{"pooled", "encodes into buffers of a pool", pooled},
	{"logger", "writes a log through a buffer", logger},
	{"scan", "reads the files of a tree, each once in a round", scan},
	{"neighbour", "is a web server, for a run beside a hog", web},
	{"hog", "is the hog: more threads than cores, all busy", hog},
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "controls:", err)
		os.Exit(1)
	}
}

func run(args []string, out, help io.Writer) error {
	flags := flag.NewFlagSet("controls", flag.ContinueOnError)
	name := flags.String("control", "", "which `NAME` to be")
	length := flags.Duration("for", 4*time.Second, "how long")
	procs := flags.Int("procs", 0, "GOMAXPROCS; 0 leaves it as it is")
	evidence := observed.Flags(flags)
	flags.SetOutput(help)
	flags.Usage = func() { usage(flags) }
	if err := flags.Parse(args); err != nil {
		return err
	}
	at := slices.IndexFunc(controls, func(c control) bool { return c.name == *name })
	if at < 0 {
		return fmt.Errorf("-control %q is none of the controls; -h lists them", *name)
	}
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()

	var done int64
	var result string
	elapsed, err := evidence.Run(func() (err error) {
		done, result, err = controls[at].run(ctx)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s: %v\noperations: %d\n", *name, result, elapsed.Round(time.Millisecond), done)
	return nil
}

func usage(flags *flag.FlagSet) {
	out := flags.Output()
	fmt.Fprint(out, "usage: controls -control NAME [flags]\n\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range controls {
		fmt.Fprintf(table, "  %s\t%s\n", c.name, c.about)
	}
	table.Flush()
	fmt.Fprintln(out)
	flags.PrintDefaults()
}

// arrivals calls each with the numbers of the operations that are due, at a
// rate a second, until ctx ends. What is due follows the clock, not the ticks:
// late ticks bring more. It returns how many there were.
func arrivals(ctx context.Context, rate int, each func(n int64)) (made int64) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for {
		select {
		case <-ctx.Done():
			return made
		case <-tick.C:
		}
		for due := int64(time.Since(begin).Seconds() * float64(rate)); made < due; made++ {
			each(made)
		}
	}
}
