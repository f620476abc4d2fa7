package rules

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

var update = flag.Bool("update", false, "rewrite what the fixtures want")

// evidenceRules speak about the evidence, not about the program: they report
// through Unchecked, and a sick case is one where they have something to say.
var evidenceRules = []string{"thinevidence", "notloaded", "unsampled", "lostdata", "generatorbound"}

func TestFixtures(t *testing.T) {
	for _, rule := range All {
		t.Run(rule.Name, func(t *testing.T) {
			file := filepath.Join("testdata", rule.Name+".txt")
			head, cases := readFixtures(t, file)
			out := slices.Clone(head)
			for _, c := range cases {
				d := diagnosis.Run(c.model, []*diagnosis.Rule{rule}, diagnosis.Options{Goal: c.goal})
				checkKind(t, rule, c, d)
				got := golden(c.model, d)
				if !*update && !slices.Equal(got, trimEnd(c.want)) {
					t.Errorf("%s:%d: %s: %s\ngot:\n%s\nwant:\n%s", file, c.line, c.kind, c.story,
						strings.Join(got, "\n"), strings.Join(trimEnd(c.want), "\n"))
				}
				out = append(append(append(out, trimEnd(c.source)...), "want"), append(got, "")...)
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(trimEnd(out), "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// firstWords are how a remedy may begin: with what to do. A screen has room for its first
// sentence.
var firstWords = strings.Fields("Allocate Ask Bound Build Call Close Compile Copy Correct Decide Delete Do End Find " +
	"Give Guard Hold If Keep Leave Let Log Look Lower Make Move Nothing Prepare Put Raise Read Record Remove Return Run See " +
	"Set Shorten Speed Spend Split Start Stay Stop Take To Try Upgrade Use Wait Wake Walk Write")

func TestRemediesBeginWithWhatToDo(t *testing.T) {
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			for _, line := range c.want {
				text, ok := strings.CutPrefix(strings.TrimSpace(line), "remedy ")
				if first, _, _ := strings.Cut(text, " "); ok && !slices.Contains(firstWords, first) {
					t.Errorf("%s: %s: the remedy begins with %q, want a verb that says what to do: %.80s", rule.Name, c.story, first, text)
				}
			}
		}
	}
}

// TestKinds: every rule has the three kinds of case; nobody knows a rule
// that never said no.
func TestKinds(t *testing.T) {
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, kind := range caseKinds {
			if !slices.ContainsFunc(cases, func(c *fixture) bool { return c.kind == kind }) {
				t.Errorf("%s has no case of kind %q", rule.Name, kind)
			}
		}
	}
}

// TestSuite runs all rules over all cases: healthy programs get silence from
// everyone, and a rule is not drowned by the others where it is right.
func TestSuite(t *testing.T) {
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			d := diagnosis.Run(c.model, All, diagnosis.Options{Goal: c.goal})
			for _, w := range d.Warnings {
				if !slices.Contains(c.model.Run.Coverage.Notes, w) {
					t.Errorf("%s, %s %q: %s", rule.Name, c.kind, c.story, w)
				}
			}
			switch {
			case c.kind == "well" && accuses(d):
				t.Errorf("%s, well %q: %s says: %s", rule.Name, c.story, d.Findings[0].Rule, d.Findings[0].Summary)
			case c.kind == "sick" && !slices.Contains(evidenceRules, rule.Name) && !named(d.Findings, rule.Name):
				t.Errorf("%s, sick %q: not found when all rules run", rule.Name, c.story)
			}
		}
	}
}

// TestSound: no rule takes a part for larger than its whole, or says what no
// report can print. The runner would cut such a share off, so that it is read
// before it gets there.
func TestSound(t *testing.T) {
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			checkSound(t, c.story, c.model)
		}
	}
}

// checkSound runs every rule that can be and looks at all it reports, before
// anything is folded, cut off or left out.
func checkSound(t *testing.T, story string, m *model.Model) {
	t.Helper()
	for _, rule := range All {
		if slices.ContainsFunc(rule.Needs, func(s model.Source) bool { return !m.Has(s) }) {
			continue
		}
		rule.Check(&diagnosis.Pass{
			Meter: fact.Meter{Model: m}, Rule: rule,
			Fine: func(string) {}, Obsolete: func(_, _, _ string) {}, Unchecked: func(_, _, _ string) {}, Doubt: func(_, _, _ string) {}, Lacks: func(_, _ string) {},
			Report: func(f diagnosis.Finding) {
				for _, fault := range faults(&f) {
					t.Errorf("%q: %s: %s", story, rule.Name, fault)
				}
			},
		})
	}
}

