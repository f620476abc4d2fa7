package aggregate

import (
	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/stacks"
)

// A merger puts the columns of several types beside each other, by stack.
type merger struct {
	columns int
	order   []store.StackID
	rows    map[store.StackID][]int64
	frames  map[store.StackID][]*store.Frame
}

func (m *merger) add(column int, stacks *store.Stacks) {
	for _, s := range stacks.Samples {
		row := m.rows[s.Stack]
		if row == nil {
			row = make([]int64, m.columns)
			m.rows[s.Stack] = row
			m.order = append(m.order, s.Stack)
			m.frames[s.Stack] = stacks.Frames[s.Stack]
		}
		row[column] += s.Value
	}
}

// count makes one column of another: how many periods its values are.
func (m *merger) count(column, of int, period int64) {
	for _, row := range m.rows {
		row[column] = (row[of] + period/2) / period
	}
}

// profile returns all rows with their frames, without types yet.
func (m *merger) profile() *profile.Profile {
	p := &profile.Profile{}
	w := stacks.NewWriter(p)
	for _, id := range m.order {
		sample := &profile.Sample{Value: m.rows[id]}
		for _, f := range m.frames[id] {
			sample.Location = append(sample.Location, w.Location(stacks.Frame{Func: f.Function, File: f.File, Line: int(f.Line)}))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}
