package rules

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The lines of all evidence that is not a trace, a CPU profile or an allocs profile.
var evidenceDirectives = map[string]func(*builder, *attrs, *fixture){
	"process":      (*builder).process,
	"maps":         (*builder).maps,
	"thread":       (*builder).thread,
	"machine":      (*builder).machine,
	"limits":       (*builder).limits,
	"build":        (*builder).build,
	"metric":       (*builder).metric,
	"histogram":    (*builder).histogram,
	"gcline":       (*builder).gcline,
	"schedline":    (*builder).schedline,
	"block":        func(b *builder, a *attrs, _ *fixture) { b.contention(&b.m.Block, a) },
	"mutex":        func(b *builder, a *attrs, _ *fixture) { b.contention(&b.m.Mutex, a) },
	"goroutines":   func(b *builder, a *attrs, _ *fixture) { b.counted(b.end(&b.m.Goroutines, a), "goroutine", a) },
	"threadcreate": func(b *builder, a *attrs, _ *fixture) { b.counted(&b.m.ThreadCreate, "threadcreate", a) },
	"leak":         func(b *builder, a *attrs, _ *fixture) { b.counted(&b.m.Leaks, "goroutineleak", a) },
	"moment":       (*builder).standstill,
	"lock":         (*builder).lock,
	"absence":      (*builder).absence,
	"channel":      (*builder).channel,
	"standing":     (*builder).standing,
	"liveheap":     (*builder).liveheap,
	"heapcourse":   (*builder).heapcourse,
	"look":         (*builder).look,
	"holder":       (*builder).holder,
	"step":         (*builder).step,
	"keeper":       (*builder).keeper,
	"kernel": func(b *builder, a *attrs, _ *fixture) {
		k := b.kernel()
		k.UserOnly, k.Lost = a.bool("user-only"), a.int("lost")
	},
	"oncpu":    (*builder).onCPU,
	"switch":   (*builder).offCPU,
	"syscalls": (*builder).syscalls,
	"syscall":  (*builder).syscall,
	"escape":   (*builder).escape,
	"reason":   (*builder).reason,
	"setter": func(b *builder, a *attrs, _ *fixture) {
		b.m.Setters = append(b.m.Setters, model.Setter{Variable: a.word(), At: model.Frame{Func: a.str("in"), File: a.str("file"), Line: int(a.int("line"))}})
	},
	"release": func(b *builder, a *attrs, _ *fixture) {
		b.m.Releases = append(b.m.Releases, model.Release{Module: a.word(), Used: a.str("used"), Version: a.str("version"),
			Said: a.str("said"), Since: a.str("since"), In: a.str("in"), About: model.About(a.str("about")), Funcs: strings.Split(a.str("funcs"), ","), Without: a.str("without")})
	},
	"refused": func(b *builder, a *attrs, _ *fixture) {
		b.m.Shortages = append(b.m.Shortages, model.Shortage{File: "app.log", Errno: a.word(), Call: a.str("call"), Lines: a.int("n"), Over: a.dur("over"), HeapBytes: a.bytes("heap"), Example: a.word()})
	},
	"result": (*builder).result,
	"interval": func(b *builder, a *attrs, _ *fixture) {
		b.load(a).Over = append(b.load(a).Over, model.Interval{
			At: a.dur("at"), Width: a.dur("width"), Ops: a.int("ops"), Failed: a.int("failed"), P50: a.dur("p50"), P99: a.dur("p99"),
		})
	},
	"failure": func(b *builder, a *attrs, _ *fixture) {
		b.load(a).Failures = append(b.load(a).Failures, model.Failure{What: a.word(), N: a.int("n")})
	},
	"crossed": func(b *builder, a *attrs, _ *fixture) { b.load(a).Crossed = append(b.load(a).Crossed, a.word()) },
	"table":   (*builder).table,
	"row":     (*builder).row,
	"backlog": func(b *builder, a *attrs, _ *fixture) {
		b.load(a).Backlog = append(b.load(a).Backlog, model.Point{At: a.dur("at"), Value: a.float("n")})
	},
	"benchmark": func(b *builder, a *attrs, _ *fixture) {
		l := b.load(a)
		bench := model.Benchmark{Name: a.word(), N: a.int("n"), Values: map[string]float64{}}
		for unit, v := range a.rest("v.") {
			bench.Values[unit] = a.quantity(v)
		}
		l.Benchmarks = append(l.Benchmarks, bench)
	},
}

