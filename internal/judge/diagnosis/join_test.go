package diagnosis

import (
	"fmt"
	"strings"
	"testing"
)

// at returns a finding of a rule in a function, which costs a share.
func at(rule, function string, share float64, confidence Confidence) Finding {
	return Finding{Rule: rule, Title: "the " + rule, Summary: fmt.Sprintf("%s at %s.", rule, function), Where: []Place{{Function: function}},
		Cost: Cost{Share: share}, Confidence: confidence}
}

func remark(f Finding) Finding {
	f.Remark = true
	return f
}

// answer returns what one recording says.
func answer(file string, v Verdict, fs ...Finding) *Diagnosis {
	return &Diagnosis{Schema: Schema, Verdict: v, Summary: file + " is " + string(v) + ".", Files: []string{file}, Findings: fs}
}

func TestJoin(t *testing.T) {
	lock := func(share float64) Finding { return at("lock", "main.f", share, High) }
	elsewhere := at("lock", "main.g", 0.3, High)
	twoPlaces := at("lock", "main.other", 0.2, High)
	twoPlaces.Where = append(twoPlaces.Where, Place{Function: "main.f"})
	explaining := at("queue", "main.q", 0.5, High)
	explaining.Symptoms = []Finding{lock(0.1)}
	nowhere := Finding{Rule: "lock", Summary: "lock.", Cost: Cost{Share: 0.1}, Confidence: High}
	behind := at("queue", "main.q", 0.5, High)
	behind.Symptoms = []Finding{at("pool", "main.p", 0.4, High)}
	behind.Symptoms[0].Symptoms = []Finding{lock(0.1)}
	x, y, z := at("x", "main.x", 0.1, High), at("y", "main.y", 0.1, High), at("z", "main.z", 0.1, High)
	hot := remark(at("hot", "main.h", 0.4, Medium))
	for _, c := range []struct {
		name string
		runs []*Diagnosis
		want string // verdict, summary, then each finding
	}{
		{"all have it", []*Diagnosis{answer("a", Problem, lock(0.3)), answer("b", Problem, lock(0.1)), answer("c", Problem, lock(0.2))},
			"problem: Found in all 3 recordings. lock at main.f. | lock 3 high of c"},
		{"most have it, and are not sure then", []*Diagnosis{answer("a", Healthy), answer("b", Problem, lock(0.1)), answer("c", Problem, lock(0.2))},
			"problem: Found in 2 of 3 recordings. lock at main.f. | lock 2 medium of b"},
		{"one has it: no verdict, and not healthy", []*Diagnosis{answer("a", Healthy), answer("b", Problem, lock(0.1)), answer("c", Healthy)},
			"unclear: The recordings do not agree, so whether the program is well cannot be said. Found only in 1 of 3 recordings: lock at main.f. | lock 1 low of a"},
		{"half is not most", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Healthy)},
			"unclear: The recordings do not agree, so whether the program is well cannot be said. Found only in 1 of 2 recordings: lock at main.f. | lock 1 low of a"},
		{"two places are two causes", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, elsewhere)},
			"unclear: The recordings do not agree, so whether the program is well cannot be said. Found only in 1 of 2 recordings: lock at main.f. | lock 1 low | lock 1 low of a"},
		{"one of several places is enough", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, twoPlaces)},
			"problem: Found in both recordings. lock at main.f. | lock 2 high of a"},
		{"what holds stands first", []*Diagnosis{answer("a", Problem, elsewhere, lock(0.1)), answer("b", Problem, lock(0.1)), answer("c", Problem, lock(0.1))},
			"problem: Found in all 3 recordings. lock at main.f. | lock 3 high | lock 1 low of b"},
		{"also as a symptom", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, explaining), answer("c", Problem, lock(0.1))},
			"problem: Found in all 3 recordings. lock at main.f. | lock 3 high | queue 1 low of a"},
		{"mostly as a symptom", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, explaining), answer("c", Problem, explaining)},
			"problem: Found in 2 of 3 recordings. queue at main.q. | queue 2 medium of b"},
		{"remarks make no verdict, and those of one are left out", []*Diagnosis{answer("a", Healthy, hot), answer("b", Healthy, hot, remark(at("hot", "main.k", 0.1, Low))), answer("c", Healthy)},
			"healthy: All 3 recordings agree. a is healthy. | hot 2 medium of a"},
		{"most verdicts", []*Diagnosis{answer("a", Idle), answer("b", NotLoaded), answer("c", NotLoaded)},
			"not-loaded: 2 of 3 recordings agree. b is not-loaded. of b"},
		{"no two alike", []*Diagnosis{answer("a", Idle), answer("b", NotLoaded)},
			"unclear: Nothing is known to be wrong, and the recordings do not agree: 1 idle, 1 not-loaded. of a"},
		{"two of one place", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, lock(0.2), lock(0.1))},
			"problem: Found in both recordings. lock at main.f. | lock 2 high | lock 1 low of a"},
		{"the order of all", []*Diagnosis{answer("a", Problem, x, y), answer("b", Problem, x, y)},
			"problem: Found in both recordings. x at main.x (and 1 more). | x 2 high | y 2 high of a"},
		{"the order, where a list is longer", []*Diagnosis{answer("a", Problem, y, z), answer("b", Problem, y, z), answer("c", Problem, y, x, lock(0.1))},
			"problem: Found in all 3 recordings. y at main.y (and 1 more). | y 3 high | z 2 medium | x 1 low | lock 1 low of a"},
		{"the order, where it is close", []*Diagnosis{answer("a", Problem, z, y, x), answer("b", Problem, y, z, x), answer("c", Problem, y, z, x), answer("d", Problem, z, y, x), answer("e", Problem, y, z, x)},
			"problem: Found in all 5 recordings. y at main.y (and 2 more). | y 5 high | z 5 high | x 5 high of c"},
		{"a remark in front", []*Diagnosis{answer("a", Problem, hot, lock(0.1)), answer("b", Healthy, hot), answer("c", Healthy, hot)},
			"unclear: The recordings do not agree, so whether the program is well cannot be said. Found only in 1 of 3 recordings: lock at main.f. | lock 1 low | hot 3 medium of b"},
		{"most have it, behind what one has", []*Diagnosis{answer("a", Problem, elsewhere, x, y, z, lock(0.1)), answer("b", Problem, lock(0.1)), answer("c", Healthy)},
			"problem: Found in 2 of 3 recordings. lock at main.f. | lock 2 medium | lock 1 low | x 1 low | y 1 low | z 1 low of a"},
		{"a remark of the same rule", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Healthy, remark(lock(0.1)))},
			"unclear: The recordings do not agree, so whether the program is well cannot be said. Found only in 1 of 2 recordings: lock at main.f. | lock 1 low of a"},
		{"no place in one", []*Diagnosis{answer("a", Problem, nowhere), answer("b", Problem, lock(0.1))},
			"problem: Found in both recordings. lock. | lock 2 high of a"},
		{"no place in the other", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, nowhere)},
			"problem: Found in both recordings. lock at main.f. | lock 2 high of a"},
		{"a symptom of another rule", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, explaining), answer("c", Problem, x)},
			"problem: Found in 2 of 3 recordings. lock at main.f. | lock 2 medium | queue 1 low | x 1 low of a"},
		{"a symptom of a symptom", []*Diagnosis{answer("a", Problem, lock(0.1)), answer("b", Problem, behind), answer("c", Problem, lock(0.1))},
			"problem: Found in all 3 recordings. lock at main.f. | lock 3 high | queue 1 low of a"},
		{"stalled", []*Diagnosis{answer("a", Stalled, lock(0.1)), answer("b", Stalled, lock(0.1))},
			"stalled: Found in both recordings. lock at main.f. | lock 2 high of a"},
	} {
		d := Join(c.runs)
		got := string(d.Verdict) + ": " + d.Summary
		for _, f := range d.Findings {
			got += fmt.Sprintf(" | %s %d %s", f.Rule, f.Found, f.Confidence)
			if want := "found in " + inRuns(f.Found, len(c.runs)); !strings.HasPrefix(f.Reasons[0], want) {
				t.Errorf("%s: %q, want %q", c.name, f.Reasons[0], want)
			}
		}
		for _, r := range d.Runs {
			if r.Shown {
				got += " of " + r.File
			}
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if len(d.Runs) != len(c.runs) || len(d.Files) != len(c.runs) {
			t.Errorf("%s: of %d recordings %d answers and %d files", c.name, len(c.runs), len(d.Runs), len(d.Files))
		}
	}
}

