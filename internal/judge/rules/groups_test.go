package rules

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A search begins where workers keep the Ps busy, whatever number of them ran.
func TestSweepStart(t *testing.T) {
	busy := model.Times{Running: 2 * time.Second, Syscall: time.Second, SyscallBlocked: time.Second}
	for _, c := range []struct {
		what    string
		ps      int
		peak    int
		blocked map[string]time.Duration
		want    int
	}{
		{"nothing but work", 4, 100, nil, 4},
		{"as long for the network as at work", 4, 100, map[string]time.Duration{"network": 4 * time.Second}, 8},
		{"a third more for the network", 4, 100, map[string]time.Duration{"network": 1400 * time.Millisecond}, 6},
		{"leisure", 4, 100, map[string]time.Duration{"chan receive": time.Minute, "sync": time.Minute, "network": 4 * time.Second}, 8},
		{"no more than there were", 4, 3, nil, 3},
		{"one at least", 1, 1, nil, 1},
	} {
		g := &model.Group{Peak: c.peak, Times: busy}
		g.Blocked = c.blocked
		if got := sweepStart(c.ps, g); got != c.want {
			t.Errorf("%s: sweepStart(%d) = %d, want %d", c.what, c.ps, got, c.want)
		}
	}
}

func TestDelayedPart(t *testing.T) {
	g := &model.Group{Times: model.Times{Runnable: time.Second, Running: 2 * time.Second, Syscall: 3 * time.Second, SyscallBlocked: 4 * time.Second,
		Blocked: map[string]time.Duration{"network": time.Minute}}}
	if got := delayedPart(g); math.Abs(got-0.1) > 1e-12 {
		t.Errorf("delayedPart() = %v, want 0.1", got)
	}
}

func TestIsServing(t *testing.T) {
	for name, want := range map[string]bool{
		"net/http.(*conn).serve":           true,
		"main.(*api).ServeHTTP":            true,
		"main.handleLookup":                true,
		"net.(*TCPListener).Accept":        true,
		"net.(*UDPConn).ReadFromUDP":       true,
		"net.(*UDPConn).WriteTo":           false,
		"main.worker":                      false,
		"net/http.(*persistConn).readLoop": false,
	} {
		if got := isServing(name); got != want {
			t.Errorf("isServing(%q) = %v, want %v", name, got, want)
		}
	}
}

// A flood is of goroutines that come, wait for each other and end.
func TestFlooding(t *testing.T) {
	group := func(created, ended, peak, count int, edit func(*model.Group)) *model.Group {
		g := &model.Group{Created: created, Ended: ended, Peak: peak, Count: count,
			Times: model.Times{Running: time.Second, Blocked: map[string]time.Duration{"sync": 99 * time.Second}}}
		if edit != nil {
			edit(g)
		}
		return g
	}
	for _, c := range []struct {
		what string
		g    *model.Group
		want bool
	}{
		{"ten thousand at once", group(20_000, 19_000, 10_000, 20_000, nil), true},
		{"fewer at once, however many came", group(20_000, 19_500, 9_999, 20_000, nil), false},
		{"there before the window", group(4_999, 4_500, 10_000, 15_000, nil), false},
		{"a thousand more, of many that come and go", group(20_000, 19_000, 9_000, 20_000, nil), true},
		{"a thousand more, of workers that stay", group(2_000, 1_000, 1_500, 2_500, nil), false},
		{"half of the most at once came in the window", group(6_000, 5_500, 10_000, 15_000, nil), true},
		{"hardly one ends", group(20_000, 1_999, 15_000, 20_000, nil), false},
		{"a tenth ends", group(20_000, 2_000, 15_000, 20_000, nil), true},
		{"none began here", group(0, 0, 20_000, 20_000, nil), false},
		{"the runtime's", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) { g.System = true }), false},
		{"they wait for the network", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) {
			g.Blocked = map[string]time.Duration{"network": 99 * time.Second}
		}), false},
		{"they wait for a P", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) {
			g.Blocked, g.Runnable = nil, 99*time.Second
		}), true},
	} {
		if got := flooding(c.g); got != c.want {
			t.Errorf("%s: flooding() = %v, want %v", c.what, got, c.want)
		}
	}
}

