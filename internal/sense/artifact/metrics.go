package artifact

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	MetricsKind   = "gowhy metrics"
	MetricsSchema = 1

	maxMetricsLine  = 8 << 20
	maxMetricPoints = 32 << 20 // of all series together
	maxMetricNames  = 4096
)

// A MetricsHeader is the first line of what the agent sends: the names, which
// the lines after it do not repeat.
type MetricsHeader struct {
	Header
	Scalars    []string `json:"scalars"`
	Histograms []struct {
		Name   string     `json:"name"`
		Bounds []*float64 `json:"bounds"` // null at the ends is infinite
	} `json:"histograms"`
}

// A MetricsLine is the state of all metrics at one moment. Histograms are not
// on every line.
type MetricsLine struct {
	Time       int64      `json:"t"` // ns since 1970
	Values     []*float64 `json:"v"`
	Histograms [][]uint64 `json:"h"`
}

// A MetricsLog is what a metrics log says.
type MetricsLog struct {
	Header      MetricsHeader
	Times       []int64
	Values      [][]*float64
	first, last [][]uint64 // counts of the histograms
}

// ParseMetrics returns the samples before the first that cannot be read.
func ParseMetrics(r io.Reader) (*MetricsLog, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxMetricsLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	log := &MetricsLog{}
	if err := json.Unmarshal(lines.Bytes(), &log.Header); err != nil {
		return nil, err
	}
	if h := log.Header; h.Kind != MetricsKind || h.Schema > MetricsSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	if len(log.Header.Scalars)+len(log.Header.Histograms) > maxMetricNames {
		return nil, errors.New("it has too many metrics")
	}
	points := 0
	for lines.Scan() {
		var line MetricsLine
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

func (m *MetricsLog) add(line MetricsLine) error {
	if n := len(m.Times); n > 0 && line.Time < m.Times[n-1] {
		return errors.New("its time goes backwards")
	}
	if len(line.Values) != len(m.Header.Scalars) {
		return fmt.Errorf("a line of %d values for %d metrics", len(line.Values), len(m.Header.Scalars))
	}
	if len(line.Histograms) > 0 {
		if len(line.Histograms) != len(m.Header.Histograms) {
			return fmt.Errorf("a line of %d histograms for %d", len(line.Histograms), len(m.Header.Histograms))
		}
		if m.first == nil {
			m.first = line.Histograms
		}
		m.last = line.Histograms
	}
	m.Times = append(m.Times, line.Time)
	m.Values = append(m.Values, line.Values)
	return nil
}

// Histogram returns what was counted between the first and the last line that
// has histograms.
func (m *MetricsLog) Histogram(i int) (h model.MetricHistogram, ok bool) {
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

// Bounds returns those of a histogram, with its ends.
func Bounds(from []*float64) []float64 {
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