// maps is what the memory is mapped from, resident.
func (b *builder) maps(a *attrs, _ *fixture) {
	if b.m.Process == nil {
		b.m.Process = &model.Process{PID: 1}
	}
	of := func(key string) model.Resident { return model.Resident{RSS: uint64(a.bytes(key))} }
	b.m.Process.Maps = &model.Maps{Arenas: true, Heap: of("heap"), Anonymous: of("other"), Program: of("program")}
}

// look is one at the heap, holder who holds a part of it at the look before, and step where the way
// of that leads.
func (b *builder) look(a *attrs, _ *fixture) {
	b.m.Run.Holders = append(b.m.Run.Holders, &model.HeapLook{Time: time.Unix(1800000000, 0).Add(a.dur("at")), Typed: true, Partial: a.bool("partial"),
		Reached: model.ObjectSum{Objects: uint64(a.int("objects")), Bytes: uint64(a.bytes("reached"))}})
	if size := a.bytes("free-size"); size > 0 {
		last := b.m.Run.Holders[len(b.m.Run.Holders)-1]
		last.Free = append(last.Free, model.FreeSize{Size: uint64(size), Free: uint64(a.bytes("free")), Objects: uint64(a.int("free-objects"))})
	}
}

func (b *builder) holder(a *attrs, _ *fixture) {
	looks := b.m.Run.Holders
	if len(looks) == 0 {
		a.fail("a holder before its look")
		return
	}
	h := model.Holder{Kind: a.word(), Name: a.word(), Count: int(a.int("count")), ObjectSum: model.ObjectSum{Objects: uint64(a.int("objects")), Bytes: uint64(a.bytes("bytes"))}}
	last := looks[len(looks)-1]
	last.Holders = append(last.Holders, h)
	b.held = h.Name
	if len(looks) > 1 {
		last.Since(looks[0])
	}
}

func (b *builder) step(a *attrs, _ *fixture) {
	s := model.HolderStep{Field: a.str("field"), Type: a.word(), ObjectSum: model.ObjectSum{Objects: uint64(a.int("objects")), Bytes: uint64(a.bytes("bytes"))}}
	if _, ok := a.kv["use"]; ok {
		use := a.float("use")
		s.Use = &use
	}
	if h := b.lastHolder(a); h != nil {
		h.Path = append(h.Path, s)
	}
}

func (b *builder) keeper(a *attrs, _ *fixture) {
	if h := b.lastHolder(a); h != nil {
		h.Keepers = append(h.Keepers, frame(a.word()))
	}
}

// lastHolder returns the one that the lines before this are about.
func (b *builder) lastHolder(a *attrs) *model.Holder {
	for _, l := range b.m.Run.Holders[max(0, len(b.m.Run.Holders)-1):] {
		for i := range l.Holders {
			if h := &l.Holders[i]; h.Name == b.held {
				return h
			}
		}
	}
	a.fail("it is before its holder")
	return nil
}

func (b *builder) process(a *attrs, _ *fixture) {
	if b.m.Process == nil {
		b.m.Process = &model.Process{PID: 1}
	}
	p := b.m.Process
	var (
		user, system                = a.counter("user"), a.counter("system")
		minor, major                = a.counter("minor"), a.counter("major")
		voluntary, involuntary      = a.counter("voluntary"), a.counter("involuntary")
		queue                       = a.counter("runqueue")
		readCalls, writeCalls       = a.counter("read-calls"), a.counter("write-calls")
		readBytes, writeBytes       = a.counter("read-bytes"), a.counter("write-bytes")
		threads, fds, rss, swap, ok = a.gauge("threads"), a.gauge("fds"), a.gauge("rss"), a.gauge("swap"), true
	)
	if fds == (span{}) {
		ok = false
	}
	for at, f := range b.moments(a) {
		s := model.ProcessSample{
			At: at, User: user.seconds(f), System: system.seconds(f), MinorFaults: minor.count(f), MajorFaults: major.count(f),
			Voluntary: voluntary.count(f), Involuntary: involuntary.count(f), RunQueue: queue.seconds(f),
			Threads: int(threads.count(f)), FDs: int(fds.count(f)), RSS: uint64(rss.count(f)), Swap: uint64(swap.count(f)),
			ReadCalls: readCalls.count(f), WriteCalls: writeCalls.count(f), ReadBytes: readBytes.count(f), WriteBytes: writeBytes.count(f),
		}
		if !ok {
			s.FDs = -1
		}
		p.Samples = append(p.Samples, s)
	}
}

