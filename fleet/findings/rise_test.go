package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// day is what comes before the window that is judged.
const day = 24 * time.Hour

// stepped returns a fleet of a day and the window that is judged. Its service "shop" does more
// of one function from two hours of that on; the others do as much as before, one of them in
// a version that costs more from that moment on.
func stepped(seed uint64, processes int) simulate.Plan {
	shapes := []simulate.Shape{{Type: store.CPU, Count: 14, Sum: 30e9, Unit: 10e6}}
	plan := simulate.Plan{Seed: seed, Start: start.Add(-day - window), Length: day + window + lookEvery + 10*time.Minute, Step: bin}
	for _, name := range []string{"cart", "mail", "shop"} {
		s := simulate.Service{Name: name, Processes: processes, Stacks: shapes, Versions: []simulate.Version{{Name: "v1"}}}
		dearer := simulate.Change{Type: store.CPU, Function: s.Function(3), Percent: 500}
		switch name {
		case "mail":
			s.Versions = append(s.Versions, simulate.Version{Name: "v2", Deploy: day + 2*time.Hour, Changes: []simulate.Change{dearer}})
		case "shop":
			dearer.From = day + 2*time.Hour
			s.Versions[0].Changes = []simulate.Change{dearer}
		}
		plan.Services = append(plan.Services, s)
	}
	return plan
}

