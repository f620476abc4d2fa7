package loadresult

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// --- hey -o csv: one request a line, times in seconds ---

const heyColumns = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code"

func detectHeyCSV(head []byte) bool { return bytes.HasPrefix(head, []byte(heyColumns)) }

func parseHeyCSV(l *lines) (*Result, error) {
	var all tally
	status, offset := -1, -1
	err := l.records(func(f []string) error {
		if status < 0 { // the columns' names
			status, offset = slices.Index(f, "status-code"), slices.Index(f, "offset")
			return nil
		}
		if len(f) <= max(status, offset) {
			return errColumns
		}
		latency, err1 := strconv.ParseFloat(f[0], 64)
		code, err2 := strconv.Atoi(f[status])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		begin := heyEpoch
		if offset >= 0 { // when it was sent, since the first
			begin = begin.Add(max(0, seconds(rate(f[offset]))))
		}
		took := seconds(latency)
		all.add(begin.Add(max(0, took)), took, vegetaFailed(code))
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := all.result(false)
	if offset < 0 { // older versions: nothing is known of when
		r.Duration, r.Over = 0, nil
	}
	return r, nil
}

// heyEpoch stands for the start, which hey does not say.
var heyEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// --- hey's own report ---

var (
	// "  99%% in 0.0041 secs", and with one % in older versions
	heyQuantile = regexp.MustCompile(`^\s*([0-9.]+)%+ in ([0-9.]+) secs`)
	// "  [200]	9210 responses", "  [3]	Get "http://…": EOF"
	heyCount = regexp.MustCompile(`^\s*\[([0-9]+)\]\s+(.*)$`)
)

func detectHey(head []byte) bool {
	at := bytes.Index(head, []byte("Summary:\n"))
	return at >= 0 && bytes.Contains(head[at:], []byte("Total:")) && bytes.Contains(head[at:], []byte(" secs"))
}

func parseHey(l *lines) (*Result, error) {
	r, section := &Result{}, ""
	for l.next() {
		line := l.text()
		if strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " ") {
			if section = line; section == "Summary:" {
				r = &Result{}
			}
			continue
		}
		r.hey(section, line)
	}
	return r, l.err()
}

func (r *Result) hey(section, line string) {
	switch section {
	case "Summary:":
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		r.heySummary(name, value)
	case "Latency distribution:":
		if m := heyQuantile.FindStringSubmatch(line); m != nil {
			r.add(percent(m[1]), seconds(rate(m[2])))
		}
	case "Status code distribution:":
		if m := heyCount.FindStringSubmatch(line); m != nil {
			n := count(m[2])
			r.Ops += n
			if vegetaFailed(int(count(m[1]))) {
				r.Failed += n
				r.fail("status "+m[1], n)
			}
		}
	case "Error distribution:":
		if m := heyCount.FindStringSubmatch(line); m != nil {
			n := count(m[1])
			r.Ops, r.Failed = r.Ops+n, r.Failed+n
			r.fail(m[2], n)
			if !timedOut(m[2]) {
				r.Unanswered += n
			}
		}
	}
}

func (r *Result) heySummary(name, value string) {
	switch name {
	case "Total":
		r.Duration = max(0, seconds(rate(value)))
	case "Slowest":
		r.add(1, seconds(rate(value)))
	case "Fastest":
		r.add(0, seconds(rate(value)))
	case "Average":
		r.Mean = max(0, seconds(rate(value)))
	case "Requests/sec":
		r.Rate = rate(value)
	case "Total data":
		r.Bytes = count(value)
	}
}