// Goroutines come and go when twice as many were there as at once, whenever they began.
func TestSpawned(t *testing.T) {
	for _, c := range []struct {
		count, created int
		want           bool
	}{{200, 200, false}, {201, 50, true}, {100, 0, false}} {
		if got := shortLived(&model.Group{Count: c.count, Created: c.created, Peak: 100}); got != c.want {
			t.Errorf("spawned() of %d, %d of them new, and 100 at once = %v, want %v", c.count, c.created, got, c.want)
		}
	}
}

// What the heap held before a crowd came is known when neither began before what was seen.
func TestHeapBefore(t *testing.T) {
	const ms = time.Millisecond
	heap := []model.HeapSample{{At: 100 * ms, Alloc: 10}, {At: 400 * ms, Alloc: 30}, {At: 450 * ms, Alloc: 20}, {At: 550 * ms, Alloc: 99}}
	group := func(begins ...time.Duration) (list []model.Goroutine) {
		for _, at := range begins {
			list = append(list, model.Goroutine{Group: "main.work", Created: at})
		}
		return append(list, model.Goroutine{Group: "main.other", Created: 1})
	}
	for _, c := range []struct {
		what       string
		heap       []model.HeapSample
		goroutines []model.Goroutine
		created    int
		want       float64
		known      bool
	}{
		{"no heap was seen", nil, group(500 * ms), 2, 0, true},
		{"the first of those kept may not have been the first", heap, group(500*ms, 600*ms), 2, 30, true},
		{"just after a sample", heap, group(549*ms, 600*ms), 2, 30, true},
		{"the heap fell before they came", heap[1:], group(550 * ms), 2, 30, true},
		{"long after", heap, group(650 * ms), 2, 99, true},
		{"as soon as the heap was seen", heap, group(200 * ms), 2, 10, true},
		{"perhaps sooner", heap, group(199*ms, 600*ms), 2, 10, false},
		{"some were there before", heap, group(500 * ms), 1, 10, false},
		{"none was kept", heap, group(), 2, 10, false},
	} {
		m := &model.Model{Run: model.Run{Duration: time.Second}, GC: &model.GC{Heap: c.heap}, Sched: &model.Sched{Goroutines: c.goroutines}}
		got, known := heapBefore(m, &model.Group{Name: "main.work", Created: c.created, Count: 2})
		if got != c.want || known != c.known {
			t.Errorf("%s: heapBefore() = %v, %v, want %v, %v", c.what, got, known, c.want, c.known)
		}
	}
}

// A group takes callers by its name, its creator or the waits of its own goroutines.
func TestTakesCallers(t *testing.T) {
	m := &model.Model{}
	serve := m.Stacks.Add([]model.Frame{{Func: "net.(*conn).Read"}, {Func: "main.serveOne"}})
	ask := m.Stacks.Add([]model.Frame{{Func: "net.(*conn).Read"}, {Func: "main.ask"}})
	for _, c := range []struct {
		what string
		g    model.Group
		wait model.Wait
		want bool
	}{
		{"its name", model.Group{Name: "main.handle"}, model.Wait{}, true},
		{"who started it", model.Group{Name: "main.work", Creator: serve}, model.Wait{}, true},
		{"reads from who came", model.Group{Name: "main.work"}, model.Wait{Kind: model.Net, Group: "main.work", Stack: serve}, true},
		{"reads answers", model.Group{Name: "main.work"}, model.Wait{Kind: model.Net, Group: "main.work", Stack: ask}, false},
		{"waits for a lock on behalf of who came", model.Group{Name: "main.work"}, model.Wait{Kind: model.Sync, Group: "main.work", Stack: serve}, false},
		{"others read from who came", model.Group{Name: "main.work"}, model.Wait{Kind: model.Net, Group: "main.other", Stack: serve}, false},
	} {
		m.Sched = &model.Sched{Waits: []model.Wait{c.wait}}
		if got := takesCallers(&diagnosis.Pass{Meter: fact.Meter{Model: m}}, &c.g); got != c.want {
			t.Errorf("%s: takesCallers() = %v, want %v", c.what, got, c.want)
		}
	}
}

