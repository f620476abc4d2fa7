package rules

import (
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/show/web"
)

// Every number of every finding can be followed to what shows it on the page, and
// what the page says there is the number: the sum of the frames marked in a flame
// graph, of the cells of a table, of the rows that were counted.
func TestFindingsCanBeFollowed(t *testing.T) {
	walked := map[fact.Kind]int{}
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			for _, suite := range [][]*diagnosis.Rule{{rule}, All} {
				d := diagnosis.Run(c.model, suite, diagnosis.Options{Goal: c.goal})
				w := walk{t: t, c: c, view: &web.View{Model: c.model, Diagnosis: d}, kinds: walked}
				links := w.view.Links()
				if len(links) != len(d.Findings) {
					t.Fatalf("%s: links of %d findings, want %d", rule.Name, len(links), len(d.Findings))
				}
				for i := range d.Findings {
					w.finding(&d.Findings[i], links[i])
				}
			}
		}
	}
	t.Logf("facts walked by kind: %v", walked)
}

// A walk follows the links of one case's findings.
type walk struct {
	t     *testing.T
	c     *fixture
	f     *diagnosis.Finding
	view  *web.View
	kinds map[fact.Kind]int // facts that were followed
}

func (w *walk) finding(f *diagnosis.Finding, l web.FindingLinks) {
	w.t.Helper()
	w.f = f
	if len(l.Evidence) != len(f.Evidence) || len(l.Where) != len(f.Where) || len(l.Symptoms) != len(f.Symptoms) {
		w.t.Fatalf("%q: %s: links of %d facts, %d places and %d symptoms, want %d, %d and %d",
			w.c.story, f.Rule, len(l.Evidence), len(l.Where), len(l.Symptoms), len(f.Evidence), len(f.Where),
			len(f.Symptoms))
	}
	for i, e := range f.Evidence {
		w.fact(e, l.Evidence[i])
	}
	w.fact(f.Cost.Fact(), l.Cost)
	w.fact(f.Bound.Fact(), l.Bound)
	for i, p := range f.Where {
		if l.Where[i] == "" {
			w.t.Errorf("%s: no place of the page shows %s", f.Rule, p.Function)
			continue
		}
		checkLink(w.t, w.c, f, l.Where[i])
	}
	for _, m := range l.More {
		if !strings.HasPrefix(m.Title, "link.") {
			w.t.Errorf("%s: a link called %q", f.Rule, m.Title)
		}
		checkLink(w.t, w.c, f, m.To)
	}
	// Who is said to be at it can be looked at.
	if w.c.model.Sched != nil && len(f.Groups) > 0 && w.c.model.Sched.Group(f.Groups[0]) != nil &&
		!slices.ContainsFunc(l.More, func(m web.Link) bool {
			return m.Title == "link.goroutines" && strings.HasPrefix(m.To, "goroutines?group=")
		}) {
		w.t.Errorf("%q: %s is about %v and links to %+v, want link.goroutines among them",
			w.c.story, f.Rule, f.Groups, l.More)
	}
	for i := range f.Symptoms {
		w.finding(&f.Symptoms[i], l.Symptoms[i])
	}
}

// fact follows a number and all that it was computed from.
func (w *walk) fact(f fact.Fact, l web.FactLink) {
	w.t.Helper()
	w.kinds[f.Origin.Kind]++
	if len(l.Operands) != len(f.Operands) {
		w.t.Fatalf("%s: links of %d operands of %q, want %d", w.f.Rule, len(l.Operands), f.Name, len(f.Operands))
	}
	for i, o := range f.Operands {
		w.fact(o, l.Operands[i])
	}
	checkLink(w.t, w.c, w.f, l.To)
	if !f.Measured() {
		return // it follows from its operands
	}
	got, want := w.total(l.To, &f), f.Value
	if !(math.Abs(got-want) <= 1e-6*math.Abs(want)+1e-9) {
		w.t.Errorf("%q: %s: %q is %v, and where it leads, %s, the page says %v", w.c.story, w.f.Rule, f.Name, want, l.To, got)
	}
}

