package findings

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// growing returns a fleet that looks as if it leaked: one service fills a cache, one begins anew
// each hour and a half, one was just deployed, and all have more load the later it is.
func growing(seed uint64, processes int) simulate.Plan {
	shapes := []simulate.Shape{
		{Type: store.CPU, Count: 2, Sum: 30e9, Unit: 10e6},
		{Type: store.InuseSpace, Count: 4, Sum: 120 << 20, Unit: 512},
		{Type: store.Goroutines, Count: 4, Sum: 400, Unit: 1},
	}
	plan := simulate.Plan{Seed: seed, Start: start.Add(-4 * time.Hour), Length: window + lookEvery + 10*time.Minute, Step: 150 * time.Second}
	for _, name := range []string{"cache", "cycle", "deployed", "restart"} {
		s := simulate.Service{Name: name, Processes: processes, Stacks: shapes, Versions: []simulate.Version{{Name: "v1"}}}
		v := &s.Versions[0]
		switch name {
		case "cache":
			v.Levels = []simulate.Level{{Type: store.InuseSpace, Function: s.Function(5), Hourly: 400 << 20, Most: 300 << 20}}
		case "restart":
			v.Restart = 90 * time.Minute
			v.Levels = []simulate.Level{{Type: store.Goroutines, Function: s.Function(5), Hourly: 1000}}
		case "deployed":
			s.Versions = append(s.Versions, simulate.Version{Name: "v2", Deploy: 3 * time.Hour,
				Levels: []simulate.Level{{Type: store.InuseSpace, Function: s.Function(5), Hourly: 400 << 20}}})
		}
		plan.Services = append(plan.Services, s)
	}
	return plan
}

// judgedTwice returns what is found when growth is judged twice.
func judgedTwice(t *testing.T, plan simulate.Plan) (*List, *storetest.Reference) {
	t.Helper()
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	j := judgeOf(r, start)
	if err := hours(t.Context(), j, plan.Start.Add(window+lookEvery)); err != nil {
		t.Fatal(err)
	}
	l, err := Of(t.Context(), r, store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return l, r
}

// hours judges what takes hours until a time.
func hours(ctx context.Context, j *Judge, at time.Time) error {
	known, err := j.Keeper.Findings(ctx, store.Selection{})
	if err != nil {
		return err
	}
	return j.hours(ctx, "", at, known.Findings)
}

// What leaks is found, with its function and by how much, and nothing else.
func TestGrowth(t *testing.T) {
	for _, processes := range []int{2, 14} {
		plan := growing(1, processes)
		for _, leak := range []simulate.Level{
			{Type: store.InuseSpace, Hourly: 60 << 20, Calls: []*store.Frame{{Function: "bytes.growSlice", File: "bytes/buffer.go", Line: 249}}},
			{Type: store.Goroutines, Hourly: 200, Calls: []*store.Frame{{Function: "runtime.gopark", File: "runtime/proc.go", Line: 435}}},
		} {
			s := plan.Services[1]
			s.Name = "leaks-" + strings.Split(string(leak.Type), ":")[0]
			leak.Function = s.Function(7)
			s.Versions = []simulate.Version{{Name: "v1", Levels: []simulate.Level{leak}}}
			plan.Services = append(plan.Services, s)
		}
		l, r := judgedTwice(t, plan)
		if len(l.Findings) != 2 {
			t.Fatalf("%d processes: %d findings, want 2: %+v", processes, len(l.Findings), l.Findings)
		}
		for _, want := range []struct {
			service, rule, function string
			hourly                  float64
		}{
			{"leaks-memory", "heapgrowth", "bytes.growSlice", 60 << 20},
			{"leaks-goroutines", "goroutinegrowth", "example.com/leaks-goroutines/order.step007", 200},
		} {
			i := slices.IndexFunc(l.Findings, func(f Finding) bool { return f.Service == want.service })
			if i < 0 {
				t.Errorf("nothing is found in %s", want.service)
				continue
			}
			f := l.Findings[i]
			// Besides the leak the load grows.
			if each := float64(f.Cost) / 1e6 * 3600 / float64(f.Instances); each < 0.8*want.hourly || each > 1.5*want.hourly {
				t.Errorf("%s grows by %g an hour in each process, want %g", f.Service, each, want.hourly)
			}
			if f.Rule != want.rule || f.Function != want.function || f.Line == 0 || !f.Open || !f.Earlier || f.Spans != 2 || !strings.Contains(f.Detail.Summary, "an hour") {
				t.Errorf("found %s in %s:%d of %s, open %v, earlier %v, in %d spans, %q, "+
					"want %s in a line of %s, true, true, 2, growth an hour",
					f.Rule, f.Function, f.Line, f.Service, f.Open, f.Earlier, f.Spans, f.Detail.Summary, want.rule, want.function)
			}
		}
		// What was judged is not judged again; with a part of the evidence nothing is kept.
		before, _ := r.Findings(t.Context(), store.Selection{})
		for _, k := range []Keeper{r, &partialSeries{r}} {
			late := time.Duration(0)
			if k != Keeper(r) {
				late = lookEvery
			}
			if err := hours(t.Context(), judgeOf(k, start), plan.Start.Add(window+lookEvery+late)); (err != nil) != (late > 0) {
				t.Error(err)
			}
		}
		if after, _ := r.Findings(t.Context(), store.Selection{}); len(after.Findings) != len(before.Findings) {
			t.Errorf("%d rows, before %d", len(after.Findings), len(before.Findings))
		}
	}
}

type partialSeries struct{ *storetest.Reference }

func (p *partialSeries) Series(ctx context.Context, s store.Selection, step time.Duration, by store.By) (store.SeriesSet, error) {
	a, err := p.Reference.Series(ctx, s, step, by)
	a.Missing = store.Missing{"a shard"}
	return a, err
}

// Nothing is claimed in twenty fleets that only look so.
func TestNoGrowth(t *testing.T) {
	for seed := range uint64(20) {
		_, r := judgedTwice(t, growing(seed, 1+int(seed)%3*2))
		rows, _ := r.Findings(t.Context(), store.Selection{})
		for _, f := range rows.Findings {
			if f.Rule != lookedOver {
				t.Errorf("fleet %d: %s is claimed in %s %s: %s", seed, f.Rule, f.Service, f.Version, f.Evidence)
			}
		}
	}
}

// A growth is gone when three more looks at growth have not seen it, however many spans of
// five minutes were judged.
func TestFoldGrowth(t *testing.T) {
	for looks, open := range map[int]bool{2: true, 4: true, 5: false} {
		var rows []store.Finding
		for i := range looks * 3 {
			until := start.Add(time.Duration(i+1) * Span)
			row := store.Finding{Service: "shop", From: until.Add(-Span), Until: until}
			rows = append(rows, row)
			if i%3 == 2 {
				row.From, row.Rule = until.Add(-window), lookedOver
				rows = append(rows, row)
				if row.Rule = "heapgrowth"; i < 6 {
					rows = append(rows, row)
				}
			}
		}
		l := fold(rows)
		if len(l.Findings) != 1 || l.Findings[0].Open != open || l.Findings[0].Spans != 2 {
			t.Errorf("%d looks: %+v, want open %v", looks, l.Findings, open)
		}
	}
}