// A rule that found something in one recording is not praised by another's figures, and
// what it cost in each is said.
func TestJoinFine(t *testing.T) {
	a := answer("a", Healthy)
	a.Fine = []Fine{{Rule: "lock", Text: "no queues"}, {Rule: "gc", Text: "little"}}
	b := answer("b", Problem, at("lock", "main.f", 0.1, High))
	c := answer("c", Healthy)
	c.Fine = a.Fine
	d := Join([]*Diagnosis{a, b, c})
	if len(d.Fine) != 1 || d.Fine[0].Rule != "gc" {
		t.Errorf("fine: %v", d.Fine)
	}
	if len(a.Fine) != 2 || a.Fine[1].Rule != "gc" {
		t.Errorf("the recording's own list was changed: %v", a.Fine)
	}
	d = Join([]*Diagnosis{b, answer("d", Problem, at("lock", "main.f", 0.25, High))})
	if got, want := d.Findings[0].Reasons[0], "found in both recordings, where it costs 10.0% to 25.0%"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestJoinCosts says what a cause costs where several have it, the least and the most.
func TestJoinCosts(t *testing.T) {
	lock := func(share float64) *Diagnosis {
		f := at("lock", "main.f", share, High)
		f.Reasons, f.RuledOut = []string{"two agree"}, []string{"nothing"}
		return answer("a", Problem, f)
	}
	for _, c := range []struct {
		runs []*Diagnosis
		want string
	}{
		{[]*Diagnosis{lock(0.3), lock(0.2), lock(0.25)}, "found in all 3 recordings, where it costs 20.0% to 30.0%; two agree"},
		{[]*Diagnosis{lock(0.1), lock(0.1)}, "found in both recordings, where it costs 10.0%; two agree"},
		{[]*Diagnosis{lock(0), lock(0.1)}, "found in both recordings; two agree"},
		{[]*Diagnosis{lock(0.1), answer("b", Healthy)}, "found in 1 of 2 recordings; two agree"},
	} {
		d := Join(c.runs)
		if got := strings.Join(d.Findings[0].Reasons, "; "); got != c.want {
			t.Errorf("the reasons are %s, want %s", got, c.want)
		}
		if got, want := d.Runs[0].Summary, "a is problem."; got != want {
			t.Errorf("the first recording says %q, want %q", got, want)
		}
	}
}

// A joint finding knows which one of a recording it shows.
func TestJoinSingle(t *testing.T) {
	a := answer("a", Problem, at("gc", "main.g", 0.5, High), at("lock", "main.f", 0.1, High))
	b := answer("b", Problem, at("lock", "main.f", 0.2, High))
	c := answer("c", Problem, at("lock", "main.f", 0.3, High))
	d := Join([]*Diagnosis{a, b, c})
	if len(d.Findings) != 2 || d.Findings[0].Single != &b.Findings[0] || d.Findings[1].Single != &a.Findings[0] {
		t.Errorf("the findings are %+v, want the lock of b and the gc of a", d.Findings)
	}
}
