package loadresult

import (
	"errors"
	"regexp"
	"strings"
)

var (
	// Its first versions had no time and began "Making 100000 requests to http://…".
	wrkBegin = regexp.MustCompile(`^(?:Running \S+ test @ |Making \d+ requests to )(\S*)`)
	// "  2 threads and 10 connections"
	wrkConnections = regexp.MustCompile(`^\s*[0-9]+ threads and ([0-9]+) connections`)
	// "  14098 requests in 3.00s, 1.65MB read"
	wrkTotal = regexp.MustCompile(`^\s*([0-9]+) requests in ([0-9.]+[a-zµ]+), (\S+) read`)
	// "    Latency     2.12ms    0.91ms   6.42ms   75.28%"
	wrkStats = regexp.MustCompile(`^\s+Latency\s+(\S+)\s+\S+\s+(\S+)\s+\S+%$`)
	// "     99%    3.97ms", and wrk2's " 99.900%   25.45ms"
	wrkQuantile = regexp.MustCompile(`^\s*([0-9.]+)%\s+([0-9.]+[a-zµ]+)$`)
	// "  Socket errors: connect 0, read 3, write 0, timeout 1"
	wrkErrors = regexp.MustCompile(`^\s*Socket errors: connect ([0-9]+), read ([0-9]+), write ([0-9]+), timeout ([0-9]+)`)
)

func detectWrk(head []byte) bool {
	return anyLine(head, wrkBegin.MatchString)
}

// parseWrk reads wrk and its variant wrk2, which sends at a rate and has a
// finer distribution. Neither says when it began; wrk2 does not repeat the
// rate it was asked for.
func parseWrk(l *lines) (*Result, error) {
	r := &Result{}
	distribution := false
	for l.next() {
		line := l.text()
		switch {
		case wrkBegin.MatchString(line):
			// A script may ask for anything, and nothing says that there was one: it is one
			// request in most of them, to this address in all.
			r, distribution = &Result{Tool: "wrk", URL: webAddress(wrkBegin.FindStringSubmatch(line)[1])}, false
		case strings.Contains(line, "Thread calibration:"):
			r.Tool = "wrk2"
		case strings.Contains(line, "Latency Distribution"):
			// wrk2 -U prints a second one, without what it corrects.
			distribution = !strings.Contains(line, "Uncorrected")
			if strings.Contains(line, "HdrHistogram") {
				r.Tool = "wrk2"
			}
		case strings.Contains(line, "Detailed Percentile spectrum"):
			distribution = false
		default:
			r.wrk(line, distribution)
		}
	}
	return r, l.err()
}

func (r *Result) wrk(line string, distribution bool) {
	if m := wrkQuantile.FindStringSubmatch(line); m != nil && distribution {
		if q := percent(m[1]); q >= 0 {
			r.add(q, took(m[2]))
		}
		return
	}
	if m := wrkStats.FindStringSubmatch(line); m != nil {
		r.Mean = max(0, took(m[1]))
		r.add(1, took(m[2]))
	} else if m := wrkTotal.FindStringSubmatch(line); m != nil {
		r.Ops += count(m[1])
		r.Duration, r.Bytes = max(0, took(m[2])), bytesOf(m[3], 1024)
	} else if m := wrkConnections.FindStringSubmatch(line); m != nil {
		r.Connections = int(min(count(m[1]), maxConnections))
	} else if m := wrkErrors.FindStringSubmatch(line); m != nil {
		// Requests that broke are not among those counted as requests; those
		// that took too long are.
		broken := count(m[1]) + count(m[2]) + count(m[3])
		r.Ops, r.Failed, r.Unanswered = r.Ops+broken, r.Failed+broken+count(m[4]), r.Unanswered+broken
		for i, what := range []string{"cannot connect", "cannot read the answer", "cannot send", "timeout"} {
			if n := count(m[i+1]); n > 0 {
				r.fail(what, n)
			}
		}
	} else if _, n, ok := strings.Cut(line, "Non-2xx or 3xx responses:"); ok {
		r.Failed += count(n)
		r.fail("a status other than 2xx and 3xx", count(n))
	} else if n, ok := strings.CutPrefix(line, "Requests/sec:"); ok {
		r.Rate = rate(n)
	}
}

// --- go-wrk, which begins like wrk ---

var (
	// "  80 goroutine(s) running concurrently"
	goWrkBegin = regexp.MustCompile(`^\s*[0-9]+ goroutine\(s\) running concurrently`)
	// "12 requests in 1m2.5s, 1.65MB read": the time is Go's
	goWrkTotal = regexp.MustCompile(`^([0-9]+) requests in (\S+), (\S+) read`)
	// "99%:			3.97ms" of its later versions
	goWrkQuantile = regexp.MustCompile(`^([0-9.]+)%:\s+(\S+)$`)
)

func detectGoWrk(head []byte) bool { return anyLine(head, goWrkBegin.MatchString) }

// parseGoWrk reads go-wrk. It counts what failed beside the requests, any status but 200
// and a redirect with it, and says nothing else where all did.
func parseGoWrk(l *lines) (*Result, error) {
	r := &Result{}
	for l.next() {
		switch line := l.text(); {
		case goWrkBegin.MatchString(line):
			r = &Result{Tool: "go-wrk"}
		case strings.HasPrefix(line, "Error: No statistics collected"):
			return nil, errors.New("none of its requests got an answer of status 200, and it says no more")
		default:
			r.goWrk(line)
		}
	}
	return r, l.err()
}

func (r *Result) goWrk(line string) {
	if m := goWrkQuantile.FindStringSubmatch(line); m != nil {
		if q := percent(m[1]); q >= 0 {
			r.add(q, took(m[2]))
		}
		return
	}
	if m := goWrkTotal.FindStringSubmatch(line); m != nil {
		r.Ops += count(m[1])
		r.Duration, r.Bytes = max(0, took(m[2])), bytesOf(m[3], 1024)
		return
	}
	name, value, _ := strings.Cut(line, ":")
	switch value = strings.TrimSpace(value); name {
	case "Requests/sec":
		r.Rate = rate(value)
	case "Avg Req Time":
		r.Mean = max(0, took(value))
	case "Slowest Request":
		r.add(1, took(value))
	case "Number of Errors":
		if n := count(value); n > 0 {
			r.Ops, r.Failed = r.Ops+n, r.Failed+n
			r.fail("no answer, or a status other than 200", n)
		}
	}
}
