package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// passOf returns one over lines of evidence.
func passOf(t *testing.T, rule *diagnosis.Rule, lines string) *diagnosis.Pass {
	t.Helper()
	return &diagnosis.Pass{Meter: fact.Meter{Model: oneCase(t, "== sick: some lines\n"+lines+"\n")}, Rule: rule}
}

// What a collection left is the smallest heap until the next begins.
func TestHeapThatCollectionsLeave(t *testing.T) {
	p := passOf(t, gccost, `window 100ms procs=2
cycle begin=-1ns end=5ms
cycle begin=10ms end=15ms
cycle begin=30ms end=35ms
heap at=2ms alloc=1MiB goal=9MiB
heap at=12ms alloc=8MiB goal=2MiB
heap at=13ms alloc=4MiB goal=8MiB
heap at=18ms alloc=0 goal=5MiB
heap at=20ms alloc=6MiB goal=1MiB
heap at=32ms alloc=3MiB goal=8MiB
heap at=40ms alloc=5MiB goal=2MiB`)
	live := memory.LiveHeap(p.Model)
	if want := (model.Series{{At: 13 * time.Millisecond, Value: 4 << 20}, {At: 32 * time.Millisecond, Value: 3 << 20}}); !slices.Equal(live.Series, want) || live.Source != model.Trace {
		t.Errorf("%v, want %v", live, want)
	}
	if last, most := live.LastFound(p), live.MaxHeap(p); last.Value != 3<<20 || most.Value != 4<<20 {
		t.Errorf("the last is %s, the most %s", last.Text, most.Text)
	}
}

// Each kind of evidence counts collections.
func TestCollections(t *testing.T) {
	for _, c := range []struct {
		lines   string
		rate, n float64
		ok      bool
	}{
		{"window 2s\nmetric /gc/cycles/total:gc-cycles 0s=10 2s=60", 25, 50, true},
		{"window 2s\ngcline n=2 every=500ms cycle=1 at=1s sweep-term=2ms", 2, 2, true},
		{"window 2s\ngcline n=5 every=500ms cycle=1 at=1s sweep-term=2ms", 2, 5, true},
		{"window 2s\ngcline n=2 cycle=1 at=1s sweep-term=2ms", 0, 0, false},
		{"window 2s\ncycle begin=-1ns end=1ms\ncycle begin=2ms end=-1ns\ncycle begin=3ms end=-1ns\ncycle begin=4ms end=5ms", 1.5, 3, true},
		{"window 2s", 0, 0, false},
	} {
		if rate, n, ok := memory.Collections(passOf(t, gccost, c.lines)); rate.Value != c.rate || n.Value != c.n || ok != c.ok {
			t.Errorf("%s: %v a second, %v in all, %v, want %v, %v, %v", c.lines, rate.Value, n.Value, ok, c.rate, c.n, c.ok)
		}
	}
}

func TestGOGC(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  float64
		off   bool
	}{
		{"metric /gc/gogc:percent 0s=50", 50, false},
		{"metric /gc/gogc:percent 0s=700000", 7e5, false},
		{"metric /gc/gogc:percent 0s=1500000", 1.5e6, true},
		{"build go=go1.26 env.GOGC=50", 50, false},
		{"build go=go1.26 env.GOGC=off", 0, true},
		{"build go=go1.26 env.GOGC=-5", 100, false},
		{"build go=go1.26 env.GOGC=x", 100, false},
		{"build go=go1.26", 100, false},
		{"window 1s", 100, false},
	} {
		if g, off := memory.GOGC(passOf(t, gccost, c.lines)); g.Value != c.want || off != c.off {
			t.Errorf("%s: %v, off %v", c.lines, g.Value, off)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	for v, want := range map[string]float64{"": 0, "off": 0, "15": 15, "7B": 7, "1KiB": 1 << 10, "2MiB": 2 << 20, "3GiB": 3 << 30, "1TiB": 1 << 40,
		"0": -1, "-3MiB": -1, "1XiB": -1, "x": -1, "MiB": -1, "1KB": -1} {
		p := passOf(t, gccost, "build go=go1.26 env.GOMEMLIMIT="+v)
		if l, set, known := memory.Limit(p); known != (want >= 0) || known && l.Value != want || set != (want > 0) {
			t.Errorf("GOMEMLIMIT=%s: %v, set %v, known %v", v, l.Value, set, known)
		}
	}
	p := passOf(t, gccost, "window 1s")
	p.Model.Build = &model.Build{Settings: map[string]string{}}
	if _, _, known := memory.Limit(p); known {
		t.Error("a limit without an environment")
	}
	for lines, want := range map[string]bool{"metric /gc/gomemlimit:bytes 0s=1GiB": true, "metric /gc/gomemlimit:bytes 0s=9223372036854775807": false} {
		if _, set, known := memory.Limit(passOf(t, gccost, lines)); set != want || !known {
			t.Errorf("%s: set %v, known %v", lines, set, known)
		}
	}
}

// A trace alone tells what allocating and collecting cost.
func TestCostFromTrace(t *testing.T) {
	const trace = "window 2s procs=2\nproc 0 user=600ms gc=200ms syscall=100ms scheduler=100ms idle=1s\n"
	p := passOf(t, gccost, trace+"cycle begin=1ms end=2ms\nload at=0s proc=-1 kind=procs delta=2\nload at=500ms proc=0 kind=assist delta=1\nload at=600ms proc=0 kind=assist delta=-1\nload at=1900ms proc=1 kind=sweep delta=1")
	share, cores, ok := memory.CollectorCPU(p)
	if !ok || math.Abs(share.Value-0.4) > 1e-9 || math.Abs(cores.Value-0.5) > 1e-9 {
		t.Errorf("the collector takes %v of %v, %v", share.Value, cores.Value, ok)
	}
	if _, ok := memory.CollectorOf(p); ok {
		t.Error("a heap that nobody measured")
	}
	for lines, want := range map[string]bool{
		"metric /gc/heap/live:bytes 0s=1MiB\nmetric /gc/cycles/total:gc-cycles 0s=1 1s=9":                                                                  false,
		trace + "cycle begin=1ms end=2ms\nmetric /gc/heap/live:bytes 0s=1MiB":                                                                              true,
		"window 1s procs=1\nproc 0 user=1s\nmetric /gc/heap/live:bytes 0s=1MiB":                                                                            false,
		"window 1s procs=1\nprocess user=1s\nstack w main.w@w.go:1\ncpu duration=1s\nsample stack=w count=200 time=1s\nmetric /gc/heap/live:bytes 0s=1MiB": false,
	} {
		if _, ok := memory.CollectorOf(passOf(t, gccost, lines)); ok != want {
			t.Errorf("%s: %v", lines, ok)
		}
	}
}

// What is allocated is the rises of the heap, or the way between its usual ends for
// each collection where those fall between two samples.
func TestAllocated(t *testing.T) {
	for lines, want := range map[string]float64{
		"window 1s": 0,
		"heap at=0s alloc=1MiB goal=9MiB\nheap at=1s alloc=4MiB goal=2MiB\nheap at=2s alloc=2MiB goal=30MiB\nheap at=3s alloc=0 goal=1MiB\nheap at=4s alloc=7MiB goal=1MiB\nheap at=5s alloc=8MiB goal=1MiB": 4 << 20,
		"cycle begin=1s end=2s\ncycle begin=2s end=3s\ncycle begin=3s end=4s\nheap at=0s alloc=1MiB goal=9MiB\nheap at=1s alloc=5MiB goal=9MiB\nheap at=2s alloc=2MiB goal=9MiB":                             12 << 20,
		"cycle begin=1s end=2s\nheap at=0s alloc=90MiB goal=1\n" + each(1, 11, func(i int) string {
			return fmt.Sprintf("heap at=%ds alloc=%dMiB goal=1", i, 20-i)
		}): 9 << 20, // the largest and the smallest of twelve do not count
	} {
		p := passOf(t, gccost, lines+"\ncycle begin=-1ns end=1s")
		if got := memory.AllocatedBytes(p.Model.GC); got != want {
			t.Errorf("%s: %v, want %v", lines, got, want)
		}
	}
}

// The collector's illness explains what allocating costs where it is most of that.
func TestMostlyCollecting(t *testing.T) {
	for mark, want := range map[int]bool{60: false, 68: false, 72: true, 80: true} {
		p := passOf(t, tinyheap, fmt.Sprintf("window 1s procs=1\nstack mark runtime.gcDrain < runtime.gcBgMarkWorker\nstack malloc runtime.mallocgc < main.w@w.go:1\n"+
			"cpu duration=1s\nsample stack=mark count=%d time=%dms\nsample stack=malloc count=%d time=%dms", 3*mark, 3*mark, 300-3*mark, 300-3*mark))
		if got := slices.Contains(gcSymptoms(p), "allocchurn"); got != want {
			t.Errorf("%d%% of the cost: %v", mark, got)
		}
		if !slices.Contains(gcSymptoms(p), "gccost") {
			t.Error("a small heap does not explain the collector's cost")
		}
	}
}

// Lines are ordered by what they allocate, and by name where it is the same.
func TestSitesInOrder(t *testing.T) {
	p := passOf(t, allocchurn, `stack b2 main.b@z.go:2
stack b1 main.b@z.go:1
stack a main.a@zz.go:9
stack big main.z@a.go:5
stack wide main.w@w.go:5
stack lib os.Open@file.go:1
stack none main.none@n.go:1
stack agent bytes.growSlice@b.go:1 < github.com/gowhy/gowhy/agent.snapshot@s.go:1 < main.serve@s.go:1
alloc stack=b2 objects=60 bytes=700 live=500
alloc stack=b2 objects=40 bytes=300
alloc stack=b1 objects=100 bytes=1000
alloc stack=a objects=100 bytes=1000
alloc stack=big objects=500 bytes=1000
alloc stack=wide objects=10 bytes=6000
alloc stack=lib objects=190 bytes=0
alloc stack=none objects=0 bytes=0 live=7
alloc stack=agent objects=9000 bytes=9000`)
	var got []string
	for _, s := range memory.HeapSites(p) {
		got = append(got, fmt.Sprintf("%s %.2f %.2f %.2f", s.Line(), s.Objects, s.Bytes, s.LiveShare))
	}
	want := []string{"main.w:5 0.01 0.60 0.00", "main.z:5 0.50 0.10 0.00", "main.a:9 0.10 0.10 0.00", "main.b:1 0.10 0.10 0.00", "main.b:2 0.10 0.10 0.50"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// each is lines made for some numbers.
func each(from, to int, line func(i int) string) string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, line(i))
	}
	return strings.Join(lines, "\n")
}