// faults returns what no finding may have, whatever it is about.
func faults(f *diagnosis.Finding) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	share := func(what string, v float64) {
		if !(v >= 0 && v <= 1) {
			add("the share of %s is %v", what, v)
		}
	}
	value := func(what string, v float64) {
		if !(v >= 0) || math.IsInf(v, 0) {
			add("%s is %v", what, v)
		}
	}
	share("its cost", f.Cost.Share)
	share("its bound", f.Bound.Share)
	value("its cost", f.Cost.Value)
	value("its bound", f.Bound.Value)
	for _, e := range f.Evidence {
		value(e.Name, e.Value)
		if strings.Contains(e.Name, "share") {
			share(e.Name, e.Value)
		}
	}
	for what, known := range map[string]bool{
		"confidence":    slices.Contains([]diagnosis.Confidence{diagnosis.High, diagnosis.Medium, diagnosis.Low}, f.Confidence),
		"goal":          slices.Contains([]diagnosis.Goal{diagnosis.Throughput, diagnosis.Latency, diagnosis.CPUGoal, diagnosis.MemoryGoal}, f.Bound.Goal),
		"unit of cost":  slices.Contains(units, f.Cost.Unit),
		"unit of bound": slices.Contains([]fact.Unit{fact.Cores, fact.Seconds, fact.Bytes, fact.Ratio, fact.Factor}, f.Bound.Unit),
	} {
		if !known {
			add("its %s is none of those there are: cost in %q, bound in %q of goal %q, confidence %q",
				what, f.Cost.Unit, f.Bound.Unit, f.Bound.Goal, f.Confidence)
		}
	}
	if over := overHundred.FindString(f.Summary); over != "" {
		add("it says %q", over)
	}
	return out
}

var (
	units = []fact.Unit{fact.Cores, fact.Seconds, fact.Bytes, fact.BytesPerSec, fact.Ratio, fact.Factor, fact.Count, fact.PerSec}
	// A summary writes shares as percentages.
	overHundred = regexp.MustCompile(`\b(1[1-9]\d|10[1-9]|[2-9]\d\d|\d{4,}) %`)
)

func named(fs []diagnosis.Finding, rule string) bool {
	return slices.ContainsFunc(fs, func(f diagnosis.Finding) bool { return f.Rule == rule || named(f.Symptoms, rule) })
}

// checkKind holds what is true of every case, so that -update cannot bless a
// rule that lost its illness.
func checkKind(t *testing.T, rule *diagnosis.Rule, c *fixture, d *diagnosis.Diagnosis) {
	t.Helper()
	evidence := slices.Contains(evidenceRules, rule.Name)
	spoke := len(d.Findings) > 0 || evidence && len(d.Unchecked) > 0
	switch {
	case c.kind == "sick" && !spoke:
		t.Errorf("line %d: sick %q: %s says nothing", c.line, c.story, rule.Name)
	case c.kind != "sick" && (accuses(d) || evidence && spoke):
		t.Errorf("line %d: %s %q: %s speaks", c.line, c.kind, c.story, rule.Name)
	case c.kind == "well" && len(d.Unchecked) > 0:
		t.Errorf("line %d: well %q: left unchecked: %v", c.line, c.story, d.Unchecked[0])
	}
	for _, f := range d.Findings {
		checkFinding(t, c, f)
	}
}

// accuses reports whether anything is said that is no remark: those accuse nobody.
func accuses(d *diagnosis.Diagnosis) bool {
	return slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return !f.Remark })
}