func (b *builder) thread(a *attrs, _ *fixture) {
	if b.m.Process == nil {
		a.fail("thread before process")
		return
	}
	b.m.Process.Threads = append(b.m.Process.Threads, model.Thread{
		Name: a.word(), ID: int(a.int("id")), User: a.dur("user"), System: a.dur("system"), RunQueue: a.dur("runqueue"),
		Voluntary: a.int("voluntary"), Involuntary: a.int("involuntary"),
	})
}

func (b *builder) machine(a *attrs, _ *fixture) {
	if b.m.Machine == nil {
		b.m.Machine = &model.Machine{}
	}
	g := b.m.Machine
	g.CPUs = int(a.int("cpus"))
	busy, idle, iowait, steal := a.counter("busy"), a.counter("idle"), a.counter("iowait"), a.counter("steal")
	stall := func(key string) func(float64) time.Duration {
		if _, ok := a.kv[key]; !ok {
			return func(float64) time.Duration { return -1 }
		}
		return a.counter(key).seconds
	}
	cpu, memory, io := stall("cpu-stall"), stall("memory-stall"), stall("io-stall")
	load, available := a.gauge("load"), a.gauge("available")
	for at, f := range b.moments(a) {
		g.Samples = append(g.Samples, model.MachineSample{
			At: at, Busy: busy.seconds(f), Idle: idle.seconds(f), IOWait: iowait.seconds(f), Steal: steal.seconds(f),
			CPUStall: cpu(f), MemoryStall: memory(f), IOStall: io(f), Load: load.at(f), Available: uint64(available.count(f)),
		})
	}
}

func (b *builder) limits(a *attrs, _ *fixture) {
	l := &model.Limits{CPUs: int(a.int("cpus")), Quota: a.float("quota"), Period: a.dur("period"), Memory: uint64(a.bytes("memory")), Files: uint64(a.int("files"))}
	b.m.Limits = l
	group := false
	for _, k := range []string{"usage", "periods", "throttled", "throttled-time", "held"} {
		group = group || a.kv[k] != ""
	}
	if !group {
		return
	}
	usage, periods, throttled := a.counter("usage"), a.counter("periods"), a.counter("throttled")
	stopped, held := a.counter("throttled-time"), a.gauge("held")
	for at, f := range b.moments(a) {
		l.Samples = append(l.Samples, model.LimitSample{
			At: at, Usage: usage.seconds(f), Periods: periods.count(f), Throttled: throttled.count(f),
			ThrottledTime: stopped.seconds(f), Memory: uint64(held.count(f)),
		})
	}
}

func (b *builder) build(a *attrs, _ *fixture) {
	b.m.Build = &model.Build{
		Path: a.str("path"), Module: a.str("module"), Version: a.str("version"), Go: a.str("go"),
		Settings: a.rest("set."), Environment: a.rest("env."),
	}
}

func (b *builder) metrics() *model.Metrics {
	if b.m.Metrics == nil {
		b.m.Metrics = &model.Metrics{Series: map[string]model.Series{}, Histograms: map[string]model.MetricHistogram{}}
	}
	return b.m.Metrics
}

func (b *builder) metric(a *attrs, _ *fixture) {
	name := a.word()
	every, noise := a.dur("every"), a.quantity(a.str("noise"))
	var points model.Series
	for at, v := range a.rest("") {
		points = append(points, model.Point{At: a.parseDur(at), Value: a.quantity(v)})
	}
	slices.SortFunc(points, func(x, y model.Point) int { return int(x.At - y.At) })
	if len(points) == 0 {
		a.fail("metric %s has no points", name)
		return
	}
	if every > 0 {
		points = between(points, every)
	}
	for i := range points {
		points[i].Value += noise
		noise = -noise
	}
	b.metrics().Series[name] = points
}

