package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// What collections found alive says whether a heap is worth a look.
func TestRises(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name  string
		every time.Duration
		found []int64 // MiB; 0 is not known
		want  bool
	}{
		{"none is known", time.Second, []int64{0, 0, 0}, false},
		{"two", time.Minute, []int64{40, 80}, false},
		{"each has twice as much", 10 * time.Second, []int64{10, 20, 40}, true},
		{"the same for long, then more", time.Minute, []int64{10, 10, 10, 20, 40}, true},
		{"more, then the same", time.Minute, []int64{10, 20, 40, 40}, false},
		{"within a moment", time.Second, []int64{10, 20, 40}, false},
		{"a few MiB", time.Minute, []int64{4, 6, 8, 10}, false},
		{"little beside what there is", time.Minute, []int64{4000, 4010, 4020}, false},
		{"one found less", time.Minute, []int64{10, 80, 40, 80}, false},
		{"up and down", time.Minute, []int64{10, 80, 20, 70, 10, 80}, false},
		{"hours ago", time.Minute, append([]int64{10, 20, 40}, make([]int64, 20)...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Unix(0, 0)
			is := &judgedProgram{since: begin}
			for i, found := range c.found {
				r := &Runtime{gcs: int64(i + 1), marked: found * mib}
				is.noteCollection(r, begin.Add(time.Duration(i)*c.every))
				is.noteCollection(r, begin.Add(time.Duration(i)*c.every+c.every/2)) // the same collection
			}
			is.noteCollection(nil, begin) // where nothing is read
			if got := is.rises(); got != c.want {
				t.Errorf("collections found %v MiB, %v apart: rises() = %v, want %v", c.found, c.every, got, c.want)
			}
		})
	}
}

// seen returns a look at a heap of which a variable holds so much.
func seen(at time.Time, bytes uint64) *model.HeapLook {
	most := model.Holder{Kind: model.HeldByVariable, Name: "main.sessions", ObjectSum: model.ObjectSum{Bytes: bytes},
		Path: []model.HolderStep{{Type: "map[string]*main.Session"}}}
	pools := model.Holder{Kind: model.HeldByRuntime, Name: "sync.Pools", ObjectSum: model.ObjectSum{Bytes: 2 * bytes}}
	return &model.HeapLook{Time: at, Holders: []model.Holder{pools, most}}
}

// Two looks say who grew, and anything else says nobody.
func TestHolding(t *testing.T) {
	begin := time.Unix(1000, 0)
	before, partial := seen(begin, 1<<20), seen(begin, 1)
	partial.Partial = true
	large := fmt.Errorf("process 7: %w", &heap.BudgetError{Need: 2, Budget: 1})
	const way, both = "main.sessions → map[string]*main.Session", looksApart + lookAgain
	type look struct {
		look *model.HeapLook
		err  error
	}
	for _, c := range []struct {
		name  string
		looks []look
		by    string
		why   bool
		next  time.Duration // from the begin
	}{
		{"one", []look{{look: before}}, "", false, looksApart},
		{"two", []look{{look: before}, {look: seen(begin.Add(looksApart), 31<<20)}}, way, false, both},
		{"two of a level heap", []look{{look: before}, {look: seen(begin.Add(looksApart), 1<<20)}}, "", false, both},
		{"no right", []look{{err: fs.ErrPermission}}, "", false, lookAgain},
		{"interrupted", []look{{look: partial}}, "", false, lookAgain},
		{"too large", []look{{err: large}}, "", true, lookAgain},
		{"gone meanwhile", []look{{look: before}, {err: errors.New("gone")}}, "", false, both},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h holding
			for i, l := range c.looks {
				h.add(7, l.look, l.err, begin.Add(time.Duration(i)*looksApart))
			}
			by, why := "", false
			if h.held != nil {
				by, why = h.held.By, h.held.Why != ""
			}
			if by != c.by || why != c.why || h.next.Sub(begin) != c.next {
				t.Errorf("held by %q, says why not: %v, next look after %v; want %q, %v and %v",
					by, why, h.next.Sub(begin), c.by, c.why, c.next)
			}
			if (h.looks != nil) != (len(c.looks) == 2 && c.looks[1].err == nil) {
				t.Errorf("the looks %v go into the recordings", h.looks)
			}
		})
	}
	var h holding
	h.add(7, seen(begin, 1<<20), nil, begin)
	h.add(7, seen(begin.Add(looksApart), 31<<20), nil, begin)
	if got, want := h.held.sentence(), "Held by "+way+", +1 MiB/s."; got != want {
		t.Errorf("sentence() = %q, want %q", got, want)
	}
}

