package findings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// The newest span is judged first, then what takes hours, then what is older, up to three
// hours. A span has ended when its last batches had their time.
func TestCatchOrder(t *testing.T) {
	var want []string
	for end := 0; end > -180; end -= 5 {
		if end == -10 {
			want = append(want, "-255--15", "-240-0")
		}
		want = append(want, fmt.Sprintf("%d-%d", end-5, end))
	}
	for name, c := range map[string]struct {
		after time.Duration // start
		first string
	}{
		"just before its time": {75*time.Second - time.Nanosecond, "-10--5"},
		"at its time":          {75 * time.Second, "-5-0"},
		"before the next":      {5*time.Minute + 75*time.Second - time.Nanosecond, "-5-0"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{}
			if err := judgeOf(k, start.Add(c.after)).Catch(t.Context(), "acme"); err != nil {
				t.Fatal(err)
			}
			got := spans(k.of("services"))
			if c.first == want[0] && got != strings.Join(want, " ") || !strings.HasPrefix(got, c.first+" ") {
				t.Errorf("judged %s, want %s from %s on", got, want, c.first)
			}
			for _, r := range k.requests {
				if r.Tenant != "acme" {
					t.Errorf("%s of tenant %q, want acme", r.what, r.Tenant)
				}
			}
			if len(k.wrote) != 0 {
				t.Errorf("wrote %v of no services", k.wrote)
			}
		})
	}
}

// Which spans of a version were judged is known by service, version and end. Rows of what was
// found, and of what takes hours, say nothing of it.
func TestCatchKnown(t *testing.T) {
	end := start
	row := store.Finding{Tenant: "acme", Service: "shop", Version: "v1", From: end.Add(-Span), Until: end, Title: "healthy"}
	for name, c := range map[string]struct {
		change func(f *store.Finding)
		again  bool
	}{
		"judged":             {func(*store.Finding) {}, false},
		"another service":    {func(f *store.Finding) { f.Service = "cart" }, true},
		"another version":    {func(f *store.Finding) { f.Version = "v2" }, true},
		"a finding's row":    {func(f *store.Finding) { f.Rule = "hotfunction" }, true},
		"over hours":         {func(f *store.Finding) { f.Rule, f.Title = lookedOver, "" }, true},
		"without a verdict":  {func(f *store.Finding) { f.Title = "" }, false},
		"the span before it": {func(f *store.Finding) { f.From, f.Until = f.From.Add(-Span), f.Until.Add(-Span) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			known := row
			c.change(&known)
			k := &spy{services: func(s store.Selection) []store.Service {
				if !s.Until.Equal(end) || s.Until.Sub(s.From) != Span {
					return nil
				}
				return []store.Service{{Name: "shop", Version: "v1"}}
			}}
			if err := k.Reference.WriteFindings(t.Context(), []store.Finding{known}); err != nil {
				t.Fatal(err)
			}
			if err := judgeOf(k, end.Add(grace)).Catch(t.Context(), "acme"); err != nil {
				t.Fatal(err)
			}
			if again := len(k.wrote) > 0; again != c.again {
				t.Errorf("judged again: %v, want %v", again, c.again)
			}
		})
	}
}

