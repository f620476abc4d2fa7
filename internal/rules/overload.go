package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed overload.md
var overloadPage string

var overload = &diagnosis.Rule{
	Name:     "overload",
	Title:    "More comes in than goes out, and nothing is turned away",
	Doc:      overloadPage,
	Needs:    []model.Source{model.LoadResult},
	Explains: []string{"heapgrowth", "goroutinegrowth", "schedlatency"},
	Check:    checkOverload,
}

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
	// overloadLeast is the shortest load that tells growth from a beginning.
	overloadLeast = 3 * time.Second
)

// An excess is a load that the program did not keep up with.
type excess struct {
	offered, served float64 // a second
	backlog         float64 // at the end
	growing         bool    // what waits
	slower          float64 // median latency of the last third by that of the first; 0 when not known
	memory          float64 // resident bytes gained
	before          float64
	goroutines      float64 // gained
}

func checkOverload(p *diagnosis.Pass) {
	l := p.Model.Load
	if len(l.Benchmarks) > 0 || l.Offered <= 0 || l.Rate <= 0 || l.Duration < overloadLeast {
		return
	}
	answered := l.Rate * (1 - div(float64(l.Failed), float64(l.Ops)))
	if l.Offered < overloadOffered*answered {
		p.Fine(fmt.Sprintf("offered load: %s of %s operations a second were served", num(math.Round(answered)), num(math.Round(l.Offered))))
		return
	}
	if generatorLimit(l) != "" {
		return // nobody knows whether they were ever sent
	}
	e := measureExcess(p.Model, answered)
	switch {
	case float64(l.Failed) > float64(l.Ops)/2 && !e.growing:
		p.Fine(fmt.Sprintf("offered load: more than the program can do, and what is too much is refused: nothing piles up beside %s operations a second", num(math.Round(answered))))
	case !e.growing && e.memory < overloadMemory*e.before:
		p.Fine(fmt.Sprintf("offered load: %s operations a second were too many for %s, and nothing piled up", num(math.Round(e.offered)), num(math.Round(e.served))))
	case floods(p):
		// The goroutines that pile up are named by their own rule, which has the
		// same cure and knows the line.
	default:
		p.Report(overloadFinding(p, &e))
	}
}

func floods(p *diagnosis.Pass) bool { return fires(p, unboundedspawn) }

func measureExcess(m *model.Model, answered float64) (e excess) {
	l := m.Load
	e.offered, e.served = l.Offered, answered
	if last, ok := l.Backlog.Last(); ok {
		e.backlog = last.Value
		first, second := halves(l.Backlog)
		e.growing = second >= overloadGrowth*first && last.Value > answered/10
	}
	if n := len(l.Over); n >= 6 {
		early, late := medianOf(l.Over[:n/3]), medianOf(l.Over[n-n/3:])
		e.slower = div(late.Seconds(), early.Seconds())
		e.growing = e.growing || e.slower >= 2
	}
	if first, last, ok := m.Process.Window(); ok {
		e.before, e.memory = float64(first.RSS), max(0, float64(last.RSS)-float64(first.RSS))
	}
	if m.Metrics != nil {
		if by, _, ok := m.Metrics.Series[metricGoroutines].Delta(); ok {
			e.goroutines = max(0, by)
		}
	}
	return e
}

// halves is the mean of the first and of the second half of a series.
func halves(s model.Series) (first, second float64) {
	mean := func(s model.Series) (sum float64) {
		for _, p := range s {
			sum += p.Value
		}
		return div(sum, float64(len(s)))
	}
	return mean(s[:len(s)/2]), mean(s[len(s)/2:])
}

// medianOf is the middle of the intervals' medians that are known.
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

func overloadFinding(p *diagnosis.Pass, e *excess) diagnosis.Finding {
	l := p.Model.Load
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s operations a second were offered and %s served; the rest waits%s.",
			num(math.Round(e.offered)), num(math.Round(e.served)), e.words()),
		Evidence: []fact.Fact{
			{Name: "offered", Value: e.offered, Unit: fact.PerSec, Source: "load result: " + l.Tool},
			{Name: "served", Value: e.served, Unit: fact.PerSec, Source: "load result: " + l.Tool},
		},
		Cost: diagnosis.Cost{Value: max(e.backlog, e.offered-e.served), Unit: fact.Count, Share: 1 - div(e.served, e.offered), What: "operations that wait, or that came and were not served in a second"},
		Bound: diagnosis.Bound{
			Value: e.memory, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: div(e.memory, e.memory+e.before),
			Method:  "the memory gained under this load, which a limit on what waits would not have taken. Throughput does not rise: that needs the cure of what limits it",
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence about the load, the generator's, which had CPU to spare"},
		RuledOut: []string{
			"a generator at its limit: it says nothing of the kind",
			"a queue of fixed length: that is full at once and stays as it is",
			"overload that is turned away: refused operations count as not served, but they pile up nowhere",
		},
		Remedy: diagnosis.Remedy{
			Text: "Decide what happens to the rest: take a slot before the work begins and refuse when none is free (503, REFUSED, an error that says when to come back), give each operation a deadline and drop what has passed it, and keep queues short. Then see what limits the rate: the other findings are about that.",
			Code: "select {\ncase slots <- struct{}{}: // make(chan struct{}, limit)\n\tdefer func() { <-slots }()\ndefault:\n\thttp.Error(w, \"busy\", http.StatusServiceUnavailable)\n\treturn\n}",
		},
		Experiment: changed(diagnosis.PeakRSS, "", "Offer the same rate to both. Memory and the 99th percentile of what is served must stay level in time; the number served must not fall."),
	}
	if e.backlog > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "waiting at the end", Value: e.backlog, Unit: fact.Count, Source: "load result: backlog"})
	}
	if e.slower > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "median latency at the end by that at the begin", Value: e.slower, Unit: fact.Ratio, Source: "load result: intervals"})
	}
	if e.before > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "memory gained", Value: e.memory, Unit: fact.Bytes, Source: "/proc: resident memory"})
	}
	if e.memory < overloadMemory*e.before || e.before == 0 {
		// What waits does so outside, and a limit is no illness.
		f.Remark, f.Confidence = true, diagnosis.Low
		f.Reasons = append(f.Reasons, "the program's memory does not grow with it: what waits, waits outside")
		f.Explains = []string{}
	} else {
		f.Reasons = append(f.Reasons, "the process's own memory grew meanwhile")
	}
	return f
}

// words say what piles up.
func (e *excess) words() string {
	switch {
	case e.before > 0 && e.memory >= overloadMemory*e.before:
		return fmt.Sprintf(", and the process has grown by %s", size(e.memory))
	case e.slower >= 2:
		return fmt.Sprintf(", and the median latency has become %s times as long", num(e.slower))
	}
	return fmt.Sprintf(": %s at the end", num(math.Round(e.backlog)))
}
