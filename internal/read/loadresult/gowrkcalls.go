package loadresult

import (
	"bytes"
	"strings"
)

// Of the two tools that are called go-wrk, this one counts calls and has headlines; the
// other is beside wrk.

func detectGoWrkCalls(head []byte) bool {
	return bytes.Contains(head, []byte("Total number of calls:")) && bytes.Contains(head, []byte("Used Connections:"))
}

// parseGoWrkCalls reads it. A call without an answer is one of its errors, of which it says no
// more; it prints the line of the 50X twice.
func parseGoWrkCalls(l *lines) (*Result, error) {
	r := &Result{}
	answered := map[string]bool{}
	for l.next() {
		name, value, _ := strings.Cut(strings.TrimSpace(l.text()), ":")
		value = strings.TrimSpace(value)
		number, _, _ := strings.Cut(value, " ")
		class, isAnswer := strings.CutSuffix(name, " Responses")
		switch {
		case name == "Total number of calls":
			r, answered = &Result{Tool: "go-wrk", Ops: count(value), URL: r.URL, Connections: r.Connections}, map[string]bool{}
		case name == "URL":
			r.URL = webAddress(value)
		case name == "Used Connections":
			r.Connections = int(min(count(value), maxConnections))
		case name == "Total time passed":
			r.Duration = max(0, took(value))
		case name == "Requests per second":
			r.Rate = rate(value)
		case name == "Avg time per request":
			r.Mean = max(0, took(value))
		case name == "Median time per request":
			r.add(0.5, took(value))
		case name == "99th percentile time":
			r.add(0.99, took(value))
		case name == "Slowest time for request":
			r.add(1, took(value))
		case name == "Total response body sizes":
			r.Bytes = count(value)
		case name == "Errors" && count(number) > 0:
			r.Unanswered += count(number)
			r.Failed += count(number)
			r.fail("no answer", count(number))
		case isAnswer && (class == "40X" || class == "50X") && !answered[class] && count(number) > 0:
			r.Failed += count(number)
			r.fail("status "+strings.ToLower(class[:1]+"xx"), count(number))
		}
		answered[class] = true
	}
	return r, l.err()
}