// What the rules of the scheduler say on either side of their thresholds.
func TestSchedulerThresholds(t *testing.T) {
	const (
		server, crowd, unserved = "a server with both Ps full", "a thousand workers", "goroutines are ready"
		waits                   = "delay=60000x300us,29000x1ms,1000x9ms → "
		ps                      = "proc 0 user=4.6s gc=200ms syscall=50ms scheduler=50ms idle=100ms → proc 0 user=3s gc=200ms syscall=50ms scheduler=50ms idle=1.7s"
	)
	beside := func(had string) string {
		machine, waited, _ := strings.Cut(had, " runqueue=")
		return "process n=11 user=4s system=0s runqueue=" + waited + "\nmachine n=11 cpus=4 " + machine
	}
	checkVariants(t, []variant{
		{schedlatency, server, waits + "delay=60000x300us,30000x5500us", true, ""},
		{schedlatency, server, waits + "delay=60000x300us,30000x4500us", false, ""},
		{schedlatency, server, waits + "delay=500x300us,400x9ms", false, ""},
		{schedlatency, server, "task answer latency=1000x80ms", true, ""},
		{schedlatency, server, "task answer latency=1000x100ms", false, ""},
		{schedlatency, server, "bucket n=50 width=100ms running=2 held=2 runnable=16 → bucket n=6 width=100ms running=2 held=2 runnable=16\nbucket n=44 width=100ms", true, ""},
		{schedlatency, server, "bucket n=50 width=100ms running=2 held=2 runnable=16 → bucket n=4 width=100ms running=2 held=2 runnable=16\nbucket n=46 width=100ms", false, ""},
		{schedlatency, server, ps, true, "The 2 Ps are only"},
		{schedlatency, server, beside("busy=12s idle=8s runqueue=4s"), true, "remark\nverdict unclear\nothers used 40.0% of the machine, and threads of this process waited 1.00 s for"},
		{schedlatency, server, beside("busy=6s idle=14s runqueue=4s"), true, "!remark"},
		{schedlatency, server, beside("busy=12s idle=8s runqueue=1500ms"), true, "!remark"},
		{slowstop, "as long, and threads waited", "busy=4s idle=12s → busy=12s idle=4s", false, "others used 50.0% of the machine"},
		{slowstop, "as long, and threads waited", "busy=4s idle=12s → busy=9s idle=7s", true, ""},
		{oversubscribed, crowd, "syscall=10s → syscall=10s blocked.file=16000s", false, ""},
		{oversubscribed, crowd, "syscall=10s → syscall=10s blocked.file=15500s", true, ""},
		{oversubscribed, crowd, "result wrk ops=1000 rate=100 connections=1100", false, ""},
		{oversubscribed, crowd, "result wrk ops=1000 rate=100 connections=1120", true, ""},
		{oversubscribed, crowd, "result wrk ops=1000 rate=100 connections=999", true, ""},
		{oversubscribed, crowd, "count=1000 created=1000 ended=1000 → count=1500 created=1500 ended=1500", true, "workers=1..1000"},
		{oversubscribed, crowd, "count=1000 created=1000 ended=1000 → count=3000 created=3000 ended=3000", false, ""},
		{oversubscribed, crowd, "runnable=1000s syscall=10s sysblocked=20s → runnable=13s syscall=200ms sysblocked=200ms", true, ""},
		{oversubscribed, crowd, "runnable=1000s syscall=10s sysblocked=20s → runnable=11s syscall=200ms sysblocked=200ms", false, ""},
		{idleprocs, "handlers wait", "blocked.select=50s blocked.network=68s → blocked.select=3s blocked.network=1s\ntotal=50s → total=3s\ntotal=68s → total=1s", true, ""},
		{idleprocs, unserved, "delay 2000x20ms → delay 2000x5ms", true, ""},
		{idleprocs, unserved, "delay 2000x20ms → delay 2000x3ms", false, ""},
		{idleprocs, unserved, "bucket n=1500 → bucket n=300\nbucket n=500 → bucket n=1700", true, ""},
		{idleprocs, unserved, "bucket n=1500 → bucket n=180\nbucket n=500 → bucket n=1820", false, ""},
		{idleprocs, unserved, "runnable=3 → runnable=1.1", true, ""},
		{idleprocs, unserved, "runnable=3 → runnable=0.9", false, ""},
		{idleprocs, unserved, "pause STW at=1900ms for=1ms", true, ""},
		{idleprocs, unserved, "pause STW at=1ms for=1400ms", false, ""},
	})
}