var (
	// sixLines are as many debug lines as the first, each with fewer objects.
	sixLines = each(2, 6, func(i int) string {
		return fmt.Sprintf("stack d%[1]d main.f%[1]d@f.go:%[1]d\nstack c%[1]d runtime.mallocgc < main.f%[1]d@f.go:%[1]d\n"+
			"alloc stack=d%[1]d objects=%[2]d bytes=1MiB\nescape f.go:%[1]d \"... argument\" variadic=true\nsample stack=c%[1]d count=20 time=200ms", i, 2_000_000-i*1000)
	})
	// moreLines have parts of the growth of the live heap.
	moreLines = each(1, 4, func(i int) string {
		return fmt.Sprintf("stack m%[1]d main.%[2]c@m.go:%[1]d\nliveheap end stack=m%[1]d objects=1 bytes=%[3]dMiB", i, 'a'+i, 60-i)
	})
	// library is growth for which no line of the program can be named.
	library = "stack library encoding/json.Unmarshal@decode.go:1\nliveheap end stack=library objects=1 bytes=73MiB"
	// fourFunctions make more strings than the first, the last most.
	fourFunctions = each(2, 4, func(i int) string {
		return fmt.Sprintf("stack s%[1]d main.f%[1]d@f.go:%[1]d\nstack c%[1]d runtime.mallocgc < runtime.concatstrings < main.f%[1]d@f.go:%[1]d\n"+
			"alloc stack=s%[1]d objects=%[2]d bytes=%[3]dMiB\nsample stack=c%[1]d count=20 time=200ms", i, 11_000_000+i*1_000_000, 50-i)
	})
)

