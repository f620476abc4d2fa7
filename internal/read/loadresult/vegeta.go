package loadresult

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// vegeta sends at a rate and does not wait for answers, so what it calls the
// rate is what was offered; what finished a second is less when answers came
// late.

// vegetaFailed is vegeta's own judgement of a status; 0 is an error.
func vegetaFailed(code int) bool { return code < 200 || code >= 400 }

// --- vegeta report -type=json ---

func detectVegetaJSON(head []byte) bool {
	line := bytes.TrimSpace(head)
	return bytes.HasPrefix(line, []byte(`{"latencies":`)) ||
		bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"latencies"`)) && bytes.Contains(line, []byte(`"50th"`))
}

// A vegetaReport has times in nanoseconds.
type vegetaReport struct {
	Latencies map[string]float64 `json:"latencies"`
	BytesIn   struct {
		Total float64 `json:"total"`
	} `json:"bytes_in"`
	Earliest    time.Time        `json:"earliest"`
	Duration    float64          `json:"duration"` // of sending
	Wait        float64          `json:"wait"`     // for the last answer
	Requests    float64          `json:"requests"`
	Rate        float64          `json:"rate"`
	Success     float64          `json:"success"`
	StatusCodes map[string]int64 `json:"status_codes"`
	Errors      []string         `json:"errors"`
}

func parseVegetaJSON(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var v vegetaReport
	for d := json.NewDecoder(bytes.NewReader(text)); ; { // -every writes several
		var next vegetaReport
		if err := d.Decode(&next); err == io.EOF {
			break
		} else if err != nil && v.Requests == 0 {
			return nil, err
		} else if err != nil {
			break
		}
		v = next
	}
	r := &Result{Ops: whole(v.Requests), Bytes: whole(v.BytesIn.Total), Offered: v.Rate, Duration: seconds((v.Duration + v.Wait) / 1e9)}
	if !v.Earliest.IsZero() && v.Earliest.After(earliest) {
		r.Start = v.Earliest
	}
	r.Failed = failedOf(r.Ops, v.Success, v.StatusCodes)
	r.statuses(v.StatusCodes, v.Errors)
	for name, ns := range v.Latencies {
		switch name {
		case "mean":
			r.Mean = seconds(ns / 1e9)
		case "max":
			r.add(1, seconds(ns/1e9))
		case "min":
			r.add(0, seconds(ns/1e9))
		default: // "99th"
			if p, ok := strings.CutSuffix(name, "th"); ok {
				r.add(percent(p), seconds(ns/1e9))
			}
		}
	}
	return r, nil
}

// failedOf counts by status, else by the share of successes.
func failedOf(ops int64, success float64, codes map[string]int64) (failed int64) {
	sum := int64(0)
	for text, n := range codes {
		code, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > ops {
			continue
		}
		sum += n
		if vegetaFailed(code) {
			failed += n
		}
	}
	if sum == ops || !(success >= 0 && success <= 1) {
		return failed
	}
	return ops - int64(math.Round(float64(ops)*success))
}

// statuses adds the failures that a report counts by status. Of those without one, status 0,
// it lists kinds of errors and does not count them.
func (r *Result) statuses(codes map[string]int64, errs []string) {
	timeouts := 0
	for _, e := range errs {
		if timedOut(e) {
			timeouts++
		}
	}
	for _, text := range slices.Sorted(maps.Keys(codes)) {
		code, err := strconv.Atoi(text)
		switch n := codes[text]; {
		case err != nil || n <= 0 || !vegetaFailed(code):
		case code != 0:
			r.fail("status "+text, n)
		default:
			what := "no answer"
			if len(errs) == 1 {
				what = errs[0]
			}
			r.fail(what, n)
			if timeouts == 0 {
				r.Unanswered += n
			}
		}
	}
	if codes["0"] > 0 && len(errs) > 1 {
		for _, e := range errs {
			r.fail(e, 0)
		}
	}
}

// --- vegeta encode -to=json and -to=csv: one result a line ---

func detectVegetaResults(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, key := range []string{`"attack":`, `"seq":`, `"code":`, `"timestamp":`, `"latency":`} {
		if !bytes.Contains(line, []byte(key)) {
			return false
		}
	}
	return bytes.HasPrefix(line, []byte("{"))
}

type vegetaResult struct {
	Code      int       `json:"code"`
	Timestamp time.Time `json:"timestamp"` // when it was sent
	Latency   int64     `json:"latency"`
	BytesIn   int64     `json:"bytes_in"`
	Error     string    `json:"error"`
}

// vegetaResults adds up results and how fast they were sent.
type vegetaResults struct {
	tally
	lastSent time.Time
	kinds    map[string]int64 // of failures
	silent   int64            // without an answer
}

func (v *vegetaResults) take(r vegetaResult) {
	latency := time.Duration(r.Latency)
	failed := vegetaFailed(r.Code) || r.Error != ""
	v.add(r.Timestamp.Add(latency), latency, failed)
	if failed {
		v.fail(r)
	}
	if r.BytesIn > 0 && v.bytes < 1<<62-r.BytesIn {
		v.bytes += r.BytesIn
	}
	if r.Timestamp.After(v.lastSent) {
		v.lastSent = r.Timestamp
	}
}

// fail counts a failure by its status, or by the error where there was none.
func (v *vegetaResults) fail(r vegetaResult) {
	what := "status " + strconv.Itoa(r.Code)
	if r.Code == 0 {
		if what = Printable(r.Error); !timedOut(r.Error) {
			v.silent++
		}
	}
	if v.kinds == nil {
		v.kinds = map[string]int64{}
	}
	if _, known := v.kinds[what]; known || len(v.kinds) < maxKindsSeen {
		v.kinds[what]++
	}
}

func (v *vegetaResults) result() *Result {
	r := v.tally.result(true)
	r.failKinds(v.kinds)
	r.Unanswered = v.silent
	// n results are n-1 gaps.
	if sending := v.lastSent.Sub(v.first).Seconds(); v.ops > 1 && sending > 0 {
		r.Offered = float64(v.ops-1) / sending
	}
	return r
}

func parseVegetaResults(l *lines) (*Result, error) {
	var all vegetaResults
	for l.next() {
		line := l.s.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r vegetaResult
		if err := json.Unmarshal(line, &r); err != nil {
			if err = l.lineError(err); !l.next() {
				break // cut in the middle of the last line
			}
			return nil, err
		}
		all.take(r)
	}
	return all.result(), l.err()
}

// The columns are the time sent in nanoseconds since 1970, status, latency in
// nanoseconds, bytes out, bytes in, error, body, attack and number; newer
// versions add more.
var vegetaCSV = regexp.MustCompile(`^[0-9]{19},[0-9]{1,3},[0-9]{1,19},[0-9]+,[0-9]+,`)

func detectVegetaCSV(head []byte) bool { return vegetaCSV.Match(head) }

func parseVegetaCSV(l *lines) (*Result, error) {
	var all vegetaResults
	err := l.records(func(f []string) error {
		if len(f) < 6 {
			return errColumns
		}
		sent, err1 := strconv.ParseInt(f[0], 10, 64)
		code, err2 := strconv.Atoi(f[1])
		latency, err3 := strconv.ParseInt(f[2], 10, 64)
		in, err4 := strconv.ParseInt(f[4], 10, 64)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		all.take(vegetaResult{Code: code, Timestamp: time.Unix(0, sent), Latency: latency, BytesIn: in, Error: f[5]})
		return nil
	})
	return all.result(), err
}

// --- vegeta report ---

// A line is a name, what its values are, and these.
var vegetaLine = regexp.MustCompile(`^([A-Z][A-Za-z ]*?)\s+\[([^\]]+)\]\s+(.*)$`)

func detectVegetaText(head []byte) bool {
	return anyLine(head, func(line string) bool {
		m := vegetaLine.FindStringSubmatch(line)
		return m != nil && m[1] == "Requests" && strings.HasPrefix(m[2], "total")
	})
}

func parseVegetaText(l *lines) (*Result, error) {
	r, success, codes := &Result{}, 1.0, map[string]int64{}
	var errs []string
	listed := false
	for l.next() {
		line := l.text()
		m := vegetaLine.FindStringSubmatch(line)
		if m == nil {
			if listed = listed || line == "Error Set:"; listed && line != "Error Set:" && line != "" && len(errs) < MaxKinds {
				errs = append(errs, line)
			}
			continue
		}
		listed = false
		if m[1] == "Requests" {
			r, success, codes, errs = &Result{}, 1.0, map[string]int64{}, nil
		}
		switch m[1] {
		case "Success":
			success = percent(m[3])
		case "Status Codes":
			for _, field := range strings.Fields(m[3]) {
				if code, n, ok := strings.Cut(field, ":"); ok && len(codes) < 1000 {
					codes[code] = count(n)
				}
			}
		default:
			names, values := strings.Split(m[2], ","), strings.FieldsFunc(m[3], func(c rune) bool { return c == ',' || c == '\t' })
			for i := range min(len(names), len(values)) {
				r.vegeta(m[1], strings.TrimSpace(names[i]), values[i])
			}
		}
	}
	r.Failed = failedOf(r.Ops, success, codes)
	r.statuses(codes, errs)
	return r, l.err()
}

// vegeta takes one value of a line.
func (r *Result) vegeta(line, name, value string) {
	switch line + " " + name {
	case "Requests total":
		r.Ops = count(value)
	case "Requests rate":
		r.Offered = rate(value)
	case "Duration total":
		r.Duration = max(0, took(value))
	case "Bytes In total":
		r.Bytes = count(value)
	case "Latencies mean":
		r.Mean = max(0, took(value))
	case "Latencies min":
		r.add(0, took(value))
	case "Latencies max":
		r.add(1, took(value))
	default:
		if q := percent(name); line == "Latencies" && q >= 0 {
			r.add(q, took(value))
		}
	}
}
