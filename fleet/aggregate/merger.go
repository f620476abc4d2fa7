package aggregate

import (
	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/fleet/store"
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

// profile is all rows with their frames, without types yet.
func (m *merger) profile() *profile.Profile {
	type name struct{ function, file string }
	p := &profile.Profile{}
	functions, locations := map[name]*profile.Function{}, map[store.Frame]*profile.Location{}
	at := func(f store.Frame) *profile.Location {
		l := locations[f]
		if l != nil {
			return l
		}
		n := name{f.Function, f.File}
		if functions[n] == nil {
			functions[n] = &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
			p.Function = append(p.Function, functions[n])
		}
		l = &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: functions[n], Line: int64(f.Line)}}}
		locations[f], p.Location = l, append(p.Location, l)
		return l
	}
	for _, id := range m.order {
		sample := &profile.Sample{Value: m.rows[id]}
		for _, f := range m.frames[id] {
			sample.Location = append(sample.Location, at(*f))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}
