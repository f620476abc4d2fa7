//go:build linux

// Top is a process monitor: the fourth case study. It watches a process, its
// descendants and their threads, by one of three designs of which two are
// illnesses; the story, the figures and the cure are in CASE.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A watch is what the monitor is asked for.
type watch struct {
	pid           int
	tree, threads bool
	every         int
}

// A row is a process or a thread as it was last read.
type row struct {
	id, depth          int
	thread             bool
	name               string
	state              byte
	user, system, wait time.Duration // wait is negative when it is not known
	rss                uint64
}

// A monitor reads what is watched. It may be used from several goroutines.
type monitor interface {
	update() error
	rows() []row // those of the last update, parents before children
	// kept is how many files are open to be read again.
	kept() int
	close()
}

// designs are the monitors by name.
var designs = map[string]func(watch) (monitor, error){
	"readfile":  newReadFile,
	"broadcast": newBroadcast,
	"kept":      newKept,
}

// A run is one run of the program.
type run struct {
	watch
	design    string
	interval  time.Duration
	refreshes int
	screen    *screen
}

func main() {
	if os.Getenv(idleVariable) != "" {
		idle()
	}
	r := run{screen: newScreen(os.Stdout)}
	flag.StringVar(&r.design, "design", "readfile", "`DESIGN`, how files are read: readfile opens each anew, broadcast wakes a goroutine for each by closing a channel, kept keeps them open")
	flag.IntVar(&r.pid, "pid", 0, "the process to watch; 0 is this program itself")
	flag.BoolVar(&r.tree, "tree", true, "watch its descendants too")
	flag.BoolVar(&r.threads, "thread", true, "watch their threads too")
	flag.DurationVar(&r.interval, "interval", time.Second, "time from refresh to refresh; 0 is as fast as it goes")
	flag.IntVar(&r.refreshes, "refreshes", 0, "end after so many; 0 is until an interrupt")
	flag.IntVar(&r.every, "every", 1, "with -design broadcast, each goroutine reads its file at every so-manyth call only")
	processes := flag.Int("processes", 0, "start so many processes that do nothing, to be watched")
	procs := flag.Int("procs", 0, "GOMAXPROCS, more than there is work for is an illness; 0 leaves it as it is")
	evidence := observed.Flags(flag.CommandLine)
	flag.Parse()
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	if err := r.main(*processes, evidence); err != nil {
		fmt.Fprintln(os.Stderr, "top:", err)
		os.Exit(1)
	}
}

func (r *run) main(processes int, evidence *observed.Evidence) error {
	if err := r.check(processes); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	population, err := populate(processes)
	if err != nil {
		return err
	}
	defer population.end()
	m, err := designs[r.design](r.watch)
	if err != nil {
		return err
	}
	defer m.close()
	var cost cost
	_, err = evidence.Run(func() (err error) {
		cost, err = r.watchWith(ctx, m)
		return err
	})
	if err != nil && cost.refreshes == 0 {
		return err
	}
	if !r.screen.live {
		r.screen.show(m.rows())
	}
	fmt.Printf("\n%s, %d rows, %d files kept open, %s\noperations: %d\n", r.design, len(m.rows()), m.kept(), cost, cost.refreshes)
	return err
}

func (r *run) check(processes int) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is no flag; a process is watched with -pid", flag.Arg(0))
	case designs[r.design] == nil:
		return fmt.Errorf("-design %q is none of %s", r.design, strings.Join(slices.Sorted(maps.Keys(designs)), ", "))
	case r.pid < 0 || r.interval < 0 || r.refreshes < 0:
		return errors.New("-pid, -interval and -refreshes must not be negative")
	case r.every < 1:
		return errors.New("-every must be at least 1")
	case processes < 0 || processes > maxPopulation:
		return fmt.Errorf("-processes must be from 0 to %d", maxPopulation)
	}
	if r.pid == 0 {
		r.pid = os.Getpid()
	}
	return nil
}

// A cost is what refreshes took.
type cost struct {
	refreshes    int
	user, system time.Duration
}

func (c cost) String() string {
	n := time.Duration(max(1, c.refreshes))
	return fmt.Sprintf("CPU of a refresh: %v user, %v system", (c.user / n).Round(time.Microsecond), (c.system / n).Round(time.Microsecond))
}

// watchWith refreshes until it has done so often enough, ctx ends or what is
// watched does. The first refresh, which finds everything new, is not in the cost.
func (r *run) watchWith(ctx context.Context, m monitor) (c cost, err error) {
	if err := m.update(); err != nil {
		return c, err
	}
	user, system := used()
	var due <-chan time.Time
	if r.interval > 0 {
		tick := time.NewTicker(r.interval)
		defer tick.Stop()
		due = tick.C
	}
	for err == nil && ctx.Err() == nil && (r.refreshes == 0 || c.refreshes < r.refreshes) {
		if due != nil {
			select {
			case <-due:
			case <-ctx.Done():
				continue
			}
		}
		if err = m.update(); err == nil {
			c.refreshes++
		}
		if r.screen.live {
			r.screen.show(m.rows())
		}
	}
	u, s := used()
	c.user, c.system = u-user, s-system
	return c, err
}

// used returns the CPU time of this process so far.
func used() (user, system time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