// between fills a series with points on the lines between those it has.
func between(points model.Series, every time.Duration) (out model.Series) {
	for i, p := range points[:len(points)-1] {
		next := points[i+1]
		for at := p.At; at < next.At; at += every {
			f := float64(at-p.At) / float64(next.At-p.At)
			out = append(out, model.Point{At: at, Value: p.Value + f*(next.Value-p.Value)})
		}
	}
	return append(out, points[len(points)-1])
}

func (b *builder) histogram(a *attrs, _ *fixture) {
	name := a.word()
	var h model.MetricHistogram
	for len(a.pos) > 0 {
		w := a.word()
		n, bounds, ok := strings.Cut(w, "x")
		from, to, both := strings.Cut(bounds, "..")
		if !ok || !both {
			a.fail("%q is not COUNTxFROM..TO", w)
			return
		}
		low, high := a.quantity(from), a.quantity(to)
		switch last := len(h.Bounds) - 1; {
		case last < 0:
			h.Bounds = []float64{low}
		case h.Bounds[last] < low:
			h.Bounds, h.Counts = append(h.Bounds, low), append(h.Counts, 0)
		case h.Bounds[last] > low:
			a.fail("bounds of %s are not in order", name)
		}
		h.Bounds, h.Counts = append(h.Bounds, high), append(h.Counts, uint64(a.parseInt(n)))
	}
	b.metrics().Histograms[name] = h
}

func (b *builder) gcline(a *attrs, _ *fixture) {
	n, every := max(1, a.int("n")), a.dur("every")
	l := model.GCLine{
		Cycle: int(a.int("cycle")), At: a.dur("at"), Aligned: a.bool("aligned"), Share: a.float("share"),
		SweepTerm: a.dur("sweep-term"), Mark: a.dur("mark"), MarkTerm: a.dur("mark-term"),
		CPUSweepTerm: a.dur("cpu-sweep-term"), CPUMarkTerm: a.dur("cpu-mark-term"),
		CPUAssist: a.dur("cpu-assist"), CPUBackground: a.dur("cpu-background"), CPUIdle: a.dur("cpu-idle"),
		Before: uint64(a.bytes("before")), After: uint64(a.bytes("after")), Live: uint64(a.bytes("live")), Goal: uint64(a.bytes("goal")),
		StackScan: uint64(a.bytes("stacks")), Globals: uint64(a.bytes("globals")), Procs: int(a.int("procs")), Forced: a.bool("forced"),
		Elided: a.bool("elided"),
	}
	for range n {
		b.m.GCLog = append(b.m.GCLog, l)
		l.Cycle++
		l.At += every
	}
}

func (b *builder) schedline(a *attrs, _ *fixture) {
	n, every := max(1, a.int("n")), a.dur("every")
	l := model.SchedLine{
		At: a.dur("at"), Aligned: a.bool("aligned"), Procs: int(a.int("procs")), IdleProcs: int(a.int("idle")),
		Threads: int(a.int("threads")), SpinningThreads: int(a.int("spinning")), IdleThreads: int(a.int("idle-threads")),
		NeedSpinning: -1, RunQueue: int(a.int("queue")),
	}
	if _, ok := a.kv["need-spinning"]; ok {
		l.NeedSpinning = int(a.int("need-spinning"))
	}
	for _, v := range a.list("local") {
		l.Local = append(l.Local, int(a.parseInt(v)))
	}
	for _, v := range a.list("ticks") {
		l.Ticks = append(l.Ticks, a.parseInt(v))
	}
	for range n {
		b.m.SchedLog = append(b.m.SchedLog, l)
		l.At += every
	}
}

func (b *builder) contention(p **model.Profile, a *attrs) {
	if *p == nil {
		*p = &model.Profile{
			Types:    []model.ValueType{{Name: "contentions", Unit: "count"}, {Name: "delay", Unit: "nanoseconds"}},
			Duration: b.m.Run.Duration, Known: true,
		}
	}
	(*p).Samples = append((*p).Samples, model.Sample{Stack: b.ref(a, "stack"), Values: []int64{a.int("count"), int64(a.dur("delay"))}})
}

// end returns the one of two snapshots that the line is about.
func (b *builder) end(s *model.Snapshots, a *attrs) **model.Profile {
	switch w := a.word(); w {
	case "start":
		return &s.Start
	case "end":
		return &s.End
	default:
		a.fail("%q is neither start nor end", w)
		return &s.End
	}
}

