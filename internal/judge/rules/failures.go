package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed failures.md
var failuresPage string

// failures comes before all that is about speed: what fails is often faster than what
// succeeds, and a profile of it is of something else than the work.
var failures = &diagnosis.Rule{
	Name:     "failures",
	Title:    "Operations of the load test fail",
	Doc:      failuresPage,
	Needs:    []model.Source{model.LoadResult},
	Explains: []string{"overload"},
	Whole:    true,
	Check:    checkFailures,
}

const (
	// failureKinds is how many kinds a finding names.
	failureKinds = 3
	// failedBeside is the part of the operations up to which answers that came too late on a machine
	// that others filled are no fault of the program's: of the lab's name server, which is well, 1.5 to
	// 4.4% came too late beside its own generator on two slow cores. A tenth is reasoned: who loses
	// more has more than a CPU too few.
	failedBeside = 0.10
)

func checkFailures(p *diagnosis.Pass) {
	l := p.Model.Load
	if len(l.Benchmarks) > 0 || l.Ops <= 0 {
		return
	}
	ops := loadFact(p, "operations", float64(l.Ops), fact.Count)
	failed := loadFact(p, "failed", float64(l.Failed), fact.Count)
	share := fact.Quotient.Of("failed part", fact.Ratio, failed, ops)
	if len(l.Crossed) == 0 && !loadFails(l) {
		return
	}
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{share, failed, ops},
		Cost:       diagnosis.CostOf(share, share.Value),
		Bound:      diagnosis.Direction(share.Named("operations that would succeed"), diagnosis.Throughput, share.Value, "a service that is well fails none of them"),
		Fails:      true,
		Confidence: diagnosis.High,
		Reasons:    []string{"the load generator counted them"},
		RuledOut:   []string{"requests that the test itself ended: fewer than one in a hundred would be"},
		Remedy:     diagnosis.Remedy{Text: failureRemedy(l)},
		Prove: "The same load decides, offered once more to the changed program: what fails is counted. " +
			"Until nothing does, the test's times and rates say little, for what fails is often faster than what succeeds.",
	}
	for _, k := range l.Failures[:min(len(l.Failures), failureKinds)] {
		if k.N > 0 {
			f.Evidence = append(f.Evidence, loadFact(p, "failed: "+k.What, float64(k.N), fact.Count))
		}
	}
	if l.Unanswered > 0 {
		f.Evidence = append(f.Evidence, loadFact(p, "had no answer at all", float64(l.Unanswered), fact.Count))
	}
	if why := diagnosis.Starved(p.Model); why != "" && share.Value < failedBeside && mostlyTimeouts(l) {
		f.Fails, f.Remark, f.Confidence = false, true, diagnosis.Low
		f.Reasons = append(f.Reasons, "a remark: "+why+", so that answers came too late whoever is to blame")
	}
	kinds := failureWords(l)
	switch {
	case !loadFails(l):
		f.Title = "The load test crossed a threshold of its own"
		f.Say("The load test crossed its own threshold %s.", fact.Name(strings.Join(l.Crossed, ", ")))
	case l.Failed == l.Ops:
		f.Say("All %s operations of the load test failed%s.", ops, fact.Name(kinds))
	default:
		f.Say("%s of the load test's %s operations failed%s.", share, ops, fact.Name(kinds))
	}
	p.Report(f)
}

// mostlyTimeouts reports whether nearly all failures are answers that did not come in time.
func mostlyTimeouts(l *model.Load) bool {
	n := int64(0)
	for _, k := range l.Failures {
		if slices.ContainsFunc(tooLate, func(w string) bool { return strings.Contains(k.What, w) }) {
			n += k.N
		}
	}
	return 10*n >= 9*l.Failed && l.Failed > 0
}

// tooLate are the words of failures that say so.
var tooLate = []string{"timeout", "deadline", "in time"}

// failureWords returns the kinds of failure in a sentence: ": status 503, 500 times".
func failureWords(l *model.Load) string {
	var words []string
	for _, k := range l.Failures[:min(len(l.Failures), failureKinds)] {
		w := k.What
		if k.N > 0 && k.N < l.Failed {
			w = fact.Sentence("%s (%s)", fact.Name(k.What), fact.Name(fact.Count.Format(float64(k.N))))
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, "; ")
}

// failureRemedies go by what failures say of themselves.
var failureRemedies = []struct {
	words []string
	text  string
}{
	{[]string{"refused", "cannot connect", "no such host", "no route"}, "See that the program runs, at that address, and does not end under the load: nobody listened there, " +
		"or the queue of connections to be accepted was full."},
	{[]string{"too many open files"}, "Raise the limit of open files (ulimit -n) of the generator and of the program, and see that both close what they open."},
	{[]string{"cannot assign requested address"}, "Let the generator keep connections and use them again: it ran out of ports."},
	{[]string{"EOF", "reset", "broken pipe", "cannot read", "closed"}, "See whether the program ended or restarted, and which of its timeouts " +
		"(http.Server's ReadTimeout, WriteTimeout and IdleTimeout, a proxy's) is shorter than the requests take: " +
		"it, or something before it, closed connections with requests under way."},
	{tooLate, "Record a trace of the same seconds: answers took longer than the test waits, as more is offered than the " +
		"program can do, or something that it waits for stands still."},
	{[]string{"status 429", "status 503"}, "Find the rate that it bears with gowhy capacity, and see the other findings for what limits it. That the " +
		"program, or something before it, refuses what is too much is how it should end."},
	{[]string{"status 4"}, "Correct the test's addresses, credentials or data: it asks for what is not there or not allowed, and what " +
		"is measured is how fast the program says no."},
	{[]string{"status 5"}, "The program answers with errors of its own: its log says which. Times and profiles of this test are " +
		"of the way to the error."},
}

func failureRemedy(l *model.Load) string {
	for _, k := range l.Failures {
		for _, r := range failureRemedies {
			for _, w := range r.words {
				if strings.Contains(k.What, w) {
					return r.text
				}
			}
		}
	}
	return "See what the program answers to one request of the test, and its log of these seconds: until " +
		"nothing fails, the test measures the failing."
}
