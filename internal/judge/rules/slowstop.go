package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed slowstop.md
var slowstopPage string

var slowstop = &diagnosis.Rule{
	Name:     "slowstop",
	Title:    "Long stop-the-world pauses",
	Doc:      slowstopPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"schedlatency", "futexstorm"}, // only where stops are long or many enough for it; see stopSymptoms
	Check:    checkSlowstop,
}

const (
	// slowstopP99 and slowstopMax are the catalogue's limits for how long the
	// world stands still. Ordinary stops take 10 to 100 µs; the worker pool
	// of the case studies shows 13 µs at most.
	slowstopP99 = time.Millisecond
	slowstopMax = 10 * time.Millisecond
	// slowstopMany is how many stops a 99th percentile needs to be more than
	// the largest one.
	slowstopMany = 20
	// slowstopShare is the share of the window that stops must add up to when
	// none is very long. On a machine with more threads than cores a loaded HTTP server's
	// stops reach 5 ms and add up to 0.7%, those of a rule engine that is as fast
	// as it can be beside its broker 3 ms and 1.1%.
	slowstopShare = minShare
	// slowstopAsked is that for stops that the program asks for itself, which need
	// not be long: stopped often in short pieces is stopped too.
	slowstopAsked = 0.01
	// slowstopFew is from how many stops on the program asks for them again
	// and again. A test that reads memory statistics at its begin and its end
	// stops twice, and in a trace of 0.3 s that is 1%.
	slowstopFew = 4
	// slowstopCrowd is the part of the time ready in which threads of the process
	// waited for a CPU of a full machine, from which a stop that is long waited for
	// such a thread rather than for a goroutine: what disturbs other times, too.
	slowstopCrowd = 0.10
)

// stops is all stops of the world for one purpose.
type stops struct {
	kind   string
	sorted []time.Duration
	stack  model.Stack // of the longest

	n, total, longest, p99, share fact.Fact
}

func checkSlowstop(p *diagnosis.Pass) {
	n, worst, found := 0, fact.Fact{}, false
	for _, s := range stopsByKind(p) {
		if s.slow() {
			found = true
			if why := s.starvationNote(p); why != "" {
				p.Unchecked("whether the program delays its stops",
					fact.Sentence("the longest took %s, and threads that have no CPU stop late, too: %s", s.longest, fact.Name(why)),
					"grep -H . /sys/fs/cgroup/cpu.stat /proc/pressure/cpu")
				continue
			}
			p.Report(slowFinding(p, &s))
			continue
		}
		n, worst = n+len(s.sorted), worst.Larger(s.longest)
	}
	if n > 0 && !found {
		p.Fine(fact.Sentence("stops of the world: %s, the longest %s", fact.Name(fact.Count.Format(float64(n))), worst))
	}
}

// stopsByKind leaves out the stops that recording makes itself, for the trace and
// where the agent asks for profiles and counts, and those of package testing between
// the rounds of a benchmark.
func stopsByKind(p *diagnosis.Pass) (out []stops) {
	if p.Model.GC == nil {
		return nil
	}
	for _, pause := range p.Model.GC.Pauses {
		kind := pause.Kind
		switch {
		case kind == "start trace", kind == "stop trace", code.Foreign(p.Model.Stacks.Frames(pause.Stack)):
			continue
		case strings.HasPrefix(kind, "GC "):
			kind = collection // a collection has two stops, and one cause if they are long
		}
		i := slices.IndexFunc(out, func(s stops) bool { return s.kind == kind })
		if i < 0 {
			i, out = len(out), append(out, stops{kind: kind})
		}
		s := &out[i]
		if len(s.sorted) == 0 || pause.Duration > slices.Max(s.sorted) {
			s.stack = pause.Stack
		}
		s.sorted = append(s.sorted, pause.Duration)
	}
	for i := range out {
		out[i].count(p)
	}
	return out
}

