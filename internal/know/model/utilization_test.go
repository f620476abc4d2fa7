package model

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// instant answers what the load is during the nanosecond [at, at+1), by adding
// up the whole history once more: slow, and with nothing in common with the
// code under test but the definition.
func instant(changes []LoadChange, flags LoadFlags, procs int, at time.Duration) (n int, util []float64) {
	n = procs
	stw := 0
	load := map[int32]int{}
	for i := 0; i < len(changes) && changes[i].At <= at; i++ {
		c := changes[i]
		switch {
		case c.Kind == LoadProcs:
			n = int(c.Delta)
		case c.Kind == LoadSTW && flags&CountSTW != 0:
			stw += int(c.Delta)
		case c.Kind == LoadBackground && flags&CountBackground != 0 && (flags&PerProc == 0 || !c.Dedicated),
			c.Kind == LoadAssist && flags&CountAssist != 0,
			c.Kind == LoadSweep && flags&CountSweep != 0:
			load[c.Proc] += int(c.Delta)
		}
		if i+1 == len(changes) || changes[i+1].At != c.At {
			stw = max(stw, 0)
			for p := range load {
				load[p] = max(load[p], 0)
			}
		}
	}
	free := 0
	for p := range n {
		u := 1.0
		if stw > 0 || load[int32(p)] > 0 {
			u = 0
		} else {
			free++
		}
		util = append(util, u)
	}
	if flags&PerProc == 0 && n > 0 {
		return n, []float64{float64(free) / float64(n)}
	}
	return n, util
}

// randomLoad returns a history in time order, with ends that have no begin, Ps that
// do not exist and changes of GOMAXPROCS in it.
func randomLoad(rnd *rand.Rand, span int) []LoadChange {
	var changes []LoadChange
	for range rnd.IntN(14) {
		begin := rnd.IntN(span)
		end := begin + rnd.IntN(span)/3
		c := LoadChange{At: time.Duration(begin), Kind: LoadKind(rnd.IntN(4)), Proc: int32(rnd.IntN(5)), Delta: 1, Dedicated: rnd.IntN(2) == 0}
		if c.Kind == LoadSTW {
			c.Proc = -1
		} else if rnd.IntN(10) == 0 {
			c.Proc = -1 // belongs to no P
		}
		stop := c
		stop.At, stop.Delta = time.Duration(end), -1
		switch rnd.IntN(8) {
		case 0:
			changes = append(changes, stop)
		case 1:
			changes = append(changes, c)
		default:
			changes = append(changes, c, stop)
		}
	}
	for range rnd.IntN(3) {
		changes = append(changes, LoadChange{At: time.Duration(rnd.IntN(span)), Proc: -1, Kind: LoadProcs, Delta: int32(1 + rnd.IntN(4))})
	}
	rnd.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	slices.SortStableFunc(changes, func(a, b LoadChange) int { return int(a.At - b.At) })
	return changes
}

// valueAt reads a series at one nanosecond; ok is false outside of it.
func valueAt(s []UtilStep, at time.Duration) (util float64, ok bool) {
	for i := range s[:len(s)-1] {
		if s[i].At <= at && at < s[i+1].At {
			return s[i].Util, true
		}
	}
	return 0, false
}