// Of a span without evidence, and of one that could not be judged, a row says so; it names whose
// it is. Versions that cannot be selected alone have none.
func TestCatchVerdicts(t *testing.T) {
	var log bytes.Buffer
	k := &spy{services: func(s store.Selection) []store.Service {
		if s.Until.Sub(s.From) != Span || !s.Until.Equal(start) {
			return nil
		}
		return []store.Service{{Name: "cart", Version: "v3"}, {Name: "mail"}, {Name: "shop"}, {Name: "shop", Version: "v1"}}
	}}
	k.refuse = func(r request) (store.Missing, error) {
		if r.what == "instances" && r.Service == "cart" {
			return nil, errDisk
		}
		return nil, nil
	}
	j := judgeOf(k, start.Add(grace))
	j.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := j.Catch(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range k.rows() {
		got = append(got, fmt.Sprintf("%s/%s/%s %s-%s %q %q %d", r.Tenant, r.Service, r.Version, clock(r.From), clock(r.Until), r.Rule, r.Title, r.Instances))
	}
	same(t, "rows", strings.Join(got, "\n"), `acme/cart/v3 -5-0 "" "failed" 0
acme/mail/ -5-0 "" "too-thin" 0
acme/shop/v1 -5-0 "" "too-thin" 0`)
	if want := `msg="a span could not be judged" service=cart version=v3 until=2026-03-02T10:00:00.000Z err="the disk is gone"` + "\n"; !strings.HasSuffix(log.String(), want) {
		t.Errorf("log = %s, want %s", log.String(), want)
	}
}

// What can be had later is judged later: nothing is kept of it now, and the caller hears why.
func TestCatchLater(t *testing.T) {
	once := func(s store.Selection) []store.Service {
		if s.Until.Equal(start) && s.Until.Sub(s.From) == Span {
			return []store.Service{{Name: "shop", Version: "v1"}}
		}
		return nil
	}
	for name, c := range map[string]struct {
		what    string
		missing store.Missing
		err     error
		says    string
	}{
		"no memory":             {"instances", nil, fmt.Errorf("%w, as it seems", memory.ErrBusy), "send it again"},
		"a part is missing":     {"instances", store.Missing{"a shard"}, nil, `["a shard"] could not be asked`},
		"no rows are told":      {"findings", nil, errDisk, "the disk is gone"},
		"no services are told":  {"services", nil, errDisk, "the disk is gone"},
		"nothing can be kept":   {"write", nil, errDisk, "the disk is gone"},
		"services over 4 hours": {"hours", nil, errDisk, "the disk is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &spy{services: once}
			k.refuse = func(r request) (store.Missing, error) {
				if r.what == c.what || c.what == "hours" && r.Until.Sub(r.From) == window {
					return c.missing, c.err
				}
				return nil, nil
			}
			err := judgeOf(k, start.Add(grace)).Catch(t.Context(), "")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Catch() = %v, want %q", err, c.says)
			}
			if c.err != nil && errors.Is(c.err, memory.ErrBusy) && !errors.Is(err, memory.ErrBusy) {
				t.Errorf("Catch() = %v, want one of memory.ErrBusy", err)
			}
			// What is judged over spans does not wait for what takes hours.
			if kept := len(k.rows()); (kept > 0) != (c.what == "hours") {
				t.Errorf("%d rows were kept", kept)
			}
		})
	}
	t.Run("the server ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		k := &spy{services: once}
		k.refuse = func(r request) (store.Missing, error) {
			if r.what == "instances" {
				cancel()
				return nil, errDisk
			}
			return nil, nil
		}
		if err := judgeOf(k, start.Add(grace)).Catch(ctx, ""); !errors.Is(err, context.Canceled) || len(k.wrote) > 0 {
			t.Errorf("Catch() = %v with rows %v, want the context's error and none", err, k.wrote)
		}
	})
	t.Run("it ends while the judge rests", func(t *testing.T) {
		k := &spy{services: func(s store.Selection) []store.Service { return []store.Service{{Name: "shop", Version: "v1"}} }}
		j := judgeOf(k, start.Add(grace))
		j.wait = func(context.Context, time.Duration) error { return context.Canceled }
		if err := j.Catch(t.Context(), ""); !errors.Is(err, context.Canceled) || len(k.wrote) != 1 {
			t.Errorf("Catch() = %v with %d writes, want the context's error after the first", err, len(k.wrote))
		}
	})
}

