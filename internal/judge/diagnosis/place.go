package diagnosis

import (
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// UserPlace returns the frame of a stack nearest to the leaf that is not of
// the standard library or the runtime: the line its author can change.
func (p *Pass) UserPlace(s model.Stack) (Place, bool) { return UserPlace(p.Model.Stacks.Frames(s)) }

// UserPlace is [Pass.UserPlace] for frames, leaf first; see [model.UserFrame].
func UserPlace(frames []model.Frame) (Place, bool) {
	f, ok := model.UserFrame(frames)
	return Place{f.Func, f.File, f.Line}, ok
}

// GroupPlace returns where a group comes from: its start function when that
// is the user's own, else the user's code that created it.
func (p *Pass) GroupPlace(g *model.Group) (Place, bool) {
	if g.Name != "" && !model.IsStd(g.Name) {
		return Place{g.Name, g.Start.File, g.Start.Line}, true
	}
	return p.UserPlace(g.Creator)
}

// Seconds returns the length of the window, 0 when unknown.
func (p *Pass) Seconds() float64 { return p.Model.Run.Duration.Seconds() }

// Procs is GOMAXPROCS, or the number of Ps seen; at least 1.
func (p *Pass) Procs() int {
	n := p.Model.Run.Procs
	if n == 0 && p.Model.Sched != nil {
		n = len(p.Model.Sched.Procs)
	}
	return max(n, 1)
}

// CPUTime returns the CPU time of a profile and its number of samples; zero
// without one.
func CPUTime(m *model.Model) (time.Duration, int64) {
	return cpuWhere(m, nil)
}

// CPUShare returns the share of CPU time, 0 to 1, of samples with any frame
// for which match holds, and how many samples those were. Without a CPU
// profile both are 0: see [model.Model.Has].
func (p *Pass) CPUShare(match func(function string) bool) (share float64, samples int64) {
	d, n := cpuWhere(p.Model, match)
	all, _ := CPUTime(p.Model)
	return ratio(d.Seconds(), all.Seconds()), n
}

func cpuWhere(m *model.Model, match func(string) bool) (d time.Duration, n int64) {
	if m.CPU == nil {
		return 0, 0
	}
	count, nanos := m.CPU.Columns() // without a count nobody knows how many samples there are
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		if match != nil && !anyFrame(m, s.Stack, match) {
			continue
		}
		if count >= 0 && count < len(s.Values) {
			n += s.Values[count]
		}
		if nanos >= 0 && nanos < len(s.Values) {
			d += time.Duration(s.Values[nanos])
		}
	}
	return d, n
}

func anyFrame(m *model.Model, s model.Stack, match func(string) bool) bool {
	for _, f := range m.Stacks.Frames(s) {
		if match(f.Func) {
			return true
		}
	}
	return false
}
