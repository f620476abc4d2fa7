package findings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What takes hours is judged each quarter of an hour, the last two of them, and each once.
func TestHoursWindows(t *testing.T) {
	row := store.Finding{Rule: lookedOver, From: start.Add(-window), Until: start}
	for name, c := range map[string]struct {
		last  time.Duration
		known []store.Finding
		want  string
	}{
		"at a quarter":       {0, nil, "-255--15 -240-0"},
		"before the next":    {15*time.Minute - 1, nil, "-255--15 -240-0"},
		"at the next":        {15 * time.Minute, nil, "-240-0 -225-15"},
		"one was":            {0, []store.Finding{row}, "-255--15"},
		"both were":          {0, []store.Finding{row, {Rule: lookedOver, Until: start.Add(-lookEvery)}}, ""},
		"another ended then": {0, []store.Finding{{Rule: "", Title: lookedOver, Until: start}, {Rule: "heapgrowth", Until: start.Add(-lookEvery)}}, "-255--15 -240-0"},
		"one began then":     {0, []store.Finding{{Rule: lookedOver, From: start, Until: start.Add(time.Hour)}}, "-255--15 -240-0"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{}
			if err := judgeOf(k, start).hours(t.Context(), "acme", start.Add(c.last), c.known); err != nil {
				t.Fatal(err)
			}
			if got := spans(k.requests); got != c.want || len(k.wrote) > 0 {
				t.Errorf("hours() looked at %q and wrote %v, want %q and no rows", got, k.wrote, c.want)
			}
		})
	}
}

func TestOverHours(t *testing.T) {
	for rule, want := range map[string][3]bool{
		"heapgrowth": {true, true, true}, "goroutinegrowth": {true, true, false}, "heldmemory": {false, false, true}, CostStep: {true, false, false},
		"hotfunction": {}, "memory in use": {}, "goroutines": {}, "": {},
	} {
		if got := [3]bool{OverHours(rule), Grows(rule), OfHeap(rule)}; got != want {
			t.Errorf("OverHours, Grows, OfHeap(%q) = %v, want %v", rule, got, want)
		}
	}
}

func TestLacks(t *testing.T) {
	part := store.Missing{"a shard", "another"}
	for name, c := range map[string]struct {
		missing store.Missing
		err     error
		want    string
	}{
		"nothing":       {nil, nil, "<nil>"},
		"an error":      {nil, errDisk, "the disk is gone"},
		"two parts":     {part, nil, `["a shard" "another"] could not be asked`},
		"both":          {part, errDisk, "the disk is gone"},
		"an empty list": {store.Missing{}, nil, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(lacks(c.missing, c.err)); got != c.want {
				t.Errorf("lacks(%q, %v) = %s, want %s", c.missing, c.err, got, c.want)
			}
		})
	}
}

func TestSent(t *testing.T) {
	v := &store.Service{Totals: []store.Total{{Type: store.CPU, Value: 3}, {Type: store.Goroutines, Value: 0}, {Type: store.InuseSpace, Value: 5}}}
	for kind, want := range map[store.Type]int64{store.CPU: 3, store.Goroutines: 0, store.InuseSpace: 5, store.Operations: 0} {
		if got := total(v.Totals, kind); got != want || sent(v, kind) != (want > 0) {
			t.Errorf("total of %s = %d, sent %v, want %d", kind, got, sent(v, kind), want)
		}
	}
}

// What the runtime does is its caller's; a stack of the runtime alone keeps its last frame.
func TestStacks(t *testing.T) {
	k := &spy{stacks: func(store.Selection) store.Stacks {
		return stacksOf(sample{1, []string{"runtime.mallocgc", "runtime.newobject", "main.f", "main.main"}}, sample{2, []string{"main.f", "runtime.main"}},
			sample{3, []string{"runtime.mcall", "runtime.schedule"}}, sample{4, []string{"main.g"}}, sample{5, []string{"runtimes.f", "main.main"}},
			sample{6, nil}, sample{7, []string{"runtime.gopark", "main.h"}})
	}}
	a, err := judgeOf(k, start).stacks(t.Context(), store.Selection{})
	var got []string
	for _, s := range a.Samples {
		var functions []string
		for _, f := range a.Frames[s.Stack] {
			functions = append(functions, f.Function)
		}
		got = append(got, strings.Join(functions, "<"))
	}
	want := "main.f<main.main; main.f<runtime.main; runtime.schedule; main.g; runtimes.f<main.main; ; main.h"
	if err != nil || strings.Join(got, "; ") != want {
		t.Errorf("stacks() = %q, %v, want %q", got, err, want)
	}
	k.refuse = func(request) (store.Missing, error) { return store.Missing{"a shard"}, nil }
	if _, err := judgeOf(k, start).stacks(t.Context(), store.Selection{}); err == nil {
		t.Error("stacks() of half of them = nil, want an error")
	}
}

