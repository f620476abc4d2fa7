package trial

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// A Bench runs a program with settings.
type Bench struct {
	program subject.Program
	spec    subject.Spec
	traces  bool // the command takes the name of a trace's file
}

// Bench returns where a command does its work with settings.
func (w *Work) Bench(command []string, log func(string)) (*Bench, error) {
	spec, err := w.spec(log)
	return &Bench{subject.Program{Command: command}, spec, subject.HasPlace(command, placeTrace)}, err
}

// subject returns the program with a setting; trace is the file for a trace, empty
// for none.
func (r *Bench) subject(s experiment.Setting, trace string) (*subject.Subject, error) {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		values[name] = strconv.FormatFloat(s[name], 'f', -1, 64)
	}
	if r.traces {
		values[placeTrace] = trace
	}
	p, err := r.program.WithSettings(values)
	if err != nil {
		return nil, err
	}
	spec := r.spec
	spec.Program = p
	return subject.New(spec)
}

// At runs it with a setting.
func (r *Bench) At(s experiment.Setting) experiment.Runner {
	return func(ctx context.Context) (experiment.Sample, error) {
		sub, err := r.subject(s, "")
		if err != nil {
			return experiment.Sample{}, err
		}
		defer sub.Close()
		return sub.Run(ctx)
	}
}

// Record has a trace of the program with a setting.
func (r *Bench) Record(ctx context.Context, s experiment.Setting) (*model.Model, error) {
	if r.traces {
		return r.written(ctx, s)
	}
	return r.recorded(ctx, s)
}

// written has the program write the trace itself.
func (r *Bench) written(ctx context.Context, s experiment.Setting) (*model.Model, error) {
	dir, err := os.MkdirTemp("", "gowhy-trace-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trace.out")
	sub, err := r.subject(s, file)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	if _, err := sub.Run(ctx); err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil, errors.New("the program wrote no trace to the file that {trace} named")
	}
	return evidence.Load(ctx, []string{file}, evidence.Options{})
}

// recorded records the program's trace.
func (r *Bench) recorded(ctx context.Context, s experiment.Setting) (*model.Model, error) {
	spec := r.spec
	spec.Also = []string{string(model.Trace)}
	traced := &Bench{program: r.program, spec: spec}
	sub, err := traced.subject(s, "")
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	_, m, err := sub.Count(ctx)
	if err == nil && m.Sched == nil {
		err = errors.New("the program cannot be traced: it has neither net/http/pprof nor gowhy's agent, and takes no file's name for {trace}")
		m = nil
	}
	return m, err
}
