package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A simulation is a program whose elapsed time is a known function of its
// settings, on a machine that drifts.
type simulation struct {
	seconds func(Setting) float64
	noise   float64 // of single runs
	drift   float64 // from each run to the next
	random  *rand.Rand
	runs    int
	after   func(n int, s *Sample) error
}

func (m *simulation) at(set Setting) Runner {
	return func(context.Context) (Sample, error) {
		m.runs++
		elapsed := m.seconds(set) * math.Exp(m.noise*m.random.NormFloat64()+m.drift*float64(m.runs))
		s := Sample{Elapsed: time.Duration(elapsed * 1e9), Ops: 1000,
			Values: map[diagnosis.Metric]float64{diagnosis.PeakRSS: 1e6 * (10 + set["workers"]), diagnosis.P99: 0.001 * set["workers"]}}
		var err error
		if m.after != nil {
			err = m.after(m.runs, &s)
		}
		return s, err
	}
}

func law(lambda, sigma, kappa float64) func(Setting) float64 {
	return func(s Setting) float64 {
		n := s["workers"]
		return (1 + sigma*(n-1) + kappa*n*(n-1)) / (lambda * n)
	}
}

var workers = Knob{Name: "workers", Low: 1, High: 1000, Integer: true, Start: 10, Counts: Workers}

// threads is the same knob without what is only done for workers.
var threads = Knob{Name: "workers", Low: 1, High: 1000, Integer: true, Start: 10}

func (m *simulation) tune(t *testing.T, s Search) *Tuned {
	t.Helper()
	if m.random == nil {
		m.random = rand.New(rand.NewPCG(1, s.Seed*0x9e3779b97f4a7c15))
	}
	s.At = m.at
	if s.Knobs == nil {
		s.Knobs = []Knob{workers}
	}
	if s.Goal.Metric == "" {
		s.Goal.Metric = diagnosis.Elapsed
	}
	out, err := Tune(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		k    Knob
		want string
	}{
		{workers, "[1 2 4 8 16 32 64 128 256 512 1000]"},
		{Knob{Low: 1, High: 8, Integer: true}, "[1 2 4 8]"},
		{Knob{Low: 3, High: 50, Integer: true}, "[3 6 12 24 50]"},
		{Knob{Low: 0, High: 4, Integer: true}, "[0 1 2 4]"},
		{Knob{Low: 0.1, High: 1}, "[0.1 0.2 0.4 0.8 1]"},
		{Knob{Values: []float64{400, 50, 100, 50}}, "[50 100 400]"},
		{Knob{Low: 0, High: 1}, "must begin above 0"},
		{Knob{Low: 5, High: 5}, "no range"},
		{Knob{Low: 1, High: math.Inf(1)}, "no range"},
		{Knob{Low: math.NaN(), High: 2}, "no range"},
		{Knob{Low: 1e-300, High: 1e300}, "too wide"},
		{Knob{Values: make([]float64, 1), Low: 1}, "[0]"},
	} {
		got, err := c.k.grid()
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && fmt.Sprint(got) != c.want {
			t.Errorf("grid() of %+v = %v, %v, want %s", c.k, got, err, c.want)
		}
	}
}

// A knee that is known is found through noise and drift: not above it by more
// than the grid between, and as good as the best within what the rule allows.
func TestTuneFindsTheKnee(t *testing.T) {
	curves := map[string]func(Setting) float64{
		"law":    law(1, 0.02, 0.0005), // N* = 44
		"cores":  func(s Setting) float64 { return 1 / min(s["workers"], 24) },
		"falls":  func(s Setting) float64 { n := s["workers"]; return 1/min(n, 4) + 0.001*n },
		"narrow": func(s Setting) float64 { return 1 + math.Abs(math.Log(s["workers"]/100)) },
	}
	for name, f := range curves {
		good := 0
		const seeds = 20
		best, smallest := math.Inf(1), 0.0
		for n := 1.0; n <= 1000; n++ {
			best = min(best, f(Setting{"workers": n}))
		}
		for n := 1000.0; n >= 1; n-- {
			if f(Setting{"workers": n}) <= best*(1+NearBest) {
				smallest = n
			}
		}
		for seed := range uint64(seeds) {
			m := &simulation{seconds: f, noise: 0.03, drift: 0.002}
			got := m.tune(t, Search{Seed: seed, Knobs: []Knob{threads}})
			chosen := got.Chosen["workers"]
			// One standard error of what is at best known to 2% is allowed
			// beyond the margin, and the gap to the next point below.
			if f(Setting{"workers": chosen}) <= best*1.10 && chosen <= smallest*1.7+1 {
				good++
			} else {
				t.Logf("%s: chose %v: %.3g× the best; the smallest near it is %v", name, chosen, f(Setting{"workers": chosen})/best, smallest)
			}
			if m.runs > 160 {
				t.Errorf("%s: %d runs", name, m.runs)
			}
		}
		if good < seeds-1 {
			t.Errorf("%s: %d of %d searches found it", name, good, seeds)
		}
	}
}