func checkAgainstOracle(t *testing.T, changes []LoadChange, flags LoadFlags, procs int, from, to time.Duration) {
	t.Helper()
	g := &GC{Load: changes}
	u := g.Utilization(flags, procs, from, to)
	for at := from; at < to; at++ {
		_, want := instant(changes, flags, procs, at)
		var got []float64
		for _, s := range u {
			if v, ok := valueAt(s, at); ok {
				got = append(got, v)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if len(got) != len(want) {
			t.Fatalf("flags %05b at %d: %d series, want %d\n%v\n%v", flags, at, len(got), len(want), u, changes)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Fatalf("flags %05b at %d: %v, want %v\n%v\n%v", flags, at, got, want, u, changes)
			}
		}
	}
	checkLoadTime(t, g, flags&CountAll, procs, from, to)
	for _, s := range u {
		if last := s[len(s)-1]; last.Util != 0 || last.At > to || s[0].At < from {
			t.Fatalf("series not closed within the window: %v", s)
		}
		for i := 1; i < len(s); i++ {
			if s[i].At <= s[i-1].At {
				t.Fatalf("steps not in time order: %v", s)
			}
		}
	}
	for _, w := range []time.Duration{1, 2, 3, 7, 20, 1000} {
		checkWindows(t, u, w)
	}
}

func checkLoadTime(t *testing.T, g *GC, flags LoadFlags, procs int, from, to time.Duration) {
	t.Helper()
	var want time.Duration
	for at := from; at < to; at++ {
		n, util := instant(g.Load, flags, procs, at)
		for _, v := range util {
			want += time.Duration(math.Round((1 - v) * float64(n)))
		}
	}
	if got := g.LoadTime(flags, procs, from, to); got != want {
		t.Fatalf("flags %05b: %d of P time taken, want %d\n%v", flags, got, want, g.Load)
	}
}

// checkWindows compares MMU and distribution with every whole-nanosecond window.
func checkWindows(t *testing.T, u Utilization, w time.Duration) {
	t.Helper()
	want := math.NaN()
	for _, s := range u {
		for _, mean := range windowMeans(s, w) {
			if !(mean >= want) {
				want = mean
			}
		}
	}
	at, got := u.Worst(w)
	if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > 1e-12 {
		t.Fatalf("MMU of %d: %v at %d, want %v\n%v", w, got, at, want, u)
	}
	if mud := u.MUD(w, 0, 0.5, 1); len(u) > 0 && (mud[0] != got || mud[1] < mud[0] || mud[2] < mud[1]) {
		t.Fatalf("MUD of %d = %v, want it to rise from the MMU %v", w, mud, got)
	}
}

func windowMeans(s []UtilStep, w time.Duration) (means []float64) {
	from, to := s[0].At, s[len(s)-1].At
	w = min(w, to-from)
	for at := from; at+w <= to; at++ {
		var sum float64
		for i := at; i < at+w; i++ {
			v, _ := valueAt(s, i)
			sum += v
		}
		means = append(means, sum/float64(w))
	}
	return means
}

func TestUtilizationOracle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		span := 5 + rnd.IntN(60)
		changes := randomLoad(rnd, span)
		from := time.Duration(rnd.IntN(span))
		checkAgainstOracle(t, changes, LoadFlags(rnd.IntN(32)), rnd.IntN(5), from, from+time.Duration(1+rnd.IntN(span)))
	}
}

func FuzzUtilization(f *testing.F) {
	f.Add(uint64(1), byte(31), byte(4))
	f.Fuzz(func(t *testing.T, seed uint64, flags, procs byte) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		changes := randomLoad(rnd, 40)
		checkAgainstOracle(t, changes, LoadFlags(flags&31), int(procs%6), 0, 50)
	})
}