// The function that has most of a growth is named with a line where it is now, each sum by its
// own part.
func TestGrown(t *testing.T) {
	was := stacksOf(sample{80, []string{"main.g", "main.main"}}, sample{20, []string{"main.f", "main.main"}})
	is := stacksOf(sample{160, []string{"main.g", "main.main"}}, sample{120, []string{"sort.Sort", "main.f", "main.main"}})
	gone := stacksOf(sample{80, []string{"main.g", "main.main"}})
	for name, c := range map[string]struct {
		was, is store.Stacks
		by      [2]float64
		want    string
	}{
		"twice as many levels": {was, is, [2]float64{1, 2}, "sort.Sort sort.Sort.go 9"},
		"as many": {stacksOf(sample{80, []string{"main.g"}}, sample{20, []string{"main.f"}}), stacksOf(sample{90, []string{"main.g"}}, sample{60, []string{"main.f"}}),
			[2]float64{1, 1}, "main.f main.f.go 6"},
		"half as many": {stacksOf(sample{80, []string{"main.g"}}, sample{20, []string{"main.f"}}), stacksOf(sample{90, []string{"main.g"}}, sample{12, []string{"main.f"}}),
			[2]float64{2, 1}, "main.g main.g.go 6"},
		"nothing grew": {was, was, [2]float64{1, 1}, "  0"},
		// What fell to nothing has no line any more.
		"what fell": {was, gone, [2]float64{1, 1}, "main.f main.f.go 0"},
	} {
		t.Run(name, func(t *testing.T) {
			at, f := grown(&c.was, &c.is, c.by[0], c.by[1])
			if got := fmt.Sprint(at.Function, " ", at.File, " ", at.Line); got != c.want || (f != nil) != (at.Function != "") {
				t.Errorf("grown() = %q, %v, want %q", got, f, c.want)
			}
		})
	}
}

// leaking writes what a process sends in some hours: in the last four it keeps a quarter of a
// mebibyte and two goroutines more each five minutes, far more than its load, and in the last two it takes half as much
// CPU again.
func leaking(t *testing.T, k *spy, source store.Source, until time.Time, hours int) {
	t.Helper()
	n := hours * 12
	for b := range n {
		end := until.Add(time.Duration(b-n)*bin + bin/2)
		b -= n - bins // of the window
		more := int64(0)
		if b >= 24 {
			more = 15e9
		}
		// A little less each time: nothing else tells the moments around a step apart.
		cpu := 30e9 - 1e6*int64(b)
		put(t, k, source, end.Add(-bin/2), end, map[store.Type][]sample{
			store.CPU:        {{cpu, []string{"main.g", "main.main"}}, {more + 1, []string{"main.f", "main.main"}}},
			store.Operations: {{1000, nil}},
			store.InuseSpace: {{1 << 20, []string{"main.g", "main.main"}}, {max(1, int64(b+30)) << 18, []string{"runtime.mallocgc", "main.f", "main.main"}}},
			store.Goroutines: {{20, []string{"main.g", "main.main"}}, {max(1, int64(2*b+30)), []string{"runtime.gopark", "main.h", "main.main"}}},
		})
	}
}

