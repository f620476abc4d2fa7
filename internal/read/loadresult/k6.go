package loadresult

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// k6 measures what a script does; requests are one kind of it. These are the
// pairs of a count and its times, best first: a script without requests is
// described by its iterations.
var k6Kinds = []struct{ count, time string }{
	{"http_reqs", "http_req_duration"},
	{"grpc_reqs", "grpc_req_duration"}, // has no counter of its own
	{"iterations", "iteration_duration"},
}

// --- points: k6 run --out json=FILE ---

func detectK6Points(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"metric":`)) &&
		(bytes.Contains(line, []byte(`"type":"Metric"`)) || bytes.Contains(line, []byte(`"type":"Point"`)))
}

// A k6Point is one line.
type k6Point struct {
	Type   string `json:"type"`
	Metric string `json:"metric"`
	Data   struct {
		Time  time.Time         `json:"time"`
		Value float64           `json:"value"`
		Tags  map[string]string `json:"tags"`
	} `json:"data"`
}

func parseK6Points(l *lines) (*Result, error) {
	tallies := make([]tally, len(k6Kinds))
	var received float64
	for l.next() {
		line := l.s.Bytes()
		kind := slices.IndexFunc(k6Kinds, func(k struct{ count, time string }) bool {
			return bytes.Contains(line, []byte(`"metric":"`+k.time+`"`))
		})
		data := bytes.Contains(line, []byte(`"metric":"data_received"`))
		if kind < 0 && !data || !bytes.Contains(line, []byte(`"type":"Point"`)) {
			continue // most lines: not worth decoding
		}
		var p k6Point
		if err := json.Unmarshal(line, &p); err != nil {
			if err = l.lineError(err); !l.next() {
				break // cut in the middle of the last line
			}
			return nil, err
		}
		if data {
			received += p.Data.Value
			continue
		}
		// A point has the time at which the request ended, in milliseconds.
		tallies[kind].add(p.Data.Time, milliseconds(p.Data.Value), p.Data.Tags["expected_response"] == "false")
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	for i := range tallies {
		if t := &tallies[i]; t.ops > 0 {
			if received > 0 && received < 1<<62 {
				t.bytes = int64(received)
			}
			return t.result(true), nil
		}
	}
	return nil, errCut
}

// --- summary: k6 run --summary-export FILE, and handleSummary's data ---

var k6Summaries = []string{`"root_group"`, `"options"`, `"state"`, `"metrics"`, `"setup_data"`}

func detectK6Summary(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	if !ok {
		return false
	}
	rest = bytes.TrimSpace(rest)
	for _, key := range k6Summaries {
		if bytes.HasPrefix(rest, []byte(key)) {
			// Other tools have such a key as well, but none of these words.
			for _, word := range []string{`"root_group"`, `"summaryTrendStats"`, `"testRunDurationMs"`, `"http_req`, `"iteration`, `"vus`, `"p(9`, `"data_sent"`, `"data_received"`} {
				if bytes.Contains(head, []byte(word)) {
					return true
				}
			}
		}
	}
	return false
}

// k6Summary is both shapes: an export has a metric's numbers in the metric,
// handleSummary's data has them in its "values".
type k6Summary struct {
	State struct {
		Duration float64 `json:"testRunDurationMs"`
	} `json:"state"`
	Metrics map[string]json.RawMessage `json:"metrics"`

	flat map[string]map[string]float64 // instead of Metrics
}

// numbers returns a metric's numbers.
func (s *k6Summary) numbers(metric string) map[string]float64 {
	if s.flat != nil {
		return s.flat[metric]
	}
	var nested struct {
		Values map[string]float64 `json:"values"`
	}
	if json.Unmarshal(s.Metrics[metric], &nested) == nil && len(nested.Values) > 0 {
		return nested.Values
	}
	var flat map[string]any // with thresholds among the numbers
	if json.Unmarshal(s.Metrics[metric], &flat) != nil {
		return nil
	}
	numbers := map[string]float64{}
	for name, v := range flat {
		if n, ok := v.(float64); ok {
			numbers[name] = n
		}
	}
	return numbers
}

func parseK6Summary(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var s k6Summary
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return s.result()
}

func (s *k6Summary) result() (*Result, error) {
	r := &Result{Duration: max(0, milliseconds(s.State.Duration))}
	for _, kind := range k6Kinds {
		counted, times := s.numbers(kind.count), s.numbers(kind.time)
		if r.Ops = whole(counted["count"]); r.Ops == 0 {
			r.Ops = whole(times["count"])
		}
		if r.Ops == 0 {
			continue
		}
		r.Rate = counted["rate"]
		if kind.count == "http_reqs" {
			// A rate's passes are those that are true: that failed.
			failed := s.numbers("http_req_failed")
			r.Failed = whole(failed["passes"] + failed["matches"])
			r.fail("http_req_failed", r.Failed)
		}
		for name, ms := range times {
			r.trend(name, milliseconds(ms))
		}
		r.Bytes = whole(s.numbers("data_received")["count"])
		return r, nil
	}
	return nil, errCut
}

func whole(n float64) int64 {
	if !(n > 0 && n < 1<<62) {
		return 0
	}
	return int64(math.Round(n))
}

// trend takes one number of a k6 trend: avg, min, med, max, p(99.9), count.
func (r *Result) trend(name string, value time.Duration) {
	switch name {
	case "avg":
		r.Mean = max(0, value)
	case "min":
		r.add(0, value)
	case "med":
		r.add(0.5, value)
	case "max":
		r.add(1, value)
	default:
		if p, ok := strings.CutPrefix(name, "p"); ok { // p(95) or p95
			if q := percent(strings.Trim(p, "()")); q >= 0 {
				r.add(q, value)
			}
		}
	}
}

// --- summary with --new-machine-readable-summary, from version 1.5 on ---

func detectK6Results(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"config"`)) &&
		bytes.Contains(rest, []byte(`"execution"`)) && bytes.Contains(rest, []byte(`"duration"`))
}

