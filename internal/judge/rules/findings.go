package rules

import (
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// codeChange returns the experiment for a fix that is a change of code: the metric
// must move, or where it cannot be counted the other one.
func codeChange(primary, otherwise diagnosis.Metric, note string) *diagnosis.Experiment {
	return &diagnosis.Experiment{Primary: primary, Else: otherwise, Note: note}
}

// settingTrial returns the experiment for a fix that is a variable of the environment,
// which the program has as now says in the other arm; "" leaves it.
func settingTrial(primary diagnosis.Metric, knob, now, note string) *diagnosis.Experiment {
	e := &diagnosis.Experiment{Primary: primary, Set: []string{knob}, Note: note}
	if now != "" {
		e.Now = []string{now}
	}
	if primary != diagnosis.PeakRSS && (strings.HasPrefix(knob, "GOGC=") || strings.HasPrefix(knob, "GOMEMLIMIT=")) {
		e.Price = []diagnosis.Metric{diagnosis.PeakRSS} // collections are saved by letting garbage lie
	}
	return e
}

// collectorTrial tries a setting of the collector's. Of that what fewer collections save is a limit, which of
// other repairs it is not.
func collectorTrial(h *memory.Collector, f *diagnosis.Finding, note string) *diagnosis.Experiment {
	e := settingTrial(diagnosis.CPUPerOp, f.Remedy.Knob, "", note)
	if !h.Logged {
		e.Promised = metricPromise(diagnosis.CPUPerOp, fact.Amdahl(f.Bound.Share), f.Bound.Method)
	}
	return e
}

// latency returns the tail that clients see, where a load shows it, and the time of
// the whole run else.
func latency(m *model.Model) diagnosis.Metric {
	if diagnosis.Serves(m) {
		return diagnosis.P99
	}
	return diagnosis.Elapsed
}

// metricPromise returns a bound of one metric that a finding's own does not tell.
func metricPromise(metric diagnosis.Metric, best float64, method string) []diagnosis.Promise {
	if !(best > 0 && best < 1) {
		return nil
	}
	return []diagnosis.Promise{{Metric: metric, Best: best, Method: method}}
}

// fires reports whether a rule has a finding in the same model that is more than a
// remark.
func fires(p *diagnosis.Pass, rule *diagnosis.Rule) bool {
	return hasFinding(p, rule, func(f *diagnosis.Finding) bool { return !f.Remark })
}

// speaks reports whether a rule has a finding or a remark.
func speaks(p *diagnosis.Pass, rule *diagnosis.Rule) bool {
	return hasFinding(p, rule, func(*diagnosis.Finding) bool { return true })
}

// hasFinding runs a rule for another, and reports whether it has such a finding.
func hasFinding(p *diagnosis.Pass, rule *diagnosis.Rule, counts func(*diagnosis.Finding) bool) (found bool) {
	if len(rule.Missing(p.Model)) > 0 {
		return false
	}
	rule.Check(&diagnosis.Pass{
		Meter: p.Meter, Rule: rule, Goal: p.Goal,
		Report:    func(f diagnosis.Finding) { found = found || counts(&f) },
		Fine:      func(string) {},
		Obsolete:  func(_, _, _ string) {},
		Unchecked: func(_, _, _ string) {},
		Doubt:     func(_, _, _ string) {},
		Lacks:     func(_, _ string) {},
	})
	return found
}

// goOn returns the bound of what stands still: nobody can tell what it would do.
func goOn() diagnosis.Bound {
	return diagnosis.Release(fact.Figure("known gain", 0, fact.Factor, "a moment tells who stands, and not what they would do otherwise"))
}

// noSaving returns the bound where nothing tells what the fix brings.
func noSaving(u fact.Unit, goal diagnosis.Goal, why string) diagnosis.Bound {
	return diagnosis.Direction(fact.Figure("saving that is known", 0, u, why), goal, 0, "")
}

// inQueue begins the finding about a queue: what it costs that some wait in it, the bound of what they
// would do otherwise, and whose time that is.
func inQueue(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact, otherwise string, places ...diagnosis.Place) diagnosis.Finding {
	return diagnosis.Finding{
		Where:      code.Places(places...),
		Cost:       diagnosis.CostOf(waiting, q.Share(p, "their time in it").Value),
		Bound:      q.Limit(p, otherwise),
		Confidence: diagnosis.Medium,
		Groups:     q.Groups,
		Stacks:     q.Stacks,
	}
}
