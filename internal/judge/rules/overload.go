package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed overload.md
var overloadPage string

var overload = &diagnosis.Rule{
	Name:     "overload",
	Title:    "More requests come in than are served, and none is refused",
	Doc:      overloadPage,
	Needs:    []model.Source{model.LoadResult},
	Instead:  []model.Source{model.Trace},
	Explains: overloadSymptoms,
	Whole:    true,
	Check:    checkOverload,
}

// overloadSymptoms are the rules that see what piles up.
var overloadSymptoms = []string{"heapgrowth", "goroutinegrowth", "schedlatency"}

const (
	// overloadOffered is how much more must be offered than is served: less may
	// be a burst at the end that was still on its way.
	overloadOffered = 1.1
	// overloadGrowth is by how much what waits must grow from the first half of
	// the load to the second: a queue of fixed length is full in a moment and
	// then stays as it is.
	overloadGrowth = 1.3
	// overloadMemory is the growth of memory from which it goes on until there
	// is none left, as a share of what there was.
	overloadMemory = 0.5
	// overloadSlower is how many times as long the median must take at the end
	// as at the begin, and overloadWaiting the seconds of work that wait, to
	// show a queue that grows.
	overloadSlower  = 2
	overloadWaiting = 0.1
	// overloadLeast is the shortest load that tells growth from a beginning.
	overloadLeast = 3 * time.Second
)

// An excess is a load that the program did not keep up with.
type excess struct {
	offered, served fact.Fact // a second
	backlog         fact.Fact // at the end
	growing         bool      // what waits
	slower          fact.Fact // median latency of the last third by that of the first; 0 when not known
	before, memory  fact.Fact // resident, and by how much it has grown; 0 when not known
}

// swells reports whether memory grows with what waits.
func (e *excess) swells() bool {
	return e.before.Value > 0 && e.memory.Value >= overloadMemory*e.before.Value
}

func checkOverload(p *diagnosis.Pass) {
	l := p.Model.Load
	if l == nil {
		checkCongestion(p)
		return
	}
	if len(l.Benchmarks) > 0 || l.Offered <= 0 || l.Rate <= 0 || l.Duration < overloadLeast {
		return
	}
	e := measureExcess(p)
	switch answered := e.served.Number(); {
	case loadFails(l) && !e.growing && !e.swells():
		// That operations fail says more, and nothing of that is fine.
	case e.offered.Value < overloadOffered*e.served.Value:
		p.Fine(fact.Sentence("offered load: %s of %s operations a second were served", answered, e.offered.Number()))
	case generatorLimit(p) != "":
		// Nobody knows whether they were ever sent.
	case !e.growing && !e.swells():
		p.Fine(fact.Sentence("offered load: %s operations a second were too many for %s, and nothing piled up", e.offered.Number(), answered))
	case floods(p):
		// The goroutines that pile up are named by their own rule, which has the
		// same fix and knows the line.
	default:
		p.Report(overloadFinding(p, &e))
	}
}

func floods(p *diagnosis.Pass) bool { return fires(p, unboundedspawn) }

func measureExcess(p *diagnosis.Pass) (e excess) {
	l := p.Model.Load
	finished := loadFact(p, "finished", l.Rate, fact.PerSec)
	failed := fact.Quotient.Of("failed part", fact.Ratio, loadFact(p, "failed", float64(l.Failed), fact.Count), loadFact(p, "operations", float64(l.Ops), fact.Count))
	e.offered = loadFact(p, "offered", l.Offered, fact.PerSec)
	e.served = fact.Product.Of("served", fact.PerSec, finished, fact.Rest.Of("part that did not fail", fact.Ratio, failed))
	if last, ok := l.Backlog.Last(); ok {
		e.backlog = loadFact(p, "waiting at the end", last.Value, fact.Count)
		first, second := halves(l.Backlog)
		e.growing = second >= overloadGrowth*first && last.Value > overloadWaiting*e.served.Value
	}
	if n := len(l.Over); n >= 6 {
		median := func(name string, over []model.Interval) fact.Fact {
			return loadFact(p, name, medianOf(over).Seconds(), fact.Seconds)
		}
		e.slower = fact.Quotient.Of("median latency at the end by that at the begin", fact.Factor,
			median("median latency in the last third", l.Over[n-n/3:]), median("median latency in the first third", l.Over[:n/3]))
		e.growing = e.growing || e.slower.Value >= overloadSlower
	}
	if _, _, ok := p.Model.Process.Window(); ok {
		e.before = p.Process("resident memory at the start", "rss", fact.First)
		e.memory = fact.Difference.Of("memory gained", fact.Bytes, p.Process("resident memory at the end", "rss", fact.Last), e.before)
	}
	return e
}

// halves returns the mean of the first and of the second half of a series.
func halves(s model.Series) (first, second float64) {
	mean := func(s model.Series) (sum float64) {
		for _, p := range s {
			sum += p.Value
		}
		return statistics.Quotient(sum, float64(len(s)))
	}
	return mean(s[:len(s)/2]), mean(s[len(s)/2:])
}

// medianOf returns the middle of the intervals' medians that are known.
func medianOf(over []model.Interval) time.Duration {
	var seen []time.Duration
	for _, o := range over {
		if o.P50 > 0 {
			seen = append(seen, o.P50)
		}
	}
	if len(seen) == 0 {
		return 0
	}
	slices.Sort(seen)
	return seen[len(seen)/2]
}