// What the rules of memory say on either side of their thresholds.
func TestMemoryThresholds(t *testing.T) {
	checkVariants(t, []variant{
		// gccost: CPU.
		{gccost, "a third", "user=14s system=1s → user=2s system=0s\ncount=500 time=5s → count=66 time=660ms\ncount=900 time=9s → count=120 time=1.2s\ncount=90 time=900ms → count=14 time=140ms", true, ""},
		{gccost, "a third", "user=14s system=1s → user=1.4s system=0s\ncount=500 time=5s → count=46 time=460ms\ncount=900 time=9s → count=84 time=840ms\ncount=90 time=900ms → count=10 time=100ms", false, ""},
		// gccost: what memory there is for.
		{gccost, "a third", "machine cpus=2 n=11 busy=15s idle=5s available=8GiB →", true, "GOGC=200"},
		{gccost, "a third", "available=8GiB →", true, "GOGC=200"},
		{gccost, "a third", "available=8GiB → available=900MiB", true, "GOGC=200"},
		{gccost, "a third", "available=8GiB → available=500MiB", true, "There is no memory for a higher GOGC\n!knob"},
		{gccost, "the samples and the trace", "memory=1GiB → memory=900MiB", true, "There is no memory for a higher GOGC."},
		{gccost, "a third", "machine cpus=2 n=11 busy=15s idle=5s available=8GiB → limits memory=1300MiB", true, "GOGC=200"},
		{gccost, "a third", "rss=400MiB → rss=1000MiB\nmetric /gc/gomemlimit:bytes 0s=1400MiB\nmetric /memory/classes/total:bytes 0s=700MiB\nmetric /memory/classes/heap/released:bytes 0s=200MiB", true, "GOGC=200"},
		{gccost, "a third", "metric /gc/gomemlimit:bytes 0s=1000MiB\nmetric /memory/classes/total:bytes 0s=600MiB\nmetric /memory/classes/heap/released:bytes 0s=200MiB", true, "GOGC=200"},
		{gccost, "a third", "rss=400MiB → rss=1100MiB\nmetric /gc/gomemlimit:bytes 0s=2000MiB", true, "GOGC=200"},
		// gccost: what nobody tells.
		{gccost, "a third", "cpu duration=10s →\nsample stack=mark count=500 time=5s →\nsample stack=work count=900 time=9s →\nsample stack=malloc count=90 time=900ms →", false,
			"unchecked what garbage collection costs: collections were counted"},
		{gccost, "a third", "0s=100 10s=200 → 0s=100 10s=100\ncpu duration=10s →\nsample stack=mark count=500 time=5s →\nsample stack=work count=900 time=9s →\nsample stack=malloc count=90 time=900ms →", false, "!unchecked what garbage"},
		{gccost, "a third", "metric /gc/heap/live:bytes 0s=150MiB 10s=151MiB every=200ms noise=500KiB →", false, "unchecked what a larger heap would save: garbage collection takes 33.3% of the CPU, and nothing"},
		{gccost, "a third", "metric /gc/cycles/total:gc-cycles 0s=100 10s=200 →", false, "unchecked what a larger heap would save"},
		// gccost: whether the trace agrees.
		{gccost, "the samples and the trace", "gc=2.4s → gc=1.55s", true, "confidence high"},
		{gccost, "the samples and the trace", "gc=2.4s → gc=1.25s", true, "confidence medium"},
		{gccost, "the samples and the trace", "gc=2.4s → gc=4.5s", true, "confidence high"},
		{gccost, "the samples and the trace", "gc=2.4s → gc=5.5s", true, "confidence medium"},

		{tinyheap, "a hundred", "10s=1100 → 10s=250", true, ""},
		{tinyheap, "a hundred", "10s=1100 → 10s=190", false, ""},
		{tinyheap, "a hundred", "10s=1100 → 100ms=102", false, ""},
		{tinyheap, "a hundred", "0s=2MiB 10s=2MiB → 0s=12MiB 10s=12MiB", true, ""},
		{tinyheap, "a hundred", "0s=2MiB 10s=2MiB → 0s=20MiB 10s=20MiB", false, ""},
		{tinyheap, "a hundred", "count=180 time=1.8s → count=70 time=700ms\ncount=820 time=8.2s → count=930 time=9.3s", false, "fine: small heap: 100 collections a second"},
		{tinyheap, "a hundred", "available=4GiB → available=100MiB", true, "knob GOGC=400"},
		{tinyheap, "a hundred", "available=4GiB → available=15MiB", true, "Try GOGC=200: the heap may then grow to about 8 MiB"},
		{tinyheap, "a hundred", "available=4GiB → available=5MiB", true, "There is no memory for a higher GOGC."},
		{tinyheap, "a hundred", "0s=2MiB 10s=2MiB → 0s=12MiB 10s=6MiB", true, "Try GOGC=1000: the heap may then grow to about 61.0 MiB"},
		{tinyheap, "a hundred", "gogc:percent 0s=100 → gogc:percent 0s=70", true, "GOGC is 70, which was chosen for a smaller heap."},
		{tinyheap, "a hundred", "gogc:percent 0s=100 → gogc:percent 0s=400\n0s=2MiB 10s=2MiB → 0s=12MiB 10s=12MiB", true, "knob GOGC=800"},
		{tinyheap, "a hundred", "gogc:percent 0s=100 → gogc:percent 0s=18446744073709551615", true, "GOGC is off"},

		{memorylimit, "near the limit", "count=500 time=5s → count=258 time=2.58s\ncount=790 time=7.9s → count=1032 time=10.32s", true, ""},
		{memorylimit, "near the limit", "count=500 time=5s → count=129 time=1.29s\ncount=790 time=7.9s → count=1161 time=11.61s", false, "fine: memory limit: the live heap takes"},
		{memorylimit, "near the limit", "gomemlimit:bytes 0s=100MiB → gomemlimit:bytes 0s=9223372036854775807", false, "!memory limit"},
		{memorylimit, "near the limit", "process n=11 user=12s system=1s rss=130MiB →\ncpu duration=10s →\nsample stack=mark count=500 time=5s →\nsample stack=work count=790 time=7.9s →", false,
			"unchecked what the memory limit costs: the live heap takes 91.3% of it"},
		{memorylimit, "near the limit", "last-enabled:gc-cycle 0s=0 10s=0 → last-enabled:gc-cycle 0s=150 10s=150", true, "until the runtime held its collector back"},
		{memorylimit, "near the limit", "last-enabled:gc-cycle 0s=0 10s=0 → last-enabled:gc-cycle 0s=50 10s=60", true, "until the runtime held its collector back"},
		{memorylimit, "near the limit", "last-enabled:gc-cycle 0s=0 10s=0 → last-enabled:gc-cycle 0s=60 10s=60", true, "!until the runtime held its collector back"},
		{memorylimit, "the limiter was on", "metric /gc/cycles/total:gc-cycles 0s=100 10s=600 →", false, ""},
		{memorylimit, "the limiter was on", "gomemlimit:bytes 0s=45MiB → gomemlimit:bytes 0s=9223372036854775807", false, "!memory limit"},
		{memorylimit, "no limit at all", "metric /gc/gogc:percent 0s=5 →", false, "!unchecked"},
		{memorylimit, "no limit at all", "gomemlimit:bytes 0s=9223372036854775807 → gomemlimit:bytes 0s=50MiB", true, "GOMEMLIMIT 50 MiB: 50 collections a second,\nfact GOMEMLIMIT = \nknob GOMEMLIMIT=121MiB"},
		{memorylimit, "the limiter was on", "allocs:bytes 0s=1GiB 10s=3GiB → allocs:bytes 0s=1GiB 10s=100GiB", true, "CPU in collecting = 0 cores"},

		{noheadroom, "a container of 512", "metric /gc/heap/goal:bytes 0s=440MiB 10s=450MiB →\ngcline n=1 at=1s live=100MiB goal=450MiB stacks=700MiB\ngcline n=1 at=2s live=100MiB goal=300MiB", true,
			"fact largest heap goal = 4.719e+08 bytes, collector goal"},
		{noheadroom, "what is alive", "0s=420MiB 10s=425MiB → 0s=305MiB 10s=310MiB", true, "knob GOMEMLIMIT=460MiB"},

		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=16\n0s=12 10s=532 → 0s=12 10s=32", true, ""},
		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=14\n0s=12 10s=532 → 0s=12 10s=32", false, "fine: collections: 4 of 20 were forced"},
		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=70\n0s=12 10s=532 → 0s=12 10s=512", true, ""},
		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=50\n0s=12 10s=532 → 0s=12 10s=512", false, "fine: collections: 40 of 500 were forced"},
		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=310", true, "explains gccost"},
		{forcedgc, "runtime.GC after", "0s=10 10s=510 → 0s=10 10s=210", true, "!explains gccost"},
		{forcedgc, "runtime.GC after", "cpu duration=10s →\nsample stack=mark count=500 time=5s →\nsample stack=work count=490 time=4.9s →\nproc 0 user=6s gc=4s →\nproc 1 user=3s gc=2s idle=5s →", false,
			"unchecked what forced collections cost: 500 of 520 collections were forced"},
		{forcedgc, "forced, of a heap", "gcline n=10 every=500ms cycle=30 at=10.01s aligned=true live=1MiB", false, "20 of 30 were forced, which took 0.7%"},
		{forcedgc, "forced, of a heap", "metric /gc/cycles/total:gc-cycles 0s=1 10s=500", false, "20 of 20 were forced"},
		{forcedgc, "forced, of a heap", "count=10 time=100ms → count=300 time=3s\ncount=980 time=9.8s → count=690 time=6.9s", true,
			"fact forced collections = 20 count, collector forced lines\nfact collections = 20 count, collector lines\nwho forces them is not known"},
		{forcedgc, "runtime.GC after", "stack sched runtime.findRunnable < runtime.schedule < runtime.mcall\nsample stack=sched count=100 time=1s", true, "CPU that goes with forced collections = 0.5588 ratio"},
		{forcedgc, "runtime.GC after", "stack second runtime.GC@mgc.go:500 < main.second@srv.go:30\nstack third runtime.GC@mgc.go:500 < main.third@srv.go:40\nstack again runtime.GC@mgc.go:501 < main.handle@srv.go:20\nwait sync reason=x stack=again group=main.serve count=1 total=1s\nwait sync reason=x stack=second group=main.serve count=1 total=1s\nwait sync reason=x stack=third group=main.serve count=1 total=1s", true,
			"where main.handle srv.go:20\nwhere main.second srv.go:30\n!where main.third"},
		{forcedgc, "runtime.GC after", "wait other reason=\"wait for GC cycle\" stack=force group=main.serve count=500 total=5s →\nstack cpuforce runtime.gcStart < runtime.GC < main.handle@srv.go:21 < main.serve@srv.go:14\nsample stack=cpuforce count=10 time=100ms", true,
			"where main.handle srv.go:21"},
		{forcedgc, "runtime.GC after", "stack cpuforce runtime.gcStart < runtime.GC < main.handle@srv.go:21 < main.serve@srv.go:14\nsample stack=cpuforce count=10 time=100ms", true, "where main.handle srv.go:20\n!srv.go:21"},
		{forcedgc, "runtime.GC after", "runtime.GC@mgc.go:500 → runtime/debug.FreeOSMemory@garbage.go:100", true, "where main.handle srv.go:20"},
		{forcedgc, "runtime.GC after", "runtime.GC@mgc.go:500 → runtime/debug.freeOSMemory", true, "where main.handle srv.go:20"},
	})
}

