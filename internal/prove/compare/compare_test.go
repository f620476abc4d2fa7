package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// lines are repetitions of a benchmark in one unit.
func lines(name, unit string, values ...float64) (list []model.Benchmark) {
	for _, v := range values {
		list = append(list, model.Benchmark{Package: "example.com/p", Name: name, N: 100, Values: map[string]float64{unit: v}})
	}
	return list
}

func benchRun(list ...[]model.Benchmark) Reading {
	return Reading{Name: "bench.txt", Model: &model.Model{Load: &model.Load{Tool: "go test", Benchmarks: slices.Concat(list...)}}}
}

func compared(t *testing.T, a, b Reading) *Comparison {
	t.Helper()
	c, err := Runs(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// around are values that scatter evenly by a few percent.
func around(middle float64, n int) (v []float64) {
	for i := range n {
		v = append(v, middle*(1+0.004*float64((i*7)%n)/float64(n)*10-0.02))
	}
	return v
}

func TestBenchmarkVerdicts(t *testing.T) {
	for _, x := range []struct {
		name, unit string
		a, b       []float64
		want       Verdict
		exact      bool
	}{
		{"slower", "ns/op", around(100, 10), around(120, 10), Regressed, false},
		{"faster", "ns/op", around(100, 10), around(80, 10), Improved, false},
		{"more bytes a second", "MB/s", around(100, 10), around(120, 10), Improved, false},
		{"a unit nobody knows", "widgets", around(100, 10), around(120, 10), Changed, false},
		{"the same", "ns/op", around(100, 40), around(100, 40), Same, false},
		{"too few runs", "ns/op", around(100, 3), around(150, 3), Inconclusive, false},
		{"one allocation more", "allocs/op", []float64{7, 7, 7}, []float64{8, 8, 8}, Regressed, true},
		{"from nothing", "allocs/op", []float64{0, 0}, []float64{1, 1}, Regressed, true},
		{"to nothing", "B/op", []float64{64, 64}, []float64{0, 0}, Improved, true},
		{"nothing", "B/op", []float64{0, 0}, []float64{0, 0}, Same, true},
		{"a byte in many", "B/op", []float64{10000, 10000}, []float64{10001, 10001}, Same, true},
		{"one run decides nothing", "allocs/op", []float64{1000}, []float64{2000}, Inconclusive, false},
		{"one run of one side", "B/op", []float64{1000, 1000, 1000}, []float64{2000}, Inconclusive, false},
		{"below zero", "drift/s", []float64{-10, -10, -10, -10, -10, -10}, []float64{-20, -20, -20, -20, -20, -20}, Regressed, false},
		{"a counter that varies", "B/op", around(1000, 10), around(1300, 10), Regressed, false},
	} {
		c := compared(t, benchRun(lines("BenchmarkX-2", x.unit, x.a...)), benchRun(lines("BenchmarkX-2", x.unit, x.b...)))
		r := c.Benchmarks[0]
		if r.Verdict != x.want || r.Exact != x.exact || (r.P == nil) != x.exact {
			t.Errorf("%s: %s, exact %v, p %v; want %s, %v", x.name, r.Verdict, r.Exact, r.P, x.want, x.exact)
		}
		if r.Low != nil && (*r.Low > *r.Ratio || *r.High < *r.Ratio) {
			t.Errorf("%s: %v is outside %v to %v, want it inside", x.name, *r.Ratio, *r.Low, *r.High)
		}
	}
}

// Twenty benchmarks without any difference: with p uncorrected, one of them
// would be significant in two of three such comparisons.
func TestHolmAcrossBenchmarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	const trials = 200
	for range trials {
		var a, b [][]model.Benchmark
		for i := range 20 {
			name := "Benchmark" + strings.Repeat("X", i+1)
			for _, side := range []*[][]model.Benchmark{&a, &b} {
				var v []float64
				for range 10 {
					v = append(v, 100*math.Exp(0.05*rng.NormFloat64()))
				}
				*side = append(*side, lines(name, "ns/op", v...))
			}
		}
		c := compared(t, benchRun(a...), benchRun(b...))
		if slices.ContainsFunc(c.Benchmarks, func(r Benchmark) bool { return r.Verdict == Regressed || r.Verdict == Improved }) {
			found++
		}
	}
	if found > trials/10 { // 5% are allowed
		t.Errorf("%d of %d comparisons of equals found a difference, want at most a tenth", found, trials)
	}
}

func TestMatching(t *testing.T) {
	a := benchRun(lines("BenchmarkOld-2", "ns/op", 1), lines("BenchmarkSame-2", "ns/op", 1), lines("BenchmarkSub/size-10-2", "ns/op", 1))
	b := benchRun(lines("BenchmarkSame-8", "ns/op", 2), lines("BenchmarkSub/size-10-8", "ns/op", 2), lines("BenchmarkNew-8", "ns/op", 1))
	for i := range b.Model.Load.Benchmarks {
		b.Model.Load.Benchmarks[i].Package = "" // its head was cut off
	}
	c := compared(t, a, b)
	var names []string
	for _, r := range c.Benchmarks {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, []string{"Same-2", "Sub/size-10-2"}) || !slices.Equal(c.OnlyA, []string{"Old-2"}) || !slices.Equal(c.OnlyB, []string{"New-8"}) {
		t.Errorf("%q, only in A %q, only in B %q", names, c.OnlyA, c.OnlyB)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "GOMAXPROCS") }) {
		t.Errorf("nothing said of GOMAXPROCS: %q", c.Warnings)
	}
	if _, err := Runs(benchRun(lines("BenchmarkA", "ns/op", 1)), benchRun(lines("BenchmarkB", "ns/op", 1))); !errors.Is(err, ErrUnlike) {
		t.Errorf("nothing in common: %v", err)
	}
}

