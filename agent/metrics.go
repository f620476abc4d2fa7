package agent

import (
	"encoding/json"
	"io"
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

const (
	// metricsEvery is the time between two samples. One takes 4 µs
	// (BenchmarkMetrics): 0.004% of a CPU.
	metricsEvery = 100 * time.Millisecond
	// histogramsEvery counts samples. Histograms are ten times as long as all
	// other metrics together.
	histogramsEvery = 10
)

// A sampler reads all of runtime/metrics again and again, and makes lines of
// JSON from it, without allocating.
type sampler struct {
	samples    []metrics.Sample
	scalars    []int // indexes of samples
	histograms []int
	line       []byte
}

func newSampler() *sampler {
	s := &sampler{}
	for i, d := range metrics.All() {
		s.samples = append(s.samples, metrics.Sample{Name: d.Name})
		if d.Kind == metrics.KindFloat64Histogram {
			s.histograms = append(s.histograms, i)
		} else {
			s.scalars = append(s.scalars, i)
		}
	}
	metrics.Read(s.samples) // makes the histograms, which are used again
	return s
}

// A jsonHistogram is a histogram's line in the header; nil bounds are infinite.
type jsonHistogram struct {
	Name   string     `json:"name"`
	Bounds []*float64 `json:"bounds"`
}

// header returns the first line.
func (s *sampler) header() ([]byte, error) {
	h := struct {
		Kind       string          `json:"kind"`
		Schema     int             `json:"schema"`
		Scalars    []string        `json:"scalars"`
		Histograms []jsonHistogram `json:"histograms"`
	}{Kind: "gowhy metrics", Schema: 1, Scalars: []string{}, Histograms: []jsonHistogram{}}
	for _, i := range s.scalars {
		h.Scalars = append(h.Scalars, s.samples[i].Name)
	}
	for _, i := range s.histograms {
		j := jsonHistogram{Name: s.samples[i].Name}
		bounds := buckets(s.samples[i].Value)
		for i := range bounds {
			if math.IsInf(bounds[i], 0) {
				j.Bounds = append(j.Bounds, nil)
			} else {
				j.Bounds = append(j.Bounds, &bounds[i])
			}
		}
		h.Histograms = append(h.Histograms, j)
	}
	text, err := json.Marshal(h)
	return append(text, '\n'), err
}

func buckets(v metrics.Value) []float64 {
	if v.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return v.Float64Histogram().Buckets
}

// sample returns the line of the given moment, until the next call.
func (s *sampler) sample(at time.Time, histograms bool) []byte {
	s.line = s.appendValues(appendTime(s.line[:0], at), histograms)
	return s.line
}

func appendTime(b []byte, at time.Time) []byte {
	return strconv.AppendInt(append(b, `{"t":`...), at.UnixNano(), 10)
}

// appendValues appends what follows the time in a line.
func (s *sampler) appendValues(b []byte, histograms bool) []byte {
	metrics.Read(s.samples)
	b = append(b, `,"v":[`...)
	for n, i := range s.scalars {
		if n > 0 {
			b = append(b, ',')
		}
		b = appendScalar(b, s.samples[i].Value)
	}
	b = append(b, ']')
	if histograms {
		b = append(b, `,"h":[`...)
		for n, i := range s.histograms {
			if n > 0 {
				b = append(b, ',')
			}
			b = appendCounts(b, s.samples[i].Value)
		}
		b = append(b, ']')
	}
	return append(b, '}', '\n')
}

func appendScalar(b []byte, v metrics.Value) []byte {
	switch v.Kind() {
	case metrics.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case metrics.KindFloat64:
		if f := v.Float64(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(b, f, 'g', -1, 64)
		}
	}
	return append(b, "null"...)
}

func appendCounts(b []byte, v metrics.Value) []byte {
	b = append(b, '[')
	if v.Kind() == metrics.KindFloat64Histogram {
		for i, n := range v.Float64Histogram().Counts {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, n, 10)
		}
	}
	return append(b, ']')
}

// A history is what runtime/metrics was at the last looks of a watcher.
type history struct {
	sampler *sampler
	most    int // looks that are kept
	looks   []look
	next    int // the oldest of looks, when there are most
}

type look struct {
	at     time.Time
	values []byte // a line without its time
}

// keep takes the values of this moment, histograms included.
func (p *history) keep() {
	if len(p.looks) < p.most {
		p.looks = append(p.looks, look{time.Now(), p.sampler.appendValues(nil, true)})
		return
	}
	oldest := &p.looks[p.next]
	oldest.at, oldest.values = time.Now(), p.sampler.appendValues(oldest.values[:0], true)
	p.next = (p.next + 1) % p.most
}

// appendSince appends the lines of the looks from a moment on, by a clock. A nil
// past has none.
func (p *history) appendSince(b []byte, begin time.Time, c clock) []byte {
	if p == nil {
		return b
	}
	for i := range p.looks {
		if l := p.looks[(p.next+i)%len(p.looks)]; !l.at.Before(begin) {
			b = append(appendTime(b, c.at(l.at)), l.values...)
		}
	}
	return b
}

// sampleTo writes lines that are there already, and then samples until stop is
// closed, the last one then and with histograms, so that these cover the whole
// window. The first sample is in the first write: who reads the beginning knows
// that what comes after it is counted.
func sampleTo(w io.Writer, c clock, lines []byte, stop <-chan struct{}) error {
	s := newSampler()
	head, err := s.header()
	if err != nil {
		return err
	}
	countAll()
	if _, err := w.Write(append(append(head, lines...), s.sample(c.now(), true)...)); err != nil {
		return err
	}
	tick := time.NewTicker(metricsEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-stop:
			countAll()
			_, err := w.Write(s.sample(c.now(), true))
			return err
		}
		if _, err := w.Write(s.sample(c.now(), n%histogramsEvery == 0)); err != nil {
			return err
		}
	}
}

// countAll makes the runtime count what it has handed out of the spans that
// each P allocates from: metrics know of it only when a span is full, which
// leaves out up to a megabyte, and the difference between two samples is then
// wrong by as much. Memory statistics stop the world to count it, for some 20 µs
// however large the heap is.
func countAll() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
