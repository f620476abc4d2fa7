package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed slowstop.md
var slowstopPage string

var slowstop = &diagnosis.Rule{
	Name:     "slowstop",
	Title:    "The whole program is stopped for long",
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
	// stops reach 5 ms and add up to 0.7 %, those of a rule engine that is as fast
	// as it can be beside its broker 3 ms and 1.1 %.
	slowstopShare = minShare
	// slowstopAsked is that for stops that the program asks for itself, which need
	// not be long: stopped often in short pieces is stopped too.
	slowstopAsked = 0.01
	// slowstopFew is from how many stops on the program asks for them again
	// and again. A test that reads memory statistics at its begin and its end
	// stops twice, and in a trace of 0.3 s that is 1 %.
	slowstopFew = 4
)

// stops is all stops of the world for one purpose.
type stops struct {
	kind   string
	sorted []time.Duration
	total  time.Duration
	stack  model.Stack // of the longest
}

func (s *stops) max() time.Duration { return s.sorted[len(s.sorted)-1] }

func (s *stops) p99() time.Duration {
	return s.sorted[(99*len(s.sorted)+99)/100-1]
}

func checkSlowstop(p *diagnosis.Pass) {
	if p.Model.GC == nil {
		return
	}
	worst, n, found := time.Duration(0), 0, false
	for _, s := range stopsByKind(p.Model) {
		if slow(p, &s) {
			p.Report(slowFinding(p, &s))
			found = true
			continue
		}
		worst, n = max(worst, s.max()), n+len(s.sorted)
	}
	if n > 0 && !found {
		p.Fine(fmt.Sprintf("stops of the world: %s, the longest %s", num(n), dur(worst)))
	}
}

// stopsByKind leaves out the stops that recording makes itself: for the trace,
// and where the agent asks for profiles and counts.
func stopsByKind(m *model.Model) (out []stops) {
	for _, pause := range m.GC.Pauses {
		kind := pause.Kind
		switch {
		case strings.Contains(kind, "trace"), model.OfRecording(m.Stacks.Frames(pause.Stack)):
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
		s.total += pause.Duration
	}
	for i := range out {
		slices.Sort(out[i].sorted)
	}
	slices.SortStableFunc(out, func(a, b stops) int { return cmp.Compare(b.total, a.total) })
	return out
}

func slow(p *diagnosis.Pass, s *stops) bool {
	share := div(s.total.Seconds(), p.Seconds())
	long := len(s.sorted) >= slowstopMany && s.p99() >= slowstopP99 && share >= slowstopShare
	asked := s.kind != collection && len(s.sorted) >= slowstopFew && share >= slowstopAsked
	return s.max() >= slowstopMax || long || asked
}

// collection is the purpose of the collector's own stops.
const collection = "garbage collection"

func slowFinding(p *diagnosis.Pass, s *stops) diagnosis.Finding {
	share := div(s.total.Seconds(), p.Seconds())
	place, _ := p.UserPlace(s.stack)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("The world was stopped %s for %s, up to %s at a time, %s of the window in all.",
			howOften(len(s.sorted)), purpose(s.kind), dur(s.max()), pct(share)),
		Where: where(place),
		Evidence: []fact.Fact{
			{Name: "longest stop", Value: s.max().Seconds(), Unit: fact.Seconds, Source: "trace: stops of the world"},
			{Name: "99th percentile", Value: s.p99().Seconds(), Unit: fact.Seconds, Source: "trace: stops of the world"},
			{Name: "stops", Value: div(float64(len(s.sorted)), p.Seconds()), Unit: fact.PerSec, Source: "trace: stops of the world"},
			{Name: "share of the window", Value: share, Unit: fact.Ratio, Source: "trace: stops of the world"},
		},
		Cost: diagnosis.Cost{Value: s.total.Seconds(), Unit: fact.Seconds, Share: share, What: "during which nothing of the program runs"},
		Bound: diagnosis.Bound{
			Value: s.max().Seconds(), Unit: fact.Seconds, Goal: diagnosis.Latency, Share: share,
			Method: "the longest stop: the most that any one request waited for it",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"begin and end of each stop are in the trace"},
		RuledOut:   []string{"the stops that recording makes are not counted: starting and ending a trace, taking profiles"},
		Explains:   stopSymptoms(p, s),
		Remedy:     stopRemedy(s.kind, p.Model.Stacks.Frames(s.stack)),
		Experiment: stopExperiment(p.Model, s.kind),
		Prove:      "What delays the goroutine or thread that stops last is not in the trace, so that no change of the program is known that a run could try. Record again on a machine without neighbours or quota, or after the change: the longest stop must be shorter. If stops become much longer with `GODEBUG=asyncpreemptoff=1`, loops of your own delay them.",
	}
	if s.kind == collection && s.sorted[len(s.sorted)/2] < slowstopP99 {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "most stops of this kind are short; threads without a CPU or page faults delay single ones just the same, and the trace does not see those")
	}
	return f
}