func TestRunsInBlocks(t *testing.T) {
	block := benchRun(lines("BenchmarkA", "ns/op", around(10, 6)...), lines("BenchmarkB", "ns/op", around(10, 6)...))
	var turns [][]model.Benchmark
	for _, v := range around(10, 6) {
		turns = append(turns, lines("BenchmarkA", "ns/op", v), lines("BenchmarkB", "ns/op", v))
	}
	says := func(a, b Reading, what string) bool {
		return slices.ContainsFunc(compared(t, a, b).Warnings, func(w string) bool { return strings.Contains(w, what) })
	}
	if !says(block, block, "in one block") || says(benchRun(turns...), benchRun(turns...), "in one block") {
		t.Error("runs that took turns are not told from blocks")
	}
	if few := benchRun(lines("BenchmarkA", "ns/op", 1, 2, 3)); !says(few, few, "too few runs: with 3 of each side p cannot be below 0.1") {
		t.Errorf("three runs: %q, want that they are too few", compared(t, few, few).Warnings)
	}
	if lone := benchRun(lines("BenchmarkA", "ns/op", around(10, 10)...)); !says(lone, lone, "perhaps run in one block") {
		t.Error("of a single benchmark nobody can tell how it was run")
	}
	if says(block, block, "too few") {
		t.Error("six runs of two benchmarks are enough: 2/924 for each")
	}
	exact := benchRun(lines("BenchmarkA", "allocs/op", 3, 3))
	if w := compared(t, exact, exact).Warnings; len(w) != 0 {
		t.Errorf("counters need no rounds: %q", w)
	}
}

func TestGeometricMeans(t *testing.T) {
	a := benchRun(lines("BenchmarkA", "ns/op", 10), lines("BenchmarkB", "ns/op", 40), lines("BenchmarkZ", "ns/op", 0))
	b := benchRun(lines("BenchmarkA", "ns/op", 20), lines("BenchmarkB", "ns/op", 20), lines("BenchmarkZ", "ns/op", 5))
	m := compared(t, a, b).Means
	if len(m) != 1 || m[0].Of != 2 || math.Abs(m[0].A-20) > 1e-9 || math.Abs(m[0].B-20) > 1e-9 || math.Abs(m[0].Ratio-1) > 1e-9 {
		t.Errorf("means %+v, want one of 2 benchmarks: 20 and 20, ratio 1", m)
	}
}

// The distribution of U by dealing out all ranks.
func TestWaysU(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 3}, {4, 4}, {3, 6}, {5, 5}} {
		n, m := size[0], size[1]
		want := make([]float64, n*m+1)
		for set := range 1 << (n + m) {
			u, ones, of := 0, 0, 0
			for i := range n + m {
				if set>>i&1 == 1 {
					of++
					u += i - ones
					ones++
				}
			}
			if of == n {
				want[u]++
			}
		}
		if got := waysU(n, m); !slices.Equal(got, want) {
			t.Errorf("waysU(%d, %d) = %v, want %v", n, m, got, want)
		}
	}
}

