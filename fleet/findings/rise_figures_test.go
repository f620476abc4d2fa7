package findings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// lived is a process of shop that was there for an hour, profiled for a part of it.
func lived(name string, covered time.Duration, cpu, operations int64) store.Instance {
	return store.Instance{Service: "shop", Version: "v1", Name: name, First: start, Last: start.Add(time.Hour), Covered: covered,
		Totals: []store.Total{{Type: store.Goroutines, Value: 999}, {Type: store.CPU, Value: cpu}, {Type: store.Operations, Value: operations}}}
}

// A part has the sums of its processes, and of each how much of its time was profiled.
func TestPart(t *testing.T) {
	silent, moment := lived("c", 0, 0, 50), lived("d", time.Minute, 6e9, 0)
	moment.Last = moment.First
	k := &spy{instances: func(store.Selection) []store.Instance {
		return []store.Instance{lived("a", 15*time.Minute, 1800e9, 100), lived("b", 30*time.Minute, 900e9, 200), silent, moment}
	}}
	s := store.Selection{Service: "shop", From: start, Until: start.Add(time.Hour)}
	p, err := judgeOf(k, start).part(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%g s of CPU, %g operations, %g s profiled, %d processes, %v in %s", p.cpu, p.operations, p.seconds, p.processes, p.covered, span(p.Selection))
	if want := "2706 s of CPU, 350 operations, 2760 s profiled, 4 processes, map[a:0.25 b:0.5] in 0-60"; got != want {
		t.Errorf("part() = %s, want %s", got, want)
	}
	if got := [3]float64{p.cost(true), p.cost(false), p.cores()}; !near(got[0], 2706.0/350) || !near(got[1], 2706.0/2760) || !near(got[2], 4*2706.0/2760) {
		t.Errorf("cost by operation, by second and of all = %v", got)
	}
	k.refuse = func(request) (store.Missing, error) { return store.Missing{"a shard"}, nil }
	if _, err := judgeOf(k, start).part(t.Context(), s); err == nil {
		t.Error("part() of half of the processes = nil, want an error")
	}
}

// A cost is the logarithm of the CPU of a bin, by the operations that were finished in it where
// a program counts them; where one of both is missing it is not known.
func TestCosts(t *testing.T) {
	k := &spy{series: func(s store.Selection) []store.Series {
		point := func(b int, value int64) store.Point {
			return store.Point{At: start.Add(time.Duration(b) * bin), Value: value}
		}
		all := map[store.Type][]store.Series{
			store.CPU: {
				{Key: "b", Points: []store.Point{point(0, 800), point(50, 400)}},
				{Key: "a", Points: []store.Point{point(1, 300), point(2, 0), point(3, 500)}},
				{Key: "c", Points: []store.Point{point(0, 1)}},
			},
			store.Operations: {{Key: "b", Points: []store.Point{point(0, 4), point(50, 8)}}, {Key: "a", Points: []store.Point{point(1, 100), point(2, 7)}}},
		}[s.Type]
		for i := range all {
			all[i].Points = slices.DeleteFunc(all[i].Points, func(p store.Point) bool { return p.At.Before(s.From) || !p.At.Before(s.Until) })
		}
		return all
	}}
	s := store.Selection{Service: "shop", From: start, Until: start.Add(8 * time.Hour)}
	for operation, want := range map[bool][]map[int]float64{
		true:  {{1: 3}, {0: 200, 50: 50}, {}},
		false: {{1: 300, 3: 500}, {0: 800, 50: 400}, {0: 1}},
	} {
		k.requests = nil
		costs, err := judgeOf(k, start).costs(t.Context(), s, operation, 1)
		if err != nil || len(costs) != 3 {
			t.Fatalf("costs() = %v, %v, want those of 3 processes", costs, err)
		}
		for i, c := range costs {
			if len(c) != 96 {
				t.Errorf("of 8 hours %d bins, want 96", len(c))
			}
			for b, x := range c {
				if value, known := want[i][b]; known == math.IsNaN(x) || known && !near(x, math.Log(value)) {
					t.Errorf("operation %v: cost of process %d in bin %d = exp(%g), want %g", operation, i, b, x, value)
				}
			}
		}
		// Four hours at a time, in steps of a bin.
		wantSpans := map[bool]string{true: "0-240 0-240 240-480 240-480", false: "0-240 240-480"}[operation]
		if got := spans(k.requests); got != wantSpans {
			t.Errorf("asked for %s, want %s", got, wantSpans)
		}
		for _, r := range k.requests {
			if r.step != 5*time.Minute || r.Type == store.Operations && !operation {
				t.Errorf("asked for %s in steps of %v", r.Type, r.step)
			}
		}
	}
	k.refuse = func(request) (store.Missing, error) { return store.Missing{"a shard"}, nil }
	if _, err := judgeOf(k, start).costs(t.Context(), s, true, 1); err == nil {
		t.Error("costs() of half of the processes = nil, want an error")
	}
}

// One process in so many is looked at, by its name.
func TestCostsDrawn(t *testing.T) {
	k := &spy{series: func(s store.Selection) (all []store.Series) {
		for i := range 1000 {
			all = append(all, store.Series{Key: fmt.Sprint("host-", i), Points: []store.Point{{At: s.From, Value: 1}}})
		}
		return all
	}}
	for oneIn, want := range map[int]int{0: 1000, 1: 1000, 2: 500, 4: 250} {
		costs, err := judgeOf(k, start).costs(t.Context(), store.Selection{From: start, Until: start.Add(window)}, false, oneIn)
		if n := len(costs); err != nil || n < want*9/10 || n > want*11/10 {
			t.Errorf("costs() of one in %d = those of %d of 1000, %v, want %d", oneIn, n, err, want)
		}
	}
}

// A step of what a version costs is one of its cores, too, and not of how much was profiled.
func TestDearer(t *testing.T) {
	const size = 0.4 // half of it is a factor of 1.2214
	for name, c := range map[string]struct {
		base, head store.Instance
		operation  bool
		want       bool
	}{
		"it does":                       {lived("a", time.Hour, 100e9, 100), lived("a", time.Hour, 149e9, 100), true, true},
		"by the second":                 {lived("a", time.Hour, 100e9, 0), lived("a", time.Hour, 149e9, 0), false, true},
		"half of it":                    {lived("a", time.Hour, 100e9, 100), lived("a", time.Hour, 123e9, 80), true, true},
		"less than half":                {lived("a", time.Hour, 100e9, 100), lived("a", time.Hour, 121e9, 80), true, false},
		"fewer operations":              {lived("a", time.Hour, 100e9, 100), lived("a", time.Hour, 100e9, 67), true, false},
		"no operations before":          {lived("a", time.Hour, 100e9, 0), lived("a", time.Hour, 149e9, 100), true, false},
		"no operations after":           {lived("a", time.Hour, 100e9, 100), lived("a", time.Hour, 149e9, 0), true, false},
		"nothing was profiled before":   {lived("a", 0, 0, 100), lived("a", time.Hour, 149e9, 100), true, false},
		"nothing is profiled after":     {lived("a", time.Hour, 100e9, 100), lived("a", 0, 149e9, 100), true, false},
		"seconds of nothing":            {lived("a", 0, 0, 0), lived("a", 0, 0, 0), false, false},
		"a fifth more was profiled":     {lived("a", 40*time.Minute, 100e9, 100), lived("a", 48*time.Minute, 180e9, 100), true, true},
		"a quarter more was profiled":   {lived("a", 40*time.Minute, 100e9, 100), lived("a", 50*time.Minute, 200e9, 100), true, false},
		"a quarter less was profiled":   {lived("a", 50*time.Minute, 100e9, 100), lived("a", 40*time.Minute, 200e9, 100), true, false},
		"another process, with a fifth": {lived("a", time.Hour, 100e9, 100), lived("b", 12*time.Minute, 100e9, 100), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			moment := start.Add(2 * time.Hour)
			k := &spy{instances: func(s store.Selection) []store.Instance {
				return []store.Instance{map[bool]store.Instance{true: c.base, false: c.head}[s.From.Before(moment)]}
			}}
			k.stacks = func(s store.Selection) store.Stacks {
				// All that is more is in one function.
				extra := 0.0
				if !s.From.Before(moment) {
					extra = 1000e9
				}
				return stacksOf(sample{1000e9, []string{"main.g", "main.main"}}, sample{int64(extra), []string{"main.f", "main.main"}})
			}
			r := &rise{Selection: store.Selection{Service: "shop", Version: "v1", From: start, Until: start.Add(window)}, step: step{at: 24, size: size}, operation: c.operation}
			got, err := judgeOf(k, start).dearer(t.Context(), r)
			if err != nil || got != c.want {
				t.Errorf("dearer() = %v, %v, want %v", got, err, c.want)
			}
			if got, want := spans(k.of("instances")), "60-120 120-180"; got != want {
				t.Errorf("compared %s, want %s", got, want)
			}
		})
	}
}