var (
	overloadRemedy = diagnosis.Remedy{
		Text: "Decide what happens to the rest: take a slot before the work begins and refuse when none is free " +
			"(503, REFUSED, an error that says when to come back), give each operation a deadline and drop what has passed it, " +
			"and keep queues short. Then see what limits the rate: the other findings are about that.",
		Code: "select {\ncase slots <- struct{}{}: // make(chan struct{}, limit)\n\tdefer func() { <-slots }()\n" +
			"default:\n\thttp.Error(w, \"busy\", http.StatusServiceUnavailable)\n\treturn\n}",
	}
	overloadExperiment = codeChange(diagnosis.PeakRSS, "", "Offer the same rate to both. Memory and the 99th percentile of what is served "+
		"must stay level in time; the number served must not fall.")
)

func overloadFinding(p *diagnosis.Pass, e *excess) diagnosis.Finding {
	part := fact.Rest.Of("part not served", fact.Ratio, fact.Quotient.Of("part served", fact.Ratio, e.served, e.offered))
	cost := e.backlog.Named("operations waiting at the end")
	if cost.Value == 0 {
		cost = fact.Difference.Of("operations that came and were not served", fact.PerSec, e.offered, e.served)
	}
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{e.offered, e.served},
		Cost:       diagnosis.CostOf(cost, part.Value),
		Bound:      e.bound(p),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence about the load, the generator's, which had CPU to spare"},
		RuledOut: []string{
			"a generator at its limit: it says nothing of the kind",
			"a queue of fixed length: that is full at once and stays as it is",
			"overload that is turned away: refused operations count as not served, but they pile up nowhere",
		},
		Remedy:     overloadRemedy,
		Experiment: overloadExperiment,
	}
	for _, n := range []fact.Fact{e.backlog, e.slower} {
		if n.Value > 0 {
			f.Evidence = append(f.Evidence, n)
		}
	}
	if e.before.Value > 0 {
		f.Evidence = append(f.Evidence, e.memory)
	}
	if place, waiting := crowdedPlace(p); waiting.Value > 0 {
		f.Where = code.Places(place)
		f.Evidence = append(f.Evidence, waiting)
	}
	served := []fact.Part{e.offered.Number(), e.served.Number()}
	switch offered := "%s operations a second were offered and %s served; the rest waits"; {
	case e.swells():
		f.Say(offered+", and the process has grown by %s.", append(served, e.memory)...)
	case e.slower.Value >= overloadSlower:
		f.Say(offered+", and the median latency has become %s times as long.", append(served, e.slower.Number())...)
	default:
		f.Say(offered+": %s at the end.", append(served, e.backlog)...)
	}
	if e.swells() {
		f.Reasons = append(f.Reasons, "the process's own memory grew meanwhile")
		if why := diagnosis.Starved(p.Model); why != "" { // with a machine of its own it may serve them all
			f.Remark, f.Confidence = true, diagnosis.Low
			f.Reasons = append(f.Reasons, why)
		}
		return f
	}
	// What waits does so outside, and a limit is no problem.
	f.Remark, f.Confidence = true, diagnosis.Low
	f.Reasons = append(f.Reasons, "the program's memory does not grow with it: what waits, waits outside")
	f.Explains = []string{}
	return f
}

// overloadCrowd is how many goroutines must wait at a place, on average, to be what waits:
// one that waits for work, or for the time, is one.
const overloadCrowd = 2

// crowdedPlace returns the program's line at which most goroutines wait for others or for time,
// and how many these are on average.
func crowdedPlace(p *diagnosis.Pass) (place diagnosis.Place, waiting fact.Fact) {
	if p.Model.Sched == nil {
		return place, waiting
	}
	type kindOf struct {
		model.WaitKind
		diagnosis.Place
	}
	totals := map[kindOf]time.Duration{}
	var most kindOf
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		at, ok := p.UserPlace(w.Stack)
		if k := (kindOf{w.Kind, at}); ok && (w.Kind == model.Sync || w.Kind == model.OtherWait) {
			if totals[k] += w.Total; totals[k] > totals[most] || totals[k] == totals[most] && at.Line < most.Line {
				most = k
			}
		}
	}
	if totals[most] < overloadCrowd*p.Model.Run.Duration || totals[most] == 0 {
		return place, waiting
	}
	total := p.Waits("time that goroutines waited at "+code.Line(most.Place), most.WaitKind, func(w *model.Wait) bool {
		at, ok := p.UserPlace(w.Stack)
		return ok && at == most.Place
	})
	return most.Place, fact.Quotient.Of("goroutines that wait at "+code.Line(most.Place), fact.Count, total, p.WindowLength())
}

// bound returns the memory that a limit on what waits would not have taken.
func (e *excess) bound(p *diagnosis.Pass) diagnosis.Bound {
	if e.before.Value == 0 {
		return noSaving(fact.Bytes, diagnosis.MemoryGoal, "memory under this load was not recorded")
	}
	return diagnosis.Direction(e.memory, diagnosis.MemoryGoal,
		fact.Quotient.Of("", fact.Ratio, e.memory, p.Process("resident memory at the end", "rss", fact.Last)).Value,
		"a limit on what waits would not have taken it. Throughput does not rise: that needs the fix of what limits it")
}
