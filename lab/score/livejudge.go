package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A LiveAnswer is what gowhy top said of one program while it ran.
type LiveAnswer struct {
	Case  string `json:"case"`
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	Trace bool   `json:"trace,omitempty"` // with execution traces

	Seconds float64 `json:"seconds"` // watched
	Judged  int     `json:"judged"`  // pieces of time
	Views   []View  `json:"views"`   // what was shown, each time that it changed
	// Unchecked are the rules that gowhy could not ask without a trace.
	Unchecked []string `json:"unchecked,omitempty"`

	Cores  float64 `json:"cores"`        // that the program used
	Others float64 `json:"others_cores"` // that all else used but gowhy: load, brokers, strangers
	Cost   float64 `json:"gowhy_cores"`
	Beside int     `json:"beside,omitempty"` // programs of the lab that were watched at the same time

	// Pieces is what gowhy diagnose says of each piece of time, of a sick program whose
	// first line was not right in time.
	Pieces []Piece `json:"pieces,omitempty"`

	LeftOut string `json:"left_out,omitempty"` // why it was not watched
	Failed  string `json:"failed,omitempty"`
}

func (a *LiveAnswer) key() string {
	return liveKey(key(&Answer{Case: a.Case, Name: a.Name, Kind: a.Kind, Dose: 1}), a.Trace) // doses are not watched
}

// A Piece is a piece of time that was recorded and judged.
type Piece struct {
	Verdict  string        `json:"verdict"`
	Findings []LiveFinding `json:"findings,omitempty"`
}

// A View is what was shown from a moment on.
type View struct {
	At       float64       `json:"at"` // seconds since gowhy top was started
	Line     string        `json:"line"`
	Findings []LiveFinding `json:"findings,omitempty"`
}

// A LiveFinding is one of a view, as far as it is judged.
type LiveFinding struct {
	Rule       string `json:"rule"`
	Function   string `json:"function,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	Remark     bool   `json:"remark,omitempty"`
}

// problems returns the findings of a view that accuse the program, in their order. As in the
// score, remarks and what is said of the machine accuse nobody.
func (v *View) problems(rule string) (all []LiveFinding) {
	for _, f := range v.Findings {
		if f.Rule == rule || !f.Remark && !slices.Contains(aside, f.Rule) {
			all = append(all, f)
		}
	}
	return all
}

// never is the moment of what did not happen.
var never = math.Inf(1)

// A moments is when a sick program's verdict was right, in seconds; never when it was not.
type moments struct {
	first float64 // the first problem is the right one, in a guilty function
	rule  float64 // the first problem is of the right rule
	shown float64 // the right one is among the problems
	held  bool    // the first problem is the right one at the end
}

// judgeLive judges what was shown of a sick program. Guilty are the functions that a
// finding may name; none allows any.
func judgeLive(a *LiveAnswer, rule string, guilty []string) moments {
	m := moments{first: never, rule: never, shown: never}
	right := func(f LiveFinding) bool {
		return f.Rule == rule && (len(guilty) == 0 || pointsAt([]string{f.Function}, guilty))
	}
	for i := range a.Views {
		v := &a.Views[i]
		all := v.problems(rule)
		m.held = len(all) > 0 && right(all[0])
		if m.held {
			m.first = min(m.first, v.At)
		}
		if len(all) > 0 && all[0].Rule == rule {
			m.rule = min(m.rule, v.At)
		}
		if slices.ContainsFunc(all, right) {
			m.shown = min(m.shown, v.At)
		}
	}
	return m
}

// A falseLine is a problem that was shown of a well program.
type falseLine struct {
	finding LiveFinding
	at      float64 // first
}

// falseLines returns the problems shown of a well program, each rule once, but for those allowed.
func falseLines(a *LiveAnswer, allowed []string) (lines []falseLine) {
	for i := range a.Views {
		v := &a.Views[i]
		for _, f := range v.problems("") {
			known := slices.ContainsFunc(lines, func(l falseLine) bool { return l.finding.Rule == f.Rule })
			if !known && !slices.Contains(allowed, f.Rule) {
				lines = append(lines, falseLine{f, v.At})
			}
		}
	}
	return lines
}

// machineLines returns the rules about machine and evidence that were shown as problems.
func machineLines(a *LiveAnswer) (rules []string) {
	for _, v := range a.Views {
		for _, f := range v.Findings {
			if !f.Remark && slices.Contains(aside, f.Rule) && !slices.Contains(rules, f.Rule) {
				rules = append(rules, f.Rule)
			}
		}
	}
	return rules
}

// viewAt returns what was shown at a moment; nil before anything was.
func (a *LiveAnswer) viewAt(t float64) (v *View) {
	for i := range a.Views {
		if a.Views[i].At <= t {
			v = &a.Views[i]
		}
	}
	return v
}

// words says what a view shows.
func (v *View) words() string {
	if v == nil {
		return "nothing yet"
	}
	var words []string
	for _, f := range v.Findings {
		w := f.Rule
		if f.Remark {
			w += " as a remark"
		}
		if f.Function != "" {
			w += " in " + f.Function
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return v.Line
	}
	return strings.Join(words, ", ")
}

// whyMissed says as far as it is seen why the first line was not right in time.
func whyMissed(a *LiveAnswer, m moments, rule string, limit float64) string {
	switch {
	case a.Failed != "":
		return "the run failed: " + a.Failed
	case a.Judged == 0:
		return "it was not judged once"
	case slices.Contains(a.Unchecked, rule):
		return "the rule needs an execution trace, and there was none"
	case m.first < never && m.first > limit:
		return fmt.Sprintf("too late: after %.0f s", m.first)
	case m.shown < never && m.shown <= limit:
		return "shown, and another is first"
	case m.shown < never:
		return fmt.Sprintf("shown after %.0f s, and another is first", m.shown)
	case a.names(rule):
		return "the rule is right, and the function it names is not"
	}
	n := 0
	for _, p := range a.Pieces {
		if slices.ContainsFunc(p.Findings, func(f LiveFinding) bool { return f.Rule == rule }) {
			n++
		}
	}
	if n == 0 {
		return fmt.Sprintf("in none of the %d pieces of time", len(a.Pieces))
	}
	return fmt.Sprintf("in %d of the %d pieces of time, and not shown", n, len(a.Pieces))
}

func (a *LiveAnswer) names(rule string) bool {
	return slices.ContainsFunc(a.Views, func(v View) bool {
		return slices.ContainsFunc(v.Findings, func(f LiveFinding) bool { return f.Rule == rule })
	})
}