// The search for the number of workers begins at as many as there were at once.
func TestSearchFromPeak(t *testing.T) {
	v := variant{rule: oversubscribed, story: "a thousand workers", edits: "count=1000 created=1000 ended=1000 → count=1500 created=1500 ended=1500"}
	if _, d := v.diagnose(t); len(d.Findings) != 1 || d.Findings[0].Experiment.At != 1000 {
		t.Errorf("%+v, want one from 1000", d.Findings)
	}
}

// Goroutines that became fewer and then a few more again have no trend.
func TestTrend(t *testing.T) {
	for _, c := range []struct {
		what   string
		counts []float64
		want   bool
	}{
		{"more and more", []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}, true},
		{"fewer, then a few more", []float64{300, 250, 200, 150, 100, 50, 52, 54, 56, 58, 60, 62}, false},
		{"more, then level", []float64{0, 20, 40, 60, 80, 100, 100, 100, 100, 100, 100, 100}, false},
	} {
		var s model.Series
		for i, v := range c.counts {
			s = append(s, model.Point{At: time.Duration(i) * time.Second, Value: v})
		}
		p := &diagnosis.Pass{Meter: fact.Meter{Model: &model.Model{}}}
		var g goroutineTrend
		if ok := g.fit(s, fact.Fact{}, func(name string, v float64, u fact.Unit) fact.Fact {
			return p.Statistic(fact.Timeline, name, name, v, u)
		}); !ok || !g.fitted || g.trend != c.want {
			t.Errorf("%s: %v, fitted %v, trend %v, want %v", c.what, ok, g.fitted, g.trend, c.want)
		}
	}
}

// What ends at once at the end of a window rose before.
func TestUntilEnded(t *testing.T) {
	series := func(counts ...float64) (s model.Series) {
		for i, n := range counts {
			s = append(s, model.Point{At: time.Duration(i) * time.Second, Value: n})
		}
		return s
	}
	for _, c := range []struct {
		name string
		s    model.Series
		rise int // points, where there is one
	}{
		{"all ended", series(40, 60, 80, 140, 10), 4},
		{"half of them", series(40, 60, 80, 140, 70), 4},
		{"fewer than half of them", series(40, 60, 80, 140, 71), 0},
		{"too few came", series(80, 90, 100, 120, 10), 0},
		{"a tenth came", series(1000, 1020, 1050, 1100, 10), 4},
		{"less than a tenth came", series(2000, 2020, 2050, 2150, 10), 0},
		{"the most were there early", series(40, 140, 100, 90, 10), 0},
	} {
		if rise, ok := untilEnded(c.s); ok != (c.rise > 0) || ok && len(rise) != c.rise {
			t.Errorf("%s: untilEnded() = %d points, %v, want %d", c.name, len(rise), ok, c.rise)
		}
	}
}

// A goroutine of the recorder's own waits for no channel of the program, and one of the
// standard library's neither.
func TestForOwnChannel(t *testing.T) {
	m := &model.Model{}
	stack := func(functions ...string) model.Stack {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f})
		}
		return m.Stacks.Add(frames)
	}
	for _, c := range []struct {
		name, reason string
		stack        model.Stack
		want         bool
	}{
		{"a line of the program", "chan receive", stack("runtime.chanrecv1", "main.work"), true},
		{"a choice of several", "select", stack("runtime.selectgo", "main.work"), true},
		{"a lock", "sync", stack("runtime.semacquire", "main.work"), false},
		{"a line of the library", "select", stack("runtime.selectgo", "net/http.(*Transport).dial", "main.work"), false},
		{"a handler of the recorder's", "chan receive", stack("runtime.chanrecv1", "main.work", "net/http/pprof.Trace"), false},
		{"the runtime alone", "chan receive", stack("runtime.chanrecv1"), false},
	} {
		if got := forOwnChannel(m, &model.Wait{Reason: c.reason, Stack: c.stack}); got != c.want {
			t.Errorf("%s: forOwnChannel() = %v, want %v", c.name, got, c.want)
		}
	}
}
