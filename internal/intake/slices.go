package intake

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/export"
	"github.com/gowhy/gowhy/internal/model"
)

// Slices are the single runs of a trace, for an export that draws them. The trace
// is read again for them, since the model does not keep single runs.
type Slices struct {
	Context context.Context
	Files   []string
	Window  evidence.Window
	Group   string // only goroutines with this start function; empty is all
	// Progress, if set, is told how far into the trace the iteration is.
	Progress func(time.Duration)
	err      error // of the iteration, for afterwards
}

// Write writes a file whole, or fails.
func (s *Slices) Write(w io.Writer, f export.Format, m *model.Model, o export.Options) error {
	err := f.Write(w, m, o)
	return cmp.Or(s.err, err) // a file whose slices end early looks whole
}

// All is an iterator.
func (s *Slices) All(yield func(export.Slice) bool) {
	s.err = evidence.EachRun(s.Context, s.Files, evidence.Options{Window: s.Window}, func(run evidence.Run) bool {
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

// slicesOf are the single runs of files that a page shows.
func slicesOf(files []string) func(yield func(export.Slice) bool) {
	return func(yield func(export.Slice) bool) {
		s := &Slices{Context: context.Background(), Files: files}
		s.All(yield)
		if s.err != nil {
			panic(s.err) // a sequence has no other way to say that this is not all
		}
	}
}