// k6Results is its document. Counters come without rates.
type k6Results struct {
	Config struct {
		Duration float64 `json:"duration"` // seconds
	} `json:"config"`
	Metadata struct {
		Generated time.Time `json:"generated_at"`
	} `json:"metadata"`
	Results struct {
		Metrics []struct {
			Name   string              `json:"name"`
			Values map[string]*float64 `json:"values"` // null is not measured
		} `json:"metrics"`
	} `json:"results"`
}

func parseK6Results(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var doc k6Results
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	s := k6Summary{flat: map[string]map[string]float64{}}
	for _, m := range doc.Results.Metrics {
		values := map[string]float64{}
		for name, v := range m.Values {
			if v != nil {
				values[name] = *v
			}
		}
		s.flat[m.Name] = values
	}
	s.State.Duration = doc.Config.Duration * 1000
	r, err := s.result()
	// The summary is made as soon as the run has ended.
	if begin := doc.Metadata.Generated.Add(-max(0, seconds(doc.Config.Duration))); err == nil && begin.After(earliest) {
		r.Start = begin
	}
	return r, err
}

// --- text: what k6 run prints ---

// A line of the summary is a metric, dots that fill it up, and its numbers.
var k6Line = regexp.MustCompile(`^\s*(?:[✓✗]\s)?\s*([a-z][a-z0-9_]*)\.{2,}:\s+(\S.*)$`)

// Of the rows before: an open workload says how many iterations it begins.
var k6Arrivals = regexp.MustCompile(`^\s*\* \S+: ([0-9.]+) iterations/s for `)

// Thresholds have a part of their own: the metric on a line, each of its thresholds below.
var (
	k6Metric    = regexp.MustCompile(`^    ([a-z][a-z0-9_]*(?:\{[^}]*\})?)$`)
	k6Threshold = regexp.MustCompile(`^\s*✗ ('[^']*' .*)$`)
)

func detectK6Text(head []byte) bool {
	if bytes.Contains(head, []byte("execution: local")) && bytes.Contains(head, []byte("scenarios:")) || bytes.Contains(head, []byte("█ TOTAL RESULTS")) {
		return true
	}
	return anyLine(head, func(line string) bool {
		m := k6Line.FindStringSubmatch(line)
		return m != nil && (strings.HasPrefix(m[1], "http_req") || strings.HasPrefix(m[1], "iteration") ||
			strings.HasPrefix(m[1], "data_") || strings.HasPrefix(m[1], "vus") || strings.HasPrefix(m[1], "checks"))
	})
}

func parseK6Text(l *lines) (*Result, error) {
	found := map[string]string{}
	offered := 0.0
	var crossed []string
	under := "" // the metric whose thresholds follow
	for l.next() {
		line := l.text()
		if m := k6Threshold.FindStringSubmatch(line); m != nil && under != "" && len(crossed) < MaxKinds {
			crossed = append(crossed, Printable(under+": "+m[1]))
		}
		if m := k6Metric.FindStringSubmatch(line); m != nil {
			under = m[1]
		} else if strings.TrimSpace(line) != "" && !strings.ContainsAny(line, "✓✗") {
			under = ""
		}
		if m := k6Arrivals.FindStringSubmatch(line); m != nil {
			offered += rate(m[1])
		}
		// The full summary repeats metrics for each group and scenario, the
		// totals come first.
		if m := k6Line.FindStringSubmatch(line); m != nil && found[m[1]] == "" && len(found) < 1000 {
			found[m[1]] = m[2]
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	for _, kind := range k6Kinds {
		if found[kind.count] != "" {
			r := k6Text(found, kind.count, kind.time, offered)
			r.Crossed = crossed
			return r, nil
		}
	}
	return nil, errCut
}

func k6Text(found map[string]string, counter, times string, offered float64) *Result {
	r := &Result{Offered: offered}
	r.Ops = count(found[counter]) // "6760   2250.508521/s"
	if f := strings.Fields(found[counter]); len(f) > 1 {
		r.Rate = rate(f[1])
	}
	if counter == "http_reqs" {
		r.Failed = k6Failed(found["http_req_failed"])
		r.fail("http_req_failed", r.Failed)
	}
	for _, field := range strings.Fields(found[times]) {
		if name, value, ok := strings.Cut(field, "="); ok {
			r.trend(name, took(value))
		}
	}
	r.Bytes = bytesOf(found["data_received"], 1000)
	return r
}

// k6Failed reads "1.98% 134 out of 6760" and, before version 1, "1.98% ✓ 134
// ✗ 6626", where ✓ is what was true: that it failed.
func k6Failed(s string) int64 {
	f := strings.Fields(strings.NewReplacer("✓", " ", "✗", " ").Replace(s))
	if len(f) < 2 {
		return 0
	}
	return count(f[1])
}
