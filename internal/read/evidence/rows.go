package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A rowReader follows some system calls of goroutines, for those that they make in a row: with no wait in
// between, nothing has come that was not there before the first of them.
type rowReader struct {
	counts     func(*stop) bool // whether a system call is one of them
	goroutines map[int64]*callRow
	sums       map[exectrace.Frame]*rowSum // by the line of the program that makes them
}

// A callRow is what a goroutine has called since it last waited.
type callRow struct {
	calls int64
	last  *stop
}

type rowSum struct {
	rows, calls int64
	frames      []exectrace.Frame
}

func newRowReader(counts func(*stop) bool) *rowReader {
	return &rowReader{counts: counts, goroutines: map[int64]*callRow{}, sums: map[exectrace.Frame]*rowSum{}}
}

// writesToConnection reports whether a system call is such a write.
func writesToConnection(s *stop) bool { return s.kind == onSocket && !ofFile(s.frames) }

// placedReads are the functions of a read that says where in the file, which are the innermost but a few.
var placedReads = []string{"syscall.Pread", "syscall.pread", "golang.org/x/sys/unix.Pread", "golang.org/x/sys/unix.pread"}

// readsAtPlace reports whether a system call is a read that says where in the file.
func readsAtPlace(s *stop) bool {
	return slices.ContainsFunc(s.frames[:min(len(s.frames), 4)], func(f exectrace.Frame) bool { return slices.Contains(placedReads, f.Func) })
}

// next takes one transition of a goroutine, which may be a stop.
func (r *rowReader) next(e *exectrace.Event, s *stop) {
	g, _, to := e.GoTransition()
	row := r.goroutines[g]
	switch {
	case to == exectrace.Dead:
		r.end(row)
		delete(r.goroutines, g)
	case s == nil:
	case s.to == exectrace.Syscall:
		if !s.own || !r.counts(s) {
			return
		}
		if row == nil {
			row = &callRow{}
			r.goroutines[g] = row
		}
		row.calls, row.last = row.calls+1, s
	case strings.HasPrefix(s.reason, "GC "), strings.HasPrefix(s.reason, "sync"), s.reason == "network" && sends(s.frames):
		// The collector, a lock, a peer that takes its time: it goes on writing.
	default:
		r.end(row)
	}
}

// end adds a row that is over.
func (r *rowReader) end(row *callRow) {
	if row == nil || row.calls == 0 {
		return
	}
	sum := r.sums[row.last.leaf]
	if sum == nil {
		sum = &rowSum{frames: row.last.frames}
		r.sums[row.last.leaf] = sum
	}
	sum.rows, sum.calls = sum.rows+1, sum.calls+row.calls
	row.calls = 0
}

// found returns the lines that make the calls, those that make most first.
func (r *rowReader) found(m *model.Model) (out []model.CallRow) {
	for _, row := range r.goroutines {
		r.end(row)
	}
	stacks := waitStacks(m)
	for _, sum := range r.sums {
		if stack := stacks[framesText(modelFrames(sum.frames))]; stack != 0 {
			out = append(out, model.CallRow{Stack: stack, Rows: sum.rows, Calls: sum.calls})
		}
	}
	slices.SortFunc(out, func(a, b model.CallRow) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Stack, b.Stack))
	})
	return out
}
