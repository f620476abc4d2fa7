package versions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A fleet answers from processes and stacks that a test made.
type fleet struct {
	store.Reader
	processes []store.Instance
	stacks    map[string]store.Stacks // by version
}

func (f *fleet) Instances(_ context.Context, s store.Selection) (store.Instances, error) {
	var out store.Instances
	for _, p := range f.processes {
		if (s.Service == "" || s.Service == p.Service) && (s.Version == "" || s.Version == p.Version) {
			out.Instances = append(out.Instances, p)
		}
	}
	return out, nil
}

func (f *fleet) Stacks(_ context.Context, s store.Selection) (store.Stacks, error) {
	return f.stacks[s.Version], nil
}

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// process returns one that used so many cores in an hour.
func process(service, version, host string, from time.Duration, cores float64, operations int64) store.Instance {
	p := store.Instance{Service: service, Version: version, Name: host, First: start.Add(from), Last: start.Add(from + time.Hour), Covered: time.Hour,
		Totals: []store.Total{{Type: store.CPU, Value: int64(cores * 3600e9)}}}
	if operations > 0 {
		p.Totals = append(p.Totals, store.Total{Type: store.Operations, Value: operations})
	}
	return p
}

// A plan is two versions of one service: on so many hosts, which differ by a factor
// of e^spread as a rule, and whose rates vary by noise.
type plan struct {
	service       string
	hosts         int
	same          bool // hosts run both versions
	spread, noise float64
	factor        float64
	load          float64 // the head has so many times the work
	operations    bool
}

func (p plan) make(random *rand.Rand) (out []store.Instance) {
	host := make([]float64, 2*p.hosts)
	for i := range host {
		host[i] = math.Exp(p.spread * random.NormFloat64())
	}
	for v, factor := range []float64{1, p.factor} {
		for i := range p.hosts {
			at := i
			if !p.same {
				at += v * p.hosts
			}
			cores := 0.5 * host[at] * factor * math.Exp(p.noise*random.NormFloat64())
			var operations int64
			if p.operations {
				operations = 1_000_000
			}
			if v == 1 && p.load > 0 {
				cores, operations = cores*p.load, int64(float64(operations)*p.load)
			}
			out = append(out, process(p.service, fmt.Sprintf("v1.%d.0", v), fmt.Sprintf("host-%03d", at), time.Duration(v)*time.Hour, cores, operations))
		}
	}
	return out
}

func changesOf(t *testing.T, processes []store.Instance) []Change {
	t.Helper()
	changes, err := Changes(t.Context(), &fleet{processes: processes}, store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestPlanted plants a change of 8% in one of 40 services.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		name string
		plan plan
	}{
		{"the same hosts", plan{hosts: 20, same: true, spread: 0.3, noise: 0.02}},
		{"other hosts", plan{hosts: 125, spread: 0.1, noise: 0.02}},
		{"operations, and twice the load", plan{hosts: 20, same: true, spread: 0.3, noise: 0.02, operations: true, load: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			var all []store.Instance
			for i := range 40 {
				p := c.plan
				p.service, p.factor = fmt.Sprintf("service-%02d", i), 1
				if i == 17 {
					p.factor = 1.08
				}
				all = append(all, p.make(random)...)
			}
			changes := changesOf(t, all)
			if len(changes) != 40 {
				t.Fatalf("%d changes of 40 services", len(changes))
			}
			first := changes[0]
			if first.Service != "service-17" || !first.Worse() || first.Ratio < 1.05 || first.Ratio > 1.12 {
				t.Errorf("first is %+v, want service-17, about 1.08 times", first)
			}
			if want := start.Add(time.Hour); !first.Since.Equal(want) || first.Base != "v1.0.0" || first.Head != "v1.1.0" {
				t.Errorf("%s to %s since %v, want v1.0.0 to v1.1.0 since %v", first.Base, first.Head, first.Since, want)
			}
			if unit := map[bool]Unit{true: PerOperation, false: PerSecond}[c.plan.operations]; first.Unit != unit || first.Paired != c.plan.same {
				t.Errorf("in %s, paired %v; want %s, %v", first.Unit, first.Paired, unit, c.plan.same)
			}
			for _, other := range changes[1:] {
				if other.Worse() || other.Better() {
					t.Errorf("%s: %.3f times, p %.4f; nothing changed there", other.Service, other.Ratio, other.P)
				}
			}
		})
	}
}

