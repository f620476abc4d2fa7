package intake

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/show/web"
)

// keptGoroutines is how many goroutines of each group a page can list. Ten times as
// many make reading a trace of many short goroutines slower by a tenth.
const keptGoroutines = 200

// A Reader reads the evidence of runs for a page.
type Reader struct {
	Rules   []*diagnosis.Rule
	Goal    diagnosis.Goal
	Workers int // cores used; 0 is all
	Stdin   io.Reader
	Tools   []web.Tool
	Fault   func(error) // hears of files that were left out
}

// Open reads the evidence of one run. Of several files that were given together, those that
// cannot be read are left out, which the run and the terminal say. What was dropped on the
// page is whole or not at all: its sender gets the error.
func (r *Reader) Open(ctx context.Context, s web.RunFiles, progress func(read, size int64)) (*web.View, error) {
	v, err := r.read(ctx, s, nil, progress)
	if err == nil || s.Dropped || len(s.Files) < 2 || ctx.Err() != nil {
		return v, err
	}
	good, faults := r.readable(ctx, s.Files)
	if len(good) == 0 || len(faults) == 0 {
		return nil, err
	}
	var notes []string
	for _, f := range faults {
		notes = append(notes, "not read: "+f.Error())
	}
	s.Files = good
	if v, err = r.read(ctx, s, notes, progress); err != nil {
		return nil, err
	}
	for _, f := range faults {
		r.Fault(f)
	}
	return v, nil
}

// readable tells which files can be read by themselves, and why the others cannot.
func (r *Reader) readable(ctx context.Context, files []string) (good []string, faults []error) {
	for _, f := range files {
		if f == "-" { // which is read by now
			return nil, nil
		}
		begin, err := Head(f)
		if err == nil && !bytes.HasPrefix(begin, []byte("go 1.")) { // a trace has its faults inside
			_, err = evidence.Load(ctx, []string{f}, evidence.Options{Workers: r.Workers})
		}
		if err != nil {
			faults = append(faults, err)
		} else {
			good = append(good, f)
		}
	}
	return good, faults
}

// Whole reads the evidence of one run, of which no file is left out.
func (r *Reader) Whole(ctx context.Context, s web.RunFiles, progress func(read, size int64)) (*web.View, error) {
	return r.read(ctx, s, nil, progress)
}

// read reads the accounts and the timeline in one pass over the trace, which
// stays open for what is looked at closely. It is never closed again: answers may
// be reading it until the process ends.
func (r *Reader) read(ctx context.Context, s web.RunFiles, notes []string, progress func(read, size int64)) (*web.View, error) {
	var builder timeline.Builder
	var trace *exectrace.Trace
	var release func() error
	m, err := evidence.Load(ctx, s.Files, evidence.Options{
		Keep: keptGoroutines, Workers: r.Workers, Progress: progress, Stdin: r.Stdin,
		Trace: func(t *exectrace.Trace, done func() error) func(*exectrace.Piece) {
			trace, release = t, done
			return builder.Add
		},
	})
	if err != nil {
		if release != nil {
			_ = release() // the error that matters is the first
		}
		return nil, err
	}
	if s.Dropped {
		baseNames(s.Files, m)
	}
	m.Run.Coverage.Notes = append(m.Run.Coverage.Notes, notes...)
	m = m.Frozen()
	v := &web.View{
		Name:      s.Name,
		Model:     m,
		Diagnosis: diagnosis.Run(m, r.Rules, diagnosis.Options{Goal: r.Goal}),
		Tools:     slices.Clone(r.Tools), // each run has its own, with its own addresses
	}
	v.Members, v.Fetch = members(s.Files)
	if trace != nil {
		v.Timeline = builder.Timeline(trace, m)
		if !slices.Contains(s.Files, "-") {
			v.Slices = slicesOf(s.Files)
		}
	}
	return v, nil
}

// baseNames leaves of the names of files what their sender called them: where
// dropped files lie is the server's affair.
func baseNames(files []string, m *model.Model) {
	var pairs []string
	for _, f := range files {
		pairs = append(pairs, filepath.Dir(f)+string(filepath.Separator), "")
	}
	names := strings.NewReplacer(pairs...)
	for i, f := range m.Run.Files {
		m.Run.Files[i] = filepath.Base(f)
	}
	m.Run.Recording = names.Replace(m.Run.Recording)
	for i, n := range m.Run.Coverage.Notes {
		m.Run.Coverage.Notes[i] = names.Replace(n)
	}
}

// Slices are the single runs of a trace, for an export that draws them. The trace
// is read again for them, since the model does not keep single runs.
type Slices struct {
	Context context.Context
	Files   []string
	Window  evidence.Window
	Group   string // only goroutines with this start function; empty is all
	// Progress, if set, is called with how far into the trace the iteration is.
	Progress func(time.Duration)
	err      error // of the iteration, for afterwards
}

// Write writes a file whole, or fails.
func (s *Slices) Write(w io.Writer, f export.Format, m *model.Model, o export.Options) error {
	err := f.Write(w, m, o)
	return cmp.Or(s.err, err) // a file whose slices end early looks whole
}

// All yields what goroutines did in the window, one slice for each time that they ran or were in a system call.
func (s *Slices) All(yield func(export.Slice) bool) {
	s.err = evidence.EachStretch(s.Context, s.Files, evidence.Options{Window: s.Window}, func(run evidence.Stretch) bool {
		if s.Progress != nil {
			s.Progress(run.End)
		}
		slice := export.Slice{Proc: run.Proc, Goroutine: run.Goroutine, Group: run.Group, Begin: run.Begin, End: run.End}
		if run.Syscall {
			slice.Name = "system call"
		}
		return s.Group != "" && slice.Group != s.Group || yield(slice)
	})
}

// slicesOf returns the single runs of files that a page shows.
func slicesOf(files []string) func(yield func(export.Slice) bool) {
	return func(yield func(export.Slice) bool) {
		s := &Slices{Context: context.Background(), Files: files}
		s.All(yield)
		if s.err != nil {
			panic(s.err) // a sequence has no other way to say that this is not all
		}
	}
}
