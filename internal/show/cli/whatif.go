package cli

import (
	"context"
	"errors"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/whatif"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// whatIfOptions are the flags of whatif.
type whatIfOptions struct {
	procs, cores int
	locks, scale []string
	gc           float64
	json         bool
	out, window  string
}

func (c *command) whatIfCommand() *cobra.Command {
	o := &whatIfOptions{}
	cmd := &cobra.Command{
		Use:   "whatif FILE",
		Short: "Replay a trace under a change and predict its effect",
		Long: `Replays an execution trace in a simulation of the scheduler, with Ps, locks and
wake-ups, under a change, and predicts how long it would have taken. Several
changes are made together. Without any, the usual ones are tried and ranked:
where a fix would bring most. How far the replay of the unchanged trace is off,
and how far predictions were off where they could be checked, stands with it.
A prediction is not a measurement: gowhy verify makes one.`,
		Example: `  gowhy whatif trace.out
  gowhy whatif run.gowhy --procs 4
  gowhy whatif trace.out --lock 'main.(*Cache).Get=0'          no waits at all
  gowhy whatif trace.out --lock 'main.(*Cache).Get:42=shard:4' four locks
  gowhy whatif trace.out --scale main.worker=0.5 --gc 0.5      both at once`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usageError("gowhy whatif trace.out", "whatif takes one file with a trace, not %d", len(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.whatIf(cmd, args[0], o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.procs, "procs", 0, "with this GOMAXPROCS, `N`")
	f.StringArrayVar(&o.locks, "lock", nil, "with a lock changed, `SITE=CHANGE`: 0.5 held half as long, 0 not at all, shard:4")
	f.StringArrayVar(&o.scale, "scale", nil, "with the work of a group or sampled function times a factor, `NAME=0.5`")
	f.Float64Var(&o.gc, "gc", 1, "with the collector's work times this `FACTOR`")
	f.IntVar(&o.cores, "cores", 0, "cores that the program had, `N` (default: as recorded)")
	f.StringVar(&o.window, "window", "", "only this piece of the trace, like 1.5s,3s (`FROM,TO` since its start)")
	f.BoolVar(&o.json, "json", false, "as JSON")
	f.StringVarP(&o.out, "output", "o", "", "write to this `FILE`")
	return cmd
}

// edits reads the changes that the flags ask for.
func (o *whatIfOptions) edits(cmd *cobra.Command) (list []whatif.Edit, err error) {
	if cmd.Flags().Changed("procs") {
		list = append(list, whatif.WithProcs(o.procs))
	}
	add := func(e whatif.Edit, failed error) {
		list = append(list, e)
		if err == nil {
			err = failed
		}
	}
	for _, s := range o.locks {
		add(whatif.ParseLock(s))
	}
	for _, s := range o.scale {
		add(whatif.ParseScale(s))
	}
	if cmd.Flags().Changed("gc") {
		list = append(list, whatif.WithGC(o.gc))
	}
	return list, err
}

func (c *command) whatIf(cmd *cobra.Command, path string, o *whatIfOptions) error {
	ctx := cmd.Context()
	edits, err := o.edits(cmd)
	if err != nil {
		return c.whatIfError(path, err)
	}
	if o.cores < 0 {
		return usageError("--cores 4", "--cores %d is negative", o.cores)
	}
	if err := checkOutput(o.out); err != nil {
		return err
	}
	p, from, err := c.program(ctx, path, o)
	if err != nil {
		return c.whatIfError(path, err)
	}
	r := &trialreport.WhatIf{Base: p.Baseline(), Menu: len(edits) == 0, Bands: whatif.Measured(), CoresFrom: from}
	if r.Menu {
		tell := c.startProgress("replaying", 0)
		told := tell.callback()
		r.Results, err = p.Menu(ctx, func(done, of int) {
			if told != nil {
				told(int64(done), int64(of))
			}
		})
		tell.stop()
	} else {
		var one whatif.Result
		one, err = p.Run(edits...)
		r.Results = []whatif.Result{one}
	}
	if err != nil {
		return c.whatIfError(path, err)
	}
	return c.output(o.out, func(w io.Writer, l layout.Options) error {
		if o.json {
			return trialreport.WhatIfJSON(w, r)
		}
		return trialreport.WhatIfText(w, r, l)
	})
}

// program reads the trace of a file or a recording. from says how the number
// of cores is known.
func (c *command) program(ctx context.Context, path string, o *whatIfOptions) (p *whatif.Program, from string, err error) {
	tr, recorded, done, err := c.openTrace(path)
	if err != nil {
		return nil, "", err
	}
	defer done()
	options := whatif.Options{Cores: o.cores}
	from = "--cores"
	if o.cores == 0 && recorded {
		m, err := c.read(ctx, []string{path}, readOptions{keep: 1})
		if err != nil {
			return nil, "", err
		}
		options.Cores, from = int(math.Round(m.Usable())), "as recorded"
	}
	if options.Window, err = whatIfWindow(tr, o.window); err != nil {
		return nil, "", err
	}
	tell := c.startProgress("reading", 0)
	defer tell.stop()
	options.Progress = tell.callback()
	p, err = whatif.Read(ctx, tr, options)
	return p, from, err
}

// whatIfWindow returns a window of the flag on the trace's own clock.
func whatIfWindow(tr *exectrace.Trace, s string) (exectrace.Range, error) {
	w, err := parseWindow(s)
	if err != nil || s == "" {
		return exectrace.Range{}, err
	}
	info, err := tr.Info()
	if err != nil {
		return exectrace.Range{}, err
	}
	r := exectrace.Range{From: info.Start + exectrace.Time(w.From), To: math.MaxInt64}
	if w.To != 0 {
		r.To = info.Start + exectrace.Time(w.To)
	}
	return r, nil
}

// openTrace opens a trace, by itself or inside a recording.
func (c *command) openTrace(path string) (tr *exectrace.Trace, recorded bool, done func(), err error) {
	if path == "-" {
		tr, err = exectrace.NewReader(c.Stdin)
		return tr, false, func() {}, err
	}
	if info, err := os.Stat(path); err != nil {
		return nil, false, nil, problem.New(problem.Absence, "gowhy whatif trace.out", "cannot read %q: %v", path, problem.Cause(err))
	} else if info.IsDir() {
		return nil, false, nil, usageError("gowhy whatif trace.out", "%q is a directory, not a trace", path)
	}
	rec, err := recording.Open(path)
	if errors.Is(err, recording.ErrFormat) {
		tr, err = exectrace.Open(path)
		return tr, false, func() { tr.Close() }, err
	}
	if err != nil {
		return nil, false, nil, err
	}
	for _, m := range rec.Members {
		if m.Name != recording.TraceMember {
			continue
		}
		at, ok := m.ReaderAt()
		if !ok {
			break
		}
		tr, err = exectrace.NewReaderAt(at, at.Size())
		return tr, true, func() { rec.Close() }, err
	}
	rec.Close()
	return nil, false, nil, problem.New(problem.Absence, "gowhy record --help   # a recording has one", "%q has no execution trace", path)
}

// whatIfError turns errors of reading and replaying into what a user can act on.
func (c *command) whatIfError(path string, err error) error {
	var refused *whatif.RefusedError
	var unclear *problem.Error
	switch {
	case errors.As(err, &refused):
		return problem.New(problem.Absence, "gowhy diagnose "+shell.Word(path)+"   # what the trace does say", "%w", refused)
	case errors.As(err, &unclear) && unclear.Hint == "":
		return usageError("gowhy whatif "+shell.Word(path)+"   # what there is", "%w", unclear)
	case errors.Is(err, exectrace.ErrNotTrace), errors.Is(err, exectrace.ErrNoEvents), errors.Is(err, exectrace.ErrOldFormat):
		return problem.New(problem.Absence, "gowhy record --help   # a recording has one", "cannot replay %q: %v", path, err)
	}
	return err
}

// replay predicts what the fix of a finding brings, by replaying the trace of a
// recording; nil where the trace cannot carry it. A trial decides without a prediction: a
// fault in one is no reason to end it.
func (c *command) replay(ctx context.Context, path string, f *diagnosis.Finding) (r *trial.Replay) {
	defer func() {
		if fault := recover(); fault != nil {
			r = nil
		}
	}()
	p, _, err := c.program(ctx, path, &whatIfOptions{})
	if err != nil {
		return nil
	}
	return trial.Predict(p, f)
}