// What is found over hours is kept with the row that says that it was looked for, of each
// version that can be selected.
func TestLook(t *testing.T) {
	k := &spy{}
	until := start
	leaking(t, k, store.Source{Tenant: "acme", Service: "shop", Version: "v1", Instance: "a"}, until, 28)
	put(t, k, store.Source{Tenant: "acme", Service: "shop", Instance: "b"}, until.Add(-time.Hour), until.Add(-time.Hour), nil)
	put(t, k, store.Source{Tenant: "acme", Service: "cart", Version: "v2", Instance: "b"}, until.Add(-time.Hour), until.Add(-time.Hour), nil)
	s := store.Selection{Tenant: "acme", From: until.Add(-window), Until: until}
	j := judgeOf(k, start)
	if err := j.look(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range k.rows() {
		got = append(got, fmt.Sprintf("%s/%s/%s %s-%s %s %q %s %s:%d %d of %d %s in %d", r.Tenant, r.Service, r.Version, clock(r.From), clock(r.Until),
			r.Rule, r.Title, r.Confidence, r.File, r.Line, r.Bound, r.Cost, r.Unit, r.Instances))
	}
	title := func(rule string) string { return j.title(rule) }
	want := []string{
		`acme/cart/v2 -240-0 growth ""  :0 0 of 0  in 0`,
		`acme/shop/v1 -240-0 growth ""  :0 0 of 0  in 0`,
		// A quarter of a mebibyte, and two goroutines, each five minutes.
		fmt.Sprintf(`acme/shop/v1 -240-0 heapgrowth %q low main.f.go:6 0 of 873813333 bytes per second in 1`, title("heapgrowth")),
		fmt.Sprintf(`acme/shop/v1 -240-0 goroutinegrowth %q low main.h.go:6 0 of 6667 per second in 1`, title("goroutinegrowth")),
		// A tenth of a core more than two tenths.
		`acme/shop/v1 -120-0 coststep "It costs more from one moment on, without a deploy" low main.f.go:6 0 of 99977 cores in 1`,
	}
	same(t, "rows", strings.Join(got, "\n"), strings.Join(want, "\n"))
	if title("heapgrowth") == "" || title("goroutinegrowth") == "" || title("none") != "" {
		t.Errorf("titles = %q, %q, %q", title("heapgrowth"), title("goroutinegrowth"), title("none"))
	}

	// A look later the step is known: it is there, and no other one.
	known := k.rows()
	k.wrote = nil
	s.From, s.Until = s.From.Add(lookEvery), s.Until.Add(lookEvery)
	if err := j.look(t.Context(), s, known); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, r := range k.rows() {
		if r.Rule == CostStep {
			steps = append(steps, clock(r.From)+"-"+clock(r.Until))
		}
	}
	if fmt.Sprint(steps) != "[-120-15]" {
		t.Errorf("a look later there are the steps %v, want the one that is known", steps)
	}
}

// Whichever question has no answer, or half of one, nothing is kept of a window, and the caller
// hears why.
func TestLookNeedsAll(t *testing.T) {
	k := &spy{}
	leaking(t, k, store.Source{Service: "shop", Version: "v1", Instance: "a"}, start, 28)
	s := store.Selection{From: start.Add(-window), Until: start}
	if err := judgeOf(k, start).look(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	questions := k.requests
	if len(questions) < 20 || len(k.wrote) != 1 {
		t.Fatalf("%d questions and %d writes, want more and one", len(questions), len(k.wrote))
	}
	for i, q := range questions {
		for _, half := range []bool{false, true} {
			if half && q.what == "write" {
				continue
			}
			k.requests, k.wrote = nil, nil
			k.refuse = func(request) (store.Missing, error) {
				switch {
				case len(k.requests) != i+1:
					return nil, nil
				case half:
					return store.Missing{"a shard"}, nil
				}
				return nil, errDisk
			}
			err := judgeOf(k, start).look(t.Context(), s, nil)
			if err == nil || !half && !errors.Is(err, errDisk) || len(k.wrote) > 0 || len(k.requests) != i+1 {
				t.Errorf("question %d, %s: look() = %v with %d rows after %d questions, want an error at once", i, q.what, err, len(k.rows()), len(k.requests))
			}
		}
	}
	k.refuse, k.wrote = nil, nil
	j := judgeOf(k, start)
	j.wait = func(context.Context, time.Duration) error { return context.Canceled }
	if err := j.look(t.Context(), s, nil); !errors.Is(err, context.Canceled) || len(k.wrote) > 0 {
		t.Errorf("look() = %v when the server ends, want the context's error and no rows", err)
	}
	j = judgeOf(k, start)
	j.Memory = memory.NewPool("", 1<<20, 0)
	if err := j.look(t.Context(), s, nil); !errors.Is(err, memory.ErrLarge) || len(k.wrote) > 0 {
		t.Errorf("look() = %v without memory, want %v and no rows", err, memory.ErrLarge)
	}
	// What cannot be had over hours is an error of Catch, too.
	k.refuse = func(r request) (m store.Missing, err error) {
		if r.Until.Sub(r.From) == window {
			err = errDisk
		}
		return m, err
	}
	if err := judgeOf(k, start).hours(t.Context(), "", start, nil); !errors.Is(err, errDisk) {
		t.Errorf("hours() = %v, want %v", err, errDisk)
	}
}

// All questions of a window are corrected for together: what one of a hundred services does by
// chance once in 2,048 times is claimed, and what one of 103 does is not.
func TestLookCorrects(t *testing.T) {
	for services, claimed := range map[int]bool{60: true, 102: true, 103: false} {
		k := &spy{}
		for i := range services {
			k.Reference.Write(t.Context(), &store.Batch{ID: [16]byte{byte(i), 1}, Source: store.Source{Service: fmt.Sprintf("shop%03d", i), Instance: "a"},
				From: start.Add(-window), Until: start.Add(-1), Profiles: []store.Profile{{Type: store.InuseSpace, Samples: []store.Sample{{Value: 1}}}}})
		}
		k.series = func(s store.Selection) []store.Series {
			one := store.Series{Key: "a"}
			for b := range bins {
				if at := start.Add(-window + time.Duration(b)*bin); s.Type == store.InuseSpace && !at.Before(s.From) && at.Before(s.Until) {
					one.Points = append(one.Points, store.Point{At: at, Value: int64(b+50) << 20})
				}
			}
			return []store.Series{one}
		}
		if err := judgeOf(k, start).look(t.Context(), store.Selection{From: start.Add(-window), Until: start}, nil); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range k.rows() {
			if r.Rule != "heapgrowth" {
				continue
			}
			n++
			d := detailOf(&r)
			if last := d.Evidence[len(d.Evidence)-1]; math.Abs(last.Value-float64(services)/2048) > 1e-9 {
				t.Fatalf("of %d services: %s = %g, want %g", services, last.Name, last.Value, float64(services)/2048)
			}
		}
		if want := map[bool]int{true: services}[claimed]; n != want {
			t.Errorf("of %d services %d growths are claimed, want %d", services, n, want)
		}
	}
}

// Whether something grows is a question of versions that were there for two hours, of what they
// sent and what the judge has rules for.
func TestGrowthQuestions(t *testing.T) {
	all := []store.Total{{Type: store.InuseSpace, Value: 1}, {Type: store.Goroutines, Value: 1}}
	heap := []*diagnosis.Rule{{Name: "goroutines", Title: "none"}, {Name: "heapgrowth", Title: "T", Doc: "D"}}
	for name, c := range map[string]struct {
		lived  time.Duration
		totals []store.Total
		rules  []*diagnosis.Rule
		want   string
	}{
		"two hours":       {2 * time.Hour, all, rules.All, "heapgrowth goroutinegrowth"},
		"less":            {2*time.Hour - 1, all, rules.All, ""},
		"goroutines only": {3 * time.Hour, all[1:], rules.All, "goroutinegrowth"},
		"memory only":     {3 * time.Hour, all[:1], rules.All, "heapgrowth"},
		"one rule":        {3 * time.Hour, all, heap, "heapgrowth"},
		"no rules":        {3 * time.Hour, all, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{}
			j := judgeOf(k, start)
			j.Rules = c.rules
			claims, err := j.growths(t.Context(), store.Selection{From: start, Until: start.Add(window)}, &store.Service{First: start, Last: start.Add(c.lived), Totals: c.totals})
			var got []string
			for _, one := range claims {
				q := one.(*question)
				if got = append(got, q.level.rule); q.Type != q.level.Type || !math.IsNaN(q.chance()) {
					t.Errorf("the question of %s is of %s, by a chance of %g", q.level.rule, q.Type, q.chance())
				}
			}
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("growths() = %q, %v, want %q", got, err, c.want)
			}
			if j.Rules = heap; j.title("heapgrowth") != "T" {
				t.Errorf("title() = %q, want T", j.title("heapgrowth"))
			}
		})
	}
}