// All tenants are judged each minute; that one fails is in the log, and the others go on.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	var pauses []time.Duration
	k := &spy{}
	k.refuse = func(r request) (store.Missing, error) {
		if r.Tenant == "poor" {
			return nil, errDisk
		}
		return nil, nil
	}
	j := judgeOf(k, start)
	j.Tenants = func() []string { return []string{"poor", "rich"} }
	j.Log = slog.New(slog.NewTextHandler(&log, nil))
	j.wait = func(_ context.Context, d time.Duration) error {
		if pauses = append(pauses, d); len(pauses) == 3 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	j.Run(ctx)
	if want := []time.Duration{time.Minute, time.Minute, time.Minute}; fmt.Sprint(pauses) != fmt.Sprint(want) {
		t.Errorf("waited %v, want %v", pauses, want)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if want := `msg="judging failed" tenant=poor err="the disk is gone"`; len(lines) != 3 || !strings.HasSuffix(lines[2], want) {
		t.Errorf("log = %q, want three times %s", lines, want)
	}
	rich := 0
	for _, r := range k.of("findings") {
		if r.Tenant == "rich" {
			rich++
		}
	}
	if rich != 3 {
		t.Errorf("the other tenant was judged %d times, want 3", rich)
	}

	// That the server ends is no failure.
	log.Reset()
	ctx, cancel = context.WithCancel(t.Context())
	k.refuse = func(request) (store.Missing, error) {
		cancel()
		return nil, ctx.Err()
	}
	j.Run(ctx)
	if log.Len() > 0 {
		t.Errorf("log at the end = %s, want none", log.String())
	}
	k.requests = nil
	if j.Run(ctx); len(k.requests) > 0 {
		t.Errorf("asked %v after the end", k.requests)
	}
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := new(Judge).pause(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("pause(a minute) = %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if err := new(Judge).pause(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("pause of a context that ends = %v after %v", err, time.Since(began))
		}
	})
}

// Judging takes a quarter of one CPU: it rests three times as long as it worked.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.Sleep(2 * time.Second)
		worked := time.Since(began)
		if err := new(Judge).rest(t.Context(), began); err != nil {
			t.Fatal(err)
		}
		if rested := time.Since(began) - worked; rested != 3*worked {
			t.Errorf("rested for %v after %v, want 3 times as long", rested, worked)
		}
	})
}

// Each piece of work has 8 MiB ahead, and gives back what it took.
func TestWithin(t *testing.T) {
	for name, c := range map[string]struct {
		size int64
		want error
	}{"enough": {8 << 20, nil}, "too little": {8<<20 - 1, memory.ErrLarge}} {
		t.Run(name, func(t *testing.T) {
			j := &Judge{Memory: memory.NewPool("", c.size, 0)}
			for range 2 {
				held := int64(-1)
				err := j.within(t.Context(), func(ctx context.Context) error {
					held = memory.Held(ctx)
					return nil
				})
				if !errors.Is(err, c.want) || (held < 0) != (c.want != nil) {
					t.Errorf("within() = %v with %d bytes held, want %v", err, held, c.want)
				}
			}
		})
	}
}

