package web

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/model"
)

// Charts of everything that was measured over time, on the window's clock.
//
// A chart comes from one source, the one that measures its quantity best: two
// sources side by side would be two lines for one thing. What is drawn is thinned
// to maxPoints a line. A line keeps the lowest and the highest point of each
// stretch that it is thinned by, so that a spike of one sample is as high as it was.
//
// Counters become rates between neighbouring samples, drawn in the middle of the
// two. One that went down was begun anew, and leaves a gap.

// maxPoints is how many points of a line are sent: two to each pixel of a wide chart.
const maxPoints = 2000

// gap is where nothing was measured.
var gap = math.NaN()

// runtime answers GET api/runtime.
func (v *View) runtime(url.Values) (any, error) {
	r := &Runtime{Charts: v.charts()}
	if g := v.Model.GC; g != nil {
		r.Cycles, r.Pauses = cycles(g, v.duration()), pauses(g)
		r.MMU = v.mmuCurve(model.CountAll)
	}
	return r, nil
}

// chartMakers are the charts in the order in which they are shown, each with the
// sources that can draw it, the best first.
var chartMakers = []func(*model.Model) *Chart{
	firstOf(heapOfTrace, heapOfMetrics, heapOfLog),
	firstOf(collectorOfTrace, collectorOfLog, collectorOfMetrics),
	firstOf(goroutinesOfMetrics, goroutinesOfTrace),
	firstOf(procsOfTrace, procsOfLog),
	firstOf(queueOfTrace, queueOfMetrics, queueOfLog),
	syscallsOfProcess,
	firstOf(cpuOfProcess, cpuOfMetrics),
	latencyOfLoad, rateOfLoad,
	firstOf(memoryOfProcess, memoryOfMetrics),
	firstOf(threadsOfProcess, threadsOfLog),
	switchesOfProcess, machineOfProc, pressureOfProc,
}

func firstOf(makers ...func(*model.Model) *Chart) func(*model.Model) *Chart {
	return func(m *model.Model) *Chart {
		for _, of := range makers {
			if c := of(m); c != nil {
				return c
			}
		}
		return nil
	}
}