// The interval holds the truth in 95% of all samples at least: it is exact,
// and steps of a discrete distribution are on the safe side.
func TestIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 10, 30} {
		const trials = 2000
		missed := 0
		for range trials {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = rng.ExpFloat64(), rng.ExpFloat64()+0.3
			}
			low, high, ok := shiftInterval(a, b)
			if !ok {
				t.Fatalf("no interval of %d", n)
			}
			if low > 0.3 || high < 0.3 {
				missed++
			}
		}
		if share := float64(missed) / trials; share > 0.065 || share < 0.02 {
			t.Errorf("n %d: the truth is outside in %.1f%%, want 2%% to 6.5%%", n, 100*share)
		}
	}
	if _, _, ok := shiftInterval([]float64{1, 2, 3}, []float64{4, 5, 6}); ok {
		t.Error("three against three reject nothing at 5%, so there is no interval")
	}
}

// recorded returns a model of a program that worked for ten seconds.
func recorded(ops int64, cpu time.Duration, function string, line int) *model.Model {
	m := &model.Model{Load: &model.Load{Tool: "wrk", Ops: ops, Rate: float64(ops) / 10, Latency: []model.Quantile{{Q: 0.99, Value: time.Millisecond}}}}
	m.Run.Duration, m.Run.Go, m.Run.Procs = 10*time.Second, "go1.26", 2
	hot := m.Stacks.Add([]model.Frame{{Func: function, File: "main.go", Line: line}, {Func: "main.serve", File: "main.go", Line: 3}, {Func: "main.main", File: "main.go", Line: 1}})
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Samples: []model.Sample{{Stack: hot, Values: []int64{100, int64(cpu)}}}, Duration: 10 * time.Second}
	m.Sched = &model.Sched{Groups: []model.Group{{Name: "main.serve", Created: int(ops)}, {Name: "runtime.bg", System: true}},
		Waits: []model.Wait{{Kind: model.Sync, Reason: "sync", Stack: hot, Group: "main.serve", Count: ops, Total: cpu},
			{Kind: model.Sync, Reason: "wait", Stack: hot, Group: "runtime.bg", Total: time.Hour}}}
	return m
}

func TestRunsPerOperation(t *testing.T) {
	// B did twice the work with the same CPU: half for each operation.
	a := Reading{Name: "a", Model: recorded(1000, 8*time.Second, "main.slow", 10), Diagnosis: &diagnosis.Diagnosis{Verdict: diagnosis.Problem}, Command: "./app -n 3"}
	b := Reading{Name: "b", Model: recorded(2000, 8*time.Second, "main.fast", 12), Diagnosis: &diagnosis.Diagnosis{Verdict: diagnosis.Healthy}, Command: "./app -n 3"}
	c := compared(t, a, b)
	row := func(name string) *Row {
		i := slices.IndexFunc(c.Ledger, func(r Row) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("the ledger is %+v, want a row %q", c.Ledger, name)
		}
		return &c.Ledger[i]
	}
	if c.Per != PerOperation {
		t.Errorf("per %s, want %s", c.Per, PerOperation)
	}
	if r, ok := row("CPU").Ratio(); !ok || math.Abs(r-0.5) > 1e-9 {
		t.Errorf("CPU changed by %v", r)
	}
	if r, ok := row("goroutines created").Ratio(); !ok || math.Abs(r-1) > 1e-9 {
		t.Errorf("goroutines changed by %v", r)
	}
	if w, ok := row("operations a second").Worse(); !ok || math.Abs(w+0.5) > 1e-9 {
		t.Errorf("twice the throughput is worse by %v", w)
	}
	cpu := c.Tables[0]
	if cpu.Per != PerOperation || len(cpu.Rows) != 4 || cpu.Rows[0].Function != "main.slow" || math.Abs(cpu.Rows[0].A-0.008) > 1e-12 || cpu.Rows[0].B != 0 {
		t.Errorf("table of CPU %+v, want 4 functions per operation, main.slow first: 0.008 in A, 0 in B", cpu)
	}
	serve := cpu.Rows[slices.IndexFunc(cpu.Rows, func(e Entry) bool { return e.Function == "main.serve" })]
	if serve.A != 0 || math.Abs(serve.CumA-0.008) > 1e-12 || math.Abs(serve.CumB-0.004) > 1e-12 {
		t.Errorf("row of main.serve %+v, want 0.008 in A and 0.004 in B, in what it called", serve)
	}
	waits := c.Tables[1]
	if math.Abs(waits.TotalA-0.008) > 1e-12 || waits.Note == "" {
		t.Errorf("waits %+v, want 0.008 without the runtime's own, and a note", waits)
	}
	if len(c.Next) != 1 || c.Next[0].Run != "gowhy verify --help" || !strings.Contains(c.Summary, "not a verdict") {
		t.Errorf("summary %q, next %+v; want that it decides nothing, and how to verify", c.Summary, c.Next)
	}
	if j := c.Judge(DefaultLimits); j.Verdict != Same {
		t.Errorf("%+v of a program that became better, want %s", j, Same)
	}
	if j := compared(t, b, a).Judge(DefaultLimits); j.Verdict != Inconclusive {
		t.Errorf("Judge() of a single run that is worse = %+v, want %s", j, Inconclusive)
	}
}

