package loadresult

import (
	"bytes"
	"net"
	"regexp"
	"strings"
)

// --- ab, ApacheBench: its report ---

var (
	abCauses = regexp.MustCompile(`^\s*\(Connect: ([0-9]+), Receive: ([0-9]+), Length: ([0-9]+), Exceptions: ([0-9]+)\)`)
	// "Total:          2    7  11.2      3      64": least, mean, deviation, median, most in ms.
	abTotal    = regexp.MustCompile(`^Total:\s+([0-9]+)\s+([0-9]+)\s+([0-9.]+)\s+([0-9]+)\s+([0-9]+)$`)
	abQuantile = regexp.MustCompile(`^\s+([0-9]+)%\s+([0-9]+)`)
)

func detectAB(head []byte) bool {
	return bytes.Contains(head, []byte("This is ApacheBench")) || bytes.Contains(head, []byte("\nConcurrency Level:")) && bytes.Contains(head, []byte("Complete requests:"))
}

// parseAB reads a report. What ab calls failed are also answers of another length than the
// first one, which is no failure of a page that changes: those are left out.
func parseAB(l *lines) (*Result, error) {
	r, served := &Result{}, false
	scheme, host, port := "http", "", ""
	for l.next() {
		line := l.text()
		if m := abCauses.FindStringSubmatch(line); m != nil {
			for i, what := range []string{"cannot connect", "cannot read the answer", "", "cannot send or poll"} {
				if n := count(m[i+1]); what != "" && n > 0 {
					r.fail(what, n)
					r.Failed, r.Unanswered = r.Failed+n, r.Unanswered+n
				}
			}
			continue
		}
		if m := abTotal.FindStringSubmatch(line); m != nil {
			r.add(0, milliseconds(rate(m[1])))
			r.Mean = max(0, milliseconds(rate(m[2])))
			continue
		}
		if m := abQuantile.FindStringSubmatch(line); m != nil && served {
			r.add(percent(m[1]), milliseconds(rate(m[2])))
			continue
		}
		if strings.HasPrefix(line, "Percentage of the requests served") {
			served = true
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch value = strings.TrimSpace(value); name {
		case "This is ApacheBench, Version", "Server Software":
			r, served = &Result{}, false
		case "SSL/TLS Protocol":
			scheme = "https"
		case "Server Hostname":
			host = value
		case "Server Port":
			port = value
		case "Document Path":
			r.URL = webAddress(scheme + "://" + net.JoinHostPort(host, port) + value)
		case "Concurrency Level":
			r.Connections = int(min(count(value), maxConnections))
		case "Total body sent":
			r.URL = ""
		case "Time taken for tests":
			n, _, _ := leading(value)
			r.Duration = max(0, seconds(n))
		case "Complete requests":
			r.Ops = count(value)
		case "Non-2xx responses":
			r.fail("a status other than 2xx", count(value))
			r.Failed += count(value)
		case "Total transferred":
			r.Bytes = count(value)
		case "Requests per second":
			r.Rate = rate(value)
		}
	}
	r.Failed = min(r.Failed, r.Ops)
	return r, l.err()
}