// stacksOf returns an answer, the largest first.
func stacksOf(samples ...sample) store.Stacks {
	a := store.Stacks{Frames: map[store.StackID][]*store.Frame{}}
	for _, s := range samples {
		id := store.IDOf(framesOf(s.frames))
		a.Samples, a.Frames[id], a.Total = append(a.Samples, store.Sample{Stack: id, Value: s.value}), framesOf(s.frames), a.Total+s.value
	}
	return a
}

// Of the processes that are on both sides the median one counts.
func TestProfiledMore(t *testing.T) {
	base := part{covered: map[string]float64{"a": 0.5, "b": 0.2, "c": 0.2, "gone": 0.1}}
	head := part{covered: map[string]float64{"a": 0.5, "b": 0.4, "c": 0.8, "new": 0.9}}
	if got := profiledMore(&base, &head); !near(got, math.Log(2)) {
		t.Errorf("profiledMore() = %g, want %g", got, math.Log(2))
	}
}

// The function of a step is the one that has most of it. Where no operations are counted all else
// must have stayed, by a quarter of the step.
func TestWhere(t *testing.T) {
	base, head := part{operations: 100, seconds: 50}, part{operations: 200, seconds: 50}
	base.From, head.From = start, start.Add(time.Hour)
	const size = 0.4 // a quarter of it is a factor of 1.1052
	for name, c := range map[string]struct {
		was, is   store.Stacks
		operation bool
		want      bool
		at        string
		share     float64
	}{
		// 1 s of 2 s for each second; 2 s of 3 s.
		"by the second": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}), false, true, "main.f", 1},
		"all else moved a little": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"main.f"}}, sample{55e9, []string{"main.g"}}), false, true, "main.f", 50.0 / 55},
		"all else moved": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"main.f"}}, sample{56e9, []string{"main.g"}}), false, false, "main.f", 50.0 / 56},
		"all else fell": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"main.f"}}, sample{45e9, []string{"main.g"}}), false, false, "main.f", 50.0 / 45},
		"all else fell a little": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"main.f"}}, sample{46e9, []string{"main.g"}}), false, true, "main.f", 50.0 / 46},
		"nothing has most of it": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}, sample{50e9, []string{"main.h"}}),
			stacksOf(sample{60e9, []string{"main.f"}}, sample{60e9, []string{"main.g"}}, sample{60e9, []string{"main.h"}}), false, false, "", 0},
		// 0.5 s and 0.5 s for each operation, and 1 s and 0.6 s of twice as many.
		"by the operation": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{200e9, []string{"main.f"}}, sample{120e9, []string{"main.g"}}), true, true, "main.f", 0.5 / 0.6},
		"nothing has most of an operation's": {stacksOf(sample{50e9, []string{"main.f"}}, sample{50e9, []string{"main.g"}}, sample{50e9, []string{"main.h"}}),
			stacksOf(sample{120e9, []string{"main.f"}}, sample{120e9, []string{"main.g"}}, sample{120e9, []string{"main.h"}}), true, true, "", 0},
		"what the runtime does is its caller's": {stacksOf(sample{50e9, []string{"runtime.mallocgc", "main.f"}}, sample{50e9, []string{"main.g"}}),
			stacksOf(sample{100e9, []string{"runtime.mallocgc", "main.f"}}, sample{50e9, []string{"main.g"}}), false, true, "main.f", 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{stacks: func(s store.Selection) store.Stacks {
				return map[bool]store.Stacks{true: c.was, false: c.is}[s.From.Equal(start)]
			}}
			r := &rise{step: step{size: size}, operation: c.operation, base: base, head: head}
			got, err := judgeOf(k, start).where(t.Context(), r)
			if err != nil || got != c.want || r.at.Function != c.at || !near(r.share, c.share) {
				t.Errorf("where() = %v, %v with %g in %q, want %v, %g in %q", got, err, r.share, r.at.Function, c.want, c.share, c.at)
			}
			for _, q := range k.requests {
				if q.Type != store.CPU {
					t.Errorf("stacks of %s, want the CPU's", q.Type)
				}
			}
		})
	}
	for n := range 2 {
		k := &spy{}
		k.refuse = func(request) (m store.Missing, err error) {
			if len(k.requests) == n+1 {
				err = errDisk
			}
			return m, err
		}
		if _, err := judgeOf(k, start).where(t.Context(), &rise{base: base, head: head}); !errors.Is(err, errDisk) {
			t.Errorf("where() = %v when question %d has no answer, want %v", err, n, errDisk)
		}
	}
}

