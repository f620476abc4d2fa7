package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// traced returns a linker of a run with a timeline that answers what it was asked.
func traced(v *View, asked *[]string) *linker {
	return &linker{
		v: v, screens: []string{"findings", "timeline", "flame", "goroutines", "runtime", "sources"},
		charts: map[string]bool{"heap": true, "cpu": true}, trees: map[string]bool{"sync": true, "cpu": true, "syscall": true, "states": true},
		peaks: map[peakKey]window{},
		find: func(group string, s timeline.State, width time.Duration) (from, to time.Duration, ok bool) {
			*asked = append(*asked, group+" "+s.String())
			return 300 * ms, 300*ms + width, s != timeline.Net
		},
	}
}

// A number leads to what was counted, and carries its address.
func TestLinksOfNumbers(t *testing.T) {
	v := accounts()
	p := fact.Meter{Model: v.Model}
	waits := p.Waits("waits", model.Sync, nil)
	running := p.Goroutines("running", []string{"main.worker"}, "running")
	v.Diagnosis = &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{
		Groups: []string{"main.worker"},
		Where:  []diagnosis.Place{{Function: "main.worker"}, {Function: "os.ReadFile"}},
		Evidence: []fact.Fact{
			waits, running, p.WindowLength(), fact.Quotient.Of("waiting on average", fact.Count, p.WindowLength(), waits),
			p.Processors("busy", "user"), fact.Figure("elsewhere", 1, fact.Count, "a paper"),
		},
		Cost:     diagnosis.CostOf(waits, 1),
		Bound:    diagnosis.Limit(fact.Quotient.Of("factor", fact.Factor, p.WindowLength(), p.WindowLength()), diagnosis.Throughput, 0, ""),
		Symptoms: []diagnosis.Finding{{Evidence: []fact.Fact{running}}},
	}}}
	var asked []string
	l := traced(v, &asked)
	got := l.finding(&v.Diagnosis.Findings[0], "0")
	for i, want := range []string{
		"flame?kind=sync&fact=0.e0", "goroutines?col=running&fact=0.e1", "number?fact=0.e2",
		"flame?kind=sync&fact=0.e3", "number?fact=0.e4", "number?fact=0.e5",
	} {
		if got.Evidence[i].To != want {
			t.Errorf("%s leads to %s, want %s", v.Diagnosis.Findings[0].Evidence[i].Name, got.Evidence[i].To, want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{got.Evidence[3].Operands[1].To, "flame?kind=sync&fact=0.e3.o1"},
		{got.Cost.To, "flame?kind=sync&fact=0.c"},
		{got.Bound.To, "number?fact=0.b"},
		{got.Symptoms[0].Evidence[0].To, "goroutines?col=running&fact=0.s0.e0"},
		{got.Where[0], "goroutines?group=main.worker"},
		{got.Where[1], "flame?kind=syscall&q=os.ReadFile"},
	} {
		if c.got != c.want {
			t.Errorf("a link is %s, want %s", c.got, c.want)
		}
	}
	if text := strings.Join(asked, ", "); text != "main.worker sync" {
		t.Errorf("the timeline was asked for %s, want main.worker sync", text)
	}
}

// Every kind of origin has its line in the table of pictures.
func TestPicturesOfAllKinds(t *testing.T) {
	for _, k := range fact.Kinds {
		if _, ok := pictures[k]; !ok {
			t.Errorf("no line for facts of kind %s", k)
		}
	}
}

// What is about goroutines at one moment leads to who waits for whom, where there is a moment.
func TestLinkToStanding(t *testing.T) {
	v := dumped(1, model.Standing{Count: 3, State: model.StateMutex, Wants: 1})
	p := fact.Meter{Model: v.Model}
	l := newLinker(v)
	leads := func(e fact.Fact) bool {
		return slices.Contains(l.finding(&diagnosis.Finding{Evidence: []fact.Fact{e}}, "0").More, Link{"link.standing", "standing"})
	}
	if !leads(p.Standing("waiting", "goroutines", nil)) {
		t.Error("a finding of a moment does not lead to it")
	}
	if leads(p.WindowLength()) {
		t.Error("a finding about something else leads to the moment")
	}
}

// An address that is none is an error that names it.
func TestFactAt(t *testing.T) {
	v := accounts()
	v.Diagnosis = &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{Evidence: []fact.Fact{fact.Figure("n", 1, fact.Count, "")}}}}
	for _, address := range []string{"", "x", "0", "1.e0", "-1.e0", "0.e1", "0.e-1", "0.e0.o0", "0.e0.e0", "0.s0.e0", "0.", "0.e99999999999999999999", "0.z"} {
		if f, _, err := v.factAt(address); err == nil {
			t.Errorf("factAt(%q) = %v, want an error", address, f)
		}
	}
	if f, _, err := v.factAt("0.e0"); err != nil || f.Name != "n" {
		t.Errorf("factAt(0.e0) = %v, %v; want the fact n", f, err)
	}
}