// count makes facts of them.
func (s *stops) count(p *diagnosis.Pass) {
	slices.Sort(s.sorted)
	var total time.Duration
	for _, d := range s.sorted {
		total += d
	}
	stop := func(name string, v float64, u fact.Unit) fact.Fact {
		return ofCollector(p, "stops of the world", name, v, u)
	}
	n := len(s.sorted)
	s.n = stop("stops", float64(n), fact.Count)
	s.total = stop("time in which nothing of the program runs", total.Seconds(), fact.Seconds)
	s.longest = stop("longest stop", s.sorted[n-1].Seconds(), fact.Seconds)
	s.p99 = stop("99th percentile of the stops", s.sorted[(99*n+99)/100-1].Seconds(), fact.Seconds)
	s.share = fact.Quotient.Of("share of the window", fact.Ratio, s.total, p.WindowLength())
}

func (s *stops) slow() bool {
	long := s.n.Value >= slowstopMany && s.p99.Value >= slowstopP99.Seconds() && s.share.Value >= slowstopShare
	asked := s.kind != collection && s.n.Value >= slowstopFew && s.share.Value >= slowstopAsked
	return s.longest.Value >= slowstopMax.Seconds() || long || asked
}

// starvationNote says why threads had no CPU, where that explains the length of the stops; ""
// where it does not. Stops that the program asks for again and again are its own,
// however long each takes.
func (s *stops) starvationNote(p *diagnosis.Pass) string {
	if s.kind != collection && s.n.Value >= slowstopFew {
		return ""
	}
	if why := cmp.Or(diagnosis.Starved(p.Model), threadsWait(p)); why != "" {
		return why
	}
	n, ok := p.Model.Neighbours()
	if !ok || n.FullWaited.Seconds() < s.total.Value {
		return ""
	}
	full := func(what, name string, d time.Duration) fact.Fact {
		return p.Statistic(fact.Machine, what, name, d.Seconds(), fact.Seconds).From(model.ProcFS)
	}
	waited := full("ready without a CPU, while the machine was full", "time ready without a CPU while the machine was full", n.FullWaited)
	ready := fact.Sum.Of("time ready while the machine was full", fact.Seconds, waited,
		full("of the process, while the machine was full", "CPU of the process while the machine was full", n.FullOwn))
	crowd := fact.Fraction.Of("part of their time ready without a CPU", fact.Ratio, waited, ready)
	if crowd.Value < slowstopCrowd {
		return ""
	}
	return fact.Sentence("of the time that threads of the process were ready while the machine was full they waited %s for a CPU", crowd)
}

// often returns how many there are a second.
func (s *stops) often(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("stops", fact.PerSec, s.n, p.WindowLength())
}

// collection is the purpose of the collector's own stops.
const collection = "garbage collection"

func slowFinding(p *diagnosis.Pass, s *stops) diagnosis.Finding {
	place, _ := p.UserPlace(s.stack)
	f := diagnosis.Finding{
		Where:      code.Places(place),
		Evidence:   []fact.Fact{s.longest, s.p99, s.often(p), s.share},
		Cost:       diagnosis.CostOf(s.total, s.share.Value),
		Bound:      diagnosis.Limit(s.longest, diagnosis.Latency, s.share.Value, "the longest that any one request waited for it"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"begin and end of each stop are in the trace"},
		RuledOut:   []string{"the stops that recording makes are not counted: starting and ending a trace, taking profiles"},
		Explains:   stopSymptoms(p, s),
		Remedy:     stopRemedy(s.kind, p.Model.Stacks.Frames(s.stack)),
		Experiment: stopExperiment(p.Model, s.kind),
		Prove: "What delays the goroutine or thread that stops last is not in the trace, " +
			"so that no change of the program is known that a run could try. " +
			"Record again on a machine without neighbours or quota, or after the change: the longest stop must be shorter. " +
			"If stops become much longer with `GODEBUG=asyncpreemptoff=1`, loops of your own delay them.",
	}
	f.Say("The world was stopped %s for %s, up to %s at a time, %s of the window in all.", howOften(s.n), purpose(s.kind), s.longest, s.share)
	if _, watched := p.Model.Neighbours(); s.kind == collection && !watched {
		// A machine with more to do than it has cores makes them as long: of a message
		// broker beside busy programs 24 to 37 ms, in three recordings of three.
		f.Remark, f.Confidence = true, diagnosis.Low
		f.Reasons = append(f.Reasons, "nothing recorded tells whether threads of the process waited for a CPU, which makes stops as long")
	}
	if s.kind == collection && s.sorted[len(s.sorted)/2] < slowstopP99 {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "most stops of this kind are short; threads without a CPU or page faults delay single ones just the same, "+
			"and the trace does not see those")
	}
	return f
}

