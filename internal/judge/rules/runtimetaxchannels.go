package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// taxPassing is the share of the CPU in operations on channels alone from which what is handed over is too little: lock,
// copy and wake are some hundred nanoseconds. Of 173 programs of the field six that have a problem with
// channels are at 0.26 to 0.49, and of those that are well and use a tenth of a core the most is 0.11.
const taxPassing = 0.2

// passes reports whether a stack is of an operation on a channel.
func passes(frames []model.Frame) bool {
	w, _, ok := model.WorkOf(frames)
	return ok && w == model.Passing
}

// passingRules say what makes operations on channels frequent, or costs more with them, where they know it.
func passingRules() []*diagnosis.Rule {
	return []*diagnosis.Rule{broadcastclose, herdwakeup, timerstorm, leakedtimers, spinloop, idlespin, futexstorm}
}

// checkPassing finds a program that passes too little through its channels at a time, and reports whether it has.
func checkPassing(p *diagnosis.Pass, s *cpu.Use) bool {
	share := s.ShareIn("CPU in operations on channels", passes)
	if share.Value < taxPassing || s.CoresOf(share).Value < taxCores || s.SampleCount().Value < hotWorkSamples {
		return false
	}
	if slices.ContainsFunc(passingRules(), func(r *diagnosis.Rule) bool { return speaks(p, r) }) {
		return false
	}
	sites := s.Places(p.Model, passes)
	scheduling := p.CPUPart("CPU in "+string(model.Scheduling), model.Scheduling)
	f := diagnosis.Finding{
		Title:      "Too little is handed over through channels at a time",
		Where:      cpu.Places(sites, cpu.MostNamed),
		Stacks:     cpu.Stacks(sites, cpu.MostNamed),
		Evidence:   []fact.Fact{share, scheduling, s.InUse()},
		Cost:       s.Cost(share),
		Bound:      s.LimitWithout("operations on channels", passes, "with the scheduler's work for them; something must still be handed over"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			s.Witness(),
			"an operation on a channel takes some hundred nanoseconds: this much of the CPU is a great many of them, each with " +
				"little work in between",
		},
		RuledOut: []string{"a crowd that wakes, a channel that is closed again and again, timers, and loops that look whether there " +
			"is something: these have rules of their own, which say nothing"},
		Remedy:     fewerRemedy,
		Explains:   p.Rule.Explains,
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The share of channels in `gowhy ledger FILE --by work` must fall with it."),
	}
	format, parts := "%s of the CPU in use goes into operations on channels, most of it for %s", []fact.Part{share, code.Name(sites[0].Function)}
	if p.Model.Sched != nil {
		waits := p.WaitCount("waits for channels of the program", model.Sync, func(w *model.Wait) bool { return forOwnChannel(p.Model, w) })
		rate := fact.Quotient.Of("hand-overs through channels that somebody waited for", fact.PerSec, waits, p.WindowLength())
		f.Rest(rate)
		format, parts = format+"; %s times a second somebody waits at one", append(parts, rate.Number())
	}
	f.Say(format+".", parts...)
	if a, b, ok := askedThroughChannels(p); ok {
		f.Title = "Each question is handed to a goroutine, and each answer back"
		f.Remedy = ownerRemedy
		f.Reasons = append(f.Reasons, fact.Sentence("%s and %s wait for each other by turns: each receives what the other sends", code.Name(a), code.Name(b)))
	}
	p.Report(f)
	return true
}

var (
	fewerRemedy = diagnosis.Remedy{
		Text: "Put many into one hand-over: a slice of some hundred items costs one operation. Make one stage of two that do little, " +
			"or call the function instead of sending to a goroutine that calls it. Only what takes some µs and more is worth a " +
			"hand-over of its own.",
		Code: "batch := make([]T, 0, 256)\nfor item := range items {\n\tif batch = append(batch, item); len(batch) == cap(batch) {\n\t\tout <- batch\n\t\tbatch = make([]T, 0, 256)\n\t}\n}",
	}
	ownerRemedy = diagnosis.Remedy{
		Text: "Keep what that goroutine owns behind a sync.RWMutex, or as a map that nobody changes in an atomic.Pointer, which " +
			"a change replaces by another, and read it in the goroutine that has the question. A goroutine that owns something " +
			"is worth it where an answer takes some µs and more; else ask many questions at once.",
		Code: "routes := table.Load() // *atomic.Pointer[map[string]Route]\nroute, ok := (*routes)[key]",
	}
)

// askedPart is the part of the waits for channels from which most of them are questions and their answers: lookups of a registry
// that a goroutine owns are at 1.0, stages of a pipeline at none.
const askedPart = 0.5

// askedThroughChannels returns the function that asks a goroutine and waits for its answer, and the one that answers, by their
// names: each receives what the other sends.
func askedThroughChannels(p *diagnosis.Pass) (first, second string, ok bool) {
	if p.Model.Sched == nil {
		return "", "", false
	}
	receives, all := map[model.Stack]bool{}, int64(0)
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; forOwnChannel(p.Model, w) {
			receives[w.Stack] = w.Reason != "chan send"
			all += w.Count
		}
	}
	type pair struct{ waits, wakes string }
	counts := map[pair]int64{}
	for _, w := range p.Model.Sched.Wakes {
		waits, known := p.UserPlace(w.Woken)
		wakes, both := p.UserPlace(w.Waker)
		if known && both && receives[w.Woken] && waits.Function != wakes.Function {
			counts[pair{waits.Function, wakes.Function}] += w.Count
		}
	}
	most := int64(0)
	for between, n := range counts {
		back := counts[pair{between.wakes, between.waits}]
		if both := n + back; min(n, back)*4 >= both && between.waits < between.wakes &&
			(both > most || both == most && between.waits < first) {
			most, first, second = both, between.waits, between.wakes
		}
	}
	return first, second, most > 0 && float64(most) >= askedPart*float64(all)
}