// What began within a quarter of an hour of a step is named, up to three of them: neither the
// version itself nor what began with the window.
func TestBeside(t *testing.T) {
	at := func(name, version string, minutes float64) store.Service {
		first := start.Add(time.Duration(minutes * float64(time.Minute)))
		return store.Service{Name: name, Version: version, First: first, Last: first.Add(time.Hour)}
	}
	shop := at("shop", "v1", 0)
	const since = 60 // minutes
	for name, c := range map[string]struct {
		others []store.Service
		since  float64
		want   string
	}{
		"none":                  {nil, since, ""},
		"at that time":          {[]store.Service{at("cart", "v2", 60)}, since, "cart v2 (11:00)"},
		"without a version":     {[]store.Service{at("cart", "", 61)}, since, "cart (11:01)"},
		"a quarter before":      {[]store.Service{at("cart", "v2", 45)}, since, "cart v2 (10:45)"},
		"earlier":               {[]store.Service{at("cart", "v2", 44.9)}, since, ""},
		"a quarter after":       {[]store.Service{at("cart", "v2", 75)}, since, "cart v2 (11:15)"},
		"later":                 {[]store.Service{at("cart", "v2", 75.1)}, since, ""},
		"its own other version": {[]store.Service{at("shop", "v2", 60)}, since, "shop v2 (11:00)"},
		"of the same version":   {[]store.Service{at("cart", "v1", 60)}, since, "cart v1 (11:00)"},
		"itself":                {[]store.Service{at("shop", "v1", 60)}, since, ""},
		"with the window":       {[]store.Service{at("cart", "v2", 4.9)}, 10, ""},
		"after it":              {[]store.Service{at("cart", "v2", 5)}, 10, "cart v2 (10:05)"},
		"before it":             {[]store.Service{at("cart", "v2", -1)}, 10, ""},
		"four": {[]store.Service{at("a", "v2", 60), at("b", "v2", 61), at("c", "v2", 62), at("d", "v2", 63)}, since,
			"a v2 (11:00), b v2 (11:01), c v2 (11:02)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(beside(append(c.others, shop), &shop, start, start.Add(time.Duration(c.since*float64(time.Minute)))), ", ")
			if got != c.want {
				t.Errorf("beside() = %q, want %q", got, c.want)
			}
		})
	}
}

