package loadresult

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// --- ghz, load for gRPC: its summary and its JSON ---

var (
	ghzQuantile = regexp.MustCompile(`^\s*([0-9.]+) % in ([0-9.]+) ?(ns|us|µs|ms|s)\b`)
	ghzCount    = regexp.MustCompile(`^\s*\[(\w+)\]\s+([0-9]+) responses?`)
	ghzError    = regexp.MustCompile(`^\s*\[([0-9]+)\]\s+(\S.*)$`)
)

func detectGhz(head []byte) bool {
	at := bytes.Index(head, []byte("Summary:\n"))
	return at >= 0 && bytes.Contains(head[at:], []byte("  Count:")) && bytes.Contains(head[at:], []byte("  Requests/sec:"))
}

func parseGhz(l *lines) (*Result, error) {
	r, section := &Result{}, ""
	errs := map[string]int64{}
	for l.next() {
		line := l.text()
		if strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " ") {
			if section = line; section == "Summary:" {
				r, errs = &Result{}, map[string]int64{}
			}
			continue
		}
		switch section {
		case "Summary:":
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			r.ghzSummary(name, strings.TrimSpace(value))
		case "Latency distribution:":
			if m := ghzQuantile.FindStringSubmatch(line); m != nil {
				r.add(percent(m[1]), took(m[2]+m[3]))
			}
		case "Status code distribution:":
			if m := ghzCount.FindStringSubmatch(line); m != nil {
				r.ghzStatus(m[1], count(m[2]))
			}
		case "Error distribution:":
			if m := ghzError.FindStringSubmatch(line); m != nil && len(errs) < MaxKinds {
				errs[m[2]] += count(m[1])
			}
		}
	}
	r.ghzErrors(errs)
	return r, l.err()
}

func (r *Result) ghzSummary(name, value string) {
	d := took(strings.ReplaceAll(value, " ", ""))
	switch name {
	case "Count":
		r.Ops = count(value)
	case "Total":
		r.Duration = max(0, d)
	case "Slowest":
		r.add(1, d)
	case "Fastest":
		r.add(0, d)
	case "Average":
		r.Mean = max(0, d)
	case "Requests/sec":
		r.Rate = rate(value)
	}
}

// ghzStatus counts answers by gRPC's status: all but OK failed.
func (r *Result) ghzStatus(status string, n int64) {
	if status == "OK" {
		return
	}
	r.Failed += n
	r.fail("status "+status, n)
	if status == "Unavailable" { // as for a connection that is refused
		r.Unanswered += n
	}
}

// ghzErrors adds the words of failures, which have been counted by their status.
func (r *Result) ghzErrors(errs map[string]int64) {
	for _, what := range slices.Sorted(maps.Keys(errs)) {
		r.fail(what, 0)
	}
}

func detectGhzJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"statusCodeDistribution"`)) && bytes.Contains(head, []byte(`"rps"`))
}

// A ghzReport has times in nanoseconds.
type ghzReport struct {
	Date     time.Time          `json:"date"` // when the report was made
	Count    float64            `json:"count"`
	Total    float64            `json:"total"`
	Average  float64            `json:"average"`
	Fastest  float64            `json:"fastest"`
	Slowest  float64            `json:"slowest"`
	RPS      float64            `json:"rps"`
	Errors   map[string]float64 `json:"errorDistribution"`
	Statuses map[string]float64 `json:"statusCodeDistribution"`
	Latency  []struct {
		Percentage float64 `json:"percentage"`
		Latency    float64 `json:"latency"`
	} `json:"latencyDistribution"`
}

func parseGhzJSON(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var v ghzReport
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	r := &Result{Ops: whole(v.Count), Rate: v.RPS, Duration: max(0, seconds(v.Total/1e9)), Mean: max(0, seconds(v.Average/1e9))}
	if begin := v.Date.Add(-r.Duration); begin.After(earliest) && r.Duration > 0 {
		r.Start = begin
	}
	r.add(0, seconds(v.Fastest/1e9))
	r.add(1, seconds(v.Slowest/1e9))
	for _, q := range v.Latency {
		if q.Percentage > 0 && q.Percentage <= 100 {
			r.add(q.Percentage/100, seconds(q.Latency/1e9))
		}
	}
	for _, status := range slices.Sorted(maps.Keys(v.Statuses)) {
		r.ghzStatus(status, whole(v.Statuses[status]))
	}
	errs := map[string]int64{}
	for what, n := range v.Errors {
		errs[what] = whole(n)
	}
	r.ghzErrors(errs)
	return r, nil
}
