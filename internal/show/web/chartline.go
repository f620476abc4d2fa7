package web

import (
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A line is a series while it is made.
type line struct {
	name  string
	at    []time.Duration
	value []float64
}

func (l *line) add(at time.Duration, value float64) {
	l.at, l.value = append(l.at, at), append(l.value, value)
}

// gap is where nothing was measured.
var gap = math.NaN()

// empty reports whether a line has nothing to draw.
func (l *line) empty() bool {
	return !slices.ContainsFunc(l.value, finite)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// A plot is what charts are made of: a model, and the window of it that is drawn.
type plot struct {
	*model.Model
	window
}

// chart makes a chart of those lines that have something; nil when none has.
// Which these are does not depend on the window.
func (p plot) chart(name, unit, source string, stack bool, lines ...line) *Chart {
	c := &Chart{Name: name, Unit: unit, Stack: stack, Source: source}
	kept := slices.DeleteFunc(lines, func(l line) bool { return l.empty() })
	if len(kept) == 0 {
		return nil
	}
	if stack {
		align(kept)
	}
	for i := range kept {
		kept[i].cut(p.window)
		c.Series = append(c.Series, kept[i].series())
	}
	c.Thinned = downsample(c.Series, stack, p.window)
	return c
}

// cut leaves what is drawn of a line: the points in a window, and one on each
// side, to which the line goes on.
func (l *line) cut(w window) {
	if w.whole() {
		return
	}
	a, _ := slices.BinarySearch(l.at, w.from)
	b, _ := slices.BinarySearch(l.at, w.to+1)
	a, b = max(a-1, 0), min(max(a, b)+1, len(l.at)) // a log may be out of order
	l.at, l.value = l.at[a:b], l.value[a:b]
}

// series returns a line as it is sent: what is no number is a gap.
func (l *line) series() Series {
	s := Series{Name: l.name, At: make([]int64, len(l.at)), Value: make([]*float64, len(l.at))}
	for i, at := range l.at {
		s.At[i] = int64(at)
		if v := l.value[i]; finite(v) {
			s.Value[i] = &v
		}
	}
	return s
}

// align gives lines that are drawn on top of each other the same moments: those
// of the first. Others are read there by a straight line.
func align(lines []line) {
	at := lines[0].at
	for i := range lines[1:] {
		l := &lines[i+1]
		if slices.Equal(l.at, at) {
			continue
		}
		s := make(model.Series, 0, len(l.at))
		for j, t := range l.at {
			if finite(l.value[j]) {
				s = append(s, model.Point{At: t, Value: l.value[j]})
			}
		}
		l.at, l.value = at, nil
		for _, t := range at {
			l.value = append(l.value, s.At(t))
		}
	}
}

// gauge returns a metric as it is.
func gauge(name string, s model.Series) (l line) {
	l.name = name
	for _, p := range s {
		l.add(p.At, p.Value)
	}
	return l
}

// rate returns how fast a counter grew, in its unit a second.
func rate(name string, s model.Series) (l line) {
	l.name = name
	for i := 1; i < len(s); i++ {
		over := s[i].At - s[i-1].At
		if over <= 0 {
			continue
		}
		by := (s[i].Value - s[i-1].Value) / over.Seconds()
		if by < 0 {
			by = gap
		}
		l.add(s[i-1].At+over/2, by)
	}
	return l
}

// metric returns a series of runtime/metrics, empty when it was not read.
func (p plot) metric(name string) model.Series {
	if p.Metrics == nil {
		return nil
	}
	return p.Metrics.Series[name]
}

// alignedGC returns the lines of a log that could be brought to the window's clock.
func alignedGC(m *model.Model) []model.GCLine {
	return slices.DeleteFunc(slices.Clone(m.GCLog), func(l model.GCLine) bool { return !l.Aligned })
}

func alignedSched(m *model.Model) []model.SchedLine {
	return slices.DeleteFunc(slices.Clone(m.SchedLog), func(l model.SchedLine) bool { return !l.Aligned })
}

// bytesOrGap returns a size; 0 is one that was not measured.
func bytesOrGap(bytes uint64) float64 {
	if bytes == 0 {
		return gap
	}
	return float64(bytes)
}