// What a level must grow by in four hours: eight mebibytes, or fifty goroutines.
func TestGrowthLeast(t *testing.T) {
	for name, c := range map[string]struct {
		kind store.Type
		by   int64
		want bool
	}{
		"8.1 MiB": {store.InuseSpace, 8<<20 + 100<<10, true}, "7.9 MiB": {store.InuseSpace, 8<<20 - 100<<10, false},
		"51 goroutines": {store.Goroutines, 51, true}, "47 goroutines": {store.Goroutines, 47, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{series: func(s store.Selection) []store.Series {
				one := store.Series{Key: "a"}
				for b := range bins {
					if at := start.Add(time.Duration(b) * bin); s.Type == c.kind && !at.Before(s.From) && at.Before(s.Until) {
						one.Points = append(one.Points, store.Point{At: at, Value: c.by + c.by*int64(b)/int64(bins-1)})
					}
				}
				return []store.Series{one}
			}}
			v := &store.Service{First: start, Last: start.Add(window), Totals: []store.Total{{Type: c.kind, Value: 1}}}
			claims, err := judgeOf(k, start).growths(t.Context(), store.Selection{From: start, Until: start.Add(window)}, v)
			if err != nil || len(claims) != 1 || claims[0].stands(claims[0].chance()) != c.want {
				t.Errorf("growths() = %+v, %v, want one that stands: %v", claims, err, c.want)
			}
		})
	}
}