// stopFutex is how many futex calls one stop makes for each P: its thread is
// put to sleep and woken. A benchmark that stopped 9,000 times a second on two
// Ps made 22,000 calls.
const stopFutex = 2

// stopSymptoms is what these stops may explain: waits for a P that are longer
// than the stops have another cause, and so have futex calls of which the stops
// cannot make half.
func stopSymptoms(p *diagnosis.Pass, s *stops) []string {
	symptoms := []string{}
	if s.max() >= p.Model.Sched.Delay.Quantile(0.99) {
		symptoms = append(symptoms, "schedlatency")
	}
	rate := div(float64(len(s.sorted)), p.Seconds())
	if p.Model.Syscalls != nil && stopFutex*rate*float64(p.Procs()) >= futexCalls(p.Model)/2 {
		symptoms = append(symptoms, "futexstorm")
	}
	return symptoms
}

// stopsByNumber reports whether the only stops of the world to complain of
// are the collector's, and most of their time is short ones that add up
// because it runs so often: then slowstop shows a symptom of what makes it
// run. A few long ones have a cause of their own.
func stopsByNumber(p *diagnosis.Pass) (found bool) {
	if p.Model.GC == nil {
		return false
	}
	for _, s := range stopsByKind(p.Model) {
		if !slow(p, &s) {
			continue
		}
		var short time.Duration
		for _, d := range s.sorted {
			if d < slowstopMax {
				short += d
			}
		}
		if s.kind != collection || len(s.sorted) < slowstopMany || short < s.total/2 {
			return false
		}
		found = true
	}
	return found
}

// purpose quotes the runtime's word: a trace may hold anything.
func purpose(kind string) string {
	if kind == collection {
		return kind
	}
	return fmt.Sprintf("%q", kind)
}

func stopRemedy(kind string, frames []model.Frame) diagnosis.Remedy {
	switch {
	case slices.ContainsFunc(frames, timesBenchmark):
		return diagnosis.Remedy{
			Text: "B.StopTimer and B.StartTimer read memory statistics, which stops the world each time: in a loop of short iterations they are much of what is run, and what is measured suffers from it. Prepare the input before the loop, or for many iterations at once.",
		}
	case strings.Contains(kind, "mem stats"):
		return diagnosis.Remedy{
			Text: "runtime.ReadMemStats stops the world. Read the same figures from runtime/metrics, which does not, and read them every few seconds rather than for each request.",
			Code: "s := []metrics.Sample{{Name: \"/memory/classes/heap/objects:bytes\"}}\nmetrics.Read(s)",
		}
	case strings.Contains(kind, "profile"), strings.Contains(kind, "stack"):
		return diagnosis.Remedy{Text: "Goroutine profiles and whole-program stack dumps stop the world, the longer the more goroutines there are. Take them on demand, not from a ticker or in the path of a request."}
	case strings.Contains(kind, "GOMAXPROCS"):
		return diagnosis.Remedy{Text: "runtime.GOMAXPROCS stops the world whenever the number changes. Set it once at the start."}
	case kind == collection:
		return diagnosis.Remedy{
			Text: "The collector's own work in a stop takes microseconds; the rest is waiting for the goroutine or thread that is last to stop. Look for loops in assembly or long copies and clears of very large values, which cannot be interrupted, for threads that had no CPU (quota, neighbours), and for page faults on mapped files or swap.",
		}
	}
	return diagnosis.Remedy{Text: "Call what stops the world less often, and not in the path of a request: the stack shows where it is called."}
}

// timesBenchmark finds the timer of a benchmark, which reads memory statistics.
func timesBenchmark(f model.Frame) bool {
	return f.Func == "testing.(*B).StartTimer" || f.Func == "testing.(*B).StopTimer"
}

// stopExperiment removes the call that stops the world; the collector's stops
// have none.
func stopExperiment(m *model.Model, kind string) *diagnosis.Experiment {
	if kind == collection {
		return nil
	}
	return changed(latency(m), "", "The longest stop in a new recording must be gone with the call.")
}
