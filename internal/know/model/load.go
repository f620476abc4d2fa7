package model

import "time"

// A Load is what a load generator or a benchmark measured.
type Load struct {
	Tool string // k6, vegeta, wrk, hey, dnsperf, go test
	// Names is set where the load was on name servers, and not web servers.
	Names bool
	// Start is when it began since the window's start; Known is false where its
	// output does not say.
	Start    time.Duration
	Known    bool
	Duration time.Duration // 0 when not said
	Ops      int64         // finished operations, failed ones included
	Failed   int64
	// Unanswered are those of the failed ones that had no answer at all: connections
	// refused or broken. They are no operations of the program.
	Unanswered int64
	Failures   []Failure // kinds of failure, the most frequent first
	Crossed    []string  // thresholds of the test's own that were crossed
	Rate       float64   // finished per second
	Offered    float64   // asked for per second; 0 for a closed loop or when not said
	URL        string    // that was asked for by GET; empty when not said, or when more goes into the request
	// Connections is the largest number open; 0 when not said.
	Connections int
	Bytes       int64         // received; 0 when not said
	Latency     []Quantile    // in order; empty when not said
	Mean        time.Duration // of the latency; 0 when not said
	Over        []Interval    // over time, empty when not said
	// Closed is set where the generator says that the next operation began only
	// when one had ended, so that the rate was the program's own.
	Closed bool
	// Backlog is how many operations had come due and were not finished; empty
	// when not said, as for a closed loop.
	Backlog Series
	// Generator is what the generator says of itself.
	Generator Generator
	// Benchmarks are set for go test -bench, one for each line.
	Benchmarks []Benchmark
}

// A Generator is the load generator's account of itself; zero when it gives none.
type Generator struct {
	Limit string  // why it was itself the limit; empty when it was not
	CPU   float64 // cores that it used
	Procs int     // cores that it could use
}

// A Failure is a kind of failure, and how many operations had it; 0 where a tool lists
// kinds without counts.
type Failure struct {
	What string
	N    int64
}

// A Quantile says that the share Q of operations took at most Value.
type Quantile struct {
	Q     float64 // 0 to 1
	Value time.Duration
}

// An Interval is a piece of a load test.
type Interval struct {
	At, Width   time.Duration
	Ops, Failed int64
	P50, P99    time.Duration // 0 when not said
}

// A Benchmark is one line of go test -bench.
type Benchmark struct {
	Package string // "" when not said
	Name    string // with its -N suffix
	N       int64
	Values  map[string]float64 // by unit: ns/op, B/op, allocs/op, …
}
