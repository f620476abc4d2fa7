// Storebench measures the fleet's store and writes that to fleet/storebench/runs: how many rows a
// second of CPU keeps, how long questions take, how much memory and disk it needs, whether
// that grows faster than the data, and what the same costs with google/pprof.
//
// It hides how a store of a known size is made, how a figure is taken in a process of its
// own, and how rounds become a median with extremes. CPU time is the kernel's and without
// the generator's. README.md beside it tells how to reproduce a run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	large  bool
	rounds int
	only   string
	out    string

	measure string // of a child: the measurement to take
	flood   int    // of a child: number of clients
	name    int    // bytes of the names in what they push
	to      string // the server that they push to
	fill    string // the directory to fill
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.large, "large", false, "also 100 million rows: some minutes and 200 MB of disk")
	f.IntVar(&o.rounds, "rounds", 3, "how often everything is measured")
	f.StringVar(&o.only, "only", "", "only these `MEASUREMENTS`, separated by commas: "+strings.Join(names(), ", "))
	f.StringVar(&o.out, "o", "fleet/storebench/runs", "where the run's directory is made; empty writes none")
	f.StringVar(&o.measure, "measure", "", "take the `MEASUREMENT`, as the measured process")
	f.IntVar(&o.flood, "flood", 0, "push as so many `CLIENTS`, as their process")
	f.IntVar(&o.name, "name", 0, "push functions whose names have so many `BYTES`, as that process; 0 pushes many stacks")
	f.StringVar(&o.fill, "fill", "", "make a store of 10^7 rows in a `DIRECTORY`, as its process")
	f.StringVar(&o.to, "to", "", "the `URL` that they push to")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.rounds < 1 || f.NArg() > 0 {
		return errors.New("-rounds must be at least 1, and there are no arguments")
	}
	if o.fill != "" {
		return fillDay(ctx, o.fill)
	}
	if o.flood > 0 {
		return floodClients(ctx, o.flood, o.name, o.to, stdout)
	}
	if o.measure != "" {
		return measure(ctx, o.measure, stdout)
	}
	result, err := measureAll(ctx, o, stderr)
	if err != nil {
		return err
	}
	if o.out != "" {
		dir, err := result.save(o.out)
		if err != nil {
			return err
		}
		fmt.Fprintln(stderr, "written to", dir)
	}
	return result.write(stdout)
}

// measure takes a measurement and writes its figures as JSON.
func measure(ctx context.Context, name string, stdout io.Writer) error {
	for _, m := range measurements {
		if m.name != name {
			continue
		}
		dir, err := os.MkdirTemp("", "gowhy-fleet-bench-")
		if err != nil {
			return err
		}
		figures, err := m.take(ctx, dir)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return json.NewEncoder(stdout).Encode(figures)
	}
	return fmt.Errorf("there is no measurement %q", name)
}

// measureAll takes all in rounds, each measurement in a process of its own.
func measureAll(ctx context.Context, o options, stderr io.Writer) (*Result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &Result{Schema: schema, Date: time.Now().Format(time.DateOnly), Machine: thisMachine(), Rounds: o.rounds}
	for round := range o.rounds {
		for _, m := range measurements {
			chosen := o.only == "" || slices.Contains(strings.Split(o.only, ","), m.name)
			if !chosen || m.large && (!o.large || round > 0) {
				continue
			}
			fmt.Fprintf(stderr, "round %d: %s\n", round+1, m.name)
			child := exec.CommandContext(ctx, program, "-measure", m.name)
			child.Stderr = stderr
			out, err := child.Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			var figures []Figure
			if err := json.Unmarshal(out, &figures); err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			for i := range figures {
				figures[i].Measurement, figures[i].Round = m.name, round+1
			}
			r.Runs = append(r.Runs, figures...)
		}
	}
	r.summarize()
	return r, nil
}

// A measurement gives figures, in a directory that is its own.
type measurement struct {
	name  string
	large bool // only where the command line says so, and once
	take  func(ctx context.Context, dir string) ([]Figure, error)
}

var measurements = []measurement{
	{"ingest", false, measureIngest},
	{"growth-1m", false, growth(1e6)},
	{"growth-10m", false, growth(1e7)},
	{"growth-100m", true, growth(1e8)},
	{"acknowledge", false, measureAcknowledge},
	{"questions", false, measureQuestions},
	{"fleet", false, measureFleet},
	{"memory", false, measureMemory},
	{"flood-1", false, flood(1, 0)},
	{"flood-4", false, flood(4, 0)},
	{"flood-40", false, flood(40, 0)},
	{"flood-200", false, flood(200, 0)},
	{"names-40-1", false, flood(1, 40)},
	{"names-40-20", false, flood(20, 40)},
	{"names-40-40", false, flood(40, 40)},
	{"names-400-1", false, flood(1, 400)},
	{"names-400-20", false, flood(20, 400)},
	{"names-400-40", false, flood(40, 400)},
	{"names-4000-1", false, flood(1, 4000)},
	{"names-4000-20", false, flood(20, 4000)},
	{"names-4000-40", false, flood(40, 4000)},
	{"asking", false, measureAsking},
	{"pprof", false, measurePprof},
}

func names() []string {
	var all []string
	for _, m := range measurements {
		all = append(all, m.name)
	}
	return all
}