// The rows of an account have addresses of their own, and lead to what they count.
func TestLinksOfAccounts(t *testing.T) {
	v := accounts()
	p := fact.Meter{Model: v.Model}
	waits := p.Waits("main.worker", model.Sync, nil)
	v.Diagnosis = &diagnosis.Diagnosis{Accounts: []diagnosis.Account{
		{Text: "none"},
		{Text: "Most waits.", Rows: []diagnosis.AccountRow{
			{Name: "main.worker", Value: waits, Where: &diagnosis.Place{Function: "main.worker"}},
			{Name: "a state", Value: fact.Figure("n", 1, fact.Count, "")},
		}},
	}}
	links := v.accountLinks()
	if len(links) != 2 || len(links[1].Evidence) != 2 || len(links[1].Where) != 2 {
		t.Fatalf("links are %+v, want those of two rows", links)
	}
	for _, l := range links[1].Evidence {
		_, query, _ := strings.Cut(l.To, "?")
		q, _ := url.ParseQuery(query)
		at, f, err := v.factAt(q.Get("fact"))
		if err != nil || f.Title != "Most waits." {
			t.Errorf("%s leads to %v of %v, %v; want a row of the account", l.To, at, f, err)
		}
	}
	if links[1].Where[0] == "" || links[1].Where[1] != "" {
		t.Errorf("places lead to %q, want one for the row with a place", links[1].Where)
	}
	for _, address := range []string{"a", "a2.e0", "a0.e0", "a1", "a1.e2", "a1.c0.o0", "a-1.e0"} {
		if f, _, err := v.factAt(address); err == nil {
			t.Errorf("factAt(%q) = %v, want an error", address, f)
		}
	}
}

// What a rule calls its goroutines, its functions, or only where they wait, are the
// goroutines of the finding.
func TestGroupsOfFinding(t *testing.T) {
	v := accounts()
	var asked []string
	l := traced(v, &asked)
	for _, f := range []diagnosis.Finding{
		{Groups: []string{"main.gone", "main.worker"}},
		{Where: []diagnosis.Place{{Function: "main.worker"}}},
		{Where: []diagnosis.Place{{Function: "os.ReadFile"}}},
		{Stacks: []model.Stack{1}},
	} {
		if got := l.groupsOf(&f); len(got) != 1 || got[0] != "main.worker" {
			t.Errorf("groupsOf(%+v) = %v, want main.worker", f, got)
		}
	}
	if got := l.groupsOf(&diagnosis.Finding{}); got != nil {
		t.Errorf("groupsOf(a finding about all of the program) = %v, want nil", got)
	}
}

// A link carries any name, and brings it back as the page sends it.
func TestLinkTo(t *testing.T) {
	const odd = "main.(*T[go.shape.int]).f·1&x=y#z 50%"
	screen, rest, _ := strings.Cut(linkTo("goroutines", "group", odd, "q", ""), "?")
	q, err := url.ParseQuery(rest)
	if screen != "goroutines" || err != nil || q.Get("group") != odd || q.Has("q") {
		t.Errorf("linkTo(goroutines, %q) = %s?%s, %v; want that group and no q", odd, screen, rest, err)
	}
	if got := linkTo("timeline", "g", ""); got != "timeline" {
		t.Errorf("linkTo(timeline) = %q, want timeline", got)
	}
}
