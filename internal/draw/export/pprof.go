package export

import (
	"io"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
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
	b := &profile.Profile{DurationNanos: int64(m.Run.Duration)}
	if !m.Run.Start.IsZero() {
		b.TimeNanos = m.Run.Start.UnixNano()
	}
	if p := s.recordedAs; p != nil && p.Known {
		// When and how long it was taken is its own; that of the run is only
		// what a profile without times gets.
		b.DurationNanos = int64(p.Duration)
		if !m.Run.Start.IsZero() {
			b.TimeNanos = m.Run.Start.Add(p.At).UnixNano()
		}
	}
	for _, t := range s.types {
		b.SampleType = append(b.SampleType, &profile.ValueType{Type: t.Name, Unit: t.Unit})
	}
	if s.defaultType >= 0 && s.defaultType < len(s.types) {
		t := s.types[s.defaultType]
		b.DefaultSampleType = t.Name
		b.PeriodType, b.Period = &profile.ValueType{Type: t.Name, Unit: t.Unit}, 1
	}
	for _, n := range m.Run.Coverage.Notes {
		b.Comments = append(b.Comments, plain(n))
	}
	places := stacks.NewWriter(b)
	places.Name = plain
	for _, sample := range s.list {
		b.Sample = append(b.Sample, pprofSample(places, sample))
	}
	return b.Write(w)
}

// pprofSample returns a sample with the labels that pprof shows.
func pprofSample(w *stacks.Writer, s sample) *profile.Sample {
	out := &profile.Sample{Value: s.values, Label: map[string][]string{}}
	frames := s.frames
	if len(frames) == 0 {
		frames = []model.Frame{{Func: noStack}}
	}
	for _, f := range frames {
		out.Location = append(out.Location, w.Location(stacks.Frame(f)))
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
	return out
}