// TestNoChange deploys twenty services without any change, again and again: in 5% of
// such fleets at most there may be a claim, which of 200 is 10, and by chance up to 18.
func TestNoChange(t *testing.T) {
	for _, p := range []plan{
		{hosts: 8, same: true, spread: 0.5, noise: 0.1},
		{hosts: 12, spread: 0.1, noise: 0.1},
	} {
		random, claims := rand.New(rand.NewPCG(3, 4)), 0
		for range 200 {
			var all []store.Instance
			for i := range 20 {
				p.service, p.factor = fmt.Sprintf("service-%02d", i), 1
				all = append(all, p.make(random)...)
			}
			if slices.ContainsFunc(changesOf(t, all), func(c Change) bool { return c.Worse() || c.Better() }) {
				claims++
			}
		}
		if claims > 18 {
			t.Errorf("%d hosts, the same %v, spread %v, noise %v: a change is claimed in %d of 200 fleets without any, "+
				"want 18 at most",
				p.hosts, p.same, p.spread, p.noise, claims)
		}
	}
}

// TestInterval holds the 95% interval to what it says.
func TestInterval(t *testing.T) {
	for _, p := range []plan{
		{service: "s", hosts: 10, same: true, spread: 0.5, noise: 0.1, factor: 1.2},
		{service: "s", hosts: 15, spread: 0.1, noise: 0.1, factor: 1.2},
	} {
		random, holds := rand.New(rand.NewPCG(5, 6)), 0
		const rounds = 200
		for range rounds {
			c := changesOf(t, p.make(random))[0]
			if c.Low <= p.factor && p.factor <= c.High {
				holds++
			}
		}
		if holds < rounds*90/100 {
			t.Errorf("%d hosts, the same %v, spread %v, noise %v: the interval holds the truth in %d of %d, "+
				"want %d or more",
				p.hosts, p.same, p.spread, p.noise, holds, rounds, rounds*90/100)
		}
	}
}

func TestTooFew(t *testing.T) {
	for _, c := range []struct {
		hosts  int
		same   bool
		decide bool
	}{{1, true, false}, {3, false, false}, {4, false, true}, {5, true, true}, {6, true, true}} {
		p := plan{service: "s", hosts: c.hosts, same: c.same, spread: 0.01, factor: 2}
		change := changesOf(t, p.make(rand.New(rand.NewPCG(7, 8))))[0]
		if change.Worse() != c.decide || (change.Why == "") != c.decide {
			t.Errorf("%d hosts, the same %v: worse %v, why %q", c.hosts, c.same, change.Worse(), change.Why)
		}
	}
}

// TestBetter holds that what got cheaper is said too, behind what got worse, and that a
// change below what is worth a claim is none.
func TestBetter(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var all []store.Instance
	for service, factor := range map[string]float64{"cheaper": 0.5, "dearer": 1.1, "same": 1.005} {
		all = append(all, plan{service: service, hosts: 30, same: true, factor: factor, noise: 0.001}.make(random)...)
	}
	changes := changesOf(t, all)
	if !changes[0].Worse() || changes[0].Service != "dearer" || !changes[1].Better() || changes[1].Service != "cheaper" {
		t.Errorf("first %s, worse %v, %v times the cost, then %s, better %v, %v times, "+
			"want dearer, true, then cheaper, true",
			changes[0].Service, changes[0].Worse(), changes[0].Ratio, changes[1].Service, changes[1].Better(), changes[1].Ratio)
	}
	if c := changes[2]; c.Worse() || c.Better() {
		t.Errorf("%s, %v times the cost: worse %v, better %v, want neither: too little to claim",
			c.Service, c.Ratio, c.Worse(), c.Better())
	}
}