func checkFinding(t *testing.T, c *fixture, f diagnosis.Finding) {
	t.Helper()
	missing := func(what string) { t.Errorf("line %d: %q: the finding has no %s", c.line, c.story, what) }
	switch {
	case f.Summary == "":
		missing("summary")
	case len(f.Evidence) == 0:
		missing("evidence")
	case f.Cost.What == "":
		missing("cost")
	case f.Bound.Method == "":
		missing("method of its bound")
	case f.Bound.Share > 0 && f.Bound.Goal == diagnosis.AnyGoal:
		missing("goal of its bound")
	case len(f.Reasons) == 0 || f.Confidence == "":
		missing("confidence with reasons")
	case len(f.RuledOut) == 0:
		missing("innocent explanation that was ruled out")
	case f.Remedy.Text == "":
		missing("remedy")
	case f.Prove == "":
		missing("proof")
	}
	for _, name := range f.Explains {
		if !nameForm.MatchString(name) {
			t.Errorf("line %d: explains %q, not a rule's name", c.line, name)
		}
	}
	for _, e := range f.Evidence {
		if e.Name == "" || e.Unit == "" || e.Text == "" || !slices.Contains(fact.Kinds, e.Origin.Kind) {
			t.Errorf("line %d: a fact has name %q, unit %q, text %q, origin %q, want all of them, the origin one of %q",
				c.line, e.Name, e.Unit, e.Text, e.Origin.Kind, fact.Kinds)
		}
	}
	if len(f.Try) == 0 && f.Missing == "" {
		missing("command that proves it, and no word of what such a command lacks")
	}
	if e := f.Experiment; e != nil {
		checkExperiment(t, c, &f)
	}
}

// checkExperiment holds what every experiment is: one metric with a name, a
// change that the remedy names, and promises that a bound can keep.
func checkExperiment(t *testing.T, c *fixture, f *diagnosis.Finding) {
	t.Helper()
	e := f.Experiment
	if e.Primary == "" || e.Primary.Words() == string(e.Primary) || e.Else != "" && e.Else.Words() == string(e.Else) {
		t.Errorf("line %d: an experiment that decides by %q or %q", c.line, e.Primary, e.Else)
	}
	if len(e.Set) > 0 && !slices.Contains(e.Set, f.Remedy.Knob) {
		t.Errorf("line %d: the experiment sets %q, the remedy %q", c.line, e.Set, f.Remedy.Knob)
	}
	for _, p := range e.Promised {
		if p.Method == "" || !(p.Best > 0) || p.Metric.Greater() != (p.Best > 1) {
			t.Errorf("line %d: %s is promised by %q to become %v times as much, "+
				"want a method, above 1 where more is better %v",
				c.line, p.Metric, p.Method, p.Best, p.Metric.Greater())
		}
	}
}

var nameForm = regexp.MustCompile(`^[a-z]+$`)

// golden returns a diagnosis as fixtures keep it.
func golden(m *model.Model, d *diagnosis.Diagnosis) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("  verdict %s", d.Verdict)
	for _, f := range d.Findings {
		add("  %s: %s", f.Rule, f.Summary)
		if f.Remark {
			add("    a remark")
		}
		for _, w := range f.Where {
			add("    where %s %s:%d", w.Function, w.File, w.Line)
		}
		for _, e := range f.Evidence {
			out = append(out, factLines("    fact", e)...)
		}
		out = append(out, factLines(fmt.Sprintf("    cost, share %.3g:", f.Cost.Share), f.Cost.Fact())...)
		out = append(out, factLines(fmt.Sprintf("    bound, %s for %s, share %.3g:", f.Bound.Kind, f.Bound.Goal, f.Bound.Share), f.Bound.Fact())...)
		if f.Bound.Kind == diagnosis.IsEstimate {
			add("      from %s to %s", value(f.Bound.Low), value(f.Bound.High))
		}
		add("      method %s", f.Bound.Method)
		add("    confidence %s: %s", f.Confidence, strings.Join(f.Reasons, "; "))
		for _, r := range f.RuledOut {
			add("    not %s", r)
		}
		add("    remedy %s", f.Remedy.Text)
		for l := range strings.Lines(f.Remedy.Code) {
			add("      code %s", strings.TrimRight(l, "\n"))
		}
		if f.Remedy.Knob != "" {
			add("      knob %s", f.Remedy.Knob)
		}
		out = append(out, experiment(&f)...)
		if len(f.Groups) > 0 {
			add("    about groups %s", strings.Join(f.Groups, " "))
		}
		for _, s := range f.Stacks {
			add("    about stack %s", stackLine(m, s))
		}
		if len(f.Explains) > 0 {
			add("    explains %s", strings.Join(f.Explains, " "))
		}
	}
	for _, s := range d.Fine {
		add("  fine: %s", s)
	}
	for _, o := range d.Obsolete {
		add("  obsolete %s", o)
	}
	for _, u := range d.Unchecked {
		add("  unchecked %s: %s (%s)", u.What, u.Why, u.How)
	}
	for _, w := range d.Warnings {
		add("  warning: %s", w)
	}
	return out
}