// The level of a bin is the mean of what was sent in it, also a millisecond apart; the load is
// the CPU of a bin. An hour of levels is asked for at a time.
func TestCourses(t *testing.T) {
	k := &spy{}
	at := func(instance string, minutes float64, space, cpu int64) {
		until := start.Add(time.Duration(minutes * float64(time.Minute)))
		put(t, k, store.Source{Service: "shop", Version: "v1", Instance: instance}, until, until, map[store.Type][]sample{
			store.InuseSpace: {{space, []string{"main.f"}}}, store.CPU: {{cpu, []string{"main.f"}}},
		})
	}
	at("b", 0, 100, 7)
	at("b", 4.99, 300, 8)
	at("b", 65, 500, 9)
	at("a", 239, 11, 1)
	batch := &store.Batch{ID: [16]byte{1}, Source: store.Source{Service: "shop", Version: "v1", Instance: "b"}, Until: start.Add(time.Millisecond),
		Profiles: []store.Profile{{Type: store.InuseSpace, Samples: []store.Sample{{Value: 230}}}}}
	if err := k.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	courses, err := judgeOf(k, start).courses(t.Context(), store.Selection{Service: "shop", Version: "v1", From: start, Until: start.Add(window)}, store.InuseSpace)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(courses)
	want := fmt.Sprint([]course{
		{"a", model.Series{{At: 235 * time.Minute, Value: 11}}, model.Series{{At: 235 * time.Minute, Value: 1}}},
		{"b", model.Series{{At: 0, Value: 210}, {At: 65 * time.Minute, Value: 500}}, model.Series{{At: 0, Value: 15}, {At: 65 * time.Minute, Value: 9}}},
	})
	if got != want {
		t.Errorf("courses() = %s, want %s", got, want)
	}
	if got, want := spans(k.requests), "0-60 60-120 120-180 180-240 0-240"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

// What grows most is looked for in the first quarter of a process's bins and in the last.
func TestGrower(t *testing.T) {
	k := &spy{stacks: func(s store.Selection) store.Stacks {
		if s.From.Before(start.Add(2 * time.Hour)) {
			return stacksOf(sample{150, []string{"main.g", "main.main"}}, sample{50, []string{"main.f", "main.main"}}) // two levels of 100
		}
		return stacksOf(sample{400, []string{"main.f", "main.main"}}, sample{300, []string{"main.g", "main.main"}}) // four of 175
	}}
	q := &question{level: &levels[0], Selection: store.Selection{Service: "shop", From: start, Until: start.Add(window), Type: store.InuseSpace}}
	one := trend{course: course{instance: "a", level: append(line(4, 24, 100, 0), line(24, 44, 175, 0)...)}}
	at, err := judgeOf(k, start).grower(t.Context(), q, one)
	if err != nil || at.Function != "main.f" || at.Line != 6 {
		t.Errorf("grower() = %v, %v, want main.f", at, err)
	}
	if got, want := spans(k.requests), "20-70 170-220"; got != want || k.requests[0].Instance != "a" || k.requests[1].Instance != "a" || k.requests[0].Type != store.InuseSpace {
		t.Errorf("compared %s of %q, want %s of a", got, k.requests[0].Instance, want)
	}
}

// Sums have as many levels as are in them, and at least one.
func TestPerLevel(t *testing.T) {
	bins := model.Series{{Value: 100}, {Value: 300}}
	for sum, want := range map[int64]float64{1000: 5, 300: 1.5, 200: 1, 100: 1, 0: 1} {
		if got := perLevel(store.Stacks{Total: sum}, bins); got != want {
			t.Errorf("perLevel(%d of 200) = %g, want %g", sum, got, want)
		}
	}
}

// What a growth says is made of what its processes do.
func TestGrowthSays(t *testing.T) {
	q := &question{level: &levels[0], Selection: store.Selection{Type: store.InuseSpace, Until: start}}
	for _, slope := range []float64{1 << 10, 2 << 10, 4 << 10} {
		q.rising = append(q.rising, trend{slope: slope, by: slope / (4 << 10), load: 0.125, middle: 3})
	}
	q.trends = append(q.trends, q.rising...)
	q.trends = append(q.trends, trend{})
	f := q.finding(store.Frame{Function: "main.f", File: "f.go", Line: 7}, 0.01)
	same(t, "memory", told(&f), `heapgrowth "" low [fewer than 12 processes: their times had to decide] at [{main.f f.go 7}]
In 3 of 4 processes memory in use grew all the time up to 2026-03-02 10:00 UTC, by 7.03 MiB an hour in the median one: to 1.50× what it was. Most of it is in main.f.
cost: growth of memory in use, 7.03 MiB an hour in a process = 7168 bytes per second
processes that rise = 3 count, memory:inuse_space:bytes:space:bytes of 4
processes compared = 4 count, memory:inuse_space:bytes:space:bytes of 4
growth of the median one in an hour = 7.373e+06 bytes, memory:inuse_space:bytes:space:bytes of 4
level of the median one, beside what it was = 1.5 factor, memory:inuse_space:bytes:space:bytes of 4
its CPU, beside what it was = 1.125 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 4
probability without a growth, for all services and levels together = 0.01 ratio, memory:inuse_space:bytes:space:bytes of 4
remedy: Find who keeps it: maps and slices that only grow, caches without a bound, entries kept for requests that are long over, timers that were never stopped. If it is a cache, give it a bound.
prove: Run the change for 4h0m0s: this is gone then.
`)
	q.level, q.Type = &levels[1], store.Goroutines
	for range 8 {
		q.trends = append(q.trends, trend{})
	}
	f = q.finding(store.Frame{File: "f.go"}, 0.01)
	same(t, "goroutines", told(&f), `goroutinegrowth "" medium [hours of levels cannot tell a leak from a cache that takes longer to fill] at []
In 3 of 12 processes goroutines grew all the time up to 2026-03-02 10:00 UTC, by 7,372,800 an hour in the median one: to 1.50× what it was.
cost: growth of goroutines, 7,372,800 an hour in a process = 7168 per second
processes that rise = 3 count, goroutines:goroutine:count:goroutine:count of 12
processes compared = 12 count, goroutines:goroutine:count:goroutine:count of 12
growth of the median one in an hour = 7.373e+06 count, goroutines:goroutine:count:goroutine:count of 12
level of the median one, beside what it was = 1.5 factor, goroutines:goroutine:count:goroutine:count of 12
its CPU, beside what it was = 1.125 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
probability without a growth, for all services and levels together = 0.01 ratio, goroutines:goroutine:count:goroutine:count of 12
remedy: Find why they never end: a channel that nobody sends to or receives from any more, a context that is never cancelled, a response body that is never closed.
prove: Run the change for 4h0m0s: this is gone then.
`)
}