// TestShort leaves out processes of which nearly nothing was profiled.
func TestShort(t *testing.T) {
	p := plan{service: "s", hosts: 10, same: true, factor: 1, noise: 0.01}.make(rand.New(rand.NewPCG(11, 12)))
	for i := range p {
		p[i].Covered = time.Second
	}
	if c := changesOf(t, p)[0]; c.Why == "" || c.BaseN != 0 {
		t.Errorf("nothing was profiled for long enough: why %q, %d processes of the base, want a reason, 0",
			c.Why, c.BaseN)
	}
}

func TestFunctions(t *testing.T) {
	frames := func(names ...string) (f []*store.Frame) {
		for _, name := range names {
			f = append(f, &store.Frame{Function: name})
		}
		return f
	}
	stacks := func(values map[string]int64) (s store.Stacks) {
		s.Frames = map[store.StackID][]*store.Frame{1: frames("encode", "handle", "main"), 2: frames("handle", "main"), 3: frames("walk", "walk", "main")}
		for i, name := range []string{"encode", "handle", "walk"} {
			s.Samples = append(s.Samples, store.Sample{Stack: store.StackID(i + 1), Value: values[name] * 1e9})
			s.Total += values[name] * 1e9
		}
		s.Samples = append(s.Samples, store.Sample{Value: 1e9}) // without frames
		s.Total += 1e9
		return s
	}
	p := plan{service: "s", hosts: 10, same: true, factor: 1}.make(rand.New(rand.NewPCG(13, 14)))
	f := &fleet{processes: p, stacks: map[string]store.Stacks{
		"v1.0.0": stacks(map[string]int64{"encode": 36_000, "handle": 3600, "walk": 3600}),
		"v1.1.0": stacks(map[string]int64{"encode": 72_000, "handle": 1800, "walk": 3600}),
	}}
	d, err := Functions(t.Context(), f, store.Selection{}, &changesOf(t, p)[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	// Ten hosts, an hour each.
	want := Function{Name: "encode", Was: 1, Is: 2, TotalWas: 1, TotalIs: 2}
	if len(d.Functions) != 1 || d.Functions[0] != want {
		t.Fatalf("functions %+v, want %+v", d.Functions, want)
	}
	if d.Narrow == nil || d.Narrow.Name != "encode" {
		t.Errorf("the change is in %+v, want encode", d.Narrow)
	}
	if math.Abs(d.Other+0.05) > 1e-9 || math.Abs(d.Functions[0].Delta()+d.Other-(d.Is-d.Was)) > 1e-9 {
		t.Errorf("others %v of %v, want -0.05: all of them make the whole", d.Other, d.Is-d.Was)
	}
	all, err := Functions(t.Context(), f, store.Selection{}, d.Change, 10)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all.Functions, func(f Function) bool { return f.Name == "walk" })
	if i < 0 || all.Functions[i].TotalIs != 0.1 {
		t.Errorf("the functions are %+v, want walk, 0.1 in all: a stack in which a function recurs counts once for it",
			all.Functions)
	}
	if _, err := Functions(t.Context(), f, store.Selection{}, &Change{Service: "s", Base: "none", Head: "v1.1.0"}, 1); err == nil {
		t.Error("a version that nobody profiled: no error")
	}
}

// TestNarrow has a server that does little but one thing, so that all callers of what
// changed grow by the same factor.
func TestNarrow(t *testing.T) {
	paths := [][]string{
		{"match", "encode", "serve", "loop"}, {"hash", "encode", "serve", "loop"}, {"encode", "serve", "loop"},
		{"write", "serve", "loop"}, {"serve", "loop"}, {"collect", "loop"},
	}
	stacks := func(values ...int64) (s store.Stacks) {
		s.Frames = map[store.StackID][]*store.Frame{}
		for i, names := range paths {
			id := store.StackID(i + 1)
			for _, name := range names {
				s.Frames[id] = append(s.Frames[id], &store.Frame{Function: name})
			}
			s.Samples = append(s.Samples, store.Sample{Stack: id, Value: values[i] * 1e9})
			s.Total += values[i] * 1e9
		}
		return s
	}
	usual, one := stacks(18_000, 15_000, 9000, 3000, 1000, 2000), stacks(5000, 1000, 30_000, 6000, 2000, 2000)
	p := plan{service: "s", hosts: 10, same: true, factor: 1}.make(rand.New(rand.NewPCG(13, 14)))
	for _, c := range []struct {
		what, want string
		was, is    store.Stacks
	}{
		{"a function that is called twice as often", "encode", usual, stacks(36_000, 30_000, 18_000, 3000, 1000, 2000)},
		{"a function that does more", "encode", usual, stacks(18_000, 15_000, 36_000, 3000, 1000, 2000)},
		{"the innermost", "match", usual, stacks(54_000, 15_000, 9000, 3100, 1100, 2200)},
		{"one that was not there", "match", usual, stacks(54_000, 0, 9000, 3000, 1000, 2000)},
		{"less of it", "hash", usual, stacks(18_000, 0, 9000, 3000, 1000, 2000)},
		{"more of everything", "serve", usual, stacks(27_000, 22_500, 13_500, 15_000, 5000, 2000)},
		{"little but one thing, and all a little more", "encode", one, stacks(7500, 1500, 45_000, 9200, 3200, 3400)},
		{"several at once", "serve", usual, stacks(24_000, 21_000, 9000, 12_000, 1000, 2000)},
	} {
		f := &fleet{processes: p, stacks: map[string]store.Stacks{"v1.0.0": c.was, "v1.1.0": c.is}}
		d, err := Functions(t.Context(), f, store.Selection{}, &changesOf(t, p)[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		if d.Narrow == nil || d.Narrow.Name != c.want {
			t.Errorf("%s: the change is in %+v, want %s", c.what, d.Narrow, c.want)
		}
	}
}

// TestSimulated asks about a fleet of 4,000 processes in 40 services, and with all tests
// of 10,000, each of which deploys once: one of them is 8% dearer since, in a function of its own.
func TestSimulated(t *testing.T) {
	const worse = 23
	processes := 100
	if attempt.All(t) {
		processes = 250
	}
	plan := simulate.Plan{Seed: 7, Start: start, Length: 3 * time.Hour, Step: 20 * time.Minute}
	for i := range 40 {
		s := simulate.Service{
			Name: fmt.Sprintf("service-%02d", i), Processes: processes, Stacks: []simulate.Shape{{Type: store.CPU, Count: 60, Sum: 30e9, Unit: 10e6}},
			Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: time.Hour, Rollout: time.Hour}},
		}
		if i == worse {
			// Of a function that has a part of the service, as much more as makes 8% of all.
			s.Versions[1].Changes = []simulate.Change{{Type: store.CPU, Function: s.Function(3), Percent: percentOf(t, plan, s, 3, 8)}}
		}
		plan.Services = append(plan.Services, s)
	}
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	s := store.Selection{From: start, Until: start.Add(plan.Length)}
	changes, err := Changes(t.Context(), r, s)
	if err != nil {
		t.Fatal(err)
	}
	first, name := changes[0], plan.Services[worse].Name
	if first.Service != name || first.Head != "v2" || !first.Worse() || first.Ratio < 1.06 || first.Ratio > 1.10 {
		t.Fatalf("first is %+v, want %s, about 1.08 times", first, name)
	}
	for _, c := range changes[1:] {
		if c.Worse() || c.Better() {
			t.Errorf("%s: %.3f times, p %.4f; nothing changed there", c.Service, c.Ratio, c.P)
		}
	}
	d, err := Functions(t.Context(), r, s, &first, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := plan.Services[worse].Function(3); d.Narrow == nil || d.Narrow.Name != want {
		t.Errorf("the change is in %+v, want %s", d.Narrow, want)
	}
}

// percentOf returns by how many percent a function must grow for its service to grow by some.
func percentOf(t *testing.T, plan simulate.Plan, s simulate.Service, function int, percent float64) int64 {
	t.Helper()
	plan.Length, plan.Services = plan.Step, []simulate.Service{s}
	var all, part float64
	for b := range plan.Batches() {
		for _, p := range b.Profiles {
			for _, sample := range p.Samples {
				if p.Type != store.CPU {
					continue
				}
				all += float64(sample.Value)
				if slices.ContainsFunc(b.Stacks[sample.Stack], func(f *store.Frame) bool { return f.Function == s.Function(function) }) {
					part += float64(sample.Value)
				}
			}
		}
	}
	if part == 0 || part > 0.9*all {
		t.Fatalf("%s has %.3f of its service", s.Function(function), part/all)
	}
	t.Logf("%s has %.3f of its service", s.Function(function), part/all)
	return int64(percent * all / part)
}

// A version that allocates more and computes as before is worse in bytes alone; the other
// half of its time is like the first.
func TestBetween(t *testing.T) {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	service := simulate.Service{Name: "shop", Processes: 12, Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: 10 * time.Minute}}}
	service.Versions[1].Changes = []simulate.Change{{Type: store.AllocSpace, Function: service.Function(0), Percent: 30}}
	plan := simulate.Plan{Seed: 11, Start: start, Length: 20 * time.Minute, Step: time.Minute, Services: []simulate.Service{service}}
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	base := store.Selection{Service: "shop", Version: "v1", From: start, Until: start.Add(time.Hour)}
	head := base
	head.Version = "v2"
	changes, err := Compare(t.Context(), r, base, head)
	if err != nil {
		t.Fatal(err)
	}
	units := map[store.Type]Unit{store.CPU: PerOperation, store.AllocSpace: "bytes/operation", store.MutexDelay: "waiting for locks/operation", store.BlockDelay: "waiting/operation"}
	if len(changes) != len(units) {
		t.Fatalf("%d types were compared, want %d", len(changes), len(units))
	}
	for _, c := range changes {
		if c.Unit != units[c.Type] || c.Worse() != (c.Type == store.AllocSpace) || c.Better() || !c.Paired {
			t.Errorf("%s in %q: worse %v, better %v, paired %v, want in %q: %v, false, true",
				c.Type, c.Unit, c.Worse(), c.Better(), c.Paired, units[c.Type], c.Type == store.AllocSpace)
		}
		if c.Type != store.AllocSpace {
			continue
		}
		if c.Ratio < 1.25 || c.Ratio > 1.35 {
			t.Errorf("%g times the bytes, want 1.3", c.Ratio)
		}
		d, err := FunctionsBetween(t.Context(), r, base, head, &c, 5)
		if err != nil {
			t.Fatal(err)
		}
		if d.Is/d.Was < 1.2 || len(d.Functions) != 5 {
			t.Errorf("FunctionsBetween() = from %v to %v, %d functions, want 1.2 times as much or more, 5",
				d.Was, d.Is, len(d.Functions))
		}
	}
	first, second := base, base
	first.Until = start.Add(5 * time.Minute)
	second.From, second.Until = first.Until, start.Add(10*time.Minute)
	changes, err = Compare(t.Context(), r, first, second)
	for _, c := range changes {
		if c.Worse() || c.Better() {
			t.Errorf("%s of two times without a change, %v times the cost: worse %v, better %v, want neither",
				c.Type, c.Ratio, c.Worse(), c.Better())
		}
	}
	if err != nil || len(changes) == 0 {
		t.Errorf("%d, %v", len(changes), err)
	}
	head.Version = "v3"
	if _, err := Compare(t.Context(), r, base, head); !errors.Is(err, ErrNothing) {
		t.Errorf("a version that nobody runs: %v", err)
	}
}