func TestRunsPerSecond(t *testing.T) {
	a, b := recorded(1000, 8*time.Second, "main.f", 10), recorded(1000, 4*time.Second, "main.f", 11)
	a.Load, b.Load = nil, nil
	c := compared(t, Reading{Model: a}, Reading{Model: b})
	i := slices.IndexFunc(c.Ledger, func(r Row) bool { return r.Name == "CPU" })
	if c.Per != PerSecond || i < 0 || math.Abs(*c.Ledger[i].A-0.8) > 1e-9 || c.Ledger[i].Metric != "" {
		t.Errorf("per %s: %+v, want 0.8 of CPU per second and no metric", c.Per, c.Ledger)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "per second") }) {
		t.Errorf("warnings %q, want one that it is per second", c.Warnings)
	}
	// Profiles that do not say how long they took are compared as they are.
	a.CPU.Duration, b.CPU.Duration = 0, 0
	if c := compared(t, Reading{Model: a}, Reading{Model: b}); c.Tables[0].Per != PerRun || c.Tables[0].TotalA != 8 {
		t.Errorf("table %+v, want 8 in A per run", c.Tables[0])
	}
}

func TestFindingChanges(t *testing.T) {
	f := func(rule, where string, cost float64) diagnosis.Finding {
		return diagnosis.Finding{Rule: rule, Where: []diagnosis.Place{{Function: where}}, Cost: diagnosis.Cost{Value: cost, Unit: fact.Cores, What: "x"}}
	}
	cause := f("hotmutex", "main.a", 2)
	cause.Symptoms = []diagnosis.Finding{f("schedlatency", "main.z", 1)}
	list := findings(&diagnosis.Diagnosis{Findings: []diagnosis.Finding{cause, f("leak", "main.b", 1), f("leak", "main.c", 1)}},
		&diagnosis.Diagnosis{Findings: []diagnosis.Finding{f("leak", "main.c", 3), f("leak", "main.moved", 1), f("hotmutex", "main.a", 1), f("tinyheap", "", 1)}})
	var got []string
	for _, c := range list {
		cost := ""
		if c.A != nil && c.B != nil {
			cost = changeText(c.B.Value / c.A.Value)
		}
		got = append(got, c.State+" "+c.Rule+" "+c.Where.Function+" "+cost)
	}
	want := []string{"new tinyheap  ", "gone schedlatency main.z ", "both hotmutex main.a −50.0%", "both leak main.moved unchanged", "both leak main.c ×3"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTrials(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rounds := func(effect, speed float64) Rounds {
		r := Rounds{Primary: diagnosis.CPUPerOp, Metrics: []diagnosis.Metric{diagnosis.CPUPerOp, diagnosis.OpsPerSec}, Pairs: map[diagnosis.Metric][][2]float64{}}
		for range 20 {
			v := speed * math.Exp(0.1*rng.NormFloat64())
			w := v * effect * math.Exp(0.02*rng.NormFloat64())
			r.Pairs[diagnosis.CPUPerOp] = append(r.Pairs[diagnosis.CPUPerOp], [2]float64{v, w})
			r.Pairs[diagnosis.OpsPerSec] = append(r.Pairs[diagnosis.OpsPerSec], [2]float64{1 / v, 1 / w})
		}
		return r
	}
	// The machine of the second trial is three times slower; the effect is the same.
	c, err := Trials(rounds(0.8, 1), rounds(0.8, 3))
	if err != nil || c.Effects[0].Verdict == Regressed || c.Effects[0].Verdict == Improved || c.Judge(DefaultLimits).Verdict != Same {
		t.Errorf("Trials() = %+v, %v; want no effect, %s", c, err, Same)
	}
	c, err = Trials(rounds(0.8, 1), rounds(1, 1))
	if err != nil || c.Effects[0].Verdict != Regressed || c.Effects[1].Verdict != Regressed || c.Judge(DefaultLimits).Verdict != Regressed {
		t.Errorf("an effect that is gone: %+v, %v; want %s", c, err, Regressed)
	}
	// The benchmark's name is before the unit that decides what is better.
	rates := func(ratio float64) Rounds {
		r := Rounds{Metrics: []diagnosis.Metric{"BenchmarkA MB/s", "BenchmarkA allocs/op", "BenchmarkA widgets"}, Pairs: map[diagnosis.Metric][][2]float64{}}
		for _, v := range around(1, 20) {
			for _, m := range r.Metrics {
				r.Pairs[m] = append(r.Pairs[m], [2]float64{1, ratio * v})
			}
		}
		return r
	}
	c, err = Trials(rates(1), rates(1.5))
	if err != nil || c.Effects[0].Verdict != Improved || c.Effects[1].Verdict != Regressed || c.Effects[2].Verdict != Changed {
		t.Errorf("benchmarks: %+v, %v; want %s, %s and %s", c, err, Improved, Regressed, Changed)
	}
	if j := c.Judge(DefaultLimits); j.Verdict != Regressed || len(j.Why) != 1 || !strings.Contains(j.Why[0], "allocs/op") {
		t.Errorf("benchmarks: %+v, want %s because of allocs/op", j, Regressed)
	}
	if _, err := Trials(Rounds{}, Rounds{}); !errors.Is(err, ErrUnlike) {
		t.Errorf("no rounds: %v", err)
	}
}

func TestJudge(t *testing.T) {
	a := benchRun(lines("BenchmarkA", "allocs/op", 100, 100), lines("BenchmarkB", "ns/op", around(10, 10)...))
	for _, x := range []struct {
		allocs, time float64
		limits       Limits
		want         Verdict
	}{
		{100, 10, DefaultLimits, Same},
		{120, 10, DefaultLimits, Regressed},
		{120, 10, Limits{"allocs/op": 0.25}, Same},
		{120, 10, Limits{}, Same},
		{100, 12, DefaultLimits, Regressed},
		{100, 10.4, DefaultLimits, Same},
		{80, 8, DefaultLimits, Same},
	} {
		b := benchRun(lines("BenchmarkA", "allocs/op", x.allocs, x.allocs), lines("BenchmarkB", "ns/op", around(x.time, 10)...))
		if j := compared(t, a, b).Judge(x.limits); j.Verdict != x.want {
			t.Errorf("%+v: judged %+v, want %s", x, j, x.want)
		}
	}
	few := benchRun(lines("BenchmarkB", "ns/op", 10, 11, 10))
	slow := benchRun(lines("BenchmarkB", "ns/op", 20, 21, 20))
	if j := compared(t, few, slow).Judge(DefaultLimits); j.Verdict != Inconclusive || len(j.Why) != 1 {
		t.Errorf("Judge() of three runs, twice as slow = %+v, want %s for one reason", j, Inconclusive)
	}
}

func TestJSON(t *testing.T) {
	c := compared(t, benchRun(lines("BenchmarkA", "allocs/op", 0, 0), lines("BenchmarkB", "ns/op", around(10, 10)...)),
		benchRun(lines("BenchmarkA", "allocs/op", 5, 5), lines("BenchmarkB", "ns/op", around(12, 10)...)))
	var b bytes.Buffer
	if err := c.Encode(&b); err != nil {
		t.Fatal(err)
	}
	var again Comparison
	if err := json.Unmarshal(b.Bytes(), &again); err != nil || !reflect.DeepEqual(*c, again) || again.Kind != kind || again.Schema != Schema {
		t.Errorf("saved comparison: %v\n%+v\nwant\n%+v", err, again, c)
	}
}

// Whatever benchmarks print, a comparison of it can be saved.
func FuzzBenchmarks(f *testing.F) {
	f.Add("BenchmarkA-2", "ns/op", 1.0, 2.0, 3.0, uint8(4))
	f.Add("Benchmark", "", math.Inf(1), math.NaN(), -1.0, uint8(1))
	f.Add("BenchmarkA/b-", "B/op", 0.0, 5e-324, math.MaxFloat64, uint8(30))
	f.Add("BenchmarkA", "ns/op", 1e-100, 1e100, 1e100, uint8(30))
	f.Fuzz(func(t *testing.T, name, unit string, x, y, z float64, n uint8) {
		var a, b []float64
		for i := range int(n)%40 + 1 {
			a = append(a, []float64{x, y, z}[i%3])
			b = append(b, []float64{z, x, y, y}[i%4])
		}
		c, err := Runs(benchRun(lines(name, unit, a...), lines(name+"2", unit, a...)), benchRun(lines(name, unit, b...), lines(name+"2", unit, b...)))
		if err != nil {
			return
		}
		c.Judge(DefaultLimits)
		if err := c.Encode(new(bytes.Buffer)); err != nil {
			t.Error(err)
		}
	})
}

// Nor what a trial says.
func FuzzTrials(f *testing.F) {
	f.Add("cpu/op", 1.0, 2.0, 3.0)
	f.Add("BenchmarkA MB/s", 5e-324, math.MaxFloat64, 1.0)
	f.Add(" ", math.Inf(1), math.NaN(), -1.0)
	f.Fuzz(func(t *testing.T, metric string, x, y, z float64) {
		m := diagnosis.Metric(metric)
		rounds := func(a, b float64) Rounds {
			return Rounds{Metrics: []diagnosis.Metric{m}, Pairs: map[diagnosis.Metric][][2]float64{m: {{a, b}, {b, a}, {a, a}, {b, z}}}}
		}
		c, err := Trials(rounds(x, y), rounds(y, z))
		if err != nil {
			return
		}
		c.Judge(DefaultLimits)
		if err := c.Encode(new(bytes.Buffer)); err != nil {
			t.Error(err)
		}
	})
}

// Other versions of Go are told, and that bytes do not compare where sizes are counted
// otherwise.
func TestRunsOfOtherVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want []string
	}{
		{"go1.26.8", "go1.26.8", nil},
		{"go1.26", "go1.26.8", nil},
		{"go1.25.5", "go1.26.8", []string{"A ran with go1.25.5, B with go1.26.8"}},
		{"go1.27.4", "go1.26.8", []string{"A ran with go1.27.4, B with go1.26.8", "Go 1.27 counts the sizes"}},
		{"", "go1.27.4", nil},
	} {
		var r Comparison
		r.doubts(&side{m: &model.Model{Run: model.Run{Go: c.a}}}, &side{m: &model.Model{Run: model.Run{Go: c.b}}})
		if len(r.Warnings) != len(c.want) {
			t.Errorf("%s and %s: warnings %q, want %q", c.a, c.b, r.Warnings, c.want)
			continue
		}
		for i, w := range c.want {
			if !strings.HasPrefix(r.Warnings[i], w) {
				t.Errorf("%s and %s: warning %q, want %q", c.a, c.b, r.Warnings[i], w)
			}
		}
	}
}

