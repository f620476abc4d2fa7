package trialreport

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// comparedModel returns a program that did ops operations in ten seconds.
func comparedModel(ops int64, cpu time.Duration, function string) *model.Model {
	m := &model.Model{Load: &model.Load{Tool: "wrk", Ops: ops, Rate: float64(ops) / 10,
		Latency: []model.Quantile{{Q: 0.5, Value: cpu / time.Duration(ops)}, {Q: 0.99, Value: 9 * cpu / time.Duration(ops)}}}}
	m.Run.Duration, m.Run.Go = 10*time.Second, "go1.26"
	add := func(names ...string) model.Stack {
		var frames []model.Frame
		for i, n := range names {
			frames = append(frames, model.Frame{Func: n, File: "main.go", Line: 10 + i})
		}
		return m.Stacks.Add(frames)
	}
	hot, malloc := add(function, "main.serve", "main.main"), add("runtime.mallocgc", "main.serve", "main.main")
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: 10 * time.Second,
		Samples: []model.Sample{{Stack: hot, Values: []int64{60, int64(cpu) * 3 / 4}}, {Stack: malloc, Values: []int64{20, int64(cpu) / 4}}}}
	m.Sched = &model.Sched{Groups: []model.Group{{Name: "main.serve", Created: int(ops)}},
		Waits: []model.Wait{{Kind: model.Sync, Reason: "sync", Stack: hot, Group: "main.serve", Count: ops, Total: 3 * cpu}}}
	return m
}

func benchLines(name string, units map[string][]float64) (list []model.Benchmark) {
	for i := range 8 {
		values := map[string]float64{}
		for u, v := range units {
			values[u] = v[i%len(v)]
		}
		list = append(list, model.Benchmark{Package: "example.com/p", Name: name, N: 100, Values: values})
	}
	return list
}