// Where the count makes no difference the smallest is taken, however noisy the
// machine is.
func TestTuneFlatTakesTheSmallest(t *testing.T) {
	for _, noise := range []float64{0, 0.02, 0.10} {
		good := 0
		const seeds = 20
		for seed := range uint64(seeds) {
			m := &simulation{seconds: func(Setting) float64 { return 1 }, noise: noise, drift: -0.003}
			if m.tune(t, Search{Seed: seed, Knobs: []Knob{threads}}).Chosen["workers"] == 1 {
				good++
			}
		}
		if good < seeds*9/10 {
			t.Errorf("noise %v: %d of %d searches took the smallest", noise, good, seeds)
		}
	}
}

// Every round visits all points, each in its own order.
func TestTuneInterleaves(t *testing.T) {
	m := &simulation{seconds: law(1, 0, 0)}
	var order []float64
	at := func(s Setting) Runner {
		order = append(order, s["workers"])
		return m.at(s)
	}
	m.random = rand.New(rand.NewPCG(1, 1))
	if _, err := Tune(t.Context(), Search{Knobs: []Knob{{Name: "workers", Low: 1, High: 64, Integer: true}}, Goal: Goal{Metric: diagnosis.Elapsed}, At: at}, nil); err != nil {
		t.Fatal(err)
	}
	var first []float64
	for round := range 3 {
		visited := slices.Clone(order[7*round : 7*round+7])
		if round == 0 {
			first = slices.Clone(visited)
		} else if slices.Equal(first, visited) {
			t.Errorf("rounds 0 and %d have the same order %v", round, visited)
		}
		slices.Sort(visited)
		if fmt.Sprint(visited) != "[1 2 4 8 16 32 64]" {
			t.Errorf("round %d visits %v", round, visited)
		}
	}
}

func TestTuneKeepsLimits(t *testing.T) {
	m := &simulation{seconds: func(s Setting) float64 { return 1 / min(s["workers"], 64) }, noise: 0.01}
	got := m.tune(t, Search{Keep: []Keep{{diagnosis.P99, 0.020, true}}}) // workers ≤ 20
	if w := got.Chosen["workers"]; w > 20 || w < 16 {
		t.Errorf("chose %v workers", w)
	}
	m = &simulation{seconds: func(Setting) float64 { return 1 }, noise: 0.01}
	got = m.tune(t, Search{Keep: []Keep{{diagnosis.PeakRSS, 1, true}}})
	if c := got.Curves[0]; c.Chosen != -1 || c.Best != -1 || got.Chosen["workers"] != 10 || c.Points[0].Ratio == 0 {
		t.Errorf("nothing holds the limit: chosen %d, best %d, %v workers, ratio %v at first, want -1, -1, 10, not 0",
			c.Chosen, c.Best, got.Chosen["workers"], c.Points[0].Ratio)
	}
	m = &simulation{seconds: law(1, 0.1, 0.001), noise: 0.01}
	got = m.tune(t, Search{Goal: Goal{diagnosis.OpsPerSec, true}, Keep: []Keep{{diagnosis.OpsPerSec, 0, false}}})
	if w := got.Chosen["workers"]; w < 15 || w > 40 { // N* = 30
		t.Errorf("for throughput: chose %v workers", w)
	}
}