// What the rules of allocation say on either side of their thresholds.
func TestAllocationThresholds(t *testing.T) {
	const (
		churn, both, counted, fresh = "records built for each lookup, seen by a CPU profile alone", "both profiles agree", "the compiler says why", "large files"
		boxes, plus, bytes          = "three in ten objects", "names are turned round", "bytes become strings"
		nothing                     = "nothing is ever put back"
	)
	checkVariants(t, []variant{
		{allocchurn, churn, "count=900 time=9s → count=1800 time=18s", true, ""},
		{allocchurn, churn, "count=900 time=9s → count=4050 time=40.5s", false, "fine: allocation and garbage collection take 10.0%"},
		{allocchurn, churn, "duration=10s → duration=60s", true, ""},
		{allocchurn, churn, "duration=10s → duration=100s", false, ""},
		{allocchurn, churn, "count=200 time=2s → count=5 time=50ms\ncount=100 time=1s → count=3 time=30ms\ncount=150 time=1.5s → count=40 time=400ms\ncount=900 time=9s → count=100 time=1s\nduration=10s → duration=1s", true, ""},
		{allocchurn, churn, "stack four runtime.mallocgc < main.four@four.go:4\nstack five runtime.mallocgc < main.five@five.go:5\nsample stack=four count=90 time=900ms\nsample stack=five count=80 time=800ms", true,
			"where main.four four.go:4\n!where main.five"},
		{allocchurn, churn, "stack tiny runtime.mallocgc < main.tiny@tiny.go:4\nsample stack=tiny count=13 time=130ms", true, "!where main.tiny"},
		{allocchurn, churn, "stack tiny runtime.mallocgc < main.tiny@tiny.go:4\nsample stack=tiny count=17 time=170ms", true, "where main.tiny"},
		{allocchurn, both, "objects=9000000 bytes=600MiB live=1MiB → objects=9000000 bytes=600MiB live=180MiB", true, "where main.lookup"},
		{allocchurn, both, "objects=9000000 bytes=600MiB live=1MiB → objects=9000000 bytes=600MiB live=400MiB", false, ""},
		{allocchurn, both, "count=150 time=1.5s → count=30 time=300ms\nobjects=9000000 bytes=600MiB → objects=3500000 bytes=400MiB\nobjects=200000 bytes=9MiB → objects=6000000 bytes=150MiB", true,
			"one line of main.other causes"},
		{allocchurn, both, "cpu duration=10s →\nsample stack=malloc count=300 time=3s →\nsample stack=mark count=150 time=1.5s →\nsample stack=work count=900 time=9s →", false,
			"unchecked what allocation costs: a heap profile tells where"},
		{allocchurn, counted, "metric /gc/heap/allocs:bytes 0s=0 10s=609MiB →", true, "!fact objects allocated for each"},
		{allocchurn, "two fresh buffers", "alloc stack=write objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=read objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=small objects=100 bytes=1MiB →", false,
			"unchecked which code allocates: allocating and collecting take up to 90.9%"},
		{allocchurn, "two fresh buffers", "alloc stack=write objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=read objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=small objects=100 bytes=1MiB →\nstack cpuwrite runtime.mallocgc < main.worker@pool.go:31 < main.main.func1@main.go:12\ncpu duration=1.2s\nsample stack=cpuwrite count=12 time=120ms", true,
			"the CPU profile has too few samples: it shows sites"},
		{allocchurn, "two fresh buffers", "alloc stack=write objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=read objects=1000 bytes=2000MiB live=4MiB →\nalloc stack=small objects=100 bytes=1MiB →\nstack cpuwrite runtime.mallocgc < main.worker@pool.go:31 < main.main.func1@main.go:12\ncpu duration=1.2s\nsample stack=cpuwrite count=7 time=70ms", false,
			"unchecked which code allocates"},
		{allocchurn, "two fresh buffers", "gc=150ms → gc=600ms\nuser=800ms → user=200ms", true, "CPU in the allocator = 0.4 ratio"},
		// First use of pages.
		{allocchurn, fresh, "allocs:bytes 0s=0 10s=10GiB → allocs:bytes 0s=0 10s=5GiB", true, "page faults of fresh memory up to 19.0% more"},
		{allocchurn, fresh, "count=60 time=600ms → count=50 time=500ms", true, "Allocating and collecting take 7.0%"},
		{allocchurn, fresh, "count=60 time=600ms → count=12 time=120ms", false, ""},
		{allocchurn, fresh, "objects=10000 bytes=10000MiB → objects=220000 bytes=10000MiB", true, ""},
		{allocchurn, fresh, "objects=10000 bytes=10000MiB → objects=520000 bytes=10000MiB", false, ""},
		{allocchurn, fresh, "objects=10000 bytes=9MiB → objects=1000000 bytes=9000MiB", true, ""},
		{allocchurn, fresh, "objects=10000 bytes=9MiB → objects=1000000 bytes=11000MiB", false, ""},
		{allocchurn, fresh, "alloc stack=site objects=10000 bytes=10000MiB live=1MiB →\nalloc stack=rest objects=10000 bytes=9MiB live=1MiB →\nstack small runtime.mallocgc < main.small@small.go:1\nsample stack=small count=140 time=1.4s", true, "page faults of fresh memory"},
		{allocchurn, fresh, "alloc stack=site objects=10000 bytes=10000MiB live=1MiB →\nalloc stack=rest objects=10000 bytes=9MiB live=1MiB →\nstack small runtime.mallocgc < main.small@small.go:1\nsample stack=small count=240 time=2.4s", true, "!page faults of fresh memory"},
		{allocchurn, fresh, "runtime.mallocgcLarge < runtime.mallocgc → runtime.(*mcache).allocLarge < runtime.mallocgc\nalloc stack=site objects=10000 bytes=10000MiB live=1MiB →\nalloc stack=rest objects=10000 bytes=9MiB live=1MiB →", true, "page faults of fresh memory"},

		{boxedargs, boxes, "objects=3000000 bytes=90MiB → objects=100000 bytes=90MiB", false, "fine: arguments on the heap: no line makes 2.0%"},
		{boxedargs, boxes, "stack text fmt.Sprintf@print.go:240 < main.(*logger).Debugf@log.go:20 < main.(*server).answer@answer.go:40 < main.serve@udp.go:12\nalloc stack=text objects=100000 bytes=1MiB", true, ""},
		{boxedargs, boxes, "stack text fmt.Sprintf@print.go:240 < main.(*logger).Debugf@log.go:20 < main.(*server).answer@answer.go:40 < main.serve@udp.go:12\nalloc stack=text objects=200000 bytes=1MiB", false, "fine: arguments on the heap: the calls that they are for use them"},
		{boxedargs, boxes, "stack format fmt.(*pp).doPrintf@print.go:1000 < main.(*logger).Debugf@log.go:20 < main.(*server).answer@answer.go:40 < main.serve@udp.go:12\nsample stack=format count=2 time=20ms", true, ""},
		{boxedargs, boxes, "stack format fmt.(*pp).doPrintf@print.go:1000 < main.(*logger).Debugf@log.go:20 < main.(*server).answer@answer.go:40 < main.serve@udp.go:12\nsample stack=format count=4 time=40ms", false, "fine: arguments on the heap: the calls that they are for use them"},
		{boxedargs, boxes, "count=60 time=600ms → count=12 time=600ms", true, ""},
		{boxedargs, boxes, "count=60 time=600ms → count=7 time=600ms", false, "unchecked whether arguments on the heap are for calls that ignore them: 30.0% of the objects"},
		{boxedargs, boxes, "alloc stack=record objects=7000000 bytes=400MiB →", true, "explains allocchurn gccost"},
		{boxedargs, boxes, "objects=7000000 bytes=400MiB → objects=1500000 bytes=45MiB", true, "!explains allocchurn"},
		{boxedargs, boxes, "sample stack=malloc count=60 time=600ms →\nsample stack=malloc2 count=130 time=1.3s →\nsample stack=mark count=60 time=600ms →", false, "fine: arguments on the heap: they cost 0% of the CPU at most"},
		{boxedargs, boxes, "variadic=true → variadic=true stays=true\nescape answer.go:40 q.Name →", false, ""},
		{boxedargs, boxes, "variadic=true → variadic=true stays=true\nanswer.go:40 q.Name → answer.go:40 q.Name moved=true", false, ""},
		{boxedargs, boxes, "variadic=true → variadic=true stays=true\nanswer.go:40 q.Name → answer.go:40 q.Name stays=true", false, ""},
		{boxedargs, boxes, "variadic=true → variadic=true stays=true\nanswer.go:40 q.Name → answer.go:40 \"func literal\"", false, ""},
		{boxedargs, boxes, "stack conv runtime.convTstring < main.(*server).answer@answer.go:40 < main.serve@udp.go:12\nsample stack=conv count=20 time=200ms", true, "CPU on those lines, allocating left out = 0.0198 ratio"},
		{boxedargs, boxes, "objects=7000000 bytes=400MiB → objects=5000000 bytes=400MiB\nstack more main.more@more.go:9 < main.serve@udp.go:12\nstack cpumore runtime.mallocgc < main.more@more.go:9 < main.serve@udp.go:12\nalloc stack=more objects=2500000 bytes=190MiB\nescape more.go:9 \"... argument\" variadic=true\nsample stack=cpumore count=20 time=200ms", true, "most by main.(*server).answer"},
		{boxedargs, boxes, "objects=7000000 bytes=400MiB → objects=5000000 bytes=400MiB\nstack more main.more@more.go:9 < main.serve@udp.go:12\nstack cpumore runtime.mallocgc < main.more@more.go:9 < main.serve@udp.go:12\nalloc stack=more objects=3500000 bytes=9MiB\nescape more.go:9 \"... argument\" variadic=true\nsample stack=cpumore count=20 time=200ms", true, "most by main.more"},
		{boxedargs, boxes, sixLines, true, "where main.f2\nwhere main.f5\n!where main.f6"},

		{stringbuilding, plus, "count=90 time=900ms → count=40 time=400ms\ncount=160 time=1.6s → count=60 time=600ms\ncount=200 time=2s → count=100 time=1s\ncount=1310 time=13.1s → count=1560 time=15.6s", true, ""},
		{stringbuilding, plus, "count=90 time=900ms → count=40 time=400ms\ncount=160 time=1.6s → count=60 time=600ms\ncount=200 time=2s → count=100 time=1s\ncount=1310 time=13.1s → count=1560 time=15.6s\nresult bench\nbenchmark BenchmarkZone-2 n=10 v.ns/op=100", false, ""},
		{stringbuilding, plus, "count=90 time=900ms → count=65 time=650ms\ncount=160 time=1.6s → count=110 time=1.1s\ncount=200 time=2s → count=150 time=1.5s\ncount=1310 time=13.1s → count=1435 time=14.35s", true, ""},
		{stringbuilding, plus, "count=90 time=900ms → count=10 time=100ms\ncount=160 time=1.6s → count=30 time=300ms\ncount=140 time=1.4s → count=70 time=700ms\ncount=200 time=2s → count=50 time=500ms\ncount=1310 time=13.1s → count=1740 time=17.4s", false,
			"fine: strings: what functions make by concatenation and conversion takes 4."},
		{stringbuilding, plus, "objects=10400000 bytes=330MiB → objects=10400000 bytes=5MiB", true, ""},
		{stringbuilding, plus, "stack cpusplit runtime.mallocgc < strings.genSplit@strings.go:240 < strings.Split@strings.go:300 < main.reverseZone@zone.go:10 < main.handle@main.go:40\nsample stack=cpusplit count=20 time=200ms", true, "makes by concatenation: "},
		{stringbuilding, plus, "sample stack= → oncpu mode=user stack=\ncpu duration=10s →\ncpu duration=10s\nsample stack=work count=5 time=50ms", true, "CPU in the allocator = 0.1579 ratio, account kernel"},
		{stringbuilding, plus, "stack key main.key@key.go:9 < main.handle@main.go:40\nstack cpukey runtime.mallocgc < runtime.concatstrings < main.key@key.go:9 < main.handle@main.go:40\nsample stack=cpukey count=20 time=200ms\nalloc stack=key objects=9900000 bytes=390MiB", true,
			"that main.reverseZone makes by concatenation, with one other function: \nwhere main.key key.go:9"},
		{stringbuilding, plus, fourFunctions, true, "that main.f4 makes by concatenation, with 3 other functions: \nwhere main.f3\n!where main.reverseZone"},
		{stringbuilding, plus, "", true, "!explains allocchurn"},
		{stringbuilding, bytes, "", true, "explains allocchurn gccost"},
		{stringbuilding, bytes, "alloc stack=back objects=1000000 bytes=40MiB →\nsample stack=cpuback count=60 time=600ms →\nstack cpurune runtime.mallocgc < runtime.stringtoslicebyte < example.com/match.(*Rules).fields@fields.go:30 < main.worker@main.go:20\nsample stack=cpurune count=60 time=600ms", true, "makes by string(bytes) and []byte(string)"},

		{poolmisuse, nothing, "objects=3000000 bytes=200MiB → objects=23000000 bytes=4600MiB", true, ""},
		{poolmisuse, nothing, "objects=3000000 bytes=200MiB → objects=48000000 bytes=9600MiB", false, ""},
		{poolmisuse, nothing, "0s=12 2s=12 → 0s=1000 2s=1000\nobjects=2000000 bytes → objects=250000 bytes", true, ""},
		{poolmisuse, nothing, "0s=12 2s=12 → 0s=1000 2s=1000\nobjects=2000000 bytes → objects=150000 bytes", false, ""},
		{poolmisuse, nothing, "objects=2000000 bytes → objects=30000 bytes", true, ""},
		{poolmisuse, nothing, "objects=2000000 bytes → objects=20000 bytes", false, ""},
		{poolmisuse, nothing, "0s=10 2s=60 → 0s=10 2s=11\nobjects=2000000 bytes → objects=900 bytes", true, ""},
		{poolmisuse, nothing, "bytes=400MiB → bytes=4MiB", true, ""},
		{poolmisuse, nothing, "bytes=400MiB → bytes=4095KiB", false, "fine: pools"},
		{poolmisuse, nothing, "objects=2000000 bytes → objects=0 bytes", false, "!pools"},
		{poolmisuse, nothing, "alloc stack=new objects=2000000 bytes=400MiB →", false, "!pools"},
		{poolmisuse, nothing, "metric /gc/cycles/total:gc-cycles 0s=10 2s=60 →", false, "!pools"},
		{poolmisuse, nothing, "cpu duration=2s →\nsample stack=new count=40 time=400ms →\nsample stack=work count=160 time=1600ms →", true,
			"cost, share 0.4: objects made by pools = 2e+06 count\nbound, direction for cpu, share 0.05: bytes in objects made by pools = 4.194e+08 bytes, samples alloc_space"},
		{poolmisuse, nothing, "bytes=400MiB → bytes=100MiB", true, "40.0% of all objects allocated"},
		{poolmisuse, nothing, "stack mark runtime.scanObject < runtime.gcDrain < runtime.gcBgMarkWorker\nsample stack=mark count=50 time=500ms", true, "collecting what it made = 0.2933 ratio"},
		{poolmisuse, nothing, "stack second main.second.func1@s.go:2 < sync.(*Pool).Get@pool.go:151 < main.second@s.go:4\nstack third main.third.func1@t.go:2 < sync.(*Pool).Get@pool.go:151 < main.third@t.go:4\nalloc stack=second objects=3000000 bytes=1MiB\nalloc stack=third objects=1000 bytes=1MiB", true,
			"where main.second s.go:4\nwhere main.init.func1\n!where main.third"},
		{poolmisuse, nothing, "stack second main.second.func1@s.go:2 < sync.(*Pool).Get@pool.go:151 < main.second@s.go:4\nstack third main.third.func1@t.go:2 < sync.(*Pool).Get@pool.go:151 < main.third@t.go:4\nalloc stack=second objects=3000 bytes=1MiB\nalloc stack=third objects=1000 bytes=1MiB", true,
			"where main.second s.go:4\nwhere main.init.func1\n!where main.third"},

		{oldtimers, "time.After in a loop, with", "live-objects=1000 live=2MiB → live-objects=1000 live=160MiB", false, "fine: timers: those that are made hold 12 MiB"},
		{oldtimers, "time.After in a loop, with", "live-objects=60000 live=12MiB → live-objects=6000 live=1.5MiB", true, "!explains heapgrowth"},
		{oldtimers, "time.After in a loop, with", "live-objects=60000 live=12MiB → live-objects=3000 live=700KiB\nlive-objects=1000 live=2MiB → live-objects=1000 live=1MiB", false, ""},
		{oldtimers, "time.After in a loop, with", "", true, "explains heapgrowth gccost"},
		{oldtimers, "time.After in a loop, with", "live-objects=1000 live=2MiB → live-objects=1000 live=28MiB", true, "!explains heapgrowth"},
		{oldtimers, "time.After in a loop since", "objects=400000 bytes → objects=1500 bytes", false, "obsolete timers made again and again in main.loop, 1.5%"},
		{oldtimers, "time.After in a loop since", "objects=400000 bytes → objects=700 bytes", false, "!obsolete"},
		{oldtimers, "the environment", "", true, "A heap profile of a new recording must have next to nothing"},
		{oldtimers, "built with Go 1.22", "stack t2 time.NewTimer@sleep.go:86 < main.t2@t.go:2\nstack t3 time.NewTimer@sleep.go:86 < main.t3@t.go:3\nstack t4 time.NewTimer@sleep.go:86 < main.t4@t.go:4\nalloc stack=t2 objects=5000000 bytes=1MiB live=1MiB\nalloc stack=t3 objects=1 bytes=3MiB live=3MiB\nalloc stack=t4 objects=1 bytes=1KiB live=1KiB", true,
			"Timers made in main.loop hold\nwhere main.t3\n!where main.t4"},
	})
}

