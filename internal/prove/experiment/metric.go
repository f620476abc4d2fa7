package experiment

import (
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// Info is what is known of a metric.
type Info struct {
	Title string    // in a few words, for a reader
	Unit  fact.Unit // of a value times Scale
	Scale float64   // 1, or 1e-9 for nanoseconds
	// More says that more of it is better.
	More bool
	// Counter says that it counts what the program did, which may well be the
	// same in every run: it is compared exactly when it is.
	Counter bool
	// Chance says that when things happen has a part in it, as in how often the
	// collector ran or a thread waited: small counts that are equal may be so by
	// accident.
	Chance bool
	// Known is false for a metric that somebody made up; its direction is then
	// a guess: more is better for what is counted per second, less for all else.
	Known bool
}

// timed says that the noise of the machine's speed is in it.
func (i Info) timed() bool { return i.Unit == fact.Seconds || i.Unit == fact.PerSec }

// metrics are in the order in which effects are listed.
var metrics = []struct {
	metric diagnosis.Metric
	info   Info
}{
	{diagnosis.AllocsOp, Info{Title: "allocations per operation", Unit: fact.Count, Scale: 1, Counter: true}},
	{diagnosis.BytesOp, Info{Title: "bytes allocated per operation", Unit: fact.Bytes, Scale: 1, Counter: true}},
	{diagnosis.Goroutines, Info{Title: "goroutines created per operation", Unit: fact.Count, Scale: 1, Counter: true}},
	{diagnosis.GCPerOp, Info{Title: "collections per operation", Unit: fact.Count, Scale: 1, Counter: true, Chance: true}},
	{diagnosis.Syscalls, Info{Title: "system calls per operation", Unit: fact.Count, Scale: 1, Counter: true, Chance: true}},
	{diagnosis.Futexes, Info{Title: "futex calls per operation", Unit: fact.Count, Scale: 1, Counter: true, Chance: true}},
	{diagnosis.Switches, Info{Title: "context switches per operation", Unit: fact.Count, Scale: 1, Counter: true, Chance: true}},
	{diagnosis.Faults, Info{Title: "page faults per operation", Unit: fact.Count, Scale: 1, Counter: true, Chance: true}},
	{diagnosis.CPUPerOp, Info{Title: "CPU time per operation", Unit: fact.Seconds, Scale: 1}},
	{diagnosis.Elapsed, Info{Title: "elapsed time", Unit: fact.Seconds, Scale: 1}},
	{"ns/op", Info{Title: "time per operation", Unit: fact.Seconds, Scale: 1e-9}},
	{diagnosis.OpsPerSec, Info{Title: "throughput", Unit: fact.PerSec, Scale: 1, More: true}},
	{"MB/s", Info{Title: "throughput in megabytes", Unit: fact.PerSec, Scale: 1, More: true}},
	{diagnosis.P50, Info{Title: "median latency", Unit: fact.Seconds, Scale: 1}},
	{diagnosis.P99, Info{Title: "99th percentile of latency", Unit: fact.Seconds, Scale: 1}},
	{diagnosis.PeakRSS, Info{Title: "peak memory", Unit: fact.Bytes, Scale: 1}},
	{diagnosis.LiveHeap, Info{Title: "live heap", Unit: fact.Bytes, Scale: 1}},
}

// Metrics returns all that are known, in the order in which they are listed. Those
// of package testing, like "ns/op", stand behind the name of a benchmark.
func Metrics() []diagnosis.Metric {
	list := make([]diagnosis.Metric, len(metrics))
	for i, m := range metrics {
		list[i] = m.metric
	}
	return list
}

// InfoOf tells what is known of a metric, with or without the name of a
// benchmark before it: "BenchmarkParse ns/op".
func InfoOf(m diagnosis.Metric) Info {
	_, base := splitMetric(m)
	if at := place(base); at < len(metrics) {
		known := metrics[at].info
		known.Known = true
		return known
	}
	i := Info{Title: string(m), Unit: fact.Count, Scale: 1}
	if strings.HasSuffix(base, "/s") {
		i.Unit, i.More = fact.PerSec, true
	}
	return i
}

// place returns where a metric stands in the table, its length when it does not.
func place(base string) int {
	for i, m := range metrics {
		if string(m.metric) == base {
			return i
		}
	}
	return len(metrics)
}

func splitMetric(m diagnosis.Metric) (benchmark, base string) {
	if at := strings.LastIndexByte(string(m), ' '); at >= 0 {
		return string(m[:at]), string(m[at+1:])
	}
	return "", string(m)
}

// compareMetrics orders metrics: those without a benchmark first, then by
// benchmark, then as in the table.
func compareMetrics(a, b diagnosis.Metric) int {
	benchA, baseA := splitMetric(a)
	benchB, baseB := splitMetric(b)
	if benchA != benchB {
		return strings.Compare(benchA, benchB)
	}
	if d := place(baseA) - place(baseB); d != 0 {
		return d
	}
	return strings.Compare(baseA, baseB)
}