// moment returns when a snapshot was taken.
func (b *builder) moment(p **model.Profile) time.Duration {
	if p == &b.m.Goroutines.Start || p == &b.m.LiveHeap.Start {
		return 0
	}
	return b.m.Run.Duration
}

func (b *builder) counted(p **model.Profile, kind string, a *attrs) {
	if *p == nil {
		*p = &model.Profile{Types: []model.ValueType{{Name: kind, Unit: "count"}}, At: b.moment(p), Known: true}
	}
	if _, ok := a.kv["stack"]; ok {
		(*p).Samples = append((*p).Samples, model.Sample{Stack: b.ref(a, "stack"), Values: []int64{a.int("count")}})
	}
}

// standstill begins the moment that locks and standings are of.
func (b *builder) standstill(a *attrs, _ *fixture) {
	b.m.Moment = &model.Moment{Source: model.Source(a.word()), Watched: a.dur("watched"), Dead: a.bool("dead")}
	if s := b.m.Moment.Source; s != model.GoroutineProfile && s != model.Trace {
		a.fail("a moment is of goroutine or trace, not of %q", s)
	}
}

func (b *builder) lock(a *attrs, _ *fixture) {
	if b.m.Moment == nil {
		a.fail("lock before moment")
		return
	}
	b.m.Moment.Locks = append(b.m.Moment.Locks, model.Lock{Name: a.word(), Naming: model.Naming(a.str("naming")), Address: uint64(a.int("address"))})
	if f := b.leaf(a, "computes"); f != nil {
		b.m.Moment.Locks[len(b.m.Moment.Locks)-1].Computes = f[0]
	}
}

// lockNamed returns a lock as standings have it.
func (b *builder) lockNamed(a *attrs, name string) int {
	i := slices.IndexFunc(b.m.Moment.Locks, func(l model.Lock) bool { return l.Name == name })
	if i < 0 {
		a.fail("no lock %q", name)
	}
	return i + 1
}

func (b *builder) channel(a *attrs, _ *fixture) {
	if b.m.Moment == nil {
		a.fail("channel before moment")
		return
	}
	b.m.Moment.Channels = append(b.m.Moment.Channels, model.Channel{Name: a.word(), All: a.bool("all"), Deserted: a.bool("deserted"), Slots: a.bool("slots"), From: b.leaf(a, "from")})
}

// leaf returns the frame of a stack's leaf; nil where none is named.
func (b *builder) leaf(a *attrs, key string) []model.Frame {
	if a.kv[key] == "" {
		return nil
	}
	return b.m.Stacks.Frames(b.ref(a, key))[:1]
}

func (b *builder) absence(a *attrs, _ *fixture) {
	if b.m.Moment == nil {
		a.fail("absence before moment")
		return
	}
	s := model.Absence{Name: a.word(), Sure: a.bool("sure")}
	for _, by := range a.list("by") {
		a.kv["by"] = by
		s.By = append(s.By, b.leaf(a, "by")...)
	}
	kind := a.str("kind")
	for k := model.LacksAnswer; k <= model.LacksCase; k++ {
		if k.String() == kind {
			s.Kind = k
		}
	}
	if s.Kind == 0 {
		a.fail("an absence is kind=answer, done, signal or case")
	}
	b.m.Moment.Absences = append(b.m.Moment.Absences, s)
}

// absenceNamed returns an absence as standings have it.
func (b *builder) absenceNamed(a *attrs, name string) int {
	i := slices.IndexFunc(b.m.Moment.Absences, func(s model.Absence) bool { return s.Name == name })
	if i < 0 {
		a.fail("no absence %q", name)
	}
	return i + 1
}

// channelNamed returns a channel as standings have it.
func (b *builder) channelNamed(a *attrs, name string) int {
	i := slices.IndexFunc(b.m.Moment.Channels, func(c model.Channel) bool { return c.Name == name })
	if i < 0 {
		a.fail("no channel %q", name)
	}
	return i + 1
}