// comparisons returns one of each kind.
func comparisons(t *testing.T) map[string]*compare.Comparison {
	t.Helper()
	finding := func(rule, title string, cost float64) diagnosis.Finding {
		return diagnosis.Finding{Rule: rule, Title: title, Where: []diagnosis.Place{{Function: "main.serve"}}, Cost: diagnosis.Cost{Value: cost, Unit: fact.Cores, What: "in use"}}
	}
	runs := func(function string) (a, b compare.Reading) {
		return compare.Reading{Name: "old.gowhy", Model: comparedModel(1000, 8*time.Second, "main.slow"), Command: "./app -n 10",
				Diagnosis: &diagnosis.Diagnosis{Verdict: diagnosis.Problem, Findings: []diagnosis.Finding{finding("hotmutex", "A hot lock", 0.6), finding("gccost", "Costly collections", 0.2)}}},
			compare.Reading{Name: "new.gowhy", Model: comparedModel(2500, 6*time.Second, function),
				Diagnosis: &diagnosis.Diagnosis{Verdict: diagnosis.Problem, Findings: []diagnosis.Finding{finding("gccost", "Costly collections", 0.1), finding("smallio", "Small writes", 0.05)}}}
	}
	bench := func(scale float64) compare.Reading {
		m := &model.Model{Load: &model.Load{Tool: "go test", Benchmarks: append(
			benchLines("BenchmarkParse/long-2", map[string][]float64{"ns/op": {1500 * scale, 1520 * scale, 1490 * scale, 1505 * scale, 1511 * scale}, "allocs/op": {12 * scale}, "B/op": {4096}}),
			benchLines("BenchmarkSkip-2", map[string][]float64{"ns/op": {0.25, 0.26, 0.255}, "allocs/op": {0}, "B/op": {0}, "widgets": {3, 4}})...)}}
		return compare.Reading{Name: "bench.txt", Model: m}
	}
	of := func(a, b compare.Reading) *compare.Comparison {
		c, err := compare.Runs(a, b)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rounds := func(name string, effect float64) compare.Rounds {
		r := compare.Rounds{Name: name, Primary: diagnosis.CPUPerOp, Metrics: []diagnosis.Metric{diagnosis.CPUPerOp}, Pairs: map[diagnosis.Metric][][2]float64{}}
		for i := range 12 {
			v := 1 + 0.01*float64(i%5)
			r.Pairs[diagnosis.CPUPerOp] = append(r.Pairs[diagnosis.CPUPerOp], [2]float64{v, v * effect * (1 + 0.003*float64(i%7))})
		}
		return r
	}
	trials, err := compare.Trials(rounds("monday.json", 0.7), rounds("friday.json", 0.95))
	if err != nil {
		t.Fatal(err)
	}
	pair := func(a, b compare.SavedResult) *compare.Comparison {
		c, err := compare.Results(a, b)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	whole := func(name string, effect, counted float64, claim string) compare.SavedResult {
		r := rounds(name, effect)
		r.Metrics, r.Diagnosed = append(r.Metrics, diagnosis.AllocsOp), true
		r.Found = map[diagnosis.Metric]compare.MetricResult{
			diagnosis.CPUPerOp: {Ratio: effect, Low: effect * 0.97, High: effect * 1.03, Verdict: compare.Improved},
			diagnosis.AllocsOp: {Ratio: counted, Low: counted, High: counted, Exact: true, Verdict: compare.Improved}}
		r.Claims = []compare.Claim{{Rule: "hotmutex", Title: "A hot lock", State: compare.Gone}, {Rule: claim, Title: "It is " + claim, State: compare.New}}
		return compare.SavedResult{Trial: &r}
	}
	number := func(v float64) *float64 { return &v }
	search := func(name string, chosen, scale float64) compare.SavedResult {
		l := compare.Line{Knob: "buf<b>\x1b[31m", Bytes: true, Goal: diagnosis.P99, Chosen: &chosen}
		for _, v := range []float64{4096, 65536, 1 << 20, 100} {
			g := scale * (0.002 + 10/v)
			l.Points = append(l.Points, compare.Point{Value: v, Goal: &g, Low: number(g * 0.96), High: number(g * 1.05), ToBest: number(1 + 10/v), Kept: true})
		}
		return compare.SavedResult{Search: &compare.Search{Name: name, Lines: []compare.Line{l, {Knob: "only " + name, Goal: diagnosis.P99}}}}
	}
	capacity := func(name, limit string, low float64) compare.SavedResult {
		return compare.SavedResult{Capacity: &compare.Capacity{Name: name, Bracket: compare.Bracket{Low: low, High: 1.04 * low, Limit: limit}}}
	}
	table := func(name string, rate float64) compare.SavedResult {
		return compare.SavedResult{Capacity: &compare.Capacity{Name: name, Table: true, Cells: []compare.Cell{{Setting: "processes=1", Rate: rate}, {Setting: "processes=2", Rate: 1.9 * rate}}}}
	}
	a, b := runs("main.fast")
	evilA, evilB := runs("main.<b>\x1b[31m|`x`\n@all\u202e")
	evilA.Name = "a\nb\x1b[2J|c"
	return map[string]*compare.Comparison{"runs": of(a, b), "hostile": of(evilA, evilB), "bench": of(bench(1), bench(1.25)), "trials": trials,
		"whole-trials": pair(whole("monday.json", 0.7, 0.5, "leak"), whole("friday.json", 0.95, 0.8, "spinloop")),
		"searches":     pair(search("old.json", 65536, 1), search("new.json", 4096, 0.8)),
		"capacities":   pair(capacity("old.json", "backlog", 1000), capacity("new.json", "latency", 1700)),
		"tables":       pair(table("old.json", 1000), table("new.json", 900))}
}

func comparisonBytes(t *testing.T, format string, c *compare.Comparison, o ComparisonOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ComparisonFormats[format](&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What rounds to a thousand has the next unit, and a share that nobody can see
// no exponent.
func TestComparedFigures(t *testing.T) {
	for got, want := range map[string]string{
		benchmarkValue(999.7, "ns/op"): "1.00 µs", benchmarkValue(999.2, "ns/op"): "999 ns", benchmarkValue(whole(2.9999999999999996), "allocs/op"): "3",
		benchmarkValue(whole(2.99), "allocs/op"): "2.99",
		shareOf(1, 1e7):                          "<0.01%", shareOf(0, 3): "0%", shareOf(1, 2): "50.0%", shareOf(1, 0): "-",
	} {
		if got != want {
			t.Errorf("text %q, want %q", got, want)
		}
	}
}

func TestComparisonGolden(t *testing.T) {
	for name, c := range comparisons(t) {
		again := new(compare.Comparison)
		if err := json.Unmarshal(comparisonBytes(t, "json", c, ComparisonOptions{}), again); err != nil {
			t.Fatal(err)
		}
		for format, ending := range map[string]string{"text": "txt", "markdown": "md"} {
			out := comparisonBytes(t, format, c, ComparisonOptions{Top: 3})
			golden(t, "comparison-"+name+"."+ending, out)
			if saved := comparisonBytes(t, format, again, ComparisonOptions{Top: 3}); !bytes.Equal(out, saved) {
				t.Errorf("%s, %s: a saved one reads differently", name, format)
			}
			if bytes.ContainsAny(out, "\x1b\u202e\r") {
				t.Errorf("%s, %s: control characters in %q, want none", name, format, out)
			}
		}
	}
}

func TestComparisonLooks(t *testing.T) {
	c := comparisons(t)
	out := string(comparisonBytes(t, "text", c["runs"], ComparisonOptions{Options: layout.Options{Width: 60}, Top: 2}))
	for l := range strings.Lines(out) {
		if n := len([]rune(l)); n > 61 && !strings.Contains(l, "$ ") && !strings.Contains(l, "→") {
			t.Errorf("a line of %d on a screen of 60, want at most 60: %s", n, l)
		}
	}
	if !strings.Contains(out, "more rows; --top 0 shows all") {
		t.Errorf("rows are hidden silently:\n%s", out)
	}
	if out := string(comparisonBytes(t, "text", c["runs"], ComparisonOptions{Options: layout.Options{Color: true}})); !strings.Contains(out, "\x1b[") {
		t.Error("no colours")
	}
	for name, f := range ComparisonFormats {
		if err := f(failing{}, c["bench"], ComparisonOptions{}); err == nil {
			t.Errorf("%s does not tell that it could not be written", name)
		}
	}
}

// Whatever was measured, or looks as if it had been, can be shown.
func FuzzComparison(f *testing.F) {
	f.Add([]byte(`{"kind":"gowhy comparison","schema":1,"summary":"x","ledger":[{"name":"CPU","unit":"seconds","a":1e300,"b":-1}],"tables":[{"rows":[{"a":1}]}],` +
		`"benchmarks":[{"unit":"ns/op","a":1e308,"ratio":0}],"means":[{"unit":"ns/op"}],"effects":[{"metric":"p99"}],"findings":[{"state":"odd"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := new(compare.Comparison)
		if json.Unmarshal(data, c) != nil {
			return
		}
		for _, format := range ComparisonFormatNames() {
			out := comparisonBytes(t, format, c, ComparisonOptions{Top: 3})
			if format != "json" && bytes.ContainsAny(out, "\x1b\u202e") {
				t.Errorf("%s: control characters in %q, want none", format, out)
			}
		}
		c.Judge(compare.DefaultLimits)
	})
}