// What the rules of time taken by the collector, and of growth, say there.
func TestCollectorThresholds(t *testing.T) {
	pauses := func(n int, kind, length string) string {
		return each(1, n, func(i int) string { return fmt.Sprintf("pause %q at=%dms for=%s", kind, 1000+i, length) })
	}
	const (
		stats, waits, timer = "memory statistics", "the collector waits", "a benchmark"
		without             = "pause \"GC mark termination\" at=500ms for=38ms →\n"
		lost, half, quarter = "requests mark", "assists of half", "the collector keeps"
		short               = "at=300ms proc=1 → at=120ms proc=1\nat=800ms proc=1 → at=620ms proc=1\nat=1300ms proc=1 → at=1120ms proc=1\n"
		other               = "group main.other count=4 peak=4 run=5s \"range.GC mark assist\"=100ms start=other.go:4"
		four, start         = "four megabytes", "ten seconds"
		doubling, pile      = "a leak under GOGC", "none of the deadlines"
		steps               = "1s=8MiB 2s=16MiB 4s=32MiB 8s=65MiB 16s=128MiB → "
		rare                = "objects=61000 bytes → objects=460 bytes\nobjects=60500 bytes=6MiB → objects=460 bytes=6MiB\nobjects=62000 bytes → objects=2450 bytes\n"
		noProfiles          = "liveheap start stack=session objects=10000 bytes=40MiB →\nliveheap start stack=buffer objects=100 bytes=20MiB →\n"
	)
	checkVariants(t, []variant{
		{forcedgc, "runtime.GC after", "wait other reason=\"wait for GC cycle\" stack=force group=main.serve count=500 total=5s →", true,
			"that they cost as much as the others is assumed; who forces them is not known\n!not who forces"},
		{slowstop, waits, without + pauses(28, "GC mark termination", "1.5ms"), true, "stopped 30 times for garbage collection"},
		{slowstop, waits, without + pauses(53, "GC mark termination", "800us"), false, ""},
		{slowstop, waits, without + pauses(25, "GC mark termination", "1700us"), true, ""},
		{slowstop, waits, without + pauses(13, "GC mark termination", "3ms"), false, ""},
		{slowstop, waits, without + pauses(30, "GC mark termination", "1200us"), false, ""},
		{slowstop, waits, "for=38ms → for=15ms", true, "confidence low"},
		{slowstop, waits, "for=38ms → for=8ms", false, ""},
		{slowstop, waits, "for=40us → for=12ms\nfor=60us → for=12ms", true, "confidence medium"},
		{slowstop, waits, without + pauses(100, "GC mark termination", "10us"), false, "fine: stops of the world: 102, the longest 60.0 µs"},
		{slowstop, waits, pauses(100, "GC mark termination", "10us"), true, "garbage collection, up to 38.0 ms\nbound, limit for latency, share 0.0196: longest stop = 0.038 seconds"},
		{slowstop, stats, "for=8ms → for=4ms\nfor=9ms → for=4ms\nfor=7ms → for=4ms\nfor=6ms → for=4ms", false, ""},
		{slowstop, stats, "for=8ms → for=100us\nfor=9ms → for=25ms\nfor=7ms → for=100us\nfor=6ms → for=100us", true, "confidence medium"},
		{slowstop, stats, "pause \"GC sweep termination\" at=910ms for=20us → pause \"GC sweep termination\" at=910ms for=20ms", true, "garbage collection\nread mem stats"},
		{slowstop, stats, "pause \"read mem stats\" at=300ms for=9ms stack=stats →\nstack other runtime.ReadMemStats@mstats.go:350 < main.other@status.go:19 < main.handle@main.go:44\npause \"read mem stats\" at=50ms for=9ms stack=other", true, "where main.other status.go:19"},
		{slowstop, stats, "syscalls window=2s\nsyscall futex count=50", true, "explains schedlatency futexstorm"},
		{slowstop, stats, "syscalls window=2s\nsyscall futex count=80", true, "explains schedlatency\n!futexstorm"},
		{slowstop, stats, "delay 1000x5ms", true, "explains schedlatency"},
		{slowstop, stats, "delay 1000x20ms", true, "!explains schedlatency"},
		{slowstop, stats, "delay 995x5ms,5x50ms", true, "explains schedlatency"},
		{slowstop, waits, pauses(100, "GC mark termination", "10us") + "\ndelay 1000x5ms", true, "explains schedlatency"},
		{slowstop, stats, "read mem stats → goroutine profile", true, "remedy Take goroutine profiles and stack dumps"},
		{slowstop, stats, "read mem stats → all goroutines stack trace", true, "remedy Take goroutine profiles and stack dumps"},
		{slowstop, stats, "read mem stats → GOMAXPROCS", true, "remedy Set GOMAXPROCS once at the start"},
		{slowstop, stats, "read mem stats → AllThreadsSyscall", true, "remedy Call what stops the world less often"},
		{slowstop, timer, "StopTimer → StartTimer", true, "remedy Prepare the input before the loop"},

		{gcassist, lost, short, true, "leaves the program 40.0% of its Ps\ntime that the collector took of the worst window = 0.06 seconds\nshare 0.315"},
		{gcassist, lost, "at=300ms proc=1 → at=120ms proc=1\nat=800ms proc=1 → at=615ms proc=1\nat=1300ms proc=1 → at=1115ms proc=1", true, "leaves the program 40.0% of its Ps"},
		{gcassist, lost, "load at=0s proc=-1 kind=procs delta=2 →\n" + short, true, "leaves the program 40.0% of its Ps"},
		{gcassist, lost, "kind=assist → kind=sweep", true, "leaves the program 0% of its Ps"},
		{gcassist, lost, "cycle begin=1100ms end=1400ms →\ncycle begin=1600ms end=1900ms →", false, "unchecked whether the garbage collector habitually takes time from goroutines: the trace holds only 2 collections"},
		{gcassist, lost, "load at=1300ms proc=1 kind=assist delta=-1 →", true, "of Ps' time in assists = 1.3 seconds"},
		{gcassist, lost, "heap at=1950ms alloc=100MiB goal=120MiB", true, "fact largest heap goal = 2.412e+08"},
		{gcassist, lost, "group main.idle count=1 peak=1 run=1s start=idle.go:4", true, "about groups main.serve\n!main.idle"},
		{gcassist, lost, "result k6 duration=2s ops=900 rate=450", true, "prove by p99, knob GOGC=200"},
		{gcassist, lost, "metric /gc/gogc:percent 0s=18446744073709551615", true, "prove by elapsed, code"},
		{gcassist, "one bad moment", "run=14.9s → run=2s", false, "nearly all others left it 100% or more"},
		{gcassist, half, "", true, "prove by elapsed, knob GOGC=200"},
		{gcassist, half, "run=5.1s → run=10s", false, ""},
		{gcassist, half, "group main.big count=1 peak=1 run=60s runnable=1s start=big.go:1", true, ""},
		{gcassist, half, "group main.big count=1 peak=1 run=150s runnable=1s start=big.go:1", false, ""},
		{gcassist, half, "group main.big count=1 peak=1 run=1s runnable=900s start=big.go:1", true, ""},
		{gcassist, half, "group sys system=true count=1 peak=1 run=900s start=big.go:1", true, ""},
		{gcassist, half, "run=5.1s → run=300ms", true, "main.serve spends 100% of its running time"},
		{gcassist, half, other, true, "main.serve spends 7.2% of its running time\nabout groups main.serve main.other"},
		{gcassist, half, "run=5.1s → run=2s\n" + "group main.other count=4 peak=4 run=5s \"range.GC mark assist\"=900ms start=other.go:4\ngroup main.third count=4 peak=4 run=5s \"range.GC mark assist\"=100ms start=third.go:4", true,
			"main.serve spends 8.6%\nabout groups main.other main.serve main.third\nwhere main.other\nwhere main.serve\n!where main.third"},
		{gcassist, half, "user=1.3s → user=10ms", true, "throughput = 2.309 factor"},
		{gcassist, quarter, "load at=600ms proc=0 kind=background delta=1 dedicated=true →\nload at=660ms proc=0 kind=background delta=-1 dedicated=true →\n" +
			"load at=1100ms proc=0 kind=background delta=1 dedicated=true →\nload at=1160ms proc=0 kind=background delta=-1 dedicated=true →", false, "keeps at least 85.0% of the Ps"},
		{gcassist, "those who assist", "stack user main.work@main.go:50\nwait sched reason=x stack=user group=net/http.(*conn).serve count=1 total=1ms", false, ""},
		{gcassist, "those who assist", "stack user main.work@main.go:50\nwait sync reason=x stack=user group=main.work count=1 total=1ms", false, ""},
		{gcassist, "those who assist", "stack user main.work@main.go:50\nwait sync reason=x stack=user group=net/http.(*conn).serve count=1 total=1ms", true, ""},

		{heapgrowth, four, "0s=60MiB 60s=300MiB → 0s=100MiB 60s=120MiB", false, "too little to tell a leak"},
		{heapgrowth, four, "0s=60MiB 60s=300MiB → 0s=100MiB 60s=145MiB", true, ""},
		{heapgrowth, four, "0s=60MiB 60s=300MiB every=1s noise=2MiB → 0s=10MiB 60s=18MiB every=1s noise=50KiB", true, ""},
		{heapgrowth, four, "0s=60MiB 60s=300MiB every=1s noise=2MiB → 0s=5MiB 60s=9MiB every=1s noise=50KiB", false, "it grew by at most 68.3 KiB/s"},
		{heapgrowth, four, "0s=60MiB 60s=300MiB every=1s noise=2MiB → 0s=40MiB 4s=70MiB 8s=35MiB 12s=80MiB 16s=42MiB 20s=60MiB 24s=90MiB 28s=38MiB 32s=85MiB 36s=45MiB 40s=95MiB 44s=36MiB 48s=66MiB 52s=89MiB 56s=39MiB 60s=80MiB", false, "and no steady growth in"},
		{heapgrowth, "a program of three", "window 3s → window 6s\n3s=300MiB → 5500ms=300MiB", false, "unchecked whether the live heap keeps growing"},
		{heapgrowth, start, "window 10s → window 28s\n10s=300MiB → 27s=300MiB", true, "confidence low"},
		{heapgrowth, "five collections", "window 60s → window 20s\n0s=60MiB 10s=70MiB 20s=80MiB 30s=90MiB 40s=100MiB → 0s=60MiB 5s=70MiB 10s=80MiB", false, "!unchecked whether the live heap grows"},
		{heapgrowth, "goroutines pile", "0s=60MiB 60s=300MiB every=1s noise=2MiB → 0s=60MiB 60s=300MiB every=1s noise=40MiB", false, "it grows by 4 MiB/s, and so does"},
		{heapgrowth, four, "0s=60MiB 60s=300MiB → 20s=60MiB 60s=300MiB", true, "in 30.0 s."},
		{heapgrowth, four, "", true, "Let each run last 44.0 s at least"},
		{heapgrowth, "the lines of gctrace", "gcline n=5 every=2s cycle=16 at=31s live=70MiB goal=140MiB →\ngcline n=5 every=2s cycle=21 at=41s live=80MiB goal=160MiB →\n" +
			"gcline n=5 every=2s cycle=26 at=51s live=90MiB goal=180MiB → gcline n=3 every=4s cycle=26 at=51s live=90MiB goal=180MiB", false, "from 40 MiB to 90 MiB, and not at one pace"},
		{heapgrowth, four, "goroutines 0s=40 60s=41 every=1s noise=2 → goroutines 20s=1000 60s=1150 every=1s noise=2", true, ""},
		{heapgrowth, four, "goroutines 0s=40 60s=41 every=1s noise=2 → goroutines 20s=1000 60s=1250 every=1s noise=2", false, ""},
		{heapgrowth, four, "metric /sched/goroutines:goroutines 0s=40 60s=41 every=1s noise=2 →\ngoroutines start stack=session count=100\ngoroutines end stack=session count=130", false, "and so does the number of goroutines"},
		{heapgrowth, four, "metric /sched/goroutines:goroutines 0s=40 60s=41 every=1s noise=2 →\ngoroutines start stack=session count=100\ngoroutines end stack=session count=110", true, ""},
		{heapgrowth, four, "metric /sched/goroutines:goroutines 0s=40 60s=41 every=1s noise=2 →\ngoroutines end stack=session count=110", true, ""},
		{heapgrowth, four, noProfiles, true, "!Most of it comes"},
		{heapgrowth, four, "process n=61 user=30s system=5s rss=100MiB..420MiB →", true, "!until the container's memory is full"},
		{heapgrowth, four, moreLines, true, "Most of it comes from main.(*store).put.\nwhere main.b\nwhere main.c\n!where main.d\nhave 75.1% of the growth"},
		{heapgrowth, four, "end stack=session objects=70000 bytes=270MiB → end stack=session objects=70000 bytes=60MiB\nend stack=buffer objects=110 bytes=22MiB → end stack=buffer objects=110 bytes=27MiB\n" + library, true,
			"where main.(*store).put\n!where main.read\nconfidence medium"},
		{heapgrowth, four, "end stack=session objects=70000 bytes=270MiB → end stack=session objects=70000 bytes=60MiB\nend stack=buffer objects=110 bytes=22MiB → end stack=buffer objects=110 bytes=35MiB\n" + library, true,
			"where main.(*store).put\nwhere main.read\nconfidence medium"},
		{heapgrowth, doubling, "16s=128MiB → 8900ms=72MiB", false, "unchecked whether the live heap keeps growing: it rose from"},
		{heapgrowth, doubling, "16s=128MiB → 9100ms=73900KiB", true, ""},
		{heapgrowth, doubling, "window 18s → window 33s", false, "to 128 MiB, and not at one pace"},
		{heapgrowth, doubling, "16s=128MiB → 16s=112MiB", true, ""},
		{heapgrowth, doubling, "16s=128MiB → 16s=80MiB", false, "over 6 collections, and not evenly to the end"},
		{heapgrowth, doubling, "16s=128MiB → 16s=60MiB", false, "too few to tell what rises from what comes back"},
		{heapgrowth, doubling, "1s=8MiB 2s=16MiB 4s=32MiB 8s=65MiB 16s=128MiB → 2s=5MiB 4s=6MiB 8s=7MiB 16s=8MiB", false, "!unchecked"},
		{heapgrowth, doubling, "1s=8MiB 2s=16MiB 4s=32MiB 8s=65MiB 16s=128MiB → 2s=800MiB 4s=820MiB 8s=860MiB 16s=940MiB", false, "!unchecked"},
		{heapgrowth, doubling, "sched/goroutines:goroutines 0s=8 18s=8 → sched/goroutines:goroutines 0s=1000 18s=1920", false, "and so does the number of goroutines"},
		{heapgrowth, doubling, "sched/goroutines:goroutines 0s=8 18s=8 → sched/goroutines:goroutines 0s=1000 18s=1820", true, ""},
		{heapgrowth, doubling, "18s=180MiB every → 16s=160MiB 18s=165MiB every", false, "not evenly to the end"},
		{heapgrowth, doubling, "18s=180MiB every → 16s=160MiB 18s=171MiB every", true, ""},
		{heapgrowth, doubling, "metric /gc/heap/allocs:bytes 0s=4MiB 18s=180MiB every=100ms → metric /gc/heap/allocs:bytes 0s=4MiB 16s=160MiB 17s=160MiB every=100ms", true, ""},
		{heapgrowth, doubling, steps + "10s=68MiB 15s=104MiB", true, "from 68 MiB by 36 MiB in 5.00 s"},
		{heapgrowth, doubling, steps + "10s=130MiB 15s=162MiB", false, "not evenly to the end"},
		{heapgrowth, doubling, steps + "15s=104MiB", false, "unchecked whether the live heap keeps growing: it rose from"},
		{heapgrowth, doubling, "window 18s → window 4900ms\n" + steps + "500ms=8MiB 1s=12MiB 2s=20MiB 4s=36MiB", false, "in a recording of less than 5.00 s"},
		{heapgrowth, doubling, "window 18s → window 5s\n" + steps + "500ms=8MiB 1s=12MiB 2s=20MiB 4s=36MiB", true, ""},
		{heapgrowth, doubling, "session objects=14100 bytes=56MiB → session objects=28000 bytes=112MiB", true, "is still there = 0.5 ratio"},
		{heapgrowth, doubling, "session objects=14100 bytes=56MiB → session objects=28100 bytes=112MiB", false, "too few without heap profiles"},
		{heapgrowth, doubling, "runtime.mapassign_faststr → runtime.growslice", true, "writes to a slice that is appended to"},
		{heapgrowth, doubling, "runtime.mapassign_faststr → fmt.Sprint", true, "!writes to"},
		{heapgrowth, doubling, "machine cpus=2 busy=9s idle=27s available=4GiB →", true, "!until the machine's memory"},

		{leakedtimers, pile, "count=9 → count=12000", true, ""},
		{leakedtimers, pile, "count=9 → count=12100", false, ""},
		{leakedtimers, pile, "goroutines end stack=session count=9 →", false, ""},
		{leakedtimers, pile, "goroutines end stack=session count=9 → metric /sched/goroutines:goroutines 0s=9 9s=9", true, "fact goroutines at the end = 9"},
		{leakedtimers, pile, "objects=62000 bytes=9MiB → objects=62000 bytes=1MiB\nobjects=60000 bytes=6MiB → objects=60000 bytes=820KiB", true, ""},
		{leakedtimers, pile, "objects=62000 bytes=9MiB → objects=62000 bytes=1MiB\nobjects=60000 bytes=6MiB → objects=60000 bytes=804KiB", false, ""},
		{leakedtimers, pile, rare + "objects=60000 bytes=6MiB → objects=450 bytes=6MiB", true, ""},
		{leakedtimers, pile, rare + "objects=60000 bytes=6MiB → objects=440 bytes=6MiB", false, ""},
		{leakedtimers, pile, "liveheap start stack=context objects=2000 bytes=300KiB →", false, ""},
		{oldtimers, "time.After in a loop since", "time.NewTimer@sleep.go:150 < time.After@sleep.go:200 → time.AfterFunc@sleep.go:200", false, "!obsolete"},
	})
}

