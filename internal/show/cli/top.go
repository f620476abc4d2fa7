package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/show/screen"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// A topping is the flags of top.
type topping struct {
	urls   []string
	all    bool
	once   bool
	json   bool
	frames int
	every  time.Duration
	budget float64
	trace  bool
}

func (c *command) topCommand() *cobra.Command {
	var t topping
	cmd := &cobra.Command{
		Use:   "top [PID...]",
		Short: "Show what the Go programs here do now, and what is wrong with them",
		Long: `Shows the Go programs that run here: CPU, waiting for a CPU, Ps, goroutines by
what they do, heap, collections, and what is wrong with each, in one line. A
program is not stopped for that, and nothing is written to it: its goroutines
are read out of its memory, and what it does is recorded for ten seconds at a
time and judged as any recording is.

The keys are htop's; h shows them. Enter looks at one program: its goroutines
by function and what they wait for, the functions on and off the CPU, system
calls, and the findings since when. Where the output is no terminal, and with
--once, --json or -n, it writes lines.

What gowhy itself uses is at the bottom right; it goes slower before it uses
more than the budget.`,
		Example: `  gowhy top
  gowhy top 4711
  gowhy top --url localhost:6060
  gowhy top --once
  gowhy top --json -n 30 4711 | jq .processes[0].goroutines.total`,
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := t.targets(cmd.Context(), args)
			if err != nil {
				return err
			}
			return c.top(cmd.Context(), &t, pids)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&t.urls, "url", nil, "the program that serves this `URL`; may be given again")
	f.BoolVarP(&t.all, "all", "a", false, "all processes, not Go programs alone")
	f.BoolVar(&t.once, "once", false, "write once what there is after a second, and end")
	f.BoolVar(&t.json, "json", false, "write one JSON object for each refresh")
	f.IntVarP(&t.frames, "number", "n", 0, "end after this `NUMBER` of refreshes")
	f.DurationVarP(&t.every, "delay", "d", time.Second, "`TIME` between refreshes")
	f.Float64Var(&t.budget, "budget", 100*live.DefaultBudget, "how much of one CPU gowhy may use, in `PERCENT`")
	f.BoolVar(&t.trace, "trace", false, "judge with execution traces too, where a program\nhas an endpoint: it costs that a few percent")
	return cmd
}

const (
	leastDelay = 100 * time.Millisecond
	mostBudget = 100
)

// targets returns the processes that were asked for.
func (t *topping) targets(ctx context.Context, args []string) (pids []int, err error) {
	switch {
	case t.every < leastDelay:
		return nil, usageError("gowhy top -d 1s", "-d %v is too short: %v is the least", t.every, leastDelay)
	case t.frames < 0:
		return nil, usageError("gowhy top -n 10", "-n %d is no number of refreshes", t.frames)
	case t.budget <= 0 || t.budget > mostBudget:
		return nil, usageError("gowhy top --budget 2", "--budget %v is no share of a CPU in percent", t.budget)
	}
	return processes(ctx, append(args, t.urls...))
}

func (c *command) top(ctx context.Context, t *topping, pids []int) error {
	if t.once {
		t.frames = 1
	}
	o := live.Options{PIDs: pids, All: t.all, Every: t.every, Budget: t.budget / 100, Stacks: true, Trace: t.trace}
	if t.frames != 1 {
		o.Rules = c.Rules // a second is too short to judge
	}
	// A few percent of one CPU are not worth several: to look for work on all of them,
	// each time a timer wakes it, is a tenth of what the runtime costs then.
	procs := runtime.GOMAXPROCS(1)
	all := sync.OnceFunc(func() { runtime.GOMAXPROCS(procs) })
	defer all()
	h, err := c.watchPrograms(o)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.topShows(t) {
		return c.topScreen(ctx, t, h, pids, all)
	}
	return c.topLines(ctx, t, h, pids)
}

// topShows reports whether there is a terminal to draw on, and nothing else was chosen.
func (c *command) topShows(t *topping) bool {
	_, tty := terminal(c.Stdout)
	kind := os.Getenv("TERM")
	return tty && !t.json && t.frames == 0 && kind != "" && kind != "dumb"
}

// topScreen draws frames. The page, which answers others and opens recordings, gets all
// CPUs.
func (c *command) topScreen(ctx context.Context, t *topping, h *live.History, pids []int, all func()) error {
	ctx, stop := context.WithCancel(ctx)
	page := &livePage{c: c, ctx: ctx, h: h}
	defer page.serving.Wait()
	defer stop()
	s := screen.Options{Every: t.every, All: t.all, Plain: os.Getenv("NO_COLOR") != "", Page: func(pid int) (string, error) { all(); return page.open(pid) }}
	if len(pids) == 1 {
		s.Open = pids[0]
	}
	err := screen.Run(ctx, h, s)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, screen.ErrTerminal):
		return problem.New(problem.Absence, "gowhy top --once", "%w", err)
	}
	return err
}

// topLines writes frames one below the other.
func (c *command) topLines(ctx context.Context, t *topping, h *live.History, pids []int) error {
	wait := t.every
	for n := 1; t.frames == 0 || n <= t.frames; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		f, err := h.Refresh()
		if err != nil {
			return err
		}
		if err := f.Absent(pids); err != nil && len(f.Processes) == 0 {
			return problem.New(problem.Absence, "gowhy list", "%v", err)
		}
		wait = beat.UntilNext(max(t.every, f.Cost.Every))
		if err := c.topFrame(t, f, n, len(pids) > 0); err != nil {
			return err
		}
	}
	return nil
}

// topFrame writes the nth frame.
func (c *command) topFrame(t *topping, f *live.Frame, n int, open bool) error {
	if t.json {
		return json.NewEncoder(c.Stdout).Encode(f)
	}
	text := screen.Plain(f, cmp.Or(c.layout().Width, topWidth), open)
	if n > 1 {
		text = "\n" + text
	}
	if _, err := io.WriteString(c.Stdout, text); err != nil {
		return err
	}
	if len(f.Processes) == 0 && n == 1 {
		c.topNotes(f)
	}
	return nil
}

// topWidth is how wide lines are that do not go to a terminal.
const topWidth = 200

// topNotes says why nothing is shown.
func (c *command) topNotes(f *live.Frame) {
	hint := "gowhy top -a"
	what := []string{"no Go program runs here"}
	if f.Machine.Closed > 0 {
		what = append(what, figures.Plural(f.Machine.Closed, "process is", "processes are")+" not yours to look into")
		hint = "sudo gowhy top"
	}
	c.complain(strings.Join(what, "; "), hint)
}