// Runs of different programs are called that; of the same program in another version, or
// where little is known, nothing is said.
func TestRunsOfOtherPrograms(t *testing.T) {
	built := func(path string) *model.Model { return &model.Model{Build: &model.Build{Path: path}} }
	started := func(names ...string) *model.Model {
		m := &model.Model{Sched: &model.Sched{}}
		for _, n := range names {
			m.Sched.Groups = append(m.Sched.Groups, model.Group{Name: n})
		}
		return m
	}
	for _, c := range []struct {
		a, b *model.Model
		want string
	}{
		{built("example.com/a"), built("example.com/a"), ""},
		{built("example.com/a"), built("example.com/b"), "A is example.com/a and B is example.com/b"},
		{built("command-line-arguments"), built("example.com/b"), ""},
		{started("main.main", "main.work", "example.com/a.serve"), started("main.main", "main.other", "example.com/b.serve"), "perhaps different programs"},
		{started("main.main", "main.work", "main.serve"), started("main.work", "main.other"), ""},
		{started("main.main", "main.work"), started("main.main", "main.other"), ""},
		{started("main.main", "net/http.(*conn).serve", "runtime.gcBgMarkWorker"), started("main.a", "main.b"), ""},
		{built("example.com/a"), started("main.a", "main.b"), ""},
	} {
		var r Comparison
		r.doubts(&side{m: c.a}, &side{m: c.b})
		if got := strings.Join(r.Warnings, "; "); !strings.Contains(got, c.want) || r.unlike != (c.want != "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