// A step that was found is there while half of it is, for a day, at the looks that follow.
func TestStill(t *testing.T) {
	until := start.Add(2 * lookEvery)
	from := start.Add(-3 * time.Hour)
	kept := Detail{Step: &Step{Ratio: 1.5, Operation: true}}
	kept.Rule = CostStep
	row, err := kept.row(store.Finding{Tenant: "acme", Service: "shop", Version: "v1", From: from, Until: start.Add(lookEvery), Instances: 9})
	if err != nil {
		t.Fatal(err)
	}
	row.Function, row.File = "main.f", "f.go"
	bySecond := Detail{Step: &Step{Ratio: 1.5}}
	bySecond.Rule = CostStep
	second, _ := bySecond.row(row)
	head := func(cpu, operations int64) []store.Instance {
		return []store.Instance{lived("a", time.Hour, cpu/2, operations/2), lived("b", time.Hour, cpu/2, operations/2)}
	}
	const base, baseOperations = 7200e9, 1000 // two cores
	for name, c := range map[string]struct {
		change func(f *store.Finding)
		now    []store.Instance
		want   bool
	}{
		"it is there":           {nil, head(10800e9, 1000), true},
		"half of it":            {nil, head(9001e9, 1000), true},
		"less than half":        {nil, head(8999e9, 1000), false},
		"fewer operations":      {nil, head(7200e9, 600), true},
		"no operations":         {nil, head(10800e9, 0), false},
		"nothing":               {nil, nil, false},
		"by the second":         {func(f *store.Finding) { f.Evidence = second.Evidence }, head(9001e9, 2000), true},
		"less by the second":    {func(f *store.Finding) { f.Evidence = second.Evidence }, head(8999e9, 100), false},
		"another rule":          {func(f *store.Finding) { f.Rule, f.Title = "hotfunction", CostStep }, head(10800e9, 1000), false},
		"another service":       {func(f *store.Finding) { f.Service = "cart" }, head(10800e9, 1000), false},
		"another version":       {func(f *store.Finding) { f.Version = "v2" }, head(10800e9, 1000), false},
		"of this look":          {func(f *store.Finding) { f.Until = until }, head(10800e9, 1000), false},
		"of a later look":       {func(f *store.Finding) { f.Until = until.Add(lookEvery) }, head(10800e9, 1000), false},
		"three looks ago":       {func(f *store.Finding) { f.Until = until.Add(-45 * time.Minute) }, head(10800e9, 1000), true},
		"four looks ago":        {func(f *store.Finding) { f.Until = until.Add(-46 * time.Minute) }, head(10800e9, 1000), false},
		"for a day":             {func(f *store.Finding) { f.From = until.Add(-24 * time.Hour) }, head(10800e9, 1000), true},
		"for longer":            {func(f *store.Finding) { f.From = until.Add(-24*time.Hour - time.Millisecond) }, head(10800e9, 1000), false},
		"not so long ago":       {func(f *store.Finding) { f.From = until.Add(-30 * time.Minute) }, head(10800e9, 1000), true},
		"nobody knows how much": {func(f *store.Finding) { f.Evidence = []byte("{}") }, head(10800e9, 1000), false},
	} {
		t.Run(name, func(t *testing.T) {
			f := row
			if c.change != nil {
				c.change(&f)
			}
			k := &spy{instances: func(s store.Selection) []store.Instance {
				if s.Until.Equal(f.From) {
					return head(base, baseOperations)
				}
				return c.now
			}}
			s := store.Selection{Tenant: "acme", Service: "shop", Version: "v1", From: until.Add(-window), Until: until}
			rows, err := judgeOf(k, start).still(t.Context(), s, []store.Finding{f})
			if err != nil || (len(rows) == 1) != c.want {
				t.Fatalf("still() = %+v, %v, want it there: %v", rows, err, c.want)
			}
			if !c.want {
				return
			}
			// An hour before the step, and the last hour, of which it may have less.
			wantSpans := fmt.Sprintf("%s-%s %s-%s", clock(f.From.Add(-time.Hour)), clock(f.From), clock(until.Add(-min(time.Hour, until.Sub(f.From)))), clock(until))
			if got := spans(k.requests); got != wantSpans {
				t.Errorf("compared %s, want %s", got, wantSpans)
			}
			got := rows[0]
			// A third of what it costs now is more than before.
			cost := int64(math.Round(float64(c.now[0].Totals[1].Value+c.now[1].Totals[1].Value) / 7200e9 * 2 / 3 * 1e6))
			if !got.From.Equal(f.From) || !got.Until.Equal(until) || got.Instances != 2 || got.Cost != cost || got.Function != "main.f" || got.Rule != CostStep {
				t.Errorf("row = %+v, want one of %d until %v", got, cost, until)
			}
		})
	}

	// Each step counts once, by its newest row; several are apart by their moment or their function.
	older, other, moved := row, row, row
	older.Until, older.Title = start, "older"
	other.Function, other.File = "main.g", "f.go"
	moved.From = from.Add(time.Hour)
	k := &spy{instances: func(s store.Selection) []store.Instance {
		if s.Until.Equal(until) {
			return head(10800e9, 1000)
		}
		return head(base, baseOperations)
	}}
	s := store.Selection{Tenant: "acme", Service: "shop", Version: "v1", From: until.Add(-window), Until: until}
	rows, err := judgeOf(k, start).still(t.Context(), s, []store.Finding{older, moved, other, row})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s%s", clock(r.From), r.Function, r.Title))
	}
	if want := "-180 main.f, -180 main.g, -120 main.f"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("still() = %q, %v, want %q", got, err, want)
	}
	for n := range 2 {
		k.requests = nil
		k.refuse = func(request) (m store.Missing, err error) {
			if len(k.requests) == n+1 {
				err = errDisk
			}
			return m, err
		}
		if _, err := judgeOf(k, start).still(t.Context(), s, []store.Finding{row}); !errors.Is(err, errDisk) {
			t.Errorf("still() = %v when question %d has no answer, want %v", err, n, errDisk)
		}
	}
}

