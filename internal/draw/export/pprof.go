package export

import (
	"io"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Pprof writes a gzipped pprof profile. The blocking profiles have the sample
// types of `go tool trace -pprof`: contentions/count and delay/nanoseconds.
// Samples carry the labels group (start function) and reason (of the wait)
// beside those they were recorded with.
func Pprof(w io.Writer, m *model.Model, o Options) error {
	s, err := collect(m, o)
	if err != nil {
		return err
	}
	b := pprofBuilder{funcs: map[funcKey]*profile.Function{}, locs: map[model.Frame]*profile.Location{}}
	b.p.DurationNanos = int64(m.Run.Duration)
	if !m.Run.Start.IsZero() {
		b.p.TimeNanos = m.Run.Start.UnixNano()
	}
	if p := s.recordedAs; p != nil && p.Known {
		// When and how long it was taken is its own; that of the run is only
		// what a profile without times gets.
		b.p.DurationNanos = int64(p.Duration)
		if !m.Run.Start.IsZero() {
			b.p.TimeNanos = m.Run.Start.Add(p.At).UnixNano()
		}
	}
	for _, t := range s.types {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: t.Name, Unit: t.Unit})
	}
	if s.defaultType >= 0 && s.defaultType < len(s.types) {
		t := s.types[s.defaultType]
		b.p.DefaultSampleType = t.Name
		b.p.PeriodType, b.p.Period = &profile.ValueType{Type: t.Name, Unit: t.Unit}, 1
	}
	for _, n := range m.Run.Coverage.Notes {
		b.p.Comments = append(b.p.Comments, plain(n))
	}
	for _, sample := range s.list {
		b.add(sample)
	}
	return b.p.Write(w)
}

type funcKey struct{ name, file string }

type pprofBuilder struct {
	p     profile.Profile
	funcs map[funcKey]*profile.Function
	locs  map[model.Frame]*profile.Location
}

func (b *pprofBuilder) add(s sample) {
	out := &profile.Sample{Value: s.values, Label: map[string][]string{}}
	for _, f := range s.frames {
		out.Location = append(out.Location, b.location(f))
	}
	if len(s.frames) == 0 {
		out.Location = append(out.Location, b.location(model.Frame{Func: noStack}))
	}
	for k, v := range s.labels {
		out.Label[plain(k)] = []string{plain(v)}
	}
	if s.group != "" {
		out.Label["group"] = []string{plain(s.group)}
	}
	if s.reason != "" {
		out.Label["reason"] = []string{plain(s.reason)}
	}
	b.p.Sample = append(b.p.Sample, out)
}

// location makes one location for each frame. Traces give every inlined call
// a frame of its own, so no location has more than one line.
func (b *pprofBuilder) location(f model.Frame) *profile.Location {
	if l := b.locs[f]; l != nil {
		return l
	}
	k := funcKey{f.Func, f.File}
	fn := b.funcs[k]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: plain(f.Func), SystemName: plain(f.Func), Filename: plain(f.File)}
		b.funcs[k] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Address: f.PC, Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
	b.locs[f] = l
	b.p.Location = append(b.p.Location, l)
	return l
}