// total returns what the view at a link says of the fact.
func (w *walk) total(link string, f *fact.Fact) float64 {
	w.t.Helper()
	screen, rest, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(rest)
	if err != nil {
		w.t.Fatal(err)
	}
	switch screen {
	case "flame":
		return w.marked(q, f)
	case "goroutines":
		return w.cells(f)
	case "number":
		n := answerOf[*web.Derivation](w, "api/number", q)
		if n.Total == nil {
			w.t.Errorf("%s: the page has no total for %q", w.f.Rule, f.Name)
			return math.NaN()
		}
		return *n.Total
	}
	w.t.Errorf("%s: %q leads to %s", w.f.Rule, f.Name, link)
	return math.NaN()
}

// marked returns the sum of the marked frames of a flame graph, in the fact's unit.
func (w *walk) marked(q url.Values, f *fact.Fact) float64 {
	w.t.Helper()
	marks := answerOf[*web.Marks](w, "api/flame/marks", q)
	tree := answerOf[*web.Flame](w, "api/flame", url.Values{"kind": q["kind"]})
	var leaves int64 // the marks at the root are the sum of those at its children
	for i, n := range marks.Nodes {
		if tree.Parent[n] == 0 {
			leaves += marks.Sums[i]
		}
	}
	if leaves != marks.Total {
		w.t.Errorf("%s: %q: the marked frames have %d, of %d", w.f.Rule, f.Name, leaves, marks.Total)
	}
	switch {
	case f.Origin.Share && tree.Total > 0:
		return float64(marks.Total) / float64(tree.Total)
	case slices.Equal(f.Origin.Columns, []string{"count"}):
		return float64(marks.Count)
	case tree.Unit == "nanoseconds":
		return float64(marks.Total) / 1e9
	}
	return float64(marks.Total)
}

// cells returns the sum of the cells of the table of goroutines that a fact is of.
func (w *walk) cells(f *fact.Fact) (sum float64) {
	w.t.Helper()
	table := answerOf[*web.Table](w, "api/groups", url.Values{"limit": {"1000"}})
	for i, column := range table.Columns {
		if !slices.Contains(f.Origin.Columns, column.Key) {
			continue
		}
		for _, row := range table.Rows {
			group, err := strconv.Unquote(string(row[0]))
			v, errNumber := strconv.ParseFloat(string(row[i]), 64)
			if err != nil || errNumber != nil {
				w.t.Fatalf("%s: a row %s", w.f.Rule, row)
			}
			if column.Unit == "ns" {
				v /= 1e9
			}
			if slices.Contains(f.Origin.Groups, group) {
				sum += v
			}
		}
	}
	return sum
}

// answerOf returns the page's answer to a question.
func answerOf[T any](w *walk, path string, q url.Values) (answer T) {
	w.t.Helper()
	v, err := w.view.Ask(path, q)
	if err != nil {
		w.t.Fatalf("%q: %s: %s?%s: %v", w.c.story, w.f.Rule, path, q.Encode(), err)
	}
	answer, ok := v.(T)
	if !ok {
		w.t.Fatalf("%s?%s is a %T", path, q.Encode(), v)
	}
	return answer
}

// checkLink: a link is a screen that this run has, with parameters that can be read.
func checkLink(t *testing.T, c *fixture, f *diagnosis.Finding, link string) {
	t.Helper()
	screen, rest, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(rest)
	if err != nil {
		t.Errorf("%q: %s: link %s: %v", c.story, f.Rule, link, err)
	}
	has := map[string]bool{"number": true, "sources": true, "goroutines": c.model.Sched != nil, "standing": c.model.Moment != nil, "runtime": true, "flame": true,
		"memory": c.model.MemoryAccount() != nil || len(c.model.Run.Holders) > 0 || c.model.Run.Ending() != ""}
	if !has[screen] {
		t.Errorf("%q: %s: link %s: the run has no such screen", c.story, f.Rule, link)
	}
	if screen == "flame" && q.Get("kind") == "" {
		t.Errorf("%q: %s: link %s: a flame graph of nothing in particular", c.story, f.Rule, link)
	}
	if group := q.Get("group"); screen == "goroutines" && q.Has("group") && c.model.Sched.Group(group) == nil {
		t.Errorf("%q: %s: link %s: the run has no such group", c.story, f.Rule, link)
	}
}
