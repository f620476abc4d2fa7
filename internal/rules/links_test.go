package rules

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/web"
)

// Every number of every finding can be followed to what shows it on the page. A
// rule whose facts come from a source with a new name needs its line in
// internal/web/links_sources.go.
func TestFindingsCanBeFollowed(t *testing.T) {
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			for _, suite := range [][]*diagnosis.Rule{{rule}, All} {
				d := diagnosis.Run(c.model, suite, diagnosis.Options{Goal: c.goal})
				links := (&web.View{Model: c.model, Diagnosis: d}).Links()
				if len(links) != len(d.Findings) {
					t.Fatalf("%s: links of %d findings, there are %d", rule.Name, len(links), len(d.Findings))
				}
				for i := range d.Findings {
					checkLinks(t, c, &d.Findings[i], links[i])
				}
			}
		}
	}
}

func checkLinks(t *testing.T, c *fixture, f *diagnosis.Finding, l web.FindingLinks) {
	t.Helper()
	if len(l.Evidence) != len(f.Evidence) || len(l.Where) != len(f.Where) || len(l.Symptoms) != len(f.Symptoms) {
		t.Fatalf("%q: %s: links of other things than it has: %+v", c.story, f.Rule, l)
	}
	for i, e := range f.Evidence {
		if l.Evidence[i] == "" {
			t.Errorf("%s: no place of the page shows %q, from %q", f.Rule, e.Name, e.Source)
			continue
		}
		checkLink(t, c, f, l.Evidence[i])
	}
	for i, w := range f.Where {
		if l.Where[i] == "" {
			t.Errorf("%s: no place of the page shows %s", f.Rule, w.Function)
			continue
		}
		checkLink(t, c, f, l.Where[i])
	}
	checkBasis(t, c, f, l, "cost", f.Cost.What, l.Cost)
	checkBasis(t, c, f, l, "bound", f.Bound.Method, l.Bound)
	for _, m := range l.More {
		if !strings.HasPrefix(m.Title, "link.") {
			t.Errorf("%s: a link called %q", f.Rule, m.Title)
		}
		checkLink(t, c, f, m.To)
	}
	// Who is said to be at it can be looked at.
	if c.model.Sched != nil && len(f.Groups) > 0 && c.model.Sched.Group(f.Groups[0]) != nil &&
		!slices.ContainsFunc(l.More, func(m web.Link) bool {
			return m.Title == "link.goroutines" && strings.HasPrefix(m.To, "goroutines?group=")
		}) {
		t.Errorf("%q: %s is about %v, and nothing leads to them: %+v", c.story, f.Rule, f.Groups, l.More)
	}
	for i := range f.Symptoms {
		checkLinks(t, c, &f.Symptoms[i], l.Symptoms[i])
	}
}

// checkBasis: what a finding costs and what its cure brings can be followed, and
// the facts that they are said to rest on are there.
func checkBasis(t *testing.T, c *fixture, f *diagnosis.Finding, l web.FindingLinks, which, said string, b web.Basis) {
	t.Helper()
	if said == "" {
		t.Errorf("%q: %s: a %s without words", c.story, f.Rule, which)
	}
	if b.To == "" {
		t.Errorf("%q: %s: no place of the page shows the %s, %q", c.story, f.Rule, which, said)
		return
	}
	checkLink(t, c, f, b.To)
	for _, i := range b.Facts {
		if i < 0 || i >= len(f.Evidence) {
			t.Errorf("%q: %s: the %s rests on fact %d of %d", c.story, f.Rule, which, i, len(f.Evidence))
		}
	}
	// The list of sources tells no number: a picture does, where the facts have one.
	if b.To == "sources" && slices.ContainsFunc(l.Evidence, func(to string) bool { return to != "sources" }) {
		t.Errorf("%q: %s: the %s, %q, leads to the list of sources, its facts to %q", c.story, f.Rule, which, said, l.Evidence)
	}
}

// checkLink: a link is a screen that this run has, with parameters that can be read.
func checkLink(t *testing.T, c *fixture, f *diagnosis.Finding, link string) {
	t.Helper()
	screen, rest, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(rest)
	if err != nil {
		t.Errorf("%q: %s: link %s: %v", c.story, f.Rule, link, err)
	}
	has := map[string]bool{"sources": true, "goroutines": c.model.Sched != nil, "runtime": true, "flame": true}
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

// followed are the links of what a rule alone says of its sick cases.
func followed(t *testing.T, rule *diagnosis.Rule, each func(c *fixture, f *diagnosis.Finding, l web.FindingLinks)) {
	t.Helper()
	_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
	seen := 0
	for _, c := range cases {
		d := diagnosis.Run(c.model, []*diagnosis.Rule{rule}, diagnosis.Options{Goal: c.goal})
		for i, l := range (&web.View{Model: c.model, Diagnosis: d}).Links() {
			each(c, &d.Findings[i], l)
			seen++
		}
	}
	if seen == 0 {
		t.Fatalf("%s finds nothing in its cases", rule.Name)
	}
}

// Memory in timers is to be seen in the tree of what is in use, and the share of
// objects made in that of objects, at the line that makes them.
func TestTimersLeadToTheirTrees(t *testing.T) {
	followed(t, oldtimers, func(c *fixture, f *diagnosis.Finding, l web.FindingLinks) {
		for i, kind := range []string{"inuse_space", "inuse_space", "alloc_objects"} {
			want := "flame?kind=" + kind + "&q=" + url.QueryEscape(f.Where[0].Function)
			if l.Evidence[i] != want {
				t.Errorf("%q: %s leads to %s, want %s", c.story, f.Evidence[i].Name, l.Evidence[i], want)
			}
		}
		if !strings.HasPrefix(l.Cost.To, "flame?kind=inuse_space&q=") || !strings.HasPrefix(l.Bound.To, "flame?kind=inuse_space&q=") {
			t.Errorf("%q: the cost leads to %s, the bound to %s", c.story, l.Cost.To, l.Bound.To)
		}
	})
}

// Timers that only libraries make are named by what makes them.
func TestTimersOfLibraries(t *testing.T) {
	_, cases := readFixtures(t, filepath.Join("testdata", "oldtimers.txt"))
	c := cases[0]
	d := diagnosis.Run(c.model, []*diagnosis.Rule{oldtimers}, diagnosis.Options{})
	d.Findings[0].Where = []diagnosis.Place{{Function: "the program's libraries"}}
	l := (&web.View{Model: c.model, Diagnosis: d}).Links()[0]
	if want := "flame?kind=inuse_space&q=time.newTimer"; l.Evidence[0] != want || l.Cost.To != want {
		t.Errorf("%s, the cost %s, want %s", l.Evidence[0], l.Cost.To, want)
	}
}

// Stops of the world are marked in all charts: without a timeline these are the
// place for them, at the time of the longest.
func TestStopsWithoutTimeline(t *testing.T) {
	followed(t, slowstop, func(c *fixture, f *diagnosis.Finding, l web.FindingLinks) {
		for i, e := range f.Evidence {
			if strings.HasPrefix(e.Source, "trace: stops") && !strings.HasPrefix(l.Evidence[i], "runtime?from=") {
				t.Errorf("%q: %s leads to %s", c.story, e.Name, l.Evidence[i])
			}
		}
		for i, w := range f.Where {
			if !strings.HasPrefix(l.Where[i], "runtime?from=") && !strings.HasPrefix(l.Where[i], "flame?kind=") {
				t.Errorf("%q: %s leads to %s", c.story, w.Function, l.Where[i])
			}
		}
	})
}