// howOften says how many times something happened.
func howOften(n fact.Fact) fact.Name {
	switch n.Value {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fact.Name(n.Text + " times")
}

// stopFutex is how many futex calls one stop makes for each P: its thread is
// put to sleep and woken. A benchmark that stopped 9,000 times a second on two
// Ps made 22,000 calls.
const stopFutex = 2

// stopSymptoms lists what these stops may explain: waits for a P that are longer than the
// stops have another cause, and so have futex calls of which the stops cannot make half.
func stopSymptoms(p *diagnosis.Pass, s *stops) []string {
	symptoms := []string{}
	if s.longest.Value >= p.Model.Sched.Delay.Quantile(0.99).Seconds() {
		symptoms = append(symptoms, "schedlatency")
	}
	rate := statistics.Quotient(float64(len(s.sorted)), p.Seconds())
	if p.Model.Syscalls != nil && stopFutex*rate*float64(p.Procs()) >= cpu.FutexCalls(p).Value/2 {
		symptoms = append(symptoms, "futexstorm")
	}
	return symptoms
}

// stopsByNumber reports whether the only stops of the world to complain of are the
// collector's, and most of their time is short ones that add up because it runs frequently:
// then slowstop shows a symptom of what makes it run. A few long ones have a cause of their
// own.
func stopsByNumber(p *diagnosis.Pass) (found bool) {
	for _, s := range stopsByKind(p) {
		if !s.slow() {
			continue
		}
		var short time.Duration
		for _, d := range s.sorted {
			if d < slowstopMax {
				short += d
			}
		}
		if s.kind != collection || s.n.Value < slowstopMany || short.Seconds() < s.total.Value/2 {
			return false
		}
		found = true
	}
	return found
}

// purpose quotes the runtime's word: a trace may hold anything.
func purpose(kind string) fact.Name {
	if kind == collection {
		return collection
	}
	return fact.Name(strconv.Quote(kind))
}

func stopRemedy(kind string, frames []model.Frame) diagnosis.Remedy {
	switch {
	case code.ContainsAny(frames, benchmarkTimer):
		return diagnosis.Remedy{
			Text: "Prepare the input before the loop, or for many iterations at once: B.StopTimer and B.StartTimer read memory " +
				"statistics, which stops the world each time; in a loop of short iterations they are much of what is run, " +
				"and what is measured suffers from it.",
		}
	case strings.Contains(kind, "mem stats"):
		return diagnosis.Remedy{
			Text: "Read the same figures from runtime/metrics, every few seconds rather than for each request: " +
				"runtime.ReadMemStats stops the world, and that does not.",
			Code: "s := []metrics.Sample{{Name: \"/memory/classes/heap/objects:bytes\"}}\nmetrics.Read(s)",
		}
	case strings.Contains(kind, "profile"), strings.Contains(kind, "stack"):
		return diagnosis.Remedy{Text: "Take goroutine profiles and stack dumps of the whole program on demand, not from a ticker or in the path of a request: " +
			"they stop the world, the longer the more goroutines there are."}
	case strings.Contains(kind, "GOMAXPROCS"):
		return diagnosis.Remedy{Text: "Set GOMAXPROCS once at the start: runtime.GOMAXPROCS stops the world whenever the number changes."}
	case kind == collection:
		return diagnosis.Remedy{
			Text: "Look for loops in assembly or long copies and clears of very large values, which cannot be interrupted, " +
				"for threads that had no CPU (quota, neighbours), and for page faults on mapped files or swap: " +
				"the collector's own work in a stop takes microseconds, " +
				"the rest is waiting for the goroutine or thread that is last to stop.",
		}
	}
	return diagnosis.Remedy{Text: "Call what stops the world less often, and not in the path of a request: the stack shows where it is called."}
}

// benchmarkTimer is the timer of a benchmark, which reads memory statistics.
var benchmarkTimer = []string{"testing.(*B).StartTimer", "testing.(*B).StopTimer"}

// stopExperiment removes the call that stops the world; the collector's stops
// have none.
func stopExperiment(m *model.Model, kind string) *diagnosis.Experiment {
	if kind == collection {
		return nil
	}
	return codeChange(latency(m), "", "The longest stop in a new recording must be gone with the call.")
}