// stackLine returns a stack as fixtures write it.
func stackLine(m *model.Model, s model.Stack) string {
	var frames []string
	all := m.Stacks.Frames(s)
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		frame := fmt.Sprintf("%s@%s:%d", all[i].Func, all[i].File, all[i].Line)
		if i += n; n > 1 {
			frame += fmt.Sprintf("×%d", n)
		}
		frames = append(frames, frame)
	}
	return strings.Join(frames, " < ")
}

// factLines returns a fact and, further in, what it was computed from.
func factLines(lead string, f fact.Fact) []string {
	o := f.Origin
	line := fmt.Sprintf("%s %s = %s %s, %s", lead, f.Name, value(f.Value), f.Unit, o.Kind)
	for _, w := range []string{o.Tree, o.Name, string(o.Fold), strings.Join(o.Columns, " "), strings.Join(o.Names, " "), strings.Join(o.Groups, " ")} {
		if w != "" {
			line += " " + w
		}
	}
	if o.Share {
		line += " share"
	}
	if o.N > 0 {
		line += fmt.Sprintf(" n=%d", o.N)
	}
	out := []string{line}
	indent := strings.Repeat(" ", len(lead)-len(strings.TrimLeft(lead, " "))+2)
	for _, operand := range f.Operands {
		out = append(out, factLines(indent+"of", operand)...)
	}
	return out
}

// experiment returns how a finding would be proved, in one line and its commands.
func experiment(f *diagnosis.Finding) (out []string) {
	if e := f.Experiment; e != nil {
		line := "    prove by " + string(e.Primary)
		if e.Else != "" {
			line += " or " + string(e.Else)
		}
		line += ", " + string(e.Change())
		for _, s := range [][]string{e.Now, e.Set} {
			line += strings.TrimRight(" "+strings.Join(s, " "), " ")
		}
		if e.Tune != "" {
			line += " " + e.Tune
		}
		for _, p := range e.Promised {
			line += fmt.Sprintf(", %s ×%.3g at most", p.Metric, p.Best)
			if p.Method != f.Bound.Method {
				line += " (" + p.Method + ")"
			}
		}
		for _, p := range e.Price {
			line += ", at the price of " + string(p)
		}
		out = append(out, line)
	}
	out = append(out, "      "+f.Prove)
	for _, c := range f.Try {
		out = append(out, "    try "+c)
	}
	return out
}

func value(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func trimEnd(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func readFixtures(t *testing.T, file string) ([]string, []*fixture) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, cases, err := parseFixtures(string(b))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return head, cases
}

// TestComplete: a rule is a word, a Go file, a page and cases, and nothing
// lies about that no rule owns.
func TestComplete(t *testing.T) {
	known := map[string]bool{}
	for _, rule := range All {
		if !nameForm.MatchString(rule.Name) {
			t.Errorf("%q is not one lower-case word", rule.Name)
		}
		if known[rule.Name] {
			t.Errorf("%s is listed twice", rule.Name)
		}
		known[rule.Name] = true
		if rule.Title == "" || rule.Check == nil {
			t.Errorf("%s lacks a title or a check", rule.Name)
		}
		for _, file := range []string{rule.Name + ".go", rule.Name + ".md", "testdata/" + rule.Name + ".txt"} {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("rule %s: %v", rule.Name, err)
			}
		}
		page, err := os.ReadFile(rule.Name + ".md")
		if err == nil && string(page) != rule.Doc {
			t.Errorf("%s: Doc is not its page", rule.Name)
		}
	}
	for _, pattern := range []string{"*.md", "testdata/*.txt"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			if name, _, _ := strings.Cut(filepath.Base(f), "."); !known[name] {
				t.Errorf("%s belongs to no rule of All", f)
			}
		}
	}
}

