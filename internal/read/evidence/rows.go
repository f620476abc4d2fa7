package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A rowReader follows what goroutines write to connections, for what they write in a row: with no wait in
// between, nothing has come that was not there before the first of them.
type rowReader struct {
	goroutines map[int64]*writeRow
	sums       map[exectrace.Frame]*rowSum // by the line of the program that writes
}

// A writeRow is what a goroutine has written since it last waited.
type writeRow struct {
	writes int64
	last   *stop
}

type rowSum struct {
	rows, writes int64
	frames       []exectrace.Frame
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
		if s.kind != onSocket || ofFile(s.frames) {
			return
		}
		if row == nil {
			row = &writeRow{}
			r.goroutines[g] = row
		}
		row.writes, row.last = row.writes+1, s
	case strings.HasPrefix(s.reason, "GC "), strings.HasPrefix(s.reason, "sync"), s.reason == "network" && sends(s.frames):
		// The collector, a lock, a peer that takes its time: it goes on writing.
	default:
		r.end(row)
	}
}

// end adds a row that is over.
func (r *rowReader) end(row *writeRow) {
	if row == nil || row.writes == 0 {
		return
	}
	sum := r.sums[row.last.leaf]
	if sum == nil {
		sum = &rowSum{frames: row.last.frames}
		r.sums[row.last.leaf] = sum
	}
	sum.rows, sum.writes = sum.rows+1, sum.writes+row.writes
	row.writes = 0
}

// found returns the lines that write, those that write most first.
func (r *rowReader) found(m *model.Model) (out []model.WriteRow) {
	for _, row := range r.goroutines {
		r.end(row)
	}
	stacks := waitStacks(m)
	for _, sum := range r.sums {
		if stack := stacks[framesText(modelFrames(sum.frames))]; stack != 0 {
			out = append(out, model.WriteRow{Stack: stack, Rows: sum.rows, Writes: sum.writes})
		}
	}
	slices.SortFunc(out, func(a, b model.WriteRow) int {
		return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Stack, b.Stack))
	})
	return out
}
