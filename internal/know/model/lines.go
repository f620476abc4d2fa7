package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A LineCost is what a line of the program or of its libraries costs.
type LineCost struct {
	Line Frame
	// CPU is that of the line itself and of what it calls of the standard library and the
	// runtime, and Cum that of all it calls: removing the line saves no more.
	CPU, Cum time.Duration
	// Objects and Bytes are those allocated as CPU is counted.
	Objects, Bytes float64
}

// AnyTypes returns a function's name with three dots in the place of type arguments, as CPU
// profiles and traces have it; profiles of the heap write them out.
func AnyTypes(function string) string {
	from, to := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if from < 0 || to < from {
		return function
	}
	return function[:from] + "[...]" + function[to+1:]
}

// Lines returns the sampled CPU time and what was allocated in the window, by line, the lines
// of most CPU of their own first; and what all samples add up to, those included that no
// line asked for. Nothing without samples.
func (m *Model) Lines() (list []LineCost, all LineCost) {
	lines := map[Frame]*LineCost{}
	at := func(f Frame) *LineCost {
		k := Frame{Func: AnyTypes(f.Func), File: f.File, Line: f.Line}
		if lines[k] == nil {
			lines[k] = &LineCost{Line: k}
		}
		return lines[k]
	}
	if p := m.BelievedCPU(); p != nil {
		_, nanos := p.Columns()
		for i := range p.Samples {
			frames, d := m.Stacks.Frames(p.Samples[i].Stack), time.Duration(p.Samples[i].Value(nanos))
			all.CPU += d
			nearest := userFrameIndex(frames)
			if nearest < 0 {
				continue
			}
			at(frames[nearest]).CPU += d
			seen := map[*LineCost]bool{} // a function that calls itself is on its stack twice
			for _, f := range frames[nearest:] {
				if !ofUser(f) {
					continue
				}
				if c := at(f); !seen[c] {
					c.Cum, seen[c] = c.Cum+d, true
				}
			}
		}
	}
	if p := m.Heap; p != nil {
		objects, bytes := p.Column("alloc_objects"), p.Column("alloc_space")
		for i := range p.Samples {
			s := &p.Samples[i]
			all.Objects, all.Bytes = all.Objects+s.Value(objects), all.Bytes+s.Value(bytes)
			if f, ok := UserFrame(m.Stacks.Frames(s.Stack)); ok {
				c := at(f)
				c.Objects, c.Bytes = c.Objects+s.Value(objects), c.Bytes+s.Value(bytes)
			}
		}
	}
	for _, c := range lines {
		list = append(list, *c)
	}
	all.Cum = all.CPU
	slices.SortFunc(list, func(a, b LineCost) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Cum, a.Cum), cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(a.Line.Func, b.Line.Func), cmp.Compare(a.Line.Line, b.Line.Line), cmp.Compare(a.Line.File, b.Line.File))
	})
	return list, all
}