// The rules of a version's span take a thousand bytes for each stack.
func TestDiagnoseMemory(t *testing.T) {
	const stacks = 3
	k := &spy{}
	shop := store.Source{Service: "shop", Version: "v1", Instance: "a"}
	var cpu []sample
	for i := range stacks {
		cpu = append(cpu, sample{1e9, []string{fmt.Sprint("main.f", i)}})
	}
	put(t, k, shop, start, start.Add(time.Minute), map[store.Type][]sample{store.CPU: cpu})
	s := store.Selection{Service: "shop", Version: "v1", From: start, Until: start.Add(Span)}
	for size, want := range map[int64]error{stacks * 1000: nil, stacks*1000 - 1: memory.ErrLarge} {
		grant, err := memory.NewPool("", size, 0).Take(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		d, e, err := Diagnose(memory.With(t.Context(), grant), k, s, nil)
		if !errors.Is(err, want) || (err == nil) != (d != nil && e != nil) {
			t.Errorf("Diagnose() with %d bytes = %v, %v, %v, want %v", size, d, e, err, want)
		}
	}
}

// At most ten findings of a span are kept, and no remarks; those of one place count once.
func TestJudgeKeeps(t *testing.T) {
	k := &spy{}
	for _, name := range []string{"a", "b"} {
		shop := store.Source{Service: "shop", Version: "v1", Instance: name}
		put(t, k, shop, start, start.Add(4*time.Minute), map[store.Type][]sample{store.CPU: {{60e9, []string{"main.f"}}}})
	}
	s := store.Selection{Service: "shop", Version: "v1", From: start, Until: start.Add(Span)}
	report := func(n, places int, remark, waits bool) *diagnosis.Rule {
		return &diagnosis.Rule{Name: "twelve", Title: "T", Check: func(p *diagnosis.Pass) {
			for i := range n {
				f := diagnosis.Finding{Confidence: diagnosis.High, Remark: remark, Waits: waits, Where: []diagnosis.Place{{Function: fmt.Sprint("f", i%places)}}}
				f.Groups = []string{fmt.Sprint(i)}
				f.Cost = diagnosis.CostOf(fact.OverSeries("CPU", "cpu", 2, 2, fact.Cores), 0.5)
				p.Report(f)
			}
		}}
	}
	for name, c := range map[string]struct {
		rule       *diagnosis.Rule
		told, kept int
	}{
		"twelve":              {report(12, 12, false, true), 10, 10},
		"three remarks":       {report(3, 3, true, false), 3, 0},
		"three in two places": {report(3, 2, false, false), 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			rules := []*diagnosis.Rule{c.rule}
			d, _, err := Diagnose(t.Context(), k, s, rules)
			if err != nil || len(d.Findings) != c.told {
				t.Fatalf("Diagnose() = %+v, %v, want %d findings", d, err, c.told)
			}
			k.wrote = nil
			j := judgeOf(k, start)
			j.Rules = rules
			if err := j.judge(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			rows := k.rows()
			if len(rows) != c.kept+1 || rows[0].Rule != "" || rows[0].Title != string(d.Verdict) || rows[0].Instances != 2 {
				t.Fatalf("%d rows, want the verdict %s and %d findings: %+v", len(rows), d.Verdict, c.kept, rows)
			}
			for _, r := range rows[1:] {
				// Two cores of a process, and two processes for four of five minutes.
				if r.Rule != "twelve" || r.Title != "T" || r.Instances != 2 || r.Cost != 2*2*0.8*1e6 || r.Unit != "cores" {
					t.Errorf("row of rule %q, title %q, %d processes, costs %d millionths of %q, "+
						"want twelve, T, 2, 3200000 of cores",
						r.Rule, r.Title, r.Instances, r.Cost, r.Unit)
				}
			}
		})
	}
}

// What is counted each second is that of all processes; anything else is one mean process's.
func TestRowOfUnits(t *testing.T) {
	for name, c := range map[string]struct {
		cost, bound fact.Unit
		whole       bool
		wantCost    int64
		wantBound   int64
	}{
		"cores":                   {fact.Cores, fact.Cores, true, 6e6, 1.5e6},
		"bytes per second":        {fact.BytesPerSec, fact.BytesPerSec, true, 6e6, 1.5e6},
		"per second":              {fact.PerSec, fact.PerSec, true, 6e6, 1.5e6},
		"bytes":                   {fact.Bytes, fact.Bytes, false, 2e6, 0.5e6},
		"seconds":                 {fact.Seconds, fact.Seconds, false, 2e6, 0.5e6},
		"a bound of another unit": {fact.Cores, fact.Ratio, true, 6e6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := diagnosis.Finding{Cost: diagnosis.Cost{Value: 2, Unit: c.cost, Share: 0.25}, Bound: diagnosis.Bound{Value: 0.5, Unit: c.bound, Low: 0.125}}
			row, err := rowOf(&f, store.Finding{}, 3)
			if err != nil || row.Cost != c.wantCost || row.Bound != c.wantBound || detailOf(&row).Whole != c.whole {
				t.Errorf("rowOf() = %d of %d, whole %v, %v, want %d of %d, %v", row.Bound, row.Cost, detailOf(&row).Whole, err, c.wantBound, c.wantCost, c.whole)
			}
		})
	}
	f := diagnosis.Finding{Cost: diagnosis.Cost{Value: math.NaN()}}
	if _, err := rowOf(&f, store.Finding{}, 3); err == nil {
		t.Error("rowOf of a cost that JSON does not have = nil, want an error")
	}
}

func TestMillionths(t *testing.T) {
	for x, want := range map[float64]int64{
		0: 0, 1: 1e6, -1: -1e6, 1.4e-6: 1, 1.6e-6: 2, 4.6e12: 4.6e18, -4.6e12: -4.6e18, 4.7e12: 0, -4.7e12: 0, math.Inf(1): 0, math.Inf(-1): 0, math.NaN(): 0,
	} {
		if got := millionths(x); got != want {
			t.Errorf("millionths(%g) = %d, want %d", x, got, want)
		}
	}
}
