package store

import "time"

// A Finding is what a rule says about a version of a service over a span of time. It is
// known by tenant, service, version, Until, rule, function, file and line.
type Finding struct {
	Tenant, Service, Version string
	From, Until              time.Time // the span that was judged, kept in milliseconds
	Rule, Title              string
	Function, File           string
	Line                     int32
	Instances                int64
	Cost, Bound              int64  // in Unit, for one second of all instances together
	Unit                     string // "cpu_ns", "bytes", "wait_ns", ...
	Confidence               string
	Evidence                 []byte // JSON
}

// Findings is an answer.
type Findings struct {
	Findings []Finding
	Missing  Missing
}