// What a step says is made of what it was and is.
func TestRiseSays(t *testing.T) {
	r := &rise{Selection: store.Selection{Tenant: "acme", Service: "shop", Version: "v1", From: start.Add(-window), Until: start}, since: start.Add(-time.Hour)}
	r.step = step{size: math.Log(2), each: []float64{0.7, 0.6, -0.1}, p: 0.001}
	r.base, r.head = part{cpu: 50, operations: 100, seconds: 100, processes: 4}, part{cpu: 150, operations: 120, seconds: 150, processes: 5}
	f := r.finding(0.01)
	same(t, "without operations", told(&f), `coststep "It costs more from one moment on, without a deploy" low [fewer than 12 processes: their times had to decide] at []
Since 2026-03-02 09:00 UTC a process of shop takes 2× the CPU that it took, in 2 of 3 processes, and no other version was deployed to them then.
cost: more than before 09:00 UTC = 2.5 cores
	cores of all = 5 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
	CPU of a process, beside what it was, in the median process = 2 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 3
CPU of a process, beside what it was, in the median process = 2 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 3
processes that it rose in = 2 count, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 3
processes compared = 3 count, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 3
CPU of a process = 1 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
CPU of a process before = 0.5 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 4
cores of all = 5 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
cores of all before = 2 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 4
probability without a step, for all services and moments together = 0.01 ratio, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 3
remedy: Find what changed at that time besides the program: its configuration, a feature flag, its requests, data that outgrew a cache, a service that it calls, its machines.
prove: Undo what changed then: within an hour this is gone.
`)
	if what, want := f.Cost.Origin.Sentence, "cores of all × (1 − 1 ÷ CPU of a process, beside what it was, in the median process)"; what != want {
		t.Errorf("the cost is %q, want %q", what, want)
	}
	row, err := r.row(t.Context(), nil, 0.01)
	got := fmt.Sprintf("%s/%s/%s %s-%s %s %d in %d", row.Tenant, row.Service, row.Version, clock(row.From), clock(row.Until), row.Rule, row.Cost, row.Instances)
	if want := "acme/shop/v1 -60-0 coststep 2500000 in 5"; err != nil || got != want {
		t.Errorf("row() = %s, %v, want %s", got, err, want)
	}
	d := detailOf(&row)
	if !d.Whole || d.Step == nil || !near(d.Step.Ratio, 2) || d.Step.Operation || !slices.EqualFunc(d.Evidence, f.Evidence, func(a, b fact.Fact) bool { return a.Same(b) }) {
		t.Errorf("detailOf() = whole %v, step %+v, evidence %+v, want true, the ratio 2 of no operation, %+v",
			d.Whole, d.Step, d.Evidence, f.Evidence)
	}
	if cost := costOf(&r.head, d.Step); cost != row.Cost {
		t.Errorf("costOf() = %d, want %d, as when it was found", cost, row.Cost)
	}

	r.operation, r.at, r.share, r.beside = true, store.Frame{Function: "main.f", File: "f.go", Line: 7}, 0.75, []string{"cart v2 (09:01)", "mail (09:02)"}
	for range 9 {
		r.each = append(r.each, 0.5)
	}
	f = r.finding(0.01)
	same(t, "of operations", told(&f), `coststep "It costs more from one moment on, without a deploy" medium [] at [{main.f f.go 7}]
Since 2026-03-02 09:00 UTC an operation of shop takes 2× the CPU that it took, in 11 of 12 processes, and no other version was deployed to them then. 75.0% of that is in main.f. Deployed at about that time: cart v2 (09:01), mail (09:02).
cost: more than before 09:00 UTC = 2.5 cores
	cores of all = 5 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
	CPU of an operation, beside what it was, in the median process = 2 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
CPU of an operation, beside what it was, in the median process = 2 factor, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
processes that it rose in = 11 count, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
processes compared = 12 count, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
CPU of an operation = 1.25 seconds, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
CPU of an operation before = 0.5 seconds, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 4
cores of all = 5 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
cores of all before = 2 cores, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 4
probability without a step, for all services and moments together = 0.01 ratio, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 12
part of that in main.f = 0.75 ratio, process_cpu:cpu:nanoseconds:cpu:nanoseconds of 5
remedy: Look first at what was deployed at about that time: cart v2 (09:01), mail (09:02). Find what changed at that time besides the program: its configuration, a feature flag, its requests, data that outgrew a cache, a service that it calls, its machines.
prove: Undo what changed then: within an hour this is gone.
`)
	for share, want := range map[float64]string{-0.1: " 0% of that", 1.2: " 100% of that"} {
		r.share = share
		if f := r.finding(0.01); !strings.Contains(f.Summary, want) {
			t.Errorf("with a share of %g it says %q, want %q", share, f.Summary, want)
		}
	}
	for chance, want := range map[float64]bool{0.049: true, 0.051: false} {
		if got := r.stands(chance); got != want {
			t.Errorf("stands(%g) = %v, want %v", chance, got, want)
		}
	}
	if r.chance() != 0.001 {
		t.Errorf("chance() = %g, want the step's", r.chance())
	}
}

