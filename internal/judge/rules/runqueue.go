package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed runqueue.md
var runqueuePage string

var runqueue = &diagnosis.Rule{
	Name:  "runqueue",
	Title: "More goroutines become ready than the Ps can run",
	Doc:   runqueuePage,
	Needs: []model.Source{model.SchedTrace},
	Whole: true,
	Check: checkRunqueue,
}

const (
	// runqueuePerProc is how many goroutines to a P must wait to be a queue: what keeps
	// the Ps of a loaded program busy is one or two, and the rule about too many
	// workers begins at four.
	runqueuePerProc = 4
	// runqueueGrowth is by how much it must grow while all Ps are busy; less is a burst
	// that is being served.
	runqueueGrowth = 1.3
	// runqueueLines is the fewest lines in a row that show more than a moment: they are a
	// tenth of a second apart or more, as who asks for them sets.
	runqueueLines = 3
	// runqueueFull is the part of the lines in which all Ps are busy from which they are
	// what is short.
	runqueueFull = 0.9
)

// A readyLog is what the lines of schedtrace tell of goroutines that are ready.
type readyLog struct {
	ps, lines, full  fact.Fact // the Ps, the lines that tell their use, and those with all of them busy
	mean             fact.Fact // goroutines that wait, over all lines
	long             float64   // how many in the queues are many
	row              int       // lines in a row, to the last, with this number and all Ps busy
	from, last, over fact.Fact // how many in the first of these, at the end, and the time between
	slope            fact.Fact // of that
}

func checkRunqueue(p *diagnosis.Pass) {
	if p.Model.Has(model.Trace) {
		return // which tells who is ready, and how long each waits
	}
	q := measureReadyLog(p)
	switch {
	case q.lines.Value == 0 || q.ps.Value == 0: // nobody knows whether they are busy
	case q.row >= runqueueLines && q.last.Value >= runqueueGrowth*q.from.Value:
		p.Report(q.growth(p))
	case q.lines.Value >= runqueueLines && q.full.Value >= runqueueFull*q.lines.Value && q.mean.Value >= q.long:
		p.Report(q.crowd(p))
	case q.lines.Value >= runqueueLines && q.mean.Value < q.long:
		p.Fine(fact.Sentence("run queues: all Ps are busy in %s of %s lines, and %s goroutines are ready and wait for one on average", q.full, q.lines, q.mean))
	}
}

func measureReadyLog(p *diagnosis.Pass) (q readyLog) {
	a := p.Model.SchedLogAccount()
	line := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "lines", name, v, u).From(model.SchedTrace)
	}
	q.ps = line("Ps", float64(a.Procs), fact.Count)
	q.long = runqueuePerProc * q.ps.Value
	log := p.Model.SchedLog
	end := len(log) - 1
	begin := len(log)
	for begin > 0 && log[begin-1].IdleProcs == 0 && float64(log[begin-1].Queued()) >= q.long {
		begin--
	}
	q.row = len(log) - begin
	q.lines, q.full = line("lines", float64(a.Told), fact.Count), line("lines with all Ps busy", float64(a.Full), fact.Count)
	sum := 0.0
	for _, v := range a.Queued {
		sum += v.Value
	}
	q.mean = fact.Quotient.Of("goroutines that are ready and wait for a P, on average", fact.Count, line("sum of the lines", sum, fact.Count), line("all lines", float64(len(log)), fact.Count))
	first := max(0, min(begin, end))
	q.from = line("goroutines that waited when they had become many", float64(log[first].Queued()), fact.Count)
	q.last = line("goroutines that wait at the end", float64(log[end].Queued()), fact.Count)
	q.over = line("time with all Ps busy", (log[end].At - log[first].At).Seconds(), fact.Seconds)
	q.slope = fact.Quotient.Of("growth of the queue", fact.PerSec, fact.Difference.Of("more that wait", fact.Count, q.last, q.from), q.over)
	return q
}

// growth is about a queue that becomes longer while every P is busy.
func (q *readyLog) growth(p *diagnosis.Pass) diagnosis.Finding {
	f := q.finding(p, []fact.Fact{q.last, q.from, q.over, q.slope, q.ps, q.full, q.lines})
	f.Cost = diagnosis.CostOf(q.last, fact.Rest.Of("", fact.Ratio, fact.Fraction.Of("", fact.Ratio, q.ps, q.last)).Value)
	f.RuledOut = []string{fact.Sentence("a burst that is being served: the queue grows to the last line, from %s", q.from)}
	f.Reasons = append(f.Reasons, "whether it goes on growing, and what these goroutines are, is not in them")
	f.Say("%s goroutines are ready and wait for one of %s Ps, all of which are busy: "+
		"%s before they were %s, and they become more by %s.",
		q.last, q.ps, q.over, q.from, q.slope)
	return f
}

// crowd is about a queue that stays: a batch is as well as ever with one.
func (q *readyLog) crowd(p *diagnosis.Pass) diagnosis.Finding {
	f := q.finding(p, []fact.Fact{q.mean, q.ps, q.full, q.lines})
	f.Title, f.Remark = "The Ps are busy, and goroutines wait for them", true
	f.Cost = diagnosis.CostOf(q.mean, fact.Rest.Of("", fact.Ratio, fact.Fraction.Of("", fact.Ratio, q.ps, q.mean)).Value)
	f.RuledOut = []string{fact.Sentence("a moment: %s of %s lines", q.full, q.lines)}
	f.Reasons = append(f.Reasons, "a batch is well like this, and who answers somebody is late: which it is, is not in them")
	f.Say("All %s Ps are busy in %s of %s lines, and %s goroutines are ready and wait for one on average: the CPU is what is short.", q.ps, q.full, q.lines, q.mean)
	return f
}

func (q *readyLog) finding(p *diagnosis.Pass, evidence []fact.Fact) diagnosis.Finding {
	return diagnosis.Finding{
		Evidence:   evidence,
		Bound:      noSaving(fact.Seconds, diagnosis.Latency, "how long one waits, and for what, is not in the lines"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{fact.Sentence("the scheduler's own counts in %s lines", q.lines)},
		Remedy: diagnosis.Remedy{
			Text: "Take no more at once than the Ps can do: a slot before the work begins, and the rest refused or waiting outside. " +
				"What uses the CPU is in a CPU profile, and what the goroutines are, and who starts them, in a goroutine profile.",
			Code: p.HowToGet(model.CPU),
		},
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "Offer the same load to both. The queue in new lines of schedtrace must stay level."),
	}
}