// One heap is read at a time, of programs that grow, and not again for some minutes.
func TestGrower(t *testing.T) {
	now := time.Now()
	grown := func() []*suspect {
		return []*suspect{{shown: true, finding: finding("heapgrowth", "main.f", diagnosis.High)}}
	}
	unsure := grown()
	unsure[0].shown = false
	other := []*suspect{{shown: true, finding: finding("hotmutex", "main.f", diagnosis.High)}}
	late := now.Add(-time.Second)
	for _, c := range []struct {
		name string
		c    judgedProgram
		want bool
	}{
		{"a finding says so", judgedProgram{votes: grown()}, true},
		{"one that is not shown yet", judgedProgram{votes: unsure}, false},
		{"another finding", judgedProgram{votes: other}, false},
		{"looked at just now", judgedProgram{votes: grown(), holding: holding{next: now.Add(time.Minute)}}, false},
		{"looked at long ago", judgedProgram{votes: grown(), holding: holding{next: late}}, true},
		{"level since the first look", judgedProgram{holding: holding{first: seen(now, 1), next: late}}, true},
		{"level since both", judgedProgram{holding: holding{held: &HeapHolders{By: "main.sessions"}, next: late}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := 0
			j := emptyJudge()
			j.look = func(context.Context, int, heap.Options) (*model.HeapLook, error) {
				read++
				return nil, errors.New("nothing can be read")
			}
			j.cases[7] = &c.c
			j.lookAtHeap(t.Context())
			j.lookAtHeap(t.Context())
			if want := map[bool]int{true: 1}[c.want]; read != want {
				t.Errorf("its heap is read %d times, want %d", read, want)
			}
			if h := c.c.holding.held; h != nil {
				t.Errorf("it is held by %+v, want nothing that is said", h)
			}
		})
	}
}

// What is said of a heap that grows, from the first sign to the holder.
func TestHeapLine(t *testing.T) {
	last := &diagnosis.Diagnosis{Verdict: diagnosis.Idle}
	alive := model.Series{{At: 0, Value: 10 << 20}, {At: 9 * time.Second, Value: 20 << 20}, {At: time.Minute, Value: 40 << 20}}
	held := &HeapHolders{By: "main.sessions → map[string]*main.Session", Growth: 1 << 20}
	large := &HeapHolders{Why: "its heap is too large to be read meanwhile", How: "gowhy memory 7 --holders -d 1m"}
	shown := func(rule string) []*suspect {
		return []*suspect{{shown: true, finding: finding(rule, "main.f", diagnosis.Low)}}
	}
	const grew, grows, place = "its heap grew from 10 MiB to 40 MiB", "Heap grows: +1 MiB/s held by ", ": main.f a.go:1"
	one, two, none := holding{first: seen(time.Now(), 1)}, holding{held: held}, holding{held: large}
	who, why := " "+held.sentence(), " "+large.sentence()
	for _, c := range []struct {
		name          string
		c             judgedProgram
		line, summary string
	}{
		{"level", judgedProgram{}, Idle, ""},
		{"rises", judgedProgram{alive: alive}, grew, ""},
		{"one look", judgedProgram{alive: alive, holding: one}, grew + "; looking for who holds it", ""},
		{"both", judgedProgram{alive: alive, holding: two}, grew + ", held by " + held.By, ""},
		{"too large", judgedProgram{alive: alive, holding: none}, grew + "; who holds it: " + large.How, ""},
		{"grows", judgedProgram{votes: shown("heapgrowth")}, "heapgrowth" + place, ""},
		{"grows and held", judgedProgram{votes: shown("heapgrowth"), holding: two}, grows + held.By, who},
		{"grows and too large", judgedProgram{votes: shown("heapgrowth"), holding: none}, "heapgrowth" + place, why},
		{"said by its rule", judgedProgram{votes: shown("heldmemory"), holding: two}, grows + held.By, ""},
		{"another finding", judgedProgram{votes: shown("hotmutex"), holding: two}, "hotmutex" + place, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := emptyJudge()
			c.c.pieces, c.c.last = 2, last
			j.cases[7] = &c.c
			v := j.verdict(7)
			if v.Line != c.line {
				t.Errorf("line = %q, want %q", v.Line, c.line)
			}
			if len(v.Findings) > 0 && v.Findings[0].Summary != c.summary {
				t.Errorf("summary = %q, want %q", v.Findings[0].Summary, c.summary)
			}
		})
	}
}