func (b *builder) standing(a *attrs, _ *fixture) {
	if b.m.Moment == nil {
		a.fail("standing before moment")
		return
	}
	s := model.Standing{Count: max(1, a.int("count")), Stack: b.ref(a, "stack"), State: a.str("state"), Waited: a.dur("waited"), Still: a.int("still"), Goroutine: a.int("id")}
	if s.State == "" {
		s.State = model.StateOf(b.m.Stacks.Frames(s.Stack))
	}
	if w := a.str("wants"); w != "" {
		s.Wants = b.lockNamed(a, w)
	}
	if c := a.str("sends"); c != "" {
		s.Sends = b.channelNamed(a, c)
	}
	if l := a.str("lacks"); l != "" {
		s.Lacks = b.absenceNamed(a, l)
	}
	sure, shared, frame := a.bool("sure"), a.bool("shared"), int(a.int("frame"))
	for _, w := range a.list("holds") {
		frames := b.m.Stacks.Frames(s.Stack)
		if frame >= len(frames) {
			a.fail("no frame %d", frame)
			break
		}
		s.Holds = append(s.Holds, model.Holding{Lock: b.lockNamed(a, w), Taken: frames[frame], Sure: sure, Shared: shared})
	}
	from, waits, first := int(a.int("from")), a.bool("waits"), a.bool("first")
	for _, c := range a.list("serves") {
		frames := b.m.Stacks.Frames(s.Stack)
		if from >= len(frames) {
			a.fail("no frame %d", from)
			break
		}
		s.Serves = append(s.Serves, model.Serving{Channel: b.channelNamed(a, c), From: frames[from], Waits: waits, First: first})
	}
	b.m.Moment.Goroutines = append(b.m.Moment.Goroutines, s)
}

func (b *builder) liveheap(a *attrs, _ *fixture) {
	p := b.end(&b.m.LiveHeap, a)
	if *p == nil {
		*p = &model.Profile{Types: heapTypes, At: b.moment(p), Known: true}
	}
	if _, ok := a.kv["stack"]; ok {
		(*p).Samples = append((*p).Samples, model.Sample{
			Stack: b.ref(a, "stack"), Values: []int64{a.int("all-objects"), a.bytes("all-bytes"), a.int("objects"), a.bytes("bytes")},
		})
	}
}