// TestStopsByNumber: many short stops are what frequent collecting costs, and
// no finding beside its cause. Long ones, and those that the program asks
// for, have a cause of their own.
func TestStopsByNumber(t *testing.T) {
	stop := func(kind string, n int, each time.Duration) (out []model.Pause) {
		for range n {
			out = append(out, model.Pause{Kind: kind, Duration: each})
		}
		return out
	}
	const mark = "GC mark termination"
	often := append(stop(mark, 500, 200*time.Microsecond), stop(mark, 10, 2*time.Millisecond)...)
	for _, c := range []struct {
		name   string
		pauses []model.Pause
		want   bool
	}{
		{"none", nil, false},
		{"few and short", stop(mark, 30, 50*time.Microsecond), false},
		{"many and short", often, true},
		{"many and short, and one long", append(stop(mark, 1, 30*time.Millisecond), often...), true},
		{"long", stop(mark, 30, 20*time.Millisecond), false},
		{"short and less than half of the time", append(stop(mark, 4, 11*time.Millisecond), stop(mark, 30, time.Millisecond)...), false},
		{"short and too few", append(stop(mark, 1, 12*time.Millisecond), stop(mark, 15, 3*time.Millisecond)...), false},
		{"many and short, beside some that were asked for", append(stop("read mem stats", 10, 20*time.Millisecond), often...), false},
	} {
		m := &model.Model{Run: model.Run{Duration: time.Second}, Sched: &model.Sched{}, GC: &model.GC{Pauses: c.pauses}}
		p := &diagnosis.Pass{Rule: allocchurn, Meter: fact.Meter{Model: m}}
		if got := stopsByNumber(p); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := slices.Contains(gcSymptoms(p), "slowstop"); got != c.want {
			t.Errorf("%s: allocchurn explains slowstop: %v", c.name, got)
		}
	}
}

// TestExplainsKnown: a symptom's name is a rule's name.
func TestExplainsKnown(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range All {
		names[rule.Name] = true
	}
	for _, rule := range All {
		for _, n := range rule.Explains {
			if !names[n] || n == rule.Name {
				t.Errorf("%s explains %q, which is no other rule", rule.Name, n)
			}
		}
	}
}

// TestPages: the same four questions on every page, each answered.
func TestPages(t *testing.T) {
	want := []string{"What it sees", "Why it costs", "Fix", "Prove it"}
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	for _, rule := range All {
		var got []string
		at := heading.FindAllStringSubmatchIndex(rule.Doc, -1)
		for i, m := range at {
			got = append(got, rule.Doc[m[2]:m[3]])
			end := len(rule.Doc)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			if i > 0 && len(strings.TrimSpace(rule.Doc[m[1]:end])) < 40 {
				t.Errorf("%s.md: %q says next to nothing", rule.Name, got[i])
			}
		}
		if len(got) != 5 || !strings.HasPrefix(got[0], rule.Name) || !slices.Equal(got[1:], want) {
			t.Errorf("%s.md: headings %q, want the rule's name and %q", rule.Name, got, want)
		}
		// That the commands exist is held by the tests of the command line.
		if _, prove, _ := strings.Cut(rule.Doc, "Prove it"); !strings.Contains(prove, "gowhy ") {
			t.Errorf("%s.md: nothing to paste under Prove it", rule.Name)
		}
	}
}

// TestPure: rules, and what measures for them, cannot read the world. Do not change this data to
// fix a build.
func TestPure(t *testing.T) {
	allowed := []string{
		"cmp", "fmt", "maps", "math", "slices", "sort", "strconv", "strings", "time", "embed",
		"github.com/gowhy/gowhy/internal/judge/diagnosis", "github.com/gowhy/gowhy/internal/know/fact", "github.com/gowhy/gowhy/internal/ground/figures", "github.com/gowhy/gowhy/internal/know/model",
		"github.com/gowhy/gowhy/internal/ground/statistics",
	}
	const room = "github.com/gowhy/gowhy/internal/judge/measure/" // held to the same
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("../measure/*/*.go")
	if err != nil || len(below) == 0 {
		t.Fatal(below, err)
	}
	files = append(files, below...)
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, path) && !strings.HasPrefix(path, room) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc", "LoadLocation"}, s.Sel.Name) {
				t.Errorf("%s: a rule has no clock: time.%s", fset.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
	}
}
