package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// aside are the rules that speak of the machine and of the evidence. What they
// say is no cause in the program, right or wrong: it is counted apart.
var aside = []string{"thinevidence", "notloaded", "unsampled", "lostdata", "generatorbound", "neighbour", "starved", "throttled"}

// busyRules are those that say that others had the machine.
var busyRules = []string{"neighbour", "starved", "throttled"}

// families are the rules of each family, as the catalogue has them, for false
// alarms by rules that no illness of the lab asks for. Where one does, its
// family counts; a rule that is nowhere is counted under [otherFamily].
var families = map[string][]string{
	"cpu":        {"hotfunction", "runtimetax", "stackgrowth", "spinloop", "superlinear", "risingcost"},
	"scheduler":  {"oversubscribed", "idleprocs", "idlespin", "schedlatency", "herdwakeup", "slowstop", "fewprocs", "overquota", "runqueue"},
	"locks":      {"hotmutex", "singlesocket", "lockedrand", "lockedio", "loggerlock"},
	"channels":   {"funnelchannel", "broadcastclose", "slowstage", "handoff"},
	"memory":     {"gccost", "gcassist", "allocchurn", "heapgrowth", "tinyheap", "memorylimit", "noheadroom", "boxedargs", "forcedgc", "growingslices", "stringbuilding", "freshrand"},
	"goroutines": {"leakedgoroutines", "goroutinegrowth", "descriptorgrowth", "exhausted", "unboundedspawn", "goroutinechurn", "packetgoroutine"},
	"timers":     {"leakedtimers", "oldtimers"},
	"syscalls":   {"syscallbound", "smallio", "reopen", "futexstorm", "threadgrowth", "fsyncbound", "cgocalls"},
	"network":    {"connectionchurn", "hotretry", "poolwait", "serialwait"},
	"load":       {"overload"},
	"build":      {"wrongbuild", "oldgo", "nopgo"},
	"evidence":   {"thinevidence", "notloaded", "unsampled", "lostdata", "generatorbound", "neighbour", "starved", "throttled"},
}

const otherFamily = "none of the lab's"

// familyOf returns the family of a rule.
func familyOf(rule string, cases []*truth.Case) string {
	for _, c := range cases {
		for i := range c.Illnesses {
			if c.Illnesses[i].Rule == rule {
				return c.Illnesses[i].Family
			}
		}
	}
	for family, rules := range families {
		if slices.Contains(rules, rule) {
			return family
		}
	}
	return otherFamily
}

// findingsOf returns the findings that accuse the program, in the order in which they are
// read: each cause, then its symptoms. Remarks accuse nobody, unless the rule
// is what was asked for, and nor do rules about machine and evidence, and what
// is said to come from those.
func findingsOf(findings []Finding, rule string) (all []Finding) {
	for _, f := range findings {
		machine := slices.Contains(aside, f.Rule)
		if f.Rule == rule || !f.Remark && !machine {
			all = append(all, f)
		}
		for _, s := range findingsOf(f.Symptoms, rule) {
			if !machine || f.Rule == rule || s.Rule == rule {
				all = append(all, s)
			}
		}
	}
	return all
}

// allFindings returns all findings, symptoms too.
func allFindings(findings []Finding) (all []Finding) {
	for _, f := range findings {
		all = append(append(all, f), allFindings(f.Symptoms)...)
	}
	return all
}

// A judgement is what is right and wrong in one answer.
type judgement struct {
	answer *Answer
	// Of a sick run: where the rule stands among what was said, from 1; 0 when
	// it was not said. A symptom comes after its cause, so it is never first.
	rank int
	// places is set when a guilty function is among the first places of the
	// finding; asked when the case names any.
	places, asked bool
	first         string // rule, "" when nothing was said
	// alarms are the rules that spoke and should not have, each once.
	alarms    []string
	abstained bool // it was said that nothing can be said
}

// firstPlaces is how many places of a finding anybody reads.
const firstPlaces = 3

// judgeSick judges the answer to a sick run.
func judgeSick(a *Answer, ill *truth.Illness) judgement {
	j := judgement{answer: a, asked: len(ill.Where) > 0, abstained: abstains(a)}
	all := slices.DeleteFunc(findingsOf(a.Findings, ill.Rule), func(f Finding) bool { return slices.Contains(ill.Other, f.Rule) })
	if len(all) > 0 {
		j.first = all[0].Rule
	}
	if i := slices.IndexFunc(all, func(f Finding) bool { return f.Rule == ill.Rule }); i >= 0 {
		j.rank = i + 1
		j.places = pointsAt(all[i].Where, ill.Where)
		if !slices.Contains(ruleNames(a.Findings), ill.Rule) { // under something about the machine
			j.rank = max(j.rank, 2)
		}
	}
	j.alarms = without(ruleNames(all), append(ill.Also, ill.Rule))
	return j
}

// judgeWell judges the answer to a healed or healthy run.
func judgeWell(a *Answer, allowed []string) judgement {
	all := findingsOf(a.Findings, "")
	j := judgement{answer: a, abstained: abstains(a), alarms: without(ruleNames(all), allowed)}
	if len(all) > 0 {
		j.first = all[0].Rule
	}
	return j
}

// abstains reports whether the verdict is that nothing can be said.
func abstains(a *Answer) bool {
	return a.Verdict == "too-thin" || a.Verdict == "partial" || a.Verdict == "unclear" || a.Verdict == "not-loaded" || a.Verdict == "idle"
}

func pointsAt(where, guilty []string) bool {
	for _, w := range where[:min(len(where), firstPlaces)] {
		if slices.ContainsFunc(guilty, func(g string) bool { return sameFunction(g, w) }) {
			return true
		}
	}
	return false
}

// ruleNames returns the rules of findings, each once, in their order.
func ruleNames(findings []Finding) (names []string) {
	for _, f := range findings {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	return names
}

func without(list, out []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(out, s) })
}

// answerText says in a few words what an answer was.
func answerText(a *Answer) string {
	if a.Failed != "" {
		return "the run failed: " + a.Failed
	}
	var words []string
	for _, f := range a.Findings {
		words = append(words, tree(f))
	}
	if len(words) == 0 {
		return "nothing (" + a.Verdict + ")"
	}
	return strings.Join(words, ", ")
}

func tree(f Finding) string {
	name := f.Rule
	if f.Remark {
		name += " as a remark"
	}
	if len(f.Where) > 0 {
		name += " in " + f.Where[0]
	}
	if len(f.Symptoms) == 0 {
		return name
	}
	var under []string
	for _, s := range f.Symptoms {
		under = append(under, tree(s))
	}
	return fmt.Sprintf("%s (with %s)", name, strings.Join(under, ", "))
}