func TestUtilizationShapes(t *testing.T) {
	on := func(at time.Duration, p int32, k LoadKind) LoadChange {
		return LoadChange{At: at, Proc: p, Kind: k, Delta: 1}
	}
	off := func(at time.Duration, p int32, k LoadKind) LoadChange {
		return LoadChange{At: at, Proc: p, Kind: k, Delta: -1}
	}
	procs := func(at time.Duration, n int32) LoadChange {
		return LoadChange{At: at, Proc: -1, Kind: LoadProcs, Delta: n}
	}
	dedicated := func(c LoadChange) LoadChange { c.Dedicated = true; return c }
	tests := []struct {
		name  string
		load  []LoadChange
		flags LoadFlags
		procs int
		want  Utilization
	}{
		{"nothing happens: the series still spans the window", nil, CountAll, 2,
			Utilization{{{0, 1}, {100, 0}}}},
		{"two assists on one P count once", []LoadChange{
			on(10, 0, LoadAssist), on(20, 0, LoadAssist), off(30, 0, LoadAssist), off(40, 0, LoadAssist)}, CountAll, 2,
			Utilization{{{0, 1}, {10, 0.5}, {40, 1}, {100, 0}}}},
		{"a stopped world takes everything, whatever else runs", []LoadChange{
			on(10, 1, LoadBackground), on(20, -1, LoadSTW), off(25, -1, LoadSTW), off(60, 1, LoadBackground)}, CountAll, 4,
			Utilization{{{0, 1}, {10, 0.75}, {20, 0}, {25, 0.75}, {60, 1}, {100, 0}}}},
		{"a worker that comes and goes leaves nothing behind", []LoadChange{
			on(10, 0, LoadBackground), off(20, 0, LoadBackground), on(30, 0, LoadBackground), off(40, 0, LoadBackground),
			on(50, 1, LoadBackground), off(60, 1, LoadBackground)}, CountBackground, 2,
			Utilization{{{0, 1}, {10, 0.5}, {20, 1}, {30, 0.5}, {40, 1}, {50, 0.5}, {60, 1}, {100, 0}}}},
		{"handed over at one instant: never free", []LoadChange{
			on(10, 0, LoadBackground), off(20, 0, LoadBackground), on(20, 0, LoadSweep), off(30, 0, LoadSweep)}, CountAll, 1,
			Utilization{{{0, 1}, {10, 0}, {30, 1}, {100, 0}}}},
		{"flags not asked for do not count", []LoadChange{
			on(10, 0, LoadSweep), off(20, 0, LoadSweep), on(30, -1, LoadSTW), off(40, -1, LoadSTW)}, CountAssist, 1,
			Utilization{{{0, 1}, {100, 0}}}},
		{"GOMAXPROCS changes the weight of a P", []LoadChange{
			procs(0, 4), on(10, 3, LoadAssist), procs(20, 2), procs(50, 8), off(60, 3, LoadAssist)}, CountAll, 0,
			Utilization{{{0, 1}, {10, 0.75}, {20, 1}, {50, 0.875}, {60, 1}, {100, 0}}}},
		{"a P that comes back has a second series", []LoadChange{
			procs(0, 2), procs(20, 1), procs(50, 2), on(60, 1, LoadAssist), off(70, 1, LoadAssist)}, CountAll | PerProc, 0,
			Utilization{{{0, 1}, {20, 0}}, {{0, 1}, {100, 0}}, {{50, 1}, {60, 0}, {70, 1}, {100, 0}}}},
		{"per P, a dedicated worker pushes goroutines elsewhere, a fractional one delays them", []LoadChange{
			dedicated(on(10, 0, LoadBackground)), on(10, 1, LoadBackground),
			dedicated(off(30, 0, LoadBackground)), off(40, 1, LoadBackground)}, CountAll | PerProc, 2,
			Utilization{{{0, 1}, {100, 0}}, {{0, 1}, {10, 0}, {40, 1}, {100, 0}}}},
		{"an end without a begin and a P that is none", []LoadChange{
			off(10, 0, LoadAssist), on(20, -1, LoadAssist), on(30, 0, LoadAssist), off(40, 0, LoadAssist)}, CountAll, 1,
			Utilization{{{0, 1}, {30, 0}, {40, 1}, {100, 0}}}},
		{"begun before the window, ended after it", []LoadChange{
			on(-10, 0, LoadAssist), off(200, 0, LoadAssist)}, CountAll, 2,
			Utilization{{{0, 0.5}, {100, 0}}}},
		{"GOMAXPROCS never told", []LoadChange{on(10, 0, LoadAssist)}, CountAll, 0, nil},
		{"a GOMAXPROCS that is none", []LoadChange{on(10, 0, LoadAssist), procs(40, 0), procs(50, -1), off(60, 0, LoadAssist)}, CountAll, 2,
			Utilization{{{0, 1}, {10, 0.5}, {60, 1}, {100, 0}}}},
		{"GOMAXPROCS told late", []LoadChange{procs(40, 1), on(50, 0, LoadAssist)}, CountAll, 0,
			Utilization{{{40, 1}, {50, 0}, {100, 0}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &GC{Load: tt.load}
			if got := g.Utilization(tt.flags, tt.procs, 0, 100); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

// A number of Ps beyond 65,536 is taken for that, and a P beyond them for none.
func TestMostProcs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		load  []LoadChange
		procs int
		want  time.Duration
	}{
		{"the last P", []LoadChange{{At: 10, Kind: LoadAssist, Proc: 65_535, Delta: 1}}, 1 << 17, 90},
		{"one beyond", []LoadChange{{At: 10, Kind: LoadAssist, Proc: 65_536, Delta: 1}}, 1 << 17, 0},
		{"too many", []LoadChange{{At: 0, Kind: LoadProcs, Proc: -1, Delta: 1 << 17}, {At: 10, Kind: LoadSTW, Proc: -1, Delta: 1}},
			2, 65_536 * 90},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (&GC{Load: tt.load}).LoadTime(CountAll, tt.procs, 0, 100); got != tt.want {
				t.Errorf("LoadTime(…) = %d, want %d", got, tt.want)
			}
		})
	}
}

// mmu returns the least utilization for windows of each length.
func mmu(u Utilization, windows ...time.Duration) []float64 {
	list := make([]float64, len(windows))
	for i, w := range windows {
		_, list[i] = u.Worst(w)
	}
	return list
}

func TestMMU(t *testing.T) {
	ms := time.Millisecond
	g := &GC{Load: []LoadChange{
		{At: 10 * ms, Proc: 0, Kind: LoadBackground, Delta: 1},
		{At: 14 * ms, Proc: -1, Kind: LoadSTW, Delta: 1},
		{At: 15 * ms, Proc: -1, Kind: LoadSTW, Delta: -1},
		{At: 20 * ms, Proc: 0, Kind: LoadBackground, Delta: -1},
	}}
	// On 4 Ps: 10 ms at 3/4 less one at 0, the rest at 1.
	got := mmu(g.Utilization(CountAll, 4, 0, 100*ms), 0, 1*ms, 2*ms, 10*ms, 20*ms, 100*ms, time.Hour)
	want := []float64{0, 0, 0.375, 0.675, (9*0.75 + 10) / 20, (9*0.75 + 90) / 100, (9*0.75 + 90) / 100}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("window %d: MMU %v, want %v", i, got[i], want[i])
		}
	}
	if at, _ := g.Utilization(CountAll, 4, 0, 100*ms).Worst(10 * ms); at != 10*ms {
		t.Errorf("worst window begins at %v, want 10ms", at)
	}
	if got := mmu(g.Utilization(CountAll, 0, 0, 100*ms), ms); !math.IsNaN(got[0]) {
		t.Errorf("MMU without a P: %v, want NaN", got[0])
	}
	if got := mmu(g.Utilization(CountAll, 4, 5, 5), ms); !math.IsNaN(got[0]) {
		t.Errorf("MMU of no time: %v, want NaN", got[0])
	}
}

