package loadresult

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// --- bombardier: its report and its JSON ---

var (
	bombardierBegin = regexp.MustCompile(`^Statistics\s+Avg\s+Stdev\s+Max`)
	bombardierRow   = regexp.MustCompile(`^\s+(Reqs/sec|Latency)\s+(\S+)\s+\S+\s+(\S+)$`)
	bombardierCodes = regexp.MustCompile(`(1xx|2xx|3xx|4xx|5xx|others) - ([0-9]+)`)
	bombardierError = regexp.MustCompile(`^\s+(\S.*) - ([0-9]+)$`)
	bombardierFor   = regexp.MustCompile(`^Bombarding \S+ for (\S+) using`)
)

func detectBombardier(head []byte) bool { return anyLine(head, bombardierBegin.MatchString) }

func parseBombardier(l *lines) (*Result, error) {
	r, listed := &Result{}, false
	var duration time.Duration
	for l.next() {
		line := l.text()
		if m := bombardierFor.FindStringSubmatch(line); m != nil {
			duration = max(0, took(m[1]))
		}
		switch {
		case bombardierBegin.MatchString(line):
			r, listed = &Result{Duration: duration}, false
		case strings.TrimSpace(line) == "Errors:":
			listed = true
		case strings.HasPrefix(line, "  Throughput:"):
			listed = false
		case listed:
			if m := bombardierError.FindStringSubmatch(line); m != nil {
				r.silent(m[1], count(m[2]))
			}
		default:
			r.bombardier(line)
		}
	}
	return r, l.err()
}

func (r *Result) bombardier(line string) {
	if m := bombardierRow.FindStringSubmatch(line); m != nil {
		if m[1] == "Reqs/sec" {
			r.Rate = rate(m[2])
			return
		}
		r.Mean = max(0, took(m[2]))
		r.add(1, took(m[3]))
	} else if m := wrkQuantile.FindStringSubmatch(line); m != nil {
		r.add(percent(m[1]), took(m[2]))
	} else {
		for _, m := range bombardierCodes.FindAllStringSubmatch(line, -1) {
			r.class(m[1], count(m[2]))
		}
	}
}

// class counts answers by the class of their status: "others" have none.
func (r *Result) class(class string, n int64) {
	r.Ops += n
	switch class {
	case "2xx", "3xx":
		return
	case "others":
		r.Failed += n // its errors are listed with their kinds
		return
	}
	r.Failed += n
	if n > 0 {
		r.fail("status "+class, n)
	}
}

// silent notes a kind of failure without an answer.
func (r *Result) silent(what string, n int64) {
	r.fail(what, n)
	if !timedOut(what) {
		r.Unanswered += n
	}
}

func detectBombardierJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte(`{"spec":`)) && bytes.Contains(head, []byte(`"numberOfConnections"`)) && bytes.Contains(head, []byte(`"req2xx"`))
}

type bombardierReport struct {
	Result struct {
		BytesRead float64 `json:"bytesRead"`
		Seconds   float64 `json:"timeTakenSeconds"`
		Req1      float64 `json:"req1xx"`
		Req2      float64 `json:"req2xx"`
		Req3      float64 `json:"req3xx"`
		Req4      float64 `json:"req4xx"`
		Req5      float64 `json:"req5xx"`
		Others    float64 `json:"others"`
		Errors    []struct {
			Description string  `json:"description"`
			Count       float64 `json:"count"`
		} `json:"errors"`
		Latency struct { // microseconds
			Mean        float64            `json:"mean"`
			Max         float64            `json:"max"`
			Percentiles map[string]float64 `json:"percentiles"`
		} `json:"latency"`
	} `json:"result"`
}

func parseBombardierJSON(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var v bombardierReport
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	x := &v.Result
	micro := func(us float64) time.Duration { return seconds(us / 1e6) }
	r := &Result{Bytes: whole(x.BytesRead), Duration: max(0, seconds(x.Seconds)), Mean: max(0, micro(x.Latency.Mean))}
	for i, n := range []float64{x.Req1, x.Req2, x.Req3, x.Req4, x.Req5, x.Others} {
		r.class([]string{"1xx", "2xx", "3xx", "4xx", "5xx", "others"}[i], whole(n))
	}
	for _, e := range x.Errors {
		r.silent(e.Description, whole(e.Count))
	}
	r.add(1, micro(x.Latency.Max))
	names := make([]string, 0, len(x.Latency.Percentiles))
	for name := range x.Latency.Percentiles {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if q := percent(name); q >= 0 {
			r.add(q, micro(x.Latency.Percentiles[name]))
		}
	}
	return r, nil
}
