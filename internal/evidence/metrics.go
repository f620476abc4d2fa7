package evidence

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
)

const (
	metricsKind   = "gowhy metrics"
	metricsSchema = 1

	maxMetricsLine  = 8 << 20
	maxMetricPoints = 32 << 20 // of all series together
	maxMetricNames  = 4096
)

// A metricsHeader is the first line of what the agent sends: the names, which
// the lines after it do not repeat.
type metricsHeader struct {
	header
	Scalars    []string `json:"scalars"`
	Histograms []struct {
		Name   string     `json:"name"`
		Bounds []*float64 `json:"bounds"` // null at the ends is infinite
	} `json:"histograms"`
}

// A metricsLine is the state of all metrics at one moment. Histograms are not
// on every line.
type metricsLine struct {
	Time       int64      `json:"t"` // ns since 1970
	Values     []*float64 `json:"v"`
	Histograms [][]uint64 `json:"h"`
}

// metricsLog is what a metrics log says.
type metricsLog struct {
	header      metricsHeader
	times       []int64
	values      [][]*float64
	first, last [][]uint64 // counts of the histograms
}

// readMetrics reads runtime/metrics over time, as the agent samples them.
func (l *loader) readMetrics(s source) error {
	if err := l.take(model.MetricsLog, "metrics log", s.name); err != nil {
		return err
	}
	log, err := parseMetrics(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if log == nil || len(log.times) == 0 {
		return l.pass(&problem.Error{What: fmt.Sprintf("%q is a metrics log without a sample", s.name), Err: err})
	}
	if err != nil {
		l.note("%s is read up to its sample %d: %v", s.name, len(log.times), err)
	}
	l.covers(spanOfSeries, time.Unix(0, log.times[0]), time.Unix(0, log.times[len(log.times)-1]))
	l.align(func(c clock) { l.m.Metrics = log.fold(c) })
	return nil
}

// parseMetrics returns the samples before the first that cannot be read.
func parseMetrics(r io.Reader) (*metricsLog, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxMetricsLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	log := &metricsLog{}
	if err := json.Unmarshal(lines.Bytes(), &log.header); err != nil {
		return nil, err
	}
	if h := log.header; h.Kind != metricsKind || h.Schema > metricsSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	if len(log.header.Scalars)+len(log.header.Histograms) > maxMetricNames {
		return nil, errors.New("it has too many metrics")
	}
	points := 0
	for lines.Scan() {
		var line metricsLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return log, err
		}
		if points += len(line.Values) + 1; points > maxMetricPoints {
			return log, errors.New("there are too many")
		}
		if err := log.add(line); err != nil {
			return log, err
		}
	}
	return log, lines.Err()
}

func (m *metricsLog) add(line metricsLine) error {
	if n := len(m.times); n > 0 && line.Time < m.times[n-1] {
		return errors.New("its time goes backwards")
	}
	if len(line.Values) != len(m.header.Scalars) {
		return fmt.Errorf("a line of %d values for %d metrics", len(line.Values), len(m.header.Scalars))
	}
	if len(line.Histograms) > 0 {
		if len(line.Histograms) != len(m.header.Histograms) {
			return fmt.Errorf("a line of %d histograms for %d", len(line.Histograms), len(m.header.Histograms))
		}
		if m.first == nil {
			m.first = line.Histograms
		}
		m.last = line.Histograms
	}
	m.times = append(m.times, line.Time)
	m.values = append(m.values, line.Values)
	return nil
}

func (m *metricsLog) fold(c clock) *model.Metrics {
	out := &model.Metrics{Series: map[string]model.Series{}, Histograms: map[string]model.MetricHistogram{}}
	for i, name := range m.header.Scalars {
		var s model.Series
		for j, t := range m.times {
			if v := m.values[j][i]; v != nil {
				at, _ := c.since(time.Unix(0, t))
				s = append(s, model.Point{At: at, Value: *v})
			}
		}
		if s = kept(c, s, func(p *model.Point) time.Duration { return p.At }); len(s) > 0 {
			out.Series[name] = s
		}
	}
	for i, h := range m.header.Histograms {
		if counted, ok := m.histogram(i); ok {
			counted.Bounds = bounds(h.Bounds)
			if len(counted.Bounds) == len(counted.Counts)+1 {
				out.Histograms[h.Name] = counted
			}
		}
	}
	return out
}

// histogram returns what was counted between the first and the last line that
// has histograms.
func (m *metricsLog) histogram(i int) (h model.MetricHistogram, ok bool) {
	if m.first == nil || len(m.first[i]) != len(m.last[i]) {
		return h, false
	}
	h.Counts = make([]uint64, len(m.last[i]))
	for b, n := range m.last[i] {
		if n < m.first[i][b] {
			return h, false
		}
		h.Counts[b] = n - m.first[i][b]
	}
	return h, true
}

func bounds(from []*float64) []float64 {
	to := make([]float64, len(from))
	for i, b := range from {
		switch {
		case b != nil:
			to[i] = *b
		case i == 0:
			to[i] = math.Inf(-1)
		default:
			to[i] = math.Inf(1)
		}
	}
	return to
}