func TestTuneMetrics(t *testing.T) {
	m := &simulation{seconds: law(1, 0, 0), random: rand.New(rand.NewPCG(1, 1))}
	_, err := Tune(t.Context(), Search{Knobs: []Knob{workers}, Goal: Goal{Metric: diagnosis.AllocsOp}, At: m.at}, nil)
	var missing *MissingMetricError
	if !errors.As(err, &missing) || missing.Metric != diagnosis.AllocsOp || m.runs != 1 ||
		!slices.Equal(missing.Measured, []diagnosis.Metric{diagnosis.Elapsed, diagnosis.OpsPerSec, diagnosis.P99, diagnosis.PeakRSS}) {
		t.Errorf("%v after %d runs", err, m.runs)
	}
}

func TestTuneBusyMachine(t *testing.T) {
	// A neighbour for a while: its runs are slow and do not count.
	m := &simulation{seconds: func(s Setting) float64 { return 1 / min(s["workers"], 8) }, noise: 0.01,
		after: func(n int, s *Sample) error {
			if n > 20 && n < 30 {
				s.Elapsed *= 3
				s.Conditions.Others = 0.4
			}
			return nil
		}}
	got := m.tune(t, Search{})
	if got.Dropped != 9 || got.Chosen["workers"] != 8 || got.Runs+got.Dropped != m.runs {
		t.Errorf("%d dropped, %d counted of %d, chose %v", got.Dropped, got.Runs, m.runs, got.Chosen)
	}
	// One that stays: all count.
	m = &simulation{seconds: func(s Setting) float64 { return 1 / min(s["workers"], 8) }, noise: 0.01,
		after: func(_ int, s *Sample) error { s.Conditions.Steal = 0.2; return nil }}
	got = m.tune(t, Search{})
	if got.Dropped != 0 || got.Runs != m.runs || got.Chosen["workers"] != 8 || len(got.Warnings) != 1 {
		t.Errorf("%d dropped, %d of %d counted, chose %v, %q", got.Dropped, got.Runs, m.runs, got.Chosen, got.Warnings)
	}
}