// That the holder is found out makes no other finding of it: it is there since it grew.
func TestHeldIsOneFinding(t *testing.T) {
	is := &judgedProgram{}
	for i, rule := range []string{"heapgrowth", "heapgrowth", "heldmemory"} {
		d := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{finding(rule, rule, diagnosis.Low)}}
		is.vote(d, time.Unix(int64(i), 0), "")
	}
	if len(is.votes) != 1 || len(is.gone) > 0 {
		t.Fatalf("the findings are %+v, gone are %+v; want one", is.votes, is.gone)
	}
	if a := is.votes[0]; !a.shown || a.finding.Rule != "heldmemory" || !a.first.Equal(time.Unix(0, 0)) {
		t.Errorf("the finding is %+v, want heldmemory since the first piece", a)
	}
}

// Looks count as long as collections find more.
func TestLooksCount(t *testing.T) {
	for _, c := range []struct {
		name  string
		found []float64
		want  bool
	}{
		{"no collection is known", nil, true},
		{"one", []float64{10}, true},
		{"more", []float64{20, 10, 30}, true},
		{"the same", []float64{10, 20, 20}, false},
		{"less", []float64{10, 20, 15}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := &judgedProgram{holding: holding{looks: &artifact.HeapLooks{}}}
			for i, found := range c.found {
				is.alive = append(is.alive, model.Point{At: time.Duration(i) * time.Minute, Value: found})
			}
			if got := is.heapLooks() != nil; got != c.want {
				t.Errorf("after collections that found %v the looks count: %v, want %v", c.found, got, c.want)
			}
		})
	}
}

// filling keeps 2 MiB more each second in a map.
const filling = `package main

import (
	"bytes"
	"fmt"
	"time"
)

type Session struct{ page []byte }

var sessions = map[string]*Session{}

func main() {
	for n := 0; ; n++ {
		sessions[fmt.Sprint(n)] = &Session{bytes.Repeat([]byte{1}, 4096)}
		time.Sleep(2 * time.Millisecond)
	}
}
`

// TestHeldLive watches a program that grows until its finding says who holds it.
func TestHeldLive(t *testing.T) {
	attempt.Only(t, "watches a program for two minutes")
	pid := child(t, filling).Process.Pid
	w, err := New(Options{PIDs: []int{pid}, Rules: rules.All, Budget: 0.2})
	if errors.Is(err, proc.ErrSystem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const want = "main.sessions → map[string]*main.Session"
	line := ""
	for range 240 {
		time.Sleep(time.Second)
		f, err := w.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		p := f.Processes[0]
		if g := p.Goroutines; g != nil && g.Why != "" {
			t.Skip(g.Why)
		}
		if p.Verdict == nil {
			continue
		}
		line = p.Verdict.Line
		for _, x := range p.Verdict.Findings {
			if h := x.Held; h == nil || h.By == "" {
				continue
			} else if !strings.HasPrefix(h.By, want) || h.Growth <= 0 || !strings.Contains(x.Summary, want) {
				t.Fatalf("the finding is %+v, held by %+v; want %q", x, h, want)
			}
			if strings.Contains(line, want) {
				return
			}
		}
	}
	t.Errorf("after four minutes it says %q, want %q in a finding", line, want)
}
