package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/timeline"
)

// traced is a linker of a run with a timeline that answers what it was asked.
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

// A fact of the trace leads to the moment at which its goroutines were most in
// the state that it is about.
func TestLinksIntoTheTimeline(t *testing.T) {
	v := accounts()
	v.Model.GC = &model.GC{
		Cycles: []model.Cycle{{Begin: 100 * ms, End: 110 * ms}, {Begin: 500 * ms, End: 600 * ms}, {Begin: -1, End: 900 * ms}},
		Pauses: []model.Pause{{At: 50 * ms, Duration: ms}, {At: 700 * ms, Duration: 4 * ms}},
	}
	of := func(name, source string) fact.Fact {
		return fact.Fact{Name: name, Value: 1, Unit: fact.Count, Source: source}
	}
	f := &diagnosis.Finding{
		Groups: []string{"main.worker"},
		Where:  []diagnosis.Place{{Function: "main.worker"}, {Function: "os.ReadFile"}, {Function: "main.nowhere"}},
		Evidence: []fact.Fact{
			of("mean wait", "trace: sync waits"), of("mean wait", "trace: sync waits ÷ window"),
			of("goroutines waiting for a P", "trace: goroutine groups"), of("calls", "trace: system calls by stack"),
			of("waits", "trace: network waits, its own"), of("collections", "trace: collections"), of("stops", "trace: stops of the world"),
			of("busy Ps", "trace: Ps"), of("CPU", "CPU profile × rusage"), of("live heap", "metrics: /gc/heap/live:bytes"), of("flag", "build info: -pgo"),
			of("?", "the stars"),
		},
		Symptoms: []diagnosis.Finding{{Evidence: []fact.Fact{of("switches", "/proc: CPU time of the process")}}},
	}
	var asked []string
	got := traced(v, &asked).finding(f)
	const peak = "timeline?from=300000000&to=400000000&g=main.worker"
	for i, want := range []string{
		peak, peak, peak, peak, "timeline?g=main.worker",
		"timeline?from=450000000&to=650000000&lanes=gc", "timeline?from=695000000&to=709000000&lanes=stw", "timeline?lanes=ps",
		"flame?kind=cpu", "runtime?chart=heap", "sources", "",
	} {
		if got.Evidence[i] != want {
			t.Errorf("%s: %s, want %s", f.Evidence[i].Source, got.Evidence[i], want)
		}
	}
	if text := strings.Join(asked, ", "); text != "main.worker sync, main.worker runnable, main.worker syscall, main.worker net" {
		t.Errorf("the timeline was asked for %s", text)
	}
	for i, want := range []string{"goroutines?group=main.worker", "flame?kind=syscall&q=os.ReadFile", "goroutines?group=main.worker"} {
		if got.Where[i] != want {
			t.Errorf("%s: %s, want %s", f.Where[i].Function, got.Where[i], want)
		}
	}
	for i, want := range []Link{{"link.timeline", peak}, {"link.goroutines", "goroutines?group=main.worker"}, {"link.flame", "flame?kind=syscall&q=main.worker"}} {
		if i >= len(got.More) || got.More[i] != want {
			t.Errorf("more: %+v, want %+v", got.More, want)
			break
		}
	}
	if s := got.Symptoms[0].Evidence[0]; s != "runtime?chart=cpu" {
		t.Errorf("the symptom's fact: %s", s)
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
			t.Errorf("%+v: %v", f, got)
		}
	}
	if got := l.groupsOf(&diagnosis.Finding{}); got != nil {
		t.Errorf("of all of the program: %v", got)
	}
}

// A link carries any name, and brings it back as the page sends it.
func TestLinkTo(t *testing.T) {
	const odd = "main.(*T[go.shape.int]).f·1&x=y#z 50%"
	screen, rest, _ := strings.Cut(linkTo("goroutines", "group", odd, "q", ""), "?")
	q, err := url.ParseQuery(rest)
	if screen != "goroutines" || err != nil || q.Get("group") != odd || q.Has("q") {
		t.Errorf("%s?%s, %v", screen, rest, err)
	}
	if got := linkTo("timeline", "g", ""); got != "timeline" {
		t.Errorf("%q", got)
	}
}
