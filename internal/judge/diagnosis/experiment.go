package diagnosis

import (
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Metric is a quantity that an experiment compares, in the words that flags,
// tables and JSON use. Those of single benchmarks have the benchmark's name
// before them: "BenchmarkParse allocs/op".
type Metric string

// The metrics. An operation is a unit of work: a request of the load, an
// iteration of a benchmark, or the whole run of a command.
const (
	Elapsed    Metric = "elapsed" // seconds of wall-clock time of a run
	CPUPerOp   Metric = "cpu/op"  // seconds, user and system
	OpsPerSec  Metric = "ops/s"
	P50        Metric = "p50" // seconds of latency
	P99        Metric = "p99"
	PeakRSS    Metric = "peak-rss"  // bytes
	LiveHeap   Metric = "live-heap" // bytes, after the last collection
	AllocsOp   Metric = "allocs/op"
	BytesOp    Metric = "B/op" // allocated
	Goroutines Metric = "goroutines/op"
	GCPerOp    Metric = "gc/op"
	Syscalls   Metric = "syscalls/op"
	Futexes    Metric = "futex/op"
	Switches   Metric = "switches/op" // of threads, voluntary and not
	Faults     Metric = "faults/op"   // of pages, minor and major
)

// words say a metric in a sentence.
var words = map[Metric]string{
	Elapsed: "elapsed time", CPUPerOp: "CPU time per operation", OpsPerSec: "operations per second",
	P50: "the median latency", P99: "the 99th percentile of latency", PeakRSS: "peak resident memory",
	LiveHeap: "the live heap", AllocsOp: "allocations per operation", BytesOp: "bytes allocated per operation",
	Goroutines: "goroutines started per operation", GCPerOp: "collections per operation",
	Syscalls: "system calls per operation", Futexes: "futex calls per operation",
	Switches: "thread switches per operation", Faults: "page faults per operation",
}

// Words returns the metric as a sentence says it, "CPU time per operation".
func (m Metric) Words() string {
	if w, ok := words[m]; ok {
		return w
	}
	return string(m)
}

// Greater reports whether more of the metric is better: throughput only.
func (m Metric) Greater() bool { return m == OpsPerSec }

// Change is what the changed arm of an experiment is made of.
type Change string

// The changes.
const (
	ChangeCode    Change = "code"    // the source; the revision before it is the other arm
	ChangeKnob    Change = "knob"    // Set
	ChangeTune    Change = "tune"    // Tune, the value has to be found
	ChangeBuild   Change = "build"   // how it is built; two binaries
	ChangeRelease Change = "release" // Upgrade and Go, which the same source is built with
)

// An Experiment is how a finding is confirmed or rejected: what is changed and
// which quantity must then move. The metric is named before anything is
// measured, so that nobody picks the one that happened to move.
type Experiment struct {
	Primary Metric `json:"primary"`
	// Else is the metric that decides where Primary, a count, cannot be had:
	// it needs the agent or the kernel's leave.
	Else Metric `json:"else,omitempty"`
	// Set is what the changed arm has, like "GOMAXPROCS=4": environment
	// variables. Empty when it is the code that has to change.
	Set []string `json:"set,omitempty"`
	// Now is what the other arm has, where it must be said: the same variables,
	// with numbers for values.
	Now []string `json:"now,omitempty"`
	// Tune is set when the value has to be found: a knob and its range, like
	// "workers=1..1000". At is the knob's value in the run, 0 when not known:
	// an argument of the command with just that value is taken for it.
	Tune string `json:"tune,omitempty"`
	At   int    `json:"at,omitempty"`
	// Rebuild says that the change is in the flags of the build.
	Rebuild bool `json:"rebuild,omitempty"`
	// Upgrade are the modules, as MODULE@VERSION, and Go the release of Go that the changed arm is
	// built with.
	Upgrade []string `json:"upgrade,omitempty"`
	Go      string   `json:"go,omitempty"`
	// Price is what the change is known to cost: that it does is no reason to
	// reject it, and nobody is promised that it does not.
	Price []Metric `json:"price,omitempty"`
	// Note says what else to look at, and what would refute the finding.
	Note string `json:"note,omitempty"`
	// Promised is how far metrics may move at most, as the finding's bound has
	// it. A metric that the bound says nothing of is absent.
	Promised []Promise `json:"promised,omitempty"`
}

// A Promise is an upper bound on what a fix does to a metric.
type Promise struct {
	Metric Metric `json:"metric"`
	// Best is the ratio of after to before that the bound allows: the least,
	// and for throughput the greatest. It is never an estimate.
	Best   float64 `json:"best"`
	Method string  `json:"method"`
}

// Change says what has to be changed.
func (e *Experiment) Change() Change {
	switch {
	case e.Tune != "":
		return ChangeTune
	case len(e.Set) > 0:
		return ChangeKnob
	case len(e.Upgrade) > 0 || e.Go != "":
		return ChangeRelease
	case e.Rebuild:
		return ChangeBuild
	}
	return ChangeCode
}

// Predicted returns what the finding promises at most for the primary metric
// of its experiment; ok is false when its bound says nothing of it.
func (f *Finding) Predicted() (metric Metric, best float64, method string, ok bool) {
	if f.Experiment == nil {
		return "", 0, "", false
	}
	p, ok := f.PredictedFor(f.Experiment.Primary)
	return f.Experiment.Primary, p.Best, p.Method, ok
}

// PredictedFor returns what the finding promises at most for any metric.
func (f *Finding) PredictedFor(m Metric) (p Promise, ok bool) {
	if f.Experiment == nil {
		return p, false
	}
	for _, p := range f.Experiment.Promised {
		if p.Metric == m {
			return p, true
		}
	}
	return p, false
}

// promises turns a bound into ratios of metrics. What cannot be converted
// without a guess is left out: a share of the CPU says nothing of elapsed time,
// and a wait that one request may meet several times nothing of its latency.
func (b *Bound) promises(m *model.Model) (out []Promise) {
	add := func(metric Metric, best float64) {
		if best > 0 && best != 1 {
			out = append(out, Promise{metric, best, b.Method})
		}
	}
	if !b.Limits() {
		return nil
	}
	switch {
	case b.Goal == CPUGoal && b.Unit == fact.Cores:
		add(CPUPerOp, fact.Amdahl(b.Share))
	case b.Goal == Throughput && (b.Unit == fact.Factor || b.Unit == fact.Ratio) && b.Value > 1:
		add(OpsPerSec, b.Value)
		add(Elapsed, 1/b.Value)
	case b.Goal == MemoryGoal && b.Unit == fact.Bytes:
		add(PeakRSS, 1-b.Value/peakRSS(m)) // less than 0 where nothing tells how much there was
	}
	return out
}

// peakRSS returns the most memory that the process had resident, in bytes.
func peakRSS(m *model.Model) (most float64) {
	if m.Process == nil {
		return 0
	}
	for i := range m.Process.Samples {
		most = max(most, float64(m.Process.Samples[i].RSS))
	}
	return most
}