func TestTuneFailures(t *testing.T) {
	tooMany := errors.New("too many open files")
	m := &simulation{seconds: func(s Setting) float64 { return 1 / s["workers"] }, noise: 0.01}
	at := func(s Setting) Runner {
		if s["workers"] > 100 {
			return func(context.Context) (Sample, error) { return Sample{}, tooMany }
		}
		return m.at(s)
	}
	m.random = rand.New(rand.NewPCG(1, 1))
	got, err := Tune(t.Context(), Search{Knobs: []Knob{workers}, Goal: Goal{Metric: diagnosis.Elapsed}, At: at, Seed: 3}, nil)
	if err != nil || got.Chosen["workers"] < 64 || got.Chosen["workers"] > 100 {
		t.Errorf("some fail: %v, %v", got.Chosen, err)
	}
	for _, p := range got.Curves[0].Points {
		if (p.Failed != "") != (p.Value > 100) {
			t.Errorf("%v: %q", p.Value, p.Failed)
		}
	}
	runs := 0
	never := func(Setting) Runner {
		return func(context.Context) (Sample, error) { runs++; return Sample{}, tooMany }
	}
	if _, err = Tune(t.Context(), Search{Knobs: []Knob{workers}, Goal: Goal{Metric: diagnosis.Elapsed}, At: never}, nil); !errors.Is(err, tooMany) || runs != givenUp {
		t.Errorf("all fail: %v after %d runs", err, runs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m.after = func(n int, _ *Sample) error {
		if n > 40 {
			cancel()
		}
		return nil
	}
	m.runs = 0
	got, err = Tune(ctx, Search{Knobs: []Knob{workers}, Goal: Goal{Metric: diagnosis.Elapsed}, At: m.at}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: Tune() = %v, want %v", err, context.Canceled)
	} else if len(got.Curves) != 1 || got.Curves[0].Chosen < 0 {
		t.Errorf("interrupted: Tune() = curves %+v, want one with a point that is chosen", got.Curves)
	}
	for _, knobs := range [][]Knob{nil, {workers, workers}, {{Name: "x"}}} {
		if _, err := Tune(t.Context(), Search{Knobs: knobs, At: m.at}, nil); err == nil {
			t.Errorf("Tune() of the knobs %+v gives no error, want one", knobs)
		}
	}
}

// Of several knobs each is searched with what was chosen before, and the whole
// is checked.
func TestTuneSeveralKnobs(t *testing.T) {
	f := func(s Setting) float64 {
		return 1/min(s["workers"], 16) + 0.1*math.Abs(math.Log2(s["batch"]/32))
	}
	m := &simulation{seconds: f, noise: 0.01}
	got := m.tune(t, Search{Knobs: []Knob{
		{Name: "workers", Low: 1, High: 64, Integer: true, Start: 2},
		{Name: "batch", Values: []float64{8, 32, 128}, Start: 8},
	}})
	if got.Chosen["workers"] < 12 || got.Chosen["workers"] > 16 || got.Chosen["batch"] != 32 {
		t.Errorf("chose %v", got.Chosen)
	}
	if got.Curves[0].Others["batch"] != 8 || got.Curves[1].Others["workers"] != got.Chosen["workers"] {
		t.Errorf("others are %v and %v", got.Curves[0].Others, got.Curves[1].Others)
	}
	if got.Together == nil || got.Together.Conclusion != Confirmed {
		t.Errorf("together: %+v, want a trial that is %s", got.Together, Confirmed)
	}
}

func TestTunedEncodes(t *testing.T) {
	m := &simulation{seconds: law(1, 0.02, 0.0005), noise: 0.03}
	got := m.tune(t, Search{Repeats: 1, Knobs: []Knob{{Name: "workers", Values: []float64{1, 5}, Counts: Workers}}})
	var b bytes.Buffer
	if err := got.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"kind": "gowhy tune"`) {
		t.Error(b.String())
	}
	var back Tuned
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.Encode(&again); err != nil || again.String() != b.String() {
		t.Errorf("reads back as %v\n%s", err, again.String())
	}
}

// A damaged or hostile file gives an error or a search that can be saved again.
func FuzzDecodeTuned(f *testing.F) {
	visit := `{"round":1,"values":{"elapsed":%v},"elapsed_ns":5}`
	for _, v := range []string{"1", "1e-320", "1e308", "-1", "0"} {
		f.Add([]byte(fmt.Sprintf(`{"kind":"gowhy tune","schema":1,"goal":{"metric":"elapsed"},"start":{},"chosen":{"workers":1},"curves":[{"knob":{"name":"workers","integer":true,"counts":"workers"},`+
			`"goal":{"metric":"elapsed"},"best":7,"chosen":9,"points":[{"value":1,"visits":[`+visit+`,`+visit+`]},{"value":2,"visits":[`+visit+`]},{"value":-1e308,"visits":null}]}]}`, v, "2", "1e300")))
	}
	f.Add([]byte(`{"schema":1}`))
	f.Add([]byte(`{"schema":2,"start":{},"chosen":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeTuned(bytes.NewReader(data))
		if err != nil {
			return
		}
		for i := range r.Curves {
			if c := &r.Curves[i]; c.Chosen >= len(c.Points) || c.Best >= len(c.Points) {
				t.Fatalf("chosen %d and best %d of %d", c.Chosen, c.Best, len(c.Points))
			}
		}
		if err := r.Encode(new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCurveUSL(t *testing.T) {
	m := &simulation{seconds: law(200, 0.05, 0.001), noise: 0.02}
	u := m.tune(t, Search{}).Curves[0].USL
	if u == nil || u.Peak == nil || u.Unit != "ops/s" {
		t.Fatalf("the law is %+v, want one with a peak, in ops/s", u)
	}
	for _, c := range []struct {
		name string
		Interval
		want float64
	}{{"σ", u.Sigma, 0.05}, {"κ", u.Kappa, 0.001}, {"λ", u.Lambda, 1000 * 200}, {"N*", *u.Peak, math.Sqrt(0.95 / 0.001)}} {
		if c.Low > c.want || c.High < c.want || math.Abs(c.Value/c.want-1) > 0.2 {
			t.Errorf("%s: %+v, want %v", c.name, c.Interval, c.want)
		}
	}
	if u.R2 < 0.95 || u.R2 > 1 || u.Tested != [2]float64{1, 1000} {
		t.Errorf("the law has R² %v in %v, want 0.95 to 1 in [1 1000]", u.R2, u.Tested)
	}
	for name, c := range map[string]struct {
		seconds func(Setting) float64
		search  Search
		no      string
	}{
		"few points":  {law(1, 0.1, 0.1), Search{Knobs: []Knob{{Name: "workers", Values: []float64{1, 2, 3}, Counts: Workers}}}, "needs 6 points"},
		"without one": {law(1, 0.1, 0.1), Search{Knobs: []Knob{{Name: "workers", Low: 2, High: 64, Integer: true, Counts: Workers}}}, "workers=1 is not"},
		"not counted": {law(1, 0.1, 0.1), Search{Knobs: []Knob{{Name: "workers", Low: 1, High: 64}}}, "no number of things"},
		"other goal":  {law(1, 0.1, 0.1), Search{Goal: Goal{Metric: diagnosis.PeakRSS}}, "goal is min(peak-rss)"},
	} {
		m := &simulation{seconds: c.seconds, noise: 0.01}
		if got := m.tune(t, c.search).Curves[0]; got.USL != nil || !strings.Contains(got.NoUSL, c.no) {
			t.Errorf("%s: the law is %+v, %q, want none, %q", name, got.USL, got.NoUSL, c.no)
		}
	}
	for name, c := range map[string]struct {
		seconds func(Setting) float64
		no      string
	}{
		"beyond":  {law(1, 0.01, 1e-5), "beyond twice"}, // N* = 315, tested to 64
		"no peak": {law(1, 0.1, 0), "never falls|beyond twice"},
		"falls":   {law(1, 1.3, 0.1), "from the first"},
	} {
		m := &simulation{seconds: c.seconds, noise: 0.0005}
		k := Knob{Name: "workers", Low: 1, High: 64, Integer: true, Counts: Concurrent}
		u := m.tune(t, Search{Knobs: []Knob{k}}).Curves[0].USL
		if u == nil || u.Peak != nil || !slices.ContainsFunc(strings.Split(c.no, "|"), func(s string) bool { return strings.Contains(u.NoPeak, s) }) {
			t.Errorf("%s: the law is %+v, want no peak, %q", name, u, c.no)
		}
	}
}

// pool returns a trace of workers of which each task runs for 2 ms on a P, is 1 ms in
// system calls and 3 ms blocked; the more there are of them, the longer they
// wait for one of two Ps.
func pool(workers float64, each func(*model.Group)) *model.Model {
	ms := time.Millisecond
	n := time.Duration(workers)
	g := model.Group{Name: "main.worker", Count: int(workers), Peak: int(workers), Times: model.Times{
		Running: 2000 * ms, Syscall: 1000 * ms, SyscallBlocked: 500 * ms, Runnable: n * 300 * ms,
		Blocked: map[string]time.Duration{"sync": 2500*ms + n*20*ms, "GC mark assist wait for work": n * 50 * ms, "chan receive": n * 10 * ms},
	}}
	if each != nil {
		each(&g)
	}
	m := &model.Model{Run: model.Run{Procs: 2}}
	idle := m.Stacks.Add([]model.Frame{{Func: "runtime.chanrecv2"}, {Func: "main.worker"}})
	choosing := m.Stacks.Add([]model.Frame{{Func: "runtime.selectgo"}, {Func: "main.worker"}})
	assist := m.Stacks.Add([]model.Frame{{Func: "runtime.semacquire"}, {Func: "runtime.gcStart"}, {Func: "runtime.mallocgc"}, {Func: "main.work"}})
	inside := m.Stacks.Add([]model.Frame{{Func: "runtime.chanrecv1"}, {Func: "main.ask"}, {Func: "main.worker"}})
	m.Sched = &model.Sched{
		Groups: []model.Group{{Name: "runtime.bgsweep", System: true, Peak: int(workers)}, {Name: "main.main", Peak: 1}, g},
		Waits: []model.Wait{
			{Kind: model.Sync, Reason: "chan receive", Stack: idle, Group: g.Name, Total: n * 5 * ms},
			{Kind: model.Sync, Reason: "select", Stack: choosing, Group: g.Name, Total: n * 3 * ms},
			{Kind: model.Sync, Reason: "chan receive", Stack: inside, Group: g.Name, Total: n * 2 * ms},
			{Kind: model.Sync, Reason: "sync", Stack: assist, Group: g.Name, Total: n * 20 * ms},
			{Kind: model.Sync, Reason: "chan receive", Stack: idle, Group: "main.other", Total: time.Hour},
		},
	}
	return m
}

func TestFormulas(t *testing.T) {
	var at []float64
	var times []WorkerTimes
	for _, n := range []float64{4, 31, 1000} {
		w, err := MeasureWorkers(pool(n, nil), n, "")
		if err != nil {
			t.Fatal(err)
		}
		at, times = append(at, n), append(times, w)
	}
	want := WorkerTimes{Group: "main.worker", Count: 4, Procs: 2, Exec: 2 * time.Second, Syscall: 1500 * time.Millisecond,
		Blocked: 2508 * time.Millisecond, Sched: 1200 * time.Millisecond, GC: 280 * time.Millisecond, Idle: 32 * time.Millisecond}
	if times[0] != want {
		t.Errorf("got  %+v\nwant %+v", times[0], want)
	}
	got := Formulas(at, times)
	// In all (1.2 + 0.28 + 0.032) + 6.008 s.
	for i, says := range []float64{7.52 / 6.008, 2 * 7.52 / 2, 2 * 6.008 / 3.5} {
		if math.Abs(got[i].Says[0]-says) > 1e-9 {
			t.Errorf("%s says %v, want %v", got[i].Name, got[i].Says[0], says)
		}
	}
	for i, stable := range []bool{false, false, true} {
		if got[i].Stable != stable || len(got[i].At) != 3 {
			t.Errorf("%s at %v, stable %v, want 3 counts, %v", got[i].Name, got[i].At, got[i].Stable, stable)
		}
	}
}

func TestMeasureWorkersRefuses(t *testing.T) {
	for name, m := range map[string]*model.Model{"nothing": nil, "no trace": {}, "others": pool(3, nil)} {
		if w, err := MeasureWorkers(m, 100, ""); err == nil {
			t.Errorf("%s: MeasureWorkers() = %+v, want an error", name, w)
		}
	}
	if _, err := MeasureWorkers(pool(100, nil), 100, "main.elsewhere"); err == nil {
		t.Error("a group of another name is taken")
	}
	still, err := MeasureWorkers(pool(10, func(g *model.Group) { g.Times = model.Times{Runnable: time.Second} }), 10, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formulas([]float64{10}, []WorkerTimes{still}) {
		if len(f.Says) > 0 || f.Stable {
			t.Errorf("workers that never ran: %s says %v, stable %v, want nothing, false", f.Name, f.Says, f.Stable)
		}
	}
}

func TestTuneRecordsForFormulas(t *testing.T) {
	m := &simulation{seconds: func(s Setting) float64 { return 1/min(s["workers"], 16) + 0.0005*s["workers"] }, noise: 0.01}
	var asked []float64
	got := m.tune(t, Search{Record: func(_ context.Context, s Setting) (*model.Model, error) {
		asked = append(asked, s["workers"])
		return pool(s["workers"], nil), nil
	}}).Curves[0]
	if len(got.Formulas) != 3 || len(asked) != 4 || asked[0] != 1000 || asked[3] != 4 || !slices.Contains(asked, got.Points[got.Chosen].Value) {
		t.Errorf("recorded at %v, got %d formulas, want at 1000, two more with the chosen %v, and 4, got 3",
			asked, len(got.Formulas), got.Points[got.Chosen].Value)
	}
	calls := 0
	got = m.tune(t, Search{Record: func(context.Context, Setting) (*model.Model, error) {
		calls++
		return nil, errors.New("it has no handlers of net/http/pprof")
	}}).Curves[0]
	if got.Formulas != nil || !strings.Contains(got.NoFormulas, "no handlers") || calls != 1 {
		t.Errorf("%d calls, formulas %+v, without them %q, want 1, none, no handlers",
			calls, got.Formulas, got.NoFormulas)
	}
	if got = m.tune(t, Search{NoRecord: "not here"}).Curves[0]; got.NoFormulas != "not here" {
		t.Errorf("%q", got.NoFormulas)
	}
}
