package findings

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/judge/rules"
)

var start = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// fleet is three services for half an hour. The second version of shop compiles a regular
// expression for each call, since the tenth minute.
func fleet(t *testing.T) *storetest.Reference {
	t.Helper()
	compiling := []*store.Frame{
		{Function: "regexp/syntax.(*compiler).compile", File: "regexp/syntax/compile.go", Line: 166},
		{Function: "regexp.compile", File: "regexp/regexp.go", Line: 184},
		{Function: "regexp.MustCompile", File: "regexp/regexp.go", Line: 321},
	}
	plan := simulate.Plan{Seed: 3, Start: start, Length: 30 * time.Minute, Step: time.Minute}
	for _, name := range []string{"cart", "mail", "shop"} {
		s := simulate.Service{Name: name, Processes: 4, Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: 10 * time.Minute}}}
		if name == "shop" {
			s.Versions[1].Causes = []simulate.Cause{{Type: store.CPU, Function: s.Function(3), Calls: compiling, Sum: 9e9}}
		}
		plan.Services = append(plan.Services, s)
	}
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func judgeOf(k Keeper, now time.Time) *Judge {
	return &Judge{
		Keeper: k, Rules: rules.All, Tenants: func() []string { return []string{""} }, Log: slog.New(slog.DiscardHandler),
		now:  func() time.Time { return now },
		wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// The planted cause is found with its service, version, function and cost, and nothing
// else is said.
func TestJudge(t *testing.T) {
	r := fleet(t)
	j := judgeOf(r, start.Add(31*time.Minute+grace))
	if err := j.Catch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	l, err := Of(t.Context(), r, store.Selection{From: start, Until: start.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Findings) != 1 {
		t.Fatalf("%d findings, want 1: %+v", len(l.Findings), l.Findings)
	}
	f := l.Findings[0]
	if f.Service != "shop" || !slices.Equal(f.Versions, []string{"v2"}) || f.Rule != "hotfunction" || f.Function != "example.com/shop/order.step003" {
		t.Errorf("found %s in %v of %s at %s", f.Rule, f.Versions, f.Service, f.Function)
	}
	// Four processes, 9 s of CPU a minute each, on hosts of 0.75 to 1.35 times the speed
	// under 1.2 times the usual load.
	if cores := float64(f.Cost) / 1e6; f.Unit != "cores" || cores < 4*0.15*0.75*0.9 || cores > 4*0.15*1.35*1.5 {
		t.Errorf("it costs %g %s", cores, f.Unit)
	}
	if !f.Open || f.Earlier || f.Instances != 4 || f.Spans != 4 || !f.First.Equal(start.Add(10*time.Minute)) || !l.Judged.Equal(start.Add(30*time.Minute)) {
		t.Errorf("open %v, earlier %v, %d processes, %d spans, first %v, judged until %v", f.Open, f.Earlier, f.Instances, f.Spans, f.First, l.Judged)
	}
	if f.Detail.Summary == "" || f.Detail.Remedy.Text == "" || len(f.Detail.Evidence) == 0 || !f.Detail.Whole {
		t.Errorf("the detail has the summary %q, remedy %q, %d facts, whole %v, want all of them, true",
			f.Detail.Summary, f.Detail.Remedy.Text, len(f.Detail.Evidence), f.Detail.Whole)
	}
}

// What was judged is not judged again, what comes later is.
func TestJudgeAgain(t *testing.T) {
	r := &counted{Reference: fleet(t)}
	catch := func(after time.Duration) int {
		t.Helper()
		before := r.written
		if err := judgeOf(r, start.Add(after+grace)).Catch(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		return r.written - before
	}
	if n := catch(20 * time.Minute); n == 0 {
		t.Fatal("nothing was judged")
	}
	if n := catch(20*time.Minute + time.Second); n != 0 {
		t.Errorf("%d versions were judged twice", n)
	}
	if n := catch(25 * time.Minute); n != 3 {
		t.Errorf("%d versions were judged in one span more, want 3", n)
	}
}

type counted struct {
	*storetest.Reference
	written int
}

func (c *counted) WriteFindings(ctx context.Context, f []store.Finding) error {
	c.written++
	return c.Reference.WriteFindings(ctx, f)
}

// With a part of the evidence nothing is said: it is judged when all of it can be asked.
func TestJudgePartial(t *testing.T) {
	r := fleet(t)
	if err := judgeOf(&partial{r}, start.Add(31*time.Minute+grace)).Catch(t.Context(), ""); err == nil {
		t.Error("half of the evidence was judged")
	}
	if rows, _ := r.Findings(t.Context(), store.Selection{}); len(rows.Findings) != 0 {
		t.Errorf("%d rows were kept", len(rows.Findings))
	}
}

type partial struct{ *storetest.Reference }

func (p *partial) Stacks(ctx context.Context, s store.Selection) (store.Stacks, error) {
	a, err := p.Reference.Stacks(ctx, s)
	a.Missing = store.Missing{"a shard"}
	return a, err
}

// Processes that tell no version cannot be selected without those of their service that
// do.
func TestMixed(t *testing.T) {
	all := []store.Service{{Name: "a"}, {Name: "b"}, {Name: "b", Version: "v1"}}
	for i, want := range []bool{false, true, false} {
		if got := mixed(all, i); got != want {
			t.Errorf("mixed(all, %d), which is %s %q, = %v, want %v", i, all[i].Name, all[i].Version, got, want)
		}
	}
}

// A client names the files of its stacks: none of them is read here.
func TestNoFileIsRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hot.go")
	if err := os.WriteFile(file, []byte("package order\n\nfunc other() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := []*store.Frame{{Function: "example.com/shop/order.inner", File: file, Line: 3}, {Function: "example.com/shop/order.outer", File: file, Line: 3}}
	shop := simulate.Service{Name: "shop", Processes: 2, Versions: []simulate.Version{{Name: "v1"}}}
	shop.Versions[0].Causes = []simulate.Cause{{Type: store.CPU, Function: shop.Function(3), Calls: calls, Sum: 60e9}}
	r := new(storetest.Reference)
	for b := range (simulate.Plan{Seed: 3, Start: start, Length: 10 * time.Minute, Step: time.Minute, Services: []simulate.Service{shop}}).Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	d, _, err := Diagnose(t.Context(), r, store.Selection{Service: "shop", From: start, Until: start.Add(10 * time.Minute)}, rules.All)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range d.Warnings {
		if strings.Contains(w, "hot.go") {
			t.Errorf("a file that a client named was read: %s", w)
		}
	}
}