var heapTypes = []model.ValueType{
	{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"},
	{Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"},
}

// heapcourse gives a stack what it has in use at moments, the same ones in all lines.
func (b *builder) heapcourse(a *attrs, _ *fixture) {
	stack, size, counts := b.ref(a, "stack"), a.bytes("each"), strings.Split(a.str("objects"), ",")
	for i, at := range strings.Split(a.str("at"), ",") {
		if len(b.m.HeapCourse) == i {
			d, err := time.ParseDuration(at)
			if err != nil {
				a.fail("heapcourse: %v", err)
			}
			b.m.HeapCourse = append(b.m.HeapCourse, &model.Profile{Types: heapTypes, At: d, Known: true})
		}
		objects, err := strconv.ParseInt(counts[i], 10, 64)
		if err != nil {
			a.fail("heapcourse: %v", err)
		}
		look := b.m.HeapCourse[i]
		look.Samples = append(look.Samples, model.Sample{Stack: stack, Values: []int64{objects, objects * size, objects, objects * size}})
	}
}

func (b *builder) kernel() *model.Kernel {
	if b.m.Kernel == nil {
		b.m.Kernel = &model.Kernel{}
	}
	return b.m.Kernel
}

func (b *builder) onCPU(a *attrs, _ *fixture) {
	k := b.kernel()
	if k.CPU == nil {
		k.CPU = &model.Profile{
			Types:    []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
			Duration: b.m.Run.Duration, Known: true,
		}
	}
	mode := a.str("mode")
	if mode != "user" && mode != "kernel" {
		a.fail("oncpu: mode is user or kernel, not %q", mode)
	}
	k.CPU.Samples = append(k.CPU.Samples, b.kernelSample(a, "mode", mode))
	b.sampleTimes(a, k)
}

// sampleTimes gives the samples of the line times, so that there are per second what
// density says, changing evenly over at.
func (b *builder) sampleTimes(a *attrs, k *model.Kernel) {
	if _, ok := a.kv["density"]; !ok {
		return
	}
	density, at := a.gauge("density"), span{0, b.m.Run.Duration.Seconds()}
	n := k.CPU.Samples[len(k.CPU.Samples)-1].Values[0]
	if _, ok := a.kv["at"]; ok {
		at = a.counter("at")
	}
	slope, all := density.to-density.from, (density.from+density.to)/2
	if at.to <= at.from || all <= 0 {
		a.fail("density needs a window or at=FROM..TO, and to be more than 0 somewhere")
		return
	}
	for i := range n {
		// The quantile of a density that is a straight line: from·f + slope·f²÷2 of all.
		f := (float64(i) + 0.5) / float64(n)
		if slope != 0 {
			f = (math.Sqrt(density.from*density.from+2*slope*all*f) - density.from) / slope
		}
		k.Moments = append(k.Moments, model.KernelMoment{At: at.seconds(f), Sample: int32(len(k.CPU.Samples) - 1)})
	}
	slices.SortStableFunc(k.Moments, func(x, y model.KernelMoment) int { return cmp.Compare(x.At, y.At) })
}

func (b *builder) offCPU(a *attrs, _ *fixture) {
	k := b.kernel()
	if k.Off == nil {
		k.Off = &model.Profile{
			Types:    []model.ValueType{{Name: "switches", Unit: "count"}, {Name: "offcpu", Unit: "nanoseconds"}},
			Duration: b.m.Run.Duration, Known: true,
		}
	}
	k.Off.Samples = append(k.Off.Samples, b.kernelSample(a, "preempted", strconv.FormatBool(a.bool("preempted"))))
}

func (b *builder) kernelSample(a *attrs, label, value string) model.Sample {
	s := model.Sample{
		Stack: b.ref(a, "stack"), Values: []int64{a.int("count"), int64(a.dur("time"))}, Labels: map[string]string{label: value},
	}
	for _, k := range []string{"thread", "syscall"} {
		if v := a.str(k); v != "" {
			s.Labels[k] = v
		}
	}
	return s
}

func (b *builder) syscalls(a *attrs, _ *fixture) {
	b.m.Syscalls = &model.Syscalls{Window: a.dur("window"), Lost: a.int("lost"), Share: a.float("share")}
}

func (b *builder) syscall(a *attrs, _ *fixture) {
	if b.m.Syscalls == nil {
		a.fail("syscall before syscalls")
		return
	}
	c := model.Syscall{Name: a.word(), Count: a.int("count"), Time: a.dur("time"), Bytes: a.bytes("bytes")}
	for name, n := range a.rest("errors.") {
		if c.Errors == nil {
			c.Errors = map[string]int64{}
		}
		c.Errors[name] = a.parseInt(n)
	}
	b.m.Syscalls.Calls = append(b.m.Syscalls.Calls, c)
}

func (b *builder) escape(a *attrs, _ *fixture) {
	file, line := fileLine(a.word())
	b.m.Escapes = append(b.m.Escapes, model.Escaping{
		File: file, Line: line, What: a.word(), Moved: a.bool("moved"), Variadic: a.bool("variadic"), Stays: a.bool("stays"),
	})
}

func (b *builder) reason(a *attrs, _ *fixture) {
	r := model.Reason{Pattern: model.Pattern(a.word()), Func: a.word(), What: a.str("what"), Instead: a.str("instead"), Through: []string{""}, Alone: a.bool("alone")}
	r.File, r.Line = fileLine(a.word())
	if r.Last = int(a.int("last")); r.Last == 0 {
		r.Last = r.Line
	}
	if through := a.str("through"); through != "" {
		r.Through = strings.Split(through, ",")
	}
	if r.Maker.Func = a.str("maker"); r.Maker.Func != "" {
		r.Maker.File, r.Maker.Line = fileLine(a.str("maker-at"))
	}
	b.m.Reasons = append(b.m.Reasons, r)
}

func (b *builder) result(a *attrs, _ *fixture) {
	_, known := a.kv["start"]
	l := &model.Load{
		Tool: a.word(), Known: known, Start: a.dur("start"), Duration: a.dur("duration"), Ops: a.int("ops"), Failed: a.int("failed"), Unanswered: a.int("unanswered"),
		Closed: a.bool("closed"), Generator: model.Generator{Limit: a.str("generator"), CPU: a.float("generator-cpu"), Procs: int(a.int("generator-procs"))},
		Rate: a.float("rate"), Offered: a.float("offered"), Bytes: a.bytes("bytes"), Connections: int(a.int("connections")), Mean: a.dur("mean"),
	}
	quantiles := a.rest("q.")
	for _, q := range slices.Sorted(maps.Keys(quantiles)) {
		l.Latency = append(l.Latency, model.Quantile{Q: a.quantity(q), Value: a.parseDur(quantiles[q])})
	}
	b.m.Load = l
}

func (b *builder) load(a *attrs) *model.Load {
	if b.m.Load == nil {
		a.fail("a piece of a load result before its result line")
		b.m.Load = &model.Load{}
	}
	return b.m.Load
}

func (b *builder) table(a *attrs, _ *fixture) {
	kind, unit, _ := strings.Cut(a.word(), "/")
	b.m.Tables = append(b.m.Tables, model.NewTable(model.Table{File: "top.txt", Source: model.Source(a.str("of")), Type: model.ValueType{Name: kind, Unit: unit},
		Total: a.amount("total"), Duration: a.dur("duration")}))
}

// amount returns a number, a size or, in nanoseconds, a time.
func (a *attrs) amount(key string) float64 {
	if d, err := time.ParseDuration(a.kv[key]); err == nil && d != 0 {
		return float64(a.dur(key))
	}
	return a.quantity(strings.TrimSuffix(a.str(key), "s"))
}

func (b *builder) row(a *attrs, _ *fixture) {
	if len(b.m.Tables) == 0 {
		a.fail("a row before its table")
		return
	}
	i := len(b.m.Tables) - 1
	f := model.TableFunction{Func: a.word(), Flat: a.amount("flat"), Cum: a.amount("cum")}
	if c := a.str("caller"); c != "" {
		f.Callers = []model.TableCaller{{Func: c, Cum: f.Cum}}
	}
	t := *b.m.Tables[i]
	t.Functions = append(t.Functions, f)
	b.m.Tables[i] = model.NewTable(t)
}

// A span is a value at the begin and at the end of a line's samples.
type span struct{ from, to float64 }

func (s span) at(f float64) float64            { return s.from + f*(s.to-s.from) }
func (s span) count(f float64) int64           { return int64(math.Round(s.at(f))) }
func (s span) seconds(f float64) time.Duration { return time.Duration(math.Round(s.at(f) * 1e9)) }

func (a *attrs) counter(key string) span {
	v := a.str(key)
	if from, to, ok := strings.Cut(v, ".."); ok {
		return span{a.quantity(from), a.quantity(to)}
	}
	return span{0, a.quantity(v)}
}

func (a *attrs) gauge(key string) span {
	v := a.str(key)
	if from, to, ok := strings.Cut(v, ".."); ok {
		return span{a.quantity(from), a.quantity(to)}
	}
	return span{a.quantity(v), a.quantity(v)}
}

// moments iterates over the times of a line's samples, with the part of the
// way that each is at.
func (b *builder) moments(a *attrs) func(yield func(time.Duration, float64) bool) {
	n, at := int(max(2, a.int("n"))), span{0, b.m.Run.Duration.Seconds()}
	if _, ok := a.kv["at"]; ok {
		at = a.counter("at")
	}
	if at.to <= at.from {
		a.fail("samples need a window or at=FROM..TO")
	}
	return func(yield func(time.Duration, float64) bool) {
		for i := range n {
			if f := float64(i) / float64(n-1); !yield(at.seconds(f), f) {
				return
			}
		}
	}
}

// quantity reads a number, a byte size, or a duration as seconds.
func (a *attrs) quantity(v string) float64 {
	switch {
	case v == "":
		return 0
	case strings.HasSuffix(v, "iB"):
		a.kv["a quantity"] = v
		return float64(a.bytes("a quantity"))
	}
	if f, err := strconv.ParseFloat(strings.ReplaceAll(v, ",", ""), 64); err == nil {
		return f
	}
	return a.parseDur(v).Seconds()
}

// rest takes all attributes with a prefix, which is taken off.
func (a *attrs) rest(prefix string) map[string]string {
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(a.kv)) {
		if name, ok := strings.CutPrefix(k, prefix); ok {
			out[name] = a.str(k)
		}
	}
	return out
}

func (a *attrs) list(key string) []string {
	v := a.str(key)
	if v == "" {
		return nil
	}
	return strings.Split(v, ",")
}

// directiveNames are disjoint: the later map would hide what the earlier has.
func init() {
	for name := range evidenceDirectives {
		if directives[name] != nil {
			panic(fmt.Sprintf("two kinds of evidence are called %q", name))
		}
	}
}
