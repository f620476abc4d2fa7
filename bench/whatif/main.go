// Whatif measures how far the predictions of a what-if replay are off: it runs
// programs with a planted change, predicts the change from a trace of the
// unchanged program, measures it, and writes the pairs to
// internal/judge/whatif/bands.json, from where the command tells them.
//
// It hides how programs are traced and timed: every run is a process of its
// own, the unchanged program and its changed forms take turns in rounds, and a
// measured effect is the median of the ratios within rounds. It needs a machine
// with two cores and nothing else to do.
//
//	go run ./bench/whatif -o internal/judge/whatif/bands.json
//
// It never tunes the replay: what it measures is what is published.
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
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/judge/whatif"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "whatif:", err)
		os.Exit(1)
	}
}

type options struct {
	only, out, machine string
	rounds             int

	be, knobs, trace string // of a child
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("whatif", flag.ContinueOnError)
	f.StringVar(&o.only, "only", "", "only programs whose name contains `TEXT`")
	f.StringVar(&o.out, "o", "", "write the bands to this `FILE`")
	f.IntVar(&o.rounds, "rounds", 7, "how often everything is measured")
	f.StringVar(&o.machine, "machine", "", "what to call the machine, like a CPU's `NAME`")
	f.StringVar(&o.be, "be", "", "be the program `NAME`, as the measured process")
	f.StringVar(&o.knobs, "knobs", "{}", "of that program, `JSON`")
	f.StringVar(&o.trace, "trace", "", "trace that program to `FILE`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.be != "" {
		return be(o.be, o.knobs, o.trace, stdout)
	}
	if o.rounds < 1 {
		return errors.New("-rounds must be at least 1")
	}
	return measure(ctx, o, stdout)
}

// measure goes through the programs and writes what came of them.
func measure(ctx context.Context, o options, stdout io.Writer) error {
	dir, err := os.MkdirTemp("", "gowhy-whatif-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bands := &whatif.Bands{Schema: whatif.BandsSchema, Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(),
		Machine: o.machine, Cores: runtime.NumCPU()}
	fmt.Fprintf(stdout, "%-16s %-34s %7s %9s %8s %13s %6s\n", "program", "edit", "off", "predicted", "measured", "quartiles", "error")
	for _, p := range programs {
		if !strings.Contains(p.name, o.only) {
			continue
		}
		pairs, err := p.pairs(ctx, dir, o.rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, one := range pairs {
			tell(stdout, &one)
		}
		bands.Pairs = append(bands.Pairs, pairs...)
	}
	for _, k := range append([]whatif.Kind{""}, bands.Kinds()...) {
		fmt.Fprintln(stdout, bands.Band(k))
	}
	if o.out == "" {
		return nil
	}
	return save(o.out, bands)
}

func tell(w io.Writer, p *whatif.Pair) {
	if p.Refused != "" {
		fmt.Fprintf(w, "%-16s %-34s refused: %s\n", p.Program, p.Edit, p.Refused)
		return
	}
	fmt.Fprintf(w, "%-16s %-34s %+6.1f%% %9.3f %8.3f %6.3f-%.3f %5.0f%%\n", p.Program, p.Edit, 100*p.Off, p.Predicted, p.Measured, p.Low, p.High, 100*p.Error())
}

func save(path string, b *whatif.Bands) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(whatif.WriteBands(f, b), f.Close())
}

// pairs predicts and measures all changes of one program.
func (p *program) pairs(ctx context.Context, dir string, rounds int) ([]whatif.Pair, error) {
	path := filepath.Join(dir, strings.ReplaceAll(p.name, " ", "-")+".trace")
	if _, err := p.child(ctx, p.now, path); err != nil {
		return nil, err
	}
	pairs, err := p.predict(ctx, path)
	if err != nil {
		return nil, err
	}
	ratios := make([][]float64, len(p.changes))
	for range rounds {
		before, err := p.child(ctx, p.now, "")
		if err != nil {
			return nil, err
		}
		for i, c := range p.changes {
			after, err := p.child(ctx, c.then, "")
			if err != nil {
				return nil, err
			}
			ratios[i] = append(ratios[i], float64(after)/float64(before))
		}
	}
	for i := range pairs {
		slices.Sort(ratios[i])
		n := len(ratios[i])
		pairs[i].Low, pairs[i].Measured, pairs[i].High = ratios[i][n/4], ratios[i][n/2], ratios[i][n-1-n/4]
	}
	return pairs, os.Remove(path)
}

func (p *program) predict(ctx context.Context, path string) ([]whatif.Pair, error) {
	tr, err := exectrace.Open(path)
	if err != nil {
		return nil, err
	}
	defer tr.Close()
	pairs := make([]whatif.Pair, len(p.changes))
	for i, c := range p.changes {
		pairs[i] = whatif.Pair{Program: p.name, Edit: c.edit.String(), Kind: c.edit.Kind()}
	}
	prog, err := whatif.Read(ctx, tr, whatif.Options{Cores: runtime.NumCPU()})
	var refused *whatif.RefusedError
	if errors.As(err, &refused) {
		for i := range pairs {
			pairs[i].Refused = refused.Why
		}
		return pairs, nil
	}
	if err != nil {
		return nil, err
	}
	for i, c := range p.changes {
		res, err := prog.Run(c.edit)
		if err != nil { // a lock that nobody waited for, a function without samples
			pairs[i].Refused = err.Error()
			continue
		}
		pairs[i].Off, pairs[i].Predicted = prog.ReplayExcess(), res.Ratio
	}
	return pairs, nil
}

// child runs the program as a process of its own, and returns how long its
// work took.
func (p *program) child(ctx context.Context, k knobs, trace string) (time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	text, err := json.Marshal(k)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-be", p.name, "-knobs", string(text), "-trace", trace)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Duration(ns), err
}