// What somebody set makes collections frequent: that is then the cause, and what is
// allocated a symptom of it, where collecting is at least half of what it costs.
func TestCollectingBySetting(t *testing.T) {
	for _, c := range []struct {
		gogc, mark  int
		gcs, allocs bool // each explains the other
	}{{100, 80, false, true}, {51, 80, false, true}, {50, 80, true, false}, {10, 52, true, false}, {10, 48, false, false}} {
		lines := fmt.Sprintf("window 1s procs=1\nmetric /gc/gogc:percent 0s=%d\n"+
			"stack mark runtime.gcDrain < runtime.gcBgMarkWorker\nstack malloc runtime.mallocgc < main.w@w.go:1\n"+
			"cpu duration=1s\nsample stack=mark count=%d time=%dms\nsample stack=malloc count=%d time=%dms", c.gogc, 3*c.mark, 3*c.mark, 300-3*c.mark, 300-3*c.mark)
		if got := slices.Contains(gcSymptoms(passOf(t, gccost, lines)), "allocchurn"); got != c.gcs {
			t.Errorf("GOGC=%d, %d%% marking: collecting explains allocating: %v, want %v", c.gogc, c.mark, got, c.gcs)
		}
		if got := slices.Contains(gcSymptoms(passOf(t, allocchurn, lines)), "gccost"); got != c.allocs {
			t.Errorf("GOGC=%d, %d%% marking: allocating explains collecting: %v, want %v", c.gogc, c.mark, got, c.allocs)
		}
	}
}