func TestUtilizationMean(t *testing.T) {
	u := Utilization{{{0, 1}, {60, 0.5}, {100, 0}}, {{50, 0}, {100, 0}}}
	if got := u.Mean(); got != 80.0/150 {
		t.Errorf("mean %v, want (60 + 20) of 150", got)
	}
	if got := Utilization(nil).Mean(); !math.IsNaN(got) {
		t.Errorf("mean of nothing: %v, want NaN", got)
	}
}

func TestMUD(t *testing.T) {
	// Half the time at 0, half at 1; a window of 0 has just these two values,
	// a window of 10 slides between them over 10 of the 90 places it can begin at.
	g := &GC{Load: []LoadChange{{At: 50, Proc: 0, Kind: LoadAssist, Delta: 1}}}
	u := g.Utilization(CountAll, 1, 0, 100)
	if got := u.MUD(0, 0, 0.25, 0.49, 0.51, 1); !reflect.DeepEqual(got, []float64{0, 0, 0, 1, 1}) {
		t.Errorf("MUD of instants = %v, want [0 0 0 1 1]", got)
	}
	for _, tt := range []struct{ q, want float64 }{{0, 0}, {40.0 / 90, 0}, {45.0 / 90, 0.5}, {48.0 / 90, 0.8}, {60.0 / 90, 1}, {1, 1}} {
		if got := u.MUD(10, tt.q)[0]; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("quantile %v: %v, want %v", tt.q, got, tt.want)
		}
	}
	if got := u.MUD(time.Hour, 0, 1); got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("one window only: %v", got)
	}
	// One of two Ps is taken for the first half: the window leaves that over 10 of 90 places.
	g.Load = []LoadChange{{At: 0, Kind: LoadAssist, Delta: 1}, {At: 50, Kind: LoadAssist, Delta: -1}}
	for q, want := range map[float64]float64{0: 0.5, 40.0 / 90: 0.5, 45.0 / 90: 0.75, 48.0 / 90: 0.9, 1: 1} {
		if got := g.Utilization(CountAll, 2, 0, 100).MUD(10, q)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v of one of two Ps: %v, want %v", q, got, want)
		}
	}
	g.Load = nil
	for at := time.Duration(0); at < 1000; at += 10 { // a third of the time, a hundred times
		g.Load = append(g.Load, LoadChange{At: at, Kind: LoadAssist, Delta: 1}, LoadChange{At: at + 3, Kind: LoadAssist, Delta: -1})
	}
	if got := g.Utilization(CountAll, 1, 0, 1000).MUD(0, 0, 0.29, 0.31, 1); !reflect.DeepEqual(got, []float64{0, 0, 1, 1}) {
		t.Errorf("MUD of many instants = %v, want [0 0 1 1]", got)
	}
	if got := Utilization(nil).MUD(10, 0.5); !math.IsNaN(got[0]) {
		t.Errorf("no series: %v, want NaN", got)
	}
}

func BenchmarkMMU(b *testing.B) {
	g := &GC{}
	rnd := rand.New(rand.NewPCG(1, 1))
	for at := time.Duration(0); len(g.Load) < 200_000; at += time.Duration(1 + rnd.IntN(10_000)) {
		p := int32(rnd.IntN(8))
		g.Load = append(g.Load, LoadChange{At: at, Proc: p, Kind: LoadAssist, Delta: 1},
			LoadChange{At: at + 1, Proc: p, Kind: LoadAssist, Delta: -1})
	}
	for b.Loop() {
		mmu(g.Utilization(CountAll, 8, 0, g.Load[len(g.Load)-1].At), time.Microsecond, time.Millisecond, 10*time.Millisecond)
	}
}
