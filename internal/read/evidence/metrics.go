package evidence

import (
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// readMetrics reads runtime/metrics over time, as the agent samples them.
func (l *loader) readMetrics(s source) error {
	if err := l.take(model.MetricsLog, "metrics log", s.name); err != nil {
		return err
	}
	log, err := artifact.ParseMetrics(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if log == nil || len(log.Times) == 0 {
		return l.pass(&problem.Error{What: fmt.Sprintf("%q is a metrics log without a sample", s.name), Err: err})
	}
	if err != nil {
		l.note("%s is read up to its sample %d: %v", s.name, len(log.Times), err)
	}
	l.covers(spanOfSeries, time.Unix(0, log.Times[0]), time.Unix(0, log.Times[len(log.Times)-1]))
	l.align(func(c clock) { l.m.Metrics = foldMetrics(log, c) })
	return nil
}

func foldMetrics(m *artifact.MetricsLog, c clock) *model.Metrics {
	out := &model.Metrics{Series: map[string]model.Series{}, Histograms: map[string]model.MetricHistogram{}}
	for i, name := range m.Header.Scalars {
		var s model.Series
		for j, t := range m.Times {
			if v := m.Values[j][i]; v != nil {
				at, _ := c.since(time.Unix(0, t))
				s = append(s, model.Point{At: at, Value: *v})
			}
		}
		if s = inWindow(c, s, func(p *model.Point) time.Duration { return p.At }); len(s) > 0 {
			out.Series[name] = s
		}
	}
	for i, h := range m.Header.Histograms {
		if counted, ok := m.Histogram(i); ok {
			counted.Bounds = artifact.Bounds(h.Bounds)
			if len(counted.Bounds) == len(counted.Counts)+1 {
				out.Histograms[h.Name] = counted
			}
		}
	}
	return out
}
