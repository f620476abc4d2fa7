package model

import (
	"cmp"
	"slices"
	"time"
)

// A FunctionCost is what a function costs: by itself, and with all that it calls.
type FunctionCost struct {
	Name            string
	CPU, CumCPU     time.Duration
	Bytes, CumBytes float64 // allocated in the window
	InUse, CumInUse float64 // of the heap at its end
}

// Functions returns the sampled CPU time and the sampled heap by function, as pprof counts
// them: a function that calls itself counts once for each sample. The one with most CPU
// of its own comes first, without CPU the one with most in use, then most allocated. all
// is what the samples add up to.
func (m *Model) Functions() (list []FunctionCost, all FunctionCost) {
	costs := map[string]*FunctionCost{}
	at := func(name string) *FunctionCost {
		name = AnyTypes(name)
		if costs[name] == nil {
			costs[name] = &FunctionCost{Name: name}
		}
		return costs[name]
	}
	each := func(p *Profile, add func(c *FunctionCost, s *Sample, self bool)) {
		for i := range p.Samples {
			s, seen := &p.Samples[i], map[*FunctionCost]bool{}
			add(&all, s, true)
			for n, f := range m.Stacks.Frames(s.Stack) {
				c := at(f.Func)
				if n == 0 || !seen[c] {
					add(c, s, n == 0)
				}
				seen[c] = true
			}
		}
	}
	if p := m.BelievedCPU(); p != nil {
		_, nanos := p.Columns()
		each(p, func(c *FunctionCost, s *Sample, self bool) {
			d := time.Duration(s.Value(nanos))
			if c.CumCPU += d; self {
				c.CPU += d
			}
		})
	}
	if p := m.Heap; p != nil {
		bytes := p.Column("alloc_space")
		each(p, func(c *FunctionCost, s *Sample, self bool) {
			if c.CumBytes += s.Value(bytes); self {
				c.Bytes += s.Value(bytes)
			}
		})
	}
	if p := m.InUse(); p != nil {
		bytes := p.Column("inuse_space")
		each(p, func(c *FunctionCost, s *Sample, self bool) {
			if c.CumInUse += s.Value(bytes); self {
				c.InUse += s.Value(bytes)
			}
		})
	}
	for _, c := range costs {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b FunctionCost) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.CumCPU, a.CumCPU), cmp.Compare(b.InUse, a.InUse),
			cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.CumBytes, a.CumBytes), cmp.Compare(a.Name, b.Name))
	})
	return list, all
}