// charts are those with something in them.
func (v *View) charts() (list []Chart) {
	for _, of := range chartMakers {
		if c := of(v.Model); c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// A line is a series while it is made.
type line struct {
	name  string
	at    []time.Duration
	value []float64
}

func (l *line) add(at time.Duration, value float64) {
	l.at, l.value = append(l.at, at), append(l.value, value)
}

// empty reports whether a line has nothing to draw.
func (l *line) empty() bool {
	return !slices.ContainsFunc(l.value, finite)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// chart makes a chart of those lines that have something; nil when none has.
func chart(name, unit, source string, stack bool, lines ...line) *Chart {
	c := &Chart{Name: name, Unit: unit, Stack: stack, Source: source}
	var kept []line
	for _, l := range lines {
		if !l.empty() {
			kept = append(kept, l)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	if stack {
		align(kept)
	}
	for _, l := range kept {
		c.Series = append(c.Series, l.series())
	}
	if stack {
		thinTogether(c.Series)
	} else {
		for i := range c.Series {
			s := &c.Series[i]
			pick(s, extremes(s.At, [][]*float64{s.Value}))
		}
	}
	return c
}

// series is a line as it is sent: what is no number is a gap.
func (l *line) series() Series {
	s := Series{Name: l.name, At: make([]int64, len(l.at)), Value: make([]*float64, len(l.at))}
	for i, at := range l.at {
		s.At[i] = int64(at)
		if v := l.value[i]; finite(v) {
			s.Value[i] = &v
		}
	}
	return s
}

// align gives lines that are drawn on top of each other the same moments: those
// of the first. Others are read there by a straight line.
func align(lines []line) {
	at := lines[0].at
	for i := range lines[1:] {
		l := &lines[i+1]
		if slices.Equal(l.at, at) {
			continue
		}
		s := make(model.Series, 0, len(l.at))
		for j, t := range l.at {
			if finite(l.value[j]) {
				s = append(s, model.Point{At: t, Value: l.value[j]})
			}
		}
		l.at, l.value = at, nil
		for _, t := range at {
			l.value = append(l.value, s.At(t))
		}
	}
}

// thinTogether keeps the same moments of all series: they are added up.
func thinTogether(series []Series) {
	values := make([][]*float64, len(series))
	for i := range series {
		values[i] = series[i].Value
	}
	keep := extremes(series[0].At, values)
	for i := range series {
		pick(&series[i], keep)
	}
}

// extremes returns which points to keep of lines with common moments, at most
// maxPoints. The time that they cover is cut into equal stretches, of each of
// which the lowest and the highest point of each line and a gap are kept.
func extremes(at []int64, lines [][]*float64) (keep []int) {
	n := len(at)
	if n <= maxPoints {
		return nil
	}
	pieces := int64((maxPoints - 2) / (2*len(lines) + 1))
	from, span := at[0], max(at[n-1]-at[0], 1)
	piece := func(i int) int64 { return min(int64(float64(at[i]-from)/float64(span)*float64(pieces)), pieces-1) }
	keep = append(keep, 0)
	for i := 0; i < n; {
		j := i
		for j < n && piece(j) == piece(i) {
			j++
		}
		keep = append(keep, notable(lines, i, j)...)
		i = j
	}
	keep = append(keep, n-1)
	slices.Sort(keep)
	return slices.Compact(keep)
}

// notable are the points of [i, j) that a picture must not lose.
func notable(lines [][]*float64, i, j int) (keep []int) {
	hole := -1
	for _, values := range lines {
		low, high := -1, -1
		for k := i; k < j; k++ {
			v := values[k]
			switch {
			case v == nil:
				hole = k
			case low < 0:
				low, high = k, k
			case *v < *values[low]:
				low = k
			case *v > *values[high]:
				high = k
			}
		}
		if low >= 0 {
			keep = append(keep, low, high)
		}
	}
	if hole >= 0 {
		keep = append(keep, hole)
	}
	return keep
}

// pick keeps some points of a series; nil keeps all.
func pick(s *Series, keep []int) {
	if keep == nil {
		return
	}
	at, value := make([]int64, len(keep)), make([]*float64, len(keep))
	for i, k := range keep {
		at[i], value[i] = s.At[k], s.Value[k]
	}
	s.At, s.Value = at, value
}

// gauge is a metric as it is.
func gauge(name string, s model.Series) (l line) {
	l.name = name
	for _, p := range s {
		l.add(p.At, p.Value)
	}
	return l
}

// rate is how fast a counter grew, in its unit a second.
func rate(name string, s model.Series) (l line) {
	l.name = name
	for i := 1; i < len(s); i++ {
		over := s[i].At - s[i-1].At
		if over <= 0 {
			continue
		}
		by := (s[i].Value - s[i-1].Value) / over.Seconds()
		if by < 0 {
			by = gap
		}
		l.add(s[i-1].At+over/2, by)
	}
	return l
}

// metric is a series of runtime/metrics, empty when it was not read.
func metric(m *model.Model, name string) model.Series {
	if m.Metrics == nil {
		return nil
	}
	return m.Metrics.Series[name]
}

const (
	fromTrace   = "trace"
	fromMetrics = "runtime/metrics"
	fromProc    = "/proc"
	fromGCLog   = "gctrace"
	fromSchLog  = "schedtrace"
	fromLoad    = "load result"
)

func heapOfTrace(m *model.Model) *Chart {
	if m.GC == nil {
		return nil
	}
	heap, goal := line{name: "heap"}, line{name: "goal"}
	for _, h := range m.GC.Heap {
		heap.add(h.At, known(h.Alloc))
		goal.add(h.At, known(h.Goal))
	}
	return chart("heap", "bytes", fromTrace, false, heap, goal)
}

// known is a size; 0 is one that was not told.
func known(bytes uint64) float64 {
	if bytes == 0 {
		return gap
	}
	return float64(bytes)
}

func heapOfMetrics(m *model.Model) *Chart {
	limit := gauge("limit", metric(m, "/gc/gomemlimit:bytes"))
	for i, b := range limit.value {
		if b > math.MaxInt64/2 { // there is none
			limit.value[i] = gap
		}
	}
	return chart("heap", "bytes", fromMetrics, false,
		gauge("heap", metric(m, "/memory/classes/heap/objects:bytes")), gauge("goal", metric(m, "/gc/heap/goal:bytes")),
		gauge("live", metric(m, "/gc/heap/live:bytes")), limit)
}

// aligned are the lines of a log that could be brought to the window's clock.
func alignedGC(m *model.Model) []model.GCLine {
	return slices.DeleteFunc(slices.Clone(m.GCLog), func(l model.GCLine) bool { return !l.Aligned })
}

func alignedSched(m *model.Model) []model.SchedLine {
	return slices.DeleteFunc(slices.Clone(m.SchedLog), func(l model.SchedLine) bool { return !l.Aligned })
}

func heapOfLog(m *model.Model) *Chart {
	heap, goal, live := line{name: "heap"}, line{name: "goal"}, line{name: "live"}
	for _, g := range alignedGC(m) {
		heap.add(g.At, float64(g.Before))
		goal.add(g.At, float64(g.Goal))
		live.add(g.At, float64(g.Live))
	}
	return chart("heap", "bytes", fromGCLog, false, heap, goal, live)
}

// collectorOfTrace is the share of the Ps that the collector takes, by what for.
func collectorOfTrace(m *model.Model) *Chart {
	if m.GC == nil {
		return nil
	}
	return chart("gc", "share", fromTrace, true,
		taken(m, "background", model.CountBackground), taken(m, "assist", model.CountAssist),
		taken(m, "sweep", model.CountSweep), taken(m, "stop", model.CountSTW))
}

// stretches is how many pieces of the window averages are taken over.
const stretches = 500

// taken is the share of the Ps that one kind of load has, averaged over stretches.
func taken(m *model.Model, name string, flag model.LoadFlags) line {
	l := line{name: name}
	width := max(m.Run.Duration/stretches, 1)
	for _, steps := range m.GC.Utilization(flag, m.Run.Procs, 0, m.Run.Duration) {
		for i, k := 0, time.Duration(0); k*width < m.Run.Duration; k++ {
			from, to := k*width, min((k+1)*width, m.Run.Duration)
			var lost, over float64
			for ; i+1 < len(steps); i++ {
				a, b := max(steps[i].At, from), min(steps[i+1].At, to)
				if b > a {
					lost += (1 - steps[i].Util) * float64(b-a)
					over += float64(b - a)
				}
				if steps[i+1].At > to {
					break
				}
			}
			l.add(from+(to-from)/2, lost/over) // a gap before the series begins
		}
	}
	if !slices.ContainsFunc(l.value, func(f float64) bool { return f > 0 }) {
		return line{name: name} // this kind did not occur
	}
	return l
}

func collectorOfLog(m *model.Model) *Chart {
	stop, mark := line{name: "stop"}, line{name: "mark"}
	for _, g := range alignedGC(m) {
		stop.add(g.At, float64(g.SweepTerm+g.MarkTerm))
		mark.add(g.At, float64(g.Mark))
	}
	return chart("gc", "ns", fromGCLog, false, stop, mark)
}

func collectorOfMetrics(m *model.Model) *Chart {
	return chart("gc", "cores", fromMetrics, false, rate("collector", metric(m, "/cpu/classes/gc/total:cpu-seconds")))
}

func goroutinesOfMetrics(m *model.Model) *Chart {
	return chart("goroutines", "count", fromMetrics, false,
		gauge("alive", metric(m, "/sched/goroutines:goroutines")), gauge("running", metric(m, "/sched/goroutines/running:goroutines")),
		gauge("runnable", metric(m, "/sched/goroutines/runnable:goroutines")), gauge("waiting", metric(m, "/sched/goroutines/waiting:goroutines")),
		gauge("syscall", metric(m, "/sched/goroutines/not-in-go:goroutines")))
}

// goroutinesOfTrace counts births and ends, which is all of them only when every
// goroutine was kept.
func goroutinesOfTrace(m *model.Model) *Chart {
	if m.Sched == nil || !m.Sched.AllKept || len(m.Sched.Goroutines) == 0 {
		return nil
	}
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	alive := 0
	for i := range m.Sched.Goroutines {
		g := &m.Sched.Goroutines[i]
		if g.Created < 0 {
			alive++
		} else {
			changes = append(changes, change{g.Created, 1})
		}
		if g.Ended >= 0 {
			changes = append(changes, change{g.Ended, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	l := line{name: "alive"}
	l.add(0, float64(alive))
	for _, c := range changes {
		alive += c.by
		l.add(c.at, float64(alive))
	}
	l.add(m.Run.Duration, float64(alive))
	return chart("goroutines", "count", fromTrace, false, l)
}

func procsOfTrace(m *model.Model) *Chart {
	if m.Sched == nil {
		return nil
	}
	running, held, idle := line{name: "running"}, line{name: "held"}, line{name: "idle"}
	for _, b := range m.Sched.Timeline {
		at := b.Start + b.Width/2
		running.add(at, b.Running)
		held.add(at, max(0, b.Held-b.Running))
		if m.Run.Procs > 0 {
			idle.add(at, max(0, float64(m.Run.Procs)-max(b.Held, b.Running)))
		}
	}
	return chart("procs", "count", fromTrace, true, running, held, idle)
}

func procsOfLog(m *model.Model) *Chart {
	held, idle := line{name: "held"}, line{name: "idle"}
	for _, s := range alignedSched(m) {
		held.add(s.At, float64(s.Procs-s.IdleProcs))
		idle.add(s.At, float64(s.IdleProcs))
	}
	return chart("procs", "count", fromSchLog, true, held, idle)
}

func queueOfTrace(m *model.Model) *Chart {
	if m.Sched == nil {
		return nil
	}
	l := line{name: "runnable"}
	for _, b := range m.Sched.Timeline {
		l.add(b.Start+b.Width/2, b.Runnable)
	}
	return chart("runqueue", "count", fromTrace, false, l)
}

func queueOfMetrics(m *model.Model) *Chart {
	return chart("runqueue", "count", fromMetrics, false, gauge("runnable", metric(m, "/sched/goroutines/runnable:goroutines")))
}

func queueOfLog(m *model.Model) *Chart {
	global, local := line{name: "global"}, line{name: "local"}
	for _, s := range alignedSched(m) {
		sum := 0
		for _, n := range s.Local {
			sum += n
		}
		global.add(s.At, float64(s.RunQueue))
		local.add(s.At, float64(sum))
	}
	return chart("runqueue", "count", fromSchLog, true, global, local)
}

// counter is a counter of the process over time; negative ones were not permitted.
func counter(m *model.Model, of func(*model.ProcessSample) float64) (s model.Series) {
	if m.Process == nil {
		return nil
	}
	for i := range m.Process.Samples {
		if n := of(&m.Process.Samples[i]); n >= 0 {
			s = append(s, model.Point{At: m.Process.Samples[i].At, Value: n})
		}
	}
	return s
}

// moved is a counter that counted anything in the run, else empty: a kernel that
// has no such counter leaves it at 0.
func moved(s model.Series) model.Series {
	if s.Max() == s.Min() {
		return nil
	}
	return s
}

func syscallsOfProcess(m *model.Model) *Chart {
	return chart("syscalls", "per_second", fromProc, false,
		rate("read", counter(m, func(s *model.ProcessSample) float64 { return float64(s.ReadCalls) })),
		rate("write", counter(m, func(s *model.ProcessSample) float64 { return float64(s.WriteCalls) })),
		rate("cgo", moved(metric(m, "/cgo/go-to-c-calls:calls"))))
}

func cpuOfProcess(m *model.Model) *Chart {
	return chart("cpu", "cores", fromProc, true,
		rate("user", counter(m, func(s *model.ProcessSample) float64 { return s.User.Seconds() })),
		rate("kernel", counter(m, func(s *model.ProcessSample) float64 { return s.System.Seconds() })))
}

func cpuOfMetrics(m *model.Model) *Chart {
	return chart("cpu", "cores", fromMetrics, true,
		rate("user", metric(m, "/cpu/classes/user:cpu-seconds")),
		rate("collector", metric(m, "/cpu/classes/gc/total:cpu-seconds")),
		rate("scavenger", metric(m, "/cpu/classes/scavenge/total:cpu-seconds")))
}

func latencyOfLoad(m *model.Model) *Chart {
	if m.Load == nil {
		return nil
	}
	p50, p99 := line{name: "p50"}, line{name: "p99"}
	for _, i := range m.Load.Over {
		at := i.At + i.Width/2
		p50.add(at, told(i.P50))
		p99.add(at, told(i.P99))
	}
	return chart("latency", "ns", fromLoad, false, p50, p99)
}

// told is a latency; 0 is one that was not said.
func told(d time.Duration) float64 {
	if d == 0 {
		return gap
	}
	return float64(d)
}

func rateOfLoad(m *model.Model) *Chart {
	if m.Load == nil {
		return nil
	}
	done, failed := line{name: "done"}, line{name: "failed"}
	for _, i := range m.Load.Over {
		if i.Width <= 0 {
			continue
		}
		at := i.At + i.Width/2
		done.add(at, float64(i.Ops-i.Failed)/i.Width.Seconds())
		failed.add(at, float64(i.Failed)/i.Width.Seconds())
	}
	if !slices.ContainsFunc(failed.value, func(f float64) bool { return f > 0 }) {
		failed = line{}
	}
	offered := line{name: "offered"}
	if m.Load.Offered > 0 && len(done.at) > 0 {
		offered.add(done.at[0], m.Load.Offered)
		offered.add(done.at[len(done.at)-1], m.Load.Offered)
	}
	if c := chart("load", "per_second", fromLoad, false, done, failed, offered); c != nil {
		return c
	}
	return chart("load", "count", fromLoad, false, gauge("backlog", m.Load.Backlog))
}

func memoryOfProcess(m *model.Model) *Chart {
	group := line{name: "group"}
	if m.Limits != nil {
		for _, s := range m.Limits.Samples {
			group.add(s.At, known(s.Memory))
		}
	}
	return chart("memory", "bytes", fromProc, false,
		gauge("resident", counter(m, func(s *model.ProcessSample) float64 { return float64(s.RSS) })),
		gauge("swapped", moved(counter(m, func(s *model.ProcessSample) float64 { return float64(s.Swap) }))),
		group, gauge("runtime", metric(m, "/memory/classes/total:bytes")))
}

func memoryOfMetrics(m *model.Model) *Chart {
	return chart("memory", "bytes", fromMetrics, false,
		gauge("runtime", metric(m, "/memory/classes/total:bytes")), gauge("released", metric(m, "/memory/classes/heap/released:bytes")),
		gauge("stacks", metric(m, "/memory/classes/heap/stacks:bytes")))
}

func threadsOfProcess(m *model.Model) *Chart {
	return chart("threads", "count", fromProc, false,
		gauge("threads", counter(m, func(s *model.ProcessSample) float64 { return float64(s.Threads) })),
		gauge("files", counter(m, func(s *model.ProcessSample) float64 { return float64(s.FDs) })))
}

func threadsOfLog(m *model.Model) *Chart {
	threads, spinning, idle := line{name: "threads"}, line{name: "spinning"}, line{name: "idle"}
	for _, s := range alignedSched(m) {
		threads.add(s.At, float64(s.Threads))
		spinning.add(s.At, float64(s.SpinningThreads))
		idle.add(s.At, float64(s.IdleThreads))
	}
	if c := chart("threads", "count", fromSchLog, false, threads, spinning, idle); c != nil {
		return c
	}
	return chart("threads", "count", fromMetrics, false, gauge("threads", metric(m, "/sched/threads/total:threads")))
}

func switchesOfProcess(m *model.Model) *Chart {
	return chart("switches", "per_second", fromProc, false,
		rate("voluntary", counter(m, func(s *model.ProcessSample) float64 { return float64(s.Voluntary) })),
		rate("involuntary", counter(m, func(s *model.ProcessSample) float64 { return float64(s.Involuntary) })),
		rate("faults", counter(m, func(s *model.ProcessSample) float64 { return float64(s.MinorFaults + s.MajorFaults) })))
}

// ofMachine is a counter of the machine, of those that the kernel has.
func ofMachine(m *model.Model, of func(*model.MachineSample) time.Duration) (s model.Series) {
	if m.Machine == nil {
		return nil
	}
	for i := range m.Machine.Samples {
		if d := of(&m.Machine.Samples[i]); d >= 0 {
			s = append(s, model.Point{At: m.Machine.Samples[i].At, Value: d.Seconds()})
		}
	}
	return s
}

func machineOfProc(m *model.Model) *Chart {
	return chart("machine", "cores", fromProc, false,
		rate("busy", ofMachine(m, func(s *model.MachineSample) time.Duration { return s.Busy })),
		rate("process", counter(m, func(s *model.ProcessSample) float64 { return (s.User + s.System).Seconds() })),
		rate("iowait", moved(ofMachine(m, func(s *model.MachineSample) time.Duration { return s.IOWait }))),
		rate("steal", moved(ofMachine(m, func(s *model.MachineSample) time.Duration { return s.Steal }))))
}

// pressureOfProc is the share of time in which somebody had to wait.
func pressureOfProc(m *model.Model) *Chart {
	var stopped model.Series
	if m.Limits != nil {
		for _, s := range m.Limits.Samples {
			stopped = append(stopped, model.Point{At: s.At, Value: s.ThrottledTime.Seconds()})
		}
	}
	return chart("pressure", "share", fromProc, false,
		rate("cpu", ofMachine(m, func(s *model.MachineSample) time.Duration { return s.CPUStall })),
		rate("memory", ofMachine(m, func(s *model.MachineSample) time.Duration { return s.MemoryStall })),
		rate("io", ofMachine(m, func(s *model.MachineSample) time.Duration { return s.IOStall })),
		rate("throttled", moved(stopped)))
}

// cycles are the collections, the longest of too many.
func cycles(g *model.GC, end time.Duration) (list []Gap) {
	for _, c := range g.Cycles {
		to := c.End
		if to < 0 {
			to = end
		}
		list = append(list, Gap{FromNS: int64(max(c.Begin, 0)), ToNS: int64(to), Why: decimal(c.Seq)})
	}
	return longest(list)
}

func pauses(g *model.GC) (list []Gap) {
	for _, p := range g.Pauses {
		list = append(list, Gap{FromNS: int64(p.At), ToNS: int64(p.At + p.Duration), Why: name(p.Kind)})
	}
	return longest(list)
}

// longest keeps the longest stretches where there are more than a chart can
// show, in the order of time.
func longest(list []Gap) []Gap {
	if len(list) > maxPoints {
		slices.SortStableFunc(list, func(a, b Gap) int { return cmp.Compare(b.ToNS-b.FromNS, a.ToNS-a.FromNS) })
		list = list[:maxPoints]
		slices.SortStableFunc(list, func(a, b Gap) int { return cmp.Compare(a.FromNS, b.FromNS) })
	}
	return list
}

// The names of what the collector takes, as queries have them.
var loadFlags = []struct {
	name string
	flag model.LoadFlags
}{
	{"stw", model.CountSTW}, {"background", model.CountBackground}, {"assist", model.CountAssist},
	{"sweep", model.CountSweep}, {"perproc", model.PerProc},
}

func parseFlags(s string) (flags model.LoadFlags, err error) {
	if s == "" {
		return model.CountAll, nil
	}
	for _, word := range strings.Split(s, ",") {
		i := slices.IndexFunc(loadFlags, func(f struct {
			name string
			flag model.LoadFlags
		}) bool {
			return f.name == word
		})
		if i < 0 {
			return 0, &Problem{What: "the collector has no load called " + short(word), Hint: "flags=stw,background,assist,sweep,perproc"}
		}
		flags |= loadFlags[i].flag
	}
	return flags, nil
}

const (
	worstShown  = 10                    // windows that api/mmu tells of one length
	usualWindow = 10 * time.Millisecond // its length when nobody asked
	lengthsMost = 60                    // points of the curve
	lengthsFew  = 12                    // of one that is dear
	stepsBudget = 40_000_000            // steps that a curve may walk: half a second
	shortest    = 10 * time.Microsecond // window of the curve; a stop of the world is that long
)

// mmu answers GET api/mmu: the curve, and the worst windows of one length.
func (v *View) mmu(q url.Values) (any, error) {
	if v.Model.GC == nil {
		return nil, noTrace()
	}
	flags, err := parseFlags(q.Get("flags"))
	if err != nil {
		return nil, err
	}
	window, err := integer(q, "window", int64(min(usualWindow, v.duration())), 1, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	curve := v.mmuCurve(flags)
	if curve == nil {
		return nil, missing("the trace does not tell how many Ps there were", "")
	}
	curve.Worst = v.worst(flags, min(time.Duration(window), v.duration()))
	return curve, nil
}

// mmuCurve is the minimum mutator utilization for windows of all lengths; nil
// where the trace tells of no P.
func (v *View) mmuCurve(flags model.LoadFlags) *MMU {
	m := v.Model
	u := m.GC.Utilization(flags, m.Run.Procs, 0, m.Run.Duration)
	mean := u.Mean()
	if !finite(mean) {
		return nil
	}
	c := &MMU{Mean: mean}
	steps := 1
	for _, s := range u {
		steps += len(s)
	}
	for _, w := range windowLengths(m.Run.Duration, min(max(stepsBudget/steps, lengthsFew), lengthsMost)) {
		if _, util := u.Worst(w); finite(util) {
			c.WindowNS, c.Util = append(c.WindowNS, int64(w)), append(c.Util, util)
		}
	}
	for _, f := range loadFlags {
		if flags&f.flag != 0 {
			c.Flags = append(c.Flags, f.name)
		}
	}
	return c
}

// windowLengths are n lengths up to all of the run, each as much longer than the
// one before.
func windowLengths(whole time.Duration, n int) (list []time.Duration) {
	low := min(shortest, whole)
	ratio := math.Pow(float64(whole)/float64(low), 1/float64(n-1))
	for i := range n {
		w := time.Duration(float64(low) * math.Pow(ratio, float64(i)))
		if i == n-1 {
			w = whole
		}
		if len(list) == 0 || w > list[len(list)-1] {
			list = append(list, w)
		}
	}
	return list
}

// worst are the windows of a length in which the program had least of its Ps,
// none overlapping another, the worst first. What is left and right of a window
// that was taken is searched by itself.
func (v *View) worst(flags model.LoadFlags, window time.Duration) (list []Worst) {
	type part struct {
		from, to, at time.Duration
		util         float64
	}
	m := v.Model
	var parts []part
	search := func(from, to time.Duration) {
		if to-from < window || window <= 0 {
			return
		}
		at, util := m.GC.Utilization(flags, m.Run.Procs, from, to).Worst(window)
		if finite(util) && util < 1 {
			parts = append(parts, part{from, to, at, util})
		}
	}
	search(0, m.Run.Duration)
	for len(parts) > 0 && len(list) < worstShown {
		i := 0
		for j := range parts {
			if parts[j].util < parts[i].util {
				i = j
			}
		}
		p := parts[i]
		parts = slices.Delete(parts, i, i+1)
		list = append(list, Worst{AtNS: int64(p.at), WindowNS: int64(window), Util: p.util})
		search(p.from, p.at)
		search(p.at+window, p.to)
	}
	return list
}