// A step is claimed of a version that was there for an hour, of its CPU, once, and where the day
// before has no such step. Of four hundred processes and more, one in so many is compared.
func TestSteps(t *testing.T) {
	const hosts = 40
	s := store.Selection{Tenant: "acme", Service: "shop", Version: "v1", From: start.Add(-window), Until: start}
	step := start.Add(-2 * time.Hour)
	kept := Detail{Step: &Step{Ratio: 1.5}}
	kept.Rule = CostStep
	known, err := kept.row(store.Finding{Tenant: "acme", Service: "shop", Version: "v1", From: step, Until: start.Add(-lookEvery)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		instances int
		lived     time.Duration
		kind      store.Type
		day       cost
		known     time.Duration // before the step; less than 0 for never
		covered   time.Duration // after the step
		want      int           // processes that are compared; 0 where nothing is claimed
		still     int
	}{
		"it is there":        {hosts, window, store.CPU, nil, -1, time.Hour, hosts, 0},
		"for an hour":        {hosts, time.Hour, store.CPU, nil, -1, time.Hour, hosts, 0},
		"for less":           {hosts, time.Hour - 1, store.CPU, nil, -1, time.Hour, 0, 0},
		"no CPU":             {hosts, window, store.Goroutines, nil, -1, time.Hour, 0, 0},
		"799 processes":      {799, window, store.CPU, nil, -1, time.Hour, hosts, 0},
		"800 processes":      {800, window, store.CPU, nil, -1, time.Hour, hosts / 2, 0},
		"as every day":       {hosts, window, store.CPU, costly(288, 200, 0.3), -1, time.Hour, 0, 0},
		"profiled for more":  {hosts, window, store.CPU, nil, -1, 2 * time.Hour, 0, 0},
		"known":              {hosts, window, store.CPU, nil, 0, time.Hour, 0, 1},
		"as good as known":   {hosts, window, store.CPU, nil, 25 * time.Minute, time.Hour, 0, 1},
		"another was before": {hosts, window, store.CPU, nil, 30 * time.Minute, time.Hour, hosts, 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{instances: func(s store.Selection) []store.Instance {
				if s.From.Before(step) && !s.Until.After(step) {
					return []store.Instance{lived("a", time.Hour, 1000e9, 0)}
				}
				return []store.Instance{lived("a", c.covered, int64(1500e9*c.covered.Hours()), 0)}
			}}
			k.series = func(s store.Selection) (all []store.Series) {
				costs := costly(bins, 24, 0.4)
				begin := start.Add(-window)
				if s.Version == "" { // the day before, whichever version it ran
					begin, costs = begin.Add(-day), c.day
					if costs == nil {
						costs = costly(288, 0, 0)
					}
				}
				one := store.Series{}
				for b, x := range costs {
					if at := begin.Add(time.Duration(b) * bin); !at.Before(s.From) && at.Before(s.Until) {
						one.Points = append(one.Points, store.Point{At: at, Value: int64(1e12 * math.Exp(x))})
					}
				}
				for i := range hosts {
					one.Key = fmt.Sprint("host-", i)
					all = append(all, one)
				}
				return all
			}
			k.stacks = func(s store.Selection) store.Stacks {
				if s.From.Before(step) {
					return stacksOf(sample{500e9, []string{"main.f"}}, sample{500e9, []string{"main.g"}})
				}
				return stacksOf(sample{1000e9, []string{"main.f"}}, sample{500e9, []string{"main.g"}})
			}
			v := &store.Service{Name: "shop", Version: "v1", Instances: c.instances, First: start.Add(-c.lived), Last: start, Totals: []store.Total{{Type: c.kind, Value: 1}}}
			var rows []store.Finding
			if c.known >= 0 {
				f := known
				f.From = step.Add(-c.known)
				rows = append(rows, f)
			}
			other := store.Service{Name: "cart", First: step.Add(time.Minute)}
			claims, still, err := judgeOf(k, start).steps(t.Context(), s, []store.Service{*v, other}, v, rows)
			if err != nil || len(claims) != min(1, c.want) || len(still) != c.still {
				t.Fatalf("steps() = %+v and %d that are known, %v, want %d and %d", claims, len(still), err, min(1, c.want), c.still)
			}
			if c.want == 0 {
				return
			}
			var asked []string
			for _, q := range k.of("series") {
				asked = append(asked, q.Version+span(q.Selection))
			}
			if got, want := strings.Join(asked, " "), "v1-240-0 -1680--1440 -1440--1200 -1200--960 -960--720 -720--480 -480--240"; got != want {
				t.Errorf("asked for the costs of %s, want those of the window and the day before it, %s", got, want)
			}
			r := claims[0].(*rise)
			if n := len(r.each); !r.since.Equal(step) || r.at.Function != "main.f" || n > c.want*13/10 || n < c.want*7/10 || strings.Join(r.beside, ", ") != "cart (08:01)" {
				t.Errorf("a step at %s in %s of %d processes beside %q, want one at -120 in main.f of %d beside cart", clock(r.since), r.at.Function, n, r.beside, c.want)
			}
		})
	}
}
