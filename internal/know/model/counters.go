package model

import (
	"cmp"
	"slices"
	"time"
)

// Window returns the first and the last sample: their difference is what
// happened between them. ok is false unless they are of different times.
func (p *Process) Window() (first, last ProcessSample, ok bool) {
	if p == nil {
		return
	}
	return ends(p.Samples, func(s ProcessSample) time.Duration { return s.At })
}

// Window returns the first and the last sample; see [Process.Window].
func (g *Machine) Window() (first, last MachineSample, ok bool) {
	if g == nil {
		return
	}
	return ends(g.Samples, func(s MachineSample) time.Duration { return s.At })
}

// Window returns the first and the last sample; see [Process.Window].
func (l *Limits) Window() (first, last LimitSample, ok bool) {
	if l == nil {
		return
	}
	return ends(l.Samples, func(s LimitSample) time.Duration { return s.At })
}

func ends[S any](list []S, at func(S) time.Duration) (first, last S, ok bool) {
	if len(list) == 0 {
		return
	}
	first, last = list[0], list[len(list)-1]
	return first, last, at(last) > at(first)
}

// CPUAt returns the CPU time that the process had used at a moment, in user mode
// and in the kernel, by a straight line between the samples around it and the
// nearest one beyond their ends.
func (p *Process) CPUAt(t time.Duration) (user, system time.Duration) {
	if p == nil || len(p.Samples) == 0 {
		return 0, 0
	}
	i, _ := slices.BinarySearchFunc(p.Samples, t, func(s ProcessSample, t time.Duration) int { return cmp.Compare(s.At, t) })
	switch {
	case i == 0:
		return p.Samples[0].User, p.Samples[0].System
	case i == len(p.Samples):
		return p.Samples[i-1].User, p.Samples[i-1].System
	}
	a, b := p.Samples[i-1], p.Samples[i]
	return between(a.User, b.User, t-a.At, b.At-a.At), between(a.System, b.System, t-a.At, b.At-a.At)
}

func between(a, b, part, whole time.Duration) time.Duration {
	if whole <= 0 {
		return b
	}
	return a + time.Duration(float64(b-a)*float64(part)/float64(whole))
}

// Series returns a quantity of the process over time, like
//
//	p.Series(func(s model.ProcessSample) float64 { return float64(s.FDs) })
func (p *Process) Series(of func(ProcessSample) float64) Series {
	if p == nil {
		return nil
	}
	out := make(Series, len(p.Samples))
	for i, s := range p.Samples {
		out[i] = Point{s.At, of(s)}
	}
	return out
}

// Resident returns the resident memory at each moment at which there was any: a process that
// ends has given all of it back when /proc is read for the last time.
func (p *Process) Resident() Series {
	return slices.DeleteFunc(p.resident(), func(x Point) bool { return x.Value == 0 })
}

// resident returns the resident memory at each moment, 0 once the process had ended.
func (p *Process) resident() Series {
	return p.Series(func(s ProcessSample) float64 { return float64(s.RSS) })
}

// Rate returns the mean increase a second of a counter of the process; ok is false
// when it was not read twice, as a negative value says.
func (p *Process) Rate(of func(ProcessSample) int64) (perSecond float64, ok bool) {
	first, last, ok := p.Window()
	if !ok || of(first) < 0 || of(last) < 0 {
		return 0, false
	}
	return float64(of(last)-of(first)) / (last.At - first.At).Seconds(), true
}