// written returns the batches of a plan, changed by f where it is not nil.
func written(t *testing.T, plan simulate.Plan, f func(b *store.Batch)) *storetest.Reference {
	t.Helper()
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if f != nil {
			f(b)
		}
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// uncounted is a batch of a program that counts no operations.
func uncounted(b *store.Batch) {
	b.Profiles = slices.DeleteFunc(b.Profiles, func(p store.Profile) bool { return p.Type == store.Operations })
}

// stepsAt returns the steps that are told when the fleet is looked at until a time.
func stepsAt(t *testing.T, r *storetest.Reference, until time.Time) []Finding {
	t.Helper()
	if err := hours(t.Context(), judgeOf(r, until), until); err != nil {
		t.Fatal(err)
	}
	l, err := Of(t.Context(), r, store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(l.Findings, func(f Finding) bool { return f.Rule != CostStep })
}

// What costs more from a moment on is found with that moment, its function and its cost,
// whether operations are counted or not, and nothing else is said.
func TestCostStep(t *testing.T) {
	for _, processes := range []int{3, 12} {
		for name, f := range map[string]func(b *store.Batch){"operations": nil, "seconds": uncounted} {
			if processes > 3 && f != nil {
				continue
			}
			plan := stepped(5, processes)
			found := stepsAt(t, written(t, plan, f), start.Add(lookEvery))
			if len(found) != 1 {
				t.Fatalf("%s, %d processes: %d findings, want 1: %+v", name, processes, len(found), found)
			}
			s := found[0]
			planted := start.Add(-2 * time.Hour)
			if s.Service != "shop" || s.Function != "example.com/shop/order.step003" || s.Line == 0 || !s.Open || s.Earlier || s.First.Sub(planted).Abs() > bin {
				t.Errorf("%s, %d processes: found in %s at %s:%d, open %v, earlier %v, since %v, "+
					"want in shop at a line of example.com/shop/order.step003, true, false, within %v of %v",
					name, processes, s.Service, s.Function, s.Line, s.Open, s.Earlier, s.First, bin, planted)
			}
			for _, part := range []string{"the CPU that it took", "mail v2 (", map[string]string{"operations": "an operation", "seconds": "a process"}[name]} {
				if !strings.Contains(s.Detail.Summary, part) {
					t.Errorf("%q lacks %q", s.Detail.Summary, part)
				}
			}
			// A tenth of the stacks costs six times as much, those that weigh most among them.
			if share := float64(s.Cost) / 1e6 / float64(s.Instances); share < 0.05 || share > 0.4 {
				t.Errorf("%s, %d processes: it costs %g cores in each process", name, processes, share)
			}
		}
	}
}

// Nothing is claimed of a fleet in which only the load, the part that is profiled, or the
// time of the day moves.
func TestNoCostStep(t *testing.T) {
	flat := func(b *store.Batch) { uncounted(b) }
	half := start.Add(-2 * time.Hour)
	scaled := func(b *store.Batch, percent int64) {
		for _, p := range b.Profiles {
			for i := range p.Samples {
				p.Samples[i].Value = p.Samples[i].Value * percent / 100
			}
		}
	}
	for name, f := range map[string]func(b *store.Batch){
		"operations": nil,
		"seconds":    flat,
		"more load": func(b *store.Batch) {
			if b.Until.After(half) {
				scaled(b, 200)
			}
		},
		"less load, and as much besides": func(b *store.Batch) {
			for _, p := range b.Profiles {
				if p.Type == store.Operations && b.Until.After(half) {
					p.Samples[0].Value /= 2
				}
			}
		},
		"more load that is not counted": func(b *store.Batch) {
			if flat(b); b.Until.After(half) {
				scaled(b, 200)
			}
		},
		"longer profiles": func(b *store.Batch) {
			flat(b)
			if at := b.From; !b.Until.After(half) {
				b.From = b.Until.Add(-b.Until.Sub(at) / 4)
				scaled(b, 25)
			}
		},
	} {
		plan := stepped(6, 5)
		for i := range plan.Services {
			plan.Services[i].Versions = plan.Services[i].Versions[:1]
			plan.Services[i].Versions[0].Changes = nil
		}
		for _, s := range stepsAt(t, written(t, plan, f), start.Add(lookEvery)) {
			t.Errorf("%s: claimed: %s", name, s.Detail.Summary)
		}
	}

	// Of a service without half a day of history nothing is said.
	young := func(b *store.Batch) {
		if b.Until.Before(start.Add(-window - 11*time.Hour)) {
			b.Source.Service = "another"
		}
	}
	plan := stepped(5, 3)
	for _, s := range stepsAt(t, written(t, plan, young), start.Add(lookEvery)) {
		t.Errorf("claimed of a young service: %s", s.Detail.Summary)
	}

	// Each day at this time.
	plan = stepped(7, 4)
	v := &plan.Services[2].Versions[0]
	yesterday := v.Changes[0]
	yesterday.From, yesterday.Until = 2*time.Hour, 6*time.Hour
	v.Changes = append(v.Changes, yesterday)
	for _, s := range stepsAt(t, written(t, plan, nil), start.Add(lookEvery)) {
		t.Errorf("claimed of each day: %s", s.Detail.Summary)
	}
}

// Fleets without a step.
func TestNoCostStepAtAll(t *testing.T) {
	for seed := range uint64(6) {
		plan := stepped(seed, 1+int(seed)%3)
		plan.Services[2].Versions[0].Changes = nil
		f := uncounted
		if seed%2 == 0 {
			f = nil
		}
		for _, s := range stepsAt(t, written(t, plan, f), start.Add(lookEvery)) {
			t.Errorf("fleet %d: claimed: %s", seed, s.Detail.Summary)
		}
	}
}

// A step is told while it is there: after it left the window, for a day, and not when it
// was undone.
func TestCostStepHolds(t *testing.T) {
	for after, c := range map[time.Duration]struct {
		undone time.Duration // after the step; 0 for never
		open   bool
	}{
		5 * time.Hour:                 {0, true},
		7*time.Hour + 45*time.Minute:  {6 * time.Hour, false},
		23*time.Hour + 30*time.Minute: {0, true},
		25 * time.Hour:                {0, false},
	} {
		plan := stepped(8, 3)
		plan.Length += after
		plan.Services = plan.Services[2:]
		change := &plan.Services[0].Versions[0].Changes[0]
		if c.undone > 0 {
			change.Until = change.From + c.undone
		}
		r := written(t, plan, nil)
		planted := start.Add(-2 * time.Hour)
		var found []Finding
		for until := start; !until.After(planted.Add(after)); until = until.Add(2 * lookEvery) {
			found = stepsAt(t, r, until)
		}
		if len(found) != 1 || found[0].Open != c.open || found[0].First.Sub(planted).Abs() > bin {
			t.Errorf("after %v: %+v, want open %v", after, found, c.open)
		}
	}
}

// Of many processes some are looked at.
func TestDrawn(t *testing.T) {
	n := 0
	for i := range 10_000 {
		name := fmt.Sprint("checkout-7d9f/host-", i)
		if !drawn(name, 1) || !drawn(name, 0) {
			t.Fatal(name)
		}
		if drawn(name, 25) {
			n++
		}
	}
	if n < 300 || n > 500 {
		t.Errorf("one in 25 of 10,000 is %d", n)
	}
}