// Help is by the container nearest to the root, by its type or, where that is of a package, by the
// field that leads to it.
func TestContainerCure(t *testing.T) {
	for _, c := range []struct {
		step model.HolderStep
		want string // of the text; "" for none
	}{
		{model.HolderStep{Type: "map[string]int"}, "Delete entries"},
		{model.HolderStep{Type: "*sync.Map"}, "Delete entries"},
		{model.HolderStep{Type: "main.entry", Field: "(*sync.Map).root"}, "Delete entries"},
		{model.HolderStep{Type: "main.entry", Field: "map[0]"}, ""},
		{model.HolderStep{Type: "chan int"}, "Make the channel's buffer smaller"},
		{model.HolderStep{Type: "main.chan x"}, ""},
	} {
		got := containerCure(&model.Holder{Path: []model.HolderStep{{Type: "main.cache"}, c.step}})
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("containerCure(%+v) = %q, want %q", c.step, got, c.want)
		}
	}
}

// A lock has at most twice as much in the lines behind it, and no more than there is.
func TestLockAndLines(t *testing.T) {
	for x, want := range map[[2]float64]float64{{0.8, 0.2}: 0.4, {0.3, 0.2}: 0.3} {
		if got := lockAndLines.Value(x[:]); got != want {
			t.Errorf("lockAndLines of %v = %v, want %v", x, got, want)
		}
	}
}
