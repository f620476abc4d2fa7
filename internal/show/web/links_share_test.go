package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// waited returns a run in which one function waited nearly always, another hardly ever,
// and a third one only started them.
func waited(thin time.Duration) *View {
	m := &model.Model{Run: model.Run{Duration: time.Second}}
	stack := func(names ...string) model.Stack {
		var frames []model.Frame
		for _, n := range names {
			frames = append(frames, model.Frame{Func: n})
		}
		return m.Stacks.Add(frames)
	}
	long, short := stack("main.long", "main.worker"), stack("main.short", "main.worker")
	m.Sched = &model.Sched{
		Groups: []model.Group{{
			Name: "main.worker", Creator: stack("main.start", "main.main"), Count: 1,
			Times: model.Times{Running: 9 * time.Second, Blocked: map[string]time.Duration{"sync": time.Second}},
		}},
		Waits: []model.Wait{
			{Kind: model.Sync, Reason: "sync", Stack: long, Group: "main.worker", Count: 1, Total: time.Second - thin},
			{Kind: model.Sync, Reason: "sync", Stack: short, Group: "main.worker", Count: 1, Total: thin},
		},
	}
	return &View{Model: m.Frozen(), Diagnosis: &diagnosis.Diagnosis{}}
}

// A link marks a function where it can be seen: else it turns to it, and what is in
// no tree leads to the goroutines that it starts.
func TestLinksToWhatCanBeSeen(t *testing.T) {
	for _, c := range []struct {
		thin           time.Duration
		function, want string
	}{
		{50 * ms, "main.short", "flame?kind=sync&q=main.short"},
		{ms, "main.short", "flame?kind=sync&q=main.short"},
		{ms / 10, "main.long", "flame?kind=sync&q=main.long"},
		{ms / 10, "main.short", "flame?kind=sync&view=sandwich&fn=main.short"},
		{ms, "main.start", "goroutines?group=main.worker"},
		{ms, "main.elsewhere", "sources"},
	} {
		v := waited(c.thin)
		l := &linker{v: v, screens: v.screens(), trees: map[string]bool{"sync": true, "states": true}, f: &diagnosis.Finding{}}
		got := l.lineLink(&picture{trees: []string{"sync"}}, diagnosis.Place{Function: c.function})
		if got != c.want {
			t.Errorf("%s, %v of a second: %s, want %s", c.function, c.thin, got, c.want)
		}
	}
}

// A line leads to the source of its function, whatever else shows that function.
func TestLinksToTheSource(t *testing.T) {
	v := waited(50 * ms)
	l := &linker{v: v, screens: v.screens(), trees: map[string]bool{"sync": true, "states": true}, f: &diagnosis.Finding{}}
	for _, c := range []struct {
		where diagnosis.Place
		want  string
	}{
		{diagnosis.Place{Function: "main.short", File: "/m/main.go", Line: 58}, "flame?kind=sync&src=1&focus=main.short&line=58"},
		{diagnosis.Place{Function: "main.start", File: "/m/main.go", Line: 5}, ""},
		{diagnosis.Place{Function: "main.short"}, ""},
	} {
		if got := l.source(&picture{trees: []string{"sync"}}, c.where); got != c.want {
			t.Errorf("source of %+v = %q, want %q", c.where, got, c.want)
		}
	}
}

func TestShareOf(t *testing.T) {
	v := waited(100 * ms)
	for _, c := range []struct {
		kind, function string
		want           float64
	}{
		{"sync", "main.short", 0.1}, {"sync", "main.worker", 1}, {"sync", "main.start", 0},
		{"states", "main.short", 0.01}, {"states", "main.worker", 1}, {"net", "main.short", 0}, {"cpu", "main.short", 0},
	} {
		if got := shareOf(v.Model, c.kind, c.function); !(got > c.want-1e-9 && got < c.want+1e-9) {
			t.Errorf("%s of %s: %v, want %v", c.function, c.kind, got, c.want)
		}
	}
	p := &model.Profile{
		Types:   []model.ValueType{{Name: "alloc_objects"}, {Name: "alloc_space"}, {Name: "inuse_objects"}, {Name: "inuse_space"}},
		Samples: []model.Sample{{Stack: v.Model.Sched.Waits[0].Stack, Values: []int64{1, 900, 0, 0}}, {Stack: v.Model.Sched.Waits[1].Stack, Values: []int64{9, 100, 0, 0}}},
	}
	m := *v.Model
	m.Heap = p
	for kind, want := range map[string]float64{"alloc_objects": 0.9, "alloc_space": 0.1} {
		if got := shareOf(&m, kind, "main.short"); got != want {
			t.Errorf("main.short of %s: %v, want %v", kind, got, want)
		}
	}
}

// The source of a function on no stack of the picture is that of another.
func TestSourceOfAnotherTree(t *testing.T) {
	m := &model.Model{}
	at := m.Stacks.Add([]model.Frame{{Func: "main.short", File: "/m/main.go", Line: 58}})
	m.Sched = &model.Sched{
		Groups: []model.Group{{Name: "main.worker", Count: 1, Times: model.Times{Blocked: map[string]time.Duration{"sync": time.Second}}}},
		Waits:  []model.Wait{{Kind: model.Sync, Reason: "sync", Stack: at, Group: "main.worker", Count: 1, Total: time.Second}},
	}
	v := &View{Model: m.Frozen(), Diagnosis: &diagnosis.Diagnosis{}}
	got, err := v.source(url.Values{"kind": {"net"}, "fn": {"main.short"}})
	text, ok := got.(*SourceText)
	if err != nil || !ok || len(text.Lines) != 1 || text.Lines[0].Number != 58 || !strings.Contains(text.Note, "of sync") {
		t.Errorf("source = %+v, %v; want line 58 with the figures of sync", got, err)
	}
	if _, err := v.source(url.Values{"kind": {"net"}, "fn": {"main.none"}}); err == nil {
		t.Error("there is a source of a function that is on no stack")
	}
}
