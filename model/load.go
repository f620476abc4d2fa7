package model

import "time"

// A Load is what a load generator or a benchmark measured.
type Load struct {
	Tool string // k6, vegeta, wrk, hey, dnsperf, go test
	// Start is when it began since the window's start; Known is false where its
	// output does not say.
	Start    time.Duration
	Known    bool
	Duration time.Duration // 0 when not said
	Ops      int64         // finished operations, failed ones included
	Failed   int64
	Rate     float64       // finished per second
	Offered  float64       // asked for per second; 0 for a closed loop or when not said
	Bytes    int64         // received; 0 when not said
	Latency  []Quantile    // in order; empty when not said
	Mean     time.Duration // of the latency; 0 when not said
	Over     []Interval    // over time, empty when not said
	// Benchmarks are set for go test -bench, one for each line.
	Benchmarks []Benchmark
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
