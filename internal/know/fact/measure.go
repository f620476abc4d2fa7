package fact

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Meter measures in a model. Who asks says what is to be counted, and the number
// follows from that, so that a fact and its origin cannot part.
type Meter struct{ Model *model.Model }

// Where is what samples must be to be counted; nil counts all.
type Where func(*model.Sample) bool

// Frames makes one of what their stacks must be.
func (p Meter) Frames(match func([]model.Frame) bool) Where {
	return func(s *model.Sample) bool { return match(p.Model.Stacks.Frames(s.Stack)) }
}

// Samples adds up the matching samples of a tree, in its unit.
func (p Meter) Samples(name, tree string, match Where) Fact {
	part, _, o := p.count(tree, match)
	return fact(name, part, trees[tree].unit, o)
}

// SampleCount counts the matching samples of a tree.
func (p Meter) SampleCount(name, tree string, match Where) Fact {
	_, _, o := p.count(tree, match)
	o.Columns = []string{"count"}
	return fact(name, float64(o.N), Count, o)
}

// SampleShare returns the part of all of a tree that the matching samples are.
func (p Meter) SampleShare(name, tree string, match Where) Fact {
	part, all, o := p.count(tree, match)
	o.Share = true
	return fact(name, statistics.Quotient(part, all), Ratio, o)
}

// SamplesAtStart adds them up as of the window's begin, for the trees of what is in use.
func (p Meter) SamplesAtStart(name, tree string, match Where) Fact {
	begin := p.Model.LiveHeap.Start
	if tree == "goroutine" {
		begin = p.Model.Goroutines.Start
	}
	part, _, o := p.countIn(begin, tree, match)
	o.Fold, o.entries = First, nil
	return fact(name, part, trees[tree].unit, o)
}

// count adds up the matching samples of a tree, and all.
func (p Meter) count(tree string, match Where) (part, all float64, o Origin) {
	return p.countIn(ProfileOf(p.Model, tree), tree, match)
}

func (p Meter) countIn(profile *model.Profile, name string, match Where) (part, all float64, o Origin) {
	t := trees[name]
	o = Origin{Kind: Samples, Source: t.source, Tree: name}
	if profile == nil {
		return 0, 0, o
	}
	number, value := columns(profile, t)
	by := map[string]float64{}
	for i := range profile.Samples {
		s := &profile.Samples[i]
		v := s.Value(value)
		all += v
		if match != nil && !match(s) {
			continue
		}
		part += v
		o.entries = append(o.entries, i)
		if number >= 0 {
			o.N += int64(s.Value(number))
		}
		if place, ok := model.UserFrame(p.Model.Stacks.Frames(s.Stack)); ok {
			by[place.Func] += v
		}
	}
	o.Functions = mostly(by)
	if t.unit == Seconds {
		return part / 1e9, all / 1e9, o
	}
	return part, all, o
}

// columns returns those of a profile that count a tree's samples and hold its values.
func columns(profile *model.Profile, t tree) (number, value int) {
	number, value = profile.Columns()
	if t.unit != Seconds {
		value = profile.Column(t.column)
	}
	if kind, ok := strings.CutSuffix(t.column, "_space"); ok {
		number = profile.Column(kind + "_objects")
	}
	return number, value
}

// Largest returns the names with most of a tree, the largest first: name says whose a
// sample is.
func (p Meter) Largest(tree string, name func(*model.Sample) string) []string {
	profile := ProfileOf(p.Model, tree)
	if profile == nil {
		return nil
	}
	number, value := columns(profile, trees[tree])
	if value < 0 {
		value = number // samples of no known time
	}
	by := map[string]float64{}
	for i := range profile.Samples {
		by[name(&profile.Samples[i])] += profile.Samples[i].Value(value)
	}
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
}

// functionsNamed is how many functions an origin names.
const functionsNamed = 5

// mostly returns the functions with most, the largest first.
func mostly(by map[string]float64) []string {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), functionsNamed)]
}

// ProfileOf returns the profile that a tree is of; nil for those of a trace, and for
// what was not recorded.
func ProfileOf(m *model.Model, tree string) *model.Profile {
	switch tree {
	case "cpu":
		return m.CPU
	case "wall":
		return m.Wall
	case "kernel":
		if m.Kernel != nil {
			return m.Kernel.CPU
		}
	case "offcpu":
		if m.Kernel != nil {
			return m.Kernel.Off
		}
	case "alloc_space", "alloc_objects":
		return m.Heap
	case "inuse_space", "inuse_objects":
		return m.InUse()
	case "goroutine":
		return m.Goroutines.End
	case "goroutineleak":
		return m.Leaks
	case "threadcreate":
		return m.ThreadCreate
	case "block":
		return m.Block
	case "mutex":
		return m.Mutex
	}
	return nil
}

// Waits returns the time that goroutines spent in the matching waits of a kind; nil
// matches all.
func (p Meter) Waits(name string, kind model.WaitKind, match func(*model.Wait) bool) Fact {
	total, _, o := p.waitTime(kind, match)
	return fact(name, total.Seconds(), Seconds, o)
}

// WaitCount counts them.
func (p Meter) WaitCount(name string, kind model.WaitKind, match func(*model.Wait) bool) Fact {
	_, n, o := p.waitTime(kind, match)
	o.Columns = []string{"count"}
	return fact(name, float64(n), Count, o)
}

func (p Meter) waitTime(kind model.WaitKind, match func(*model.Wait) bool) (total time.Duration, n int64, o Origin) {
	o = Origin{Kind: Waits, Source: model.Trace, Tree: string(kind)}
	if p.Model.Sched == nil {
		return 0, 0, o
	}
	by, groups := map[string]float64{}, map[string]float64{}
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		if w.Kind != kind || match != nil && !match(w) {
			continue
		}
		total, n = total+w.Total, n+w.Count
		o.entries = append(o.entries, i)
		groups[w.Group] += float64(w.Total)
		if place, ok := model.UserFrame(p.Model.Stacks.Frames(w.Stack)); ok {
			by[place.Func] += float64(w.Total)
		}
	}
	o.N, o.Functions, o.Groups = n, mostly(by), mostly(groups)
	return total, n, o
}

// Goroutines returns the sum of some columns of the accounts of goroutine groups: the
// columns are those of groupColumn.
func (p Meter) Goroutines(name string, groups []string, columns ...string) Fact {
	o := Origin{Kind: Goroutines, Source: model.Trace, Groups: groups, Columns: columns}
	return p.counted(name, o)
}

// groupColumn returns a number of a group's account: count, created, ended, alive, peak,
// runs; in seconds total, running, runnable, syscall, syscall_blocked, blocked,
// unknown, blocked:REASON, range:NAME, delay_p50, delay_p99, delay_max.
func groupColumn(g *model.Group, column string) (v float64, u Unit, ok bool) {
	count := func(n int) (float64, Unit, bool) { return float64(n), Count, true }
	seconds := func(d time.Duration) (float64, Unit, bool) { return d.Seconds(), Seconds, true }
	switch column {
	case "count":
		return count(g.Count)
	case "created":
		return count(g.Created)
	case "ended":
		return count(g.Ended)
	case "alive":
		return count(g.Alive())
	case "peak":
		return count(g.Peak)
	case "runs":
		return count(int(g.Runs))
	case "total":
		return seconds(g.Total())
	case "running":
		return seconds(g.Times.Running)
	case "runnable":
		return seconds(g.Runnable)
	case "syscall":
		return seconds(g.Syscall)
	case "syscall_blocked":
		return seconds(g.SyscallBlocked)
	case "blocked":
		return seconds(g.BlockedTotal())
	case "unknown":
		return seconds(g.Unknown)
	case "delay_p50":
		return seconds(g.Delay.Quantile(0.5))
	case "delay_p99":
		return seconds(g.Delay.Quantile(0.99))
	case "delay_max":
		return seconds(g.Delay.Max)
	}
	if reason, ok := strings.CutPrefix(column, "blocked:"); ok {
		return seconds(g.Blocked[reason])
	}
	if name, ok := strings.CutPrefix(column, "range:"); ok {
		return seconds(g.Ranges[name])
	}
	return 0, "", false
}

// Processors measures what the Ps did, summed over them: user, gc, gc_idle, syscall,
// scheduler, idle, unknown in seconds, or starts.
func (p Meter) Processors(name string, columns ...string) Fact {
	return p.counted(name, Origin{Kind: Processors, Source: model.Trace, Columns: columns})
}

func procColumn(q *model.Proc, column string) (float64, Unit) {
	switch column {
	case "user":
		return q.User.Seconds(), Seconds
	case "gc":
		return q.GC.Seconds(), Seconds
	case "gc_idle":
		return q.GCIdle.Seconds(), Seconds
	case "syscall":
		return q.Syscall.Seconds(), Seconds
	case "scheduler":
		return q.Scheduler.Seconds(), Seconds
	case "idle":
		return q.Idle.Seconds(), Seconds
	case "unknown":
		return q.Unknown.Seconds(), Seconds
	}
	return float64(q.Starts), Count
}

// CPUInUse returns the CPU that the program used, by the account.
func (p Meter) CPUInUse() Fact { return p.counted("CPU in use", p.account("in use")) }

// CPUPart returns the share of it that some parts of the account are.
func (p Meter) CPUPart(name string, parts ...model.CPUPart) Fact {
	columns := make([]string, len(parts))
	for i, q := range parts {
		columns[i] = string(q)
	}
	return p.counted(name, p.account(columns...))
}

// CPUSamples counts the samples that the account rests on.
func (p Meter) CPUSamples() Fact { return p.counted("samples", p.account("samples")) }

func (p Meter) account(columns ...string) Origin {
	o := Origin{Kind: Account, Columns: columns}
	if a := p.Model.CPUAccount(); a != nil {
		o.Source, o.N = a.Believed, a.Samples
	}
	if o.Source == model.KernelCPU {
		o.Tree = "kernel"
	} else {
		o.Tree = "cpu"
	}
	return o
}

// Metric returns a runtime metric, folded to one number. The unit is the metric's own,
// a second for rates and trends.
func (p Meter) Metric(name, metric string, fold Fold) Fact {
	return p.counted(name, Origin{Kind: Metric, Source: model.MetricsLog, Name: metric, Fold: fold})
}

// Syscalls counts some system calls: calls, errors, good (those without an error), bytes, or
// time in seconds.
func (p Meter) Syscalls(name, column string, calls ...string) Fact {
	return p.counted(name, Origin{Kind: Syscalls, Source: model.SyscallLog, Names: calls, Columns: []string{column}})
}

func syscallColumn(c *model.Syscall, column string) (float64, Unit) {
	var errors int64
	for _, n := range c.Errors {
		errors += n
	}
	errors = min(max(errors, 0), c.Count)
	switch column {
	case "errors":
		return float64(errors), Count
	case "good":
		return float64(c.Count - errors), Count
	case "bytes":
		return float64(c.Bytes), Bytes
	case "time":
		return c.Time.Seconds(), Seconds
	}
	if errno, ok := strings.CutPrefix(column, "errno:"); ok {
		return float64(c.Errors[errno]), Count
	}
	return float64(c.Count), Count
}

// SyscallWindow returns the time over which system calls were counted.
func (p Meter) SyscallWindow() Fact {
	return p.counted("time in which system calls were counted", Origin{Kind: Window, Source: model.SyscallLog})
}

// Process returns a counter of the process: cpu, user, system, run_queue in seconds,
// threads, files, rss, voluntary, involuntary, minor_faults, major_faults; and
// time, from whose first to whose last reading is what its changes happened in.
func (p Meter) Process(name, counter string, fold Fold) Fact {
	return p.counted(name, Origin{Kind: Process, Source: model.ProcFS, Name: counter, Fold: fold})
}

// Machine returns a counter of the machine: busy, idle, iowait, steal, cpu_stall,
// memory_stall, io_stall in seconds of CPU, available; and time, as above.
func (p Meter) Machine(name, counter string, fold Fold) Fact {
	return p.counted(name, Origin{Kind: Machine, Source: model.ProcFS, Name: counter, Fold: fold})
}

// ControlGroup returns a counter of the process's control group: usage and
// throttled_time in seconds, periods, throttled, memory; and time, as above.
func (p Meter) ControlGroup(name, counter string, fold Fold) Fact {
	return p.counted(name, Origin{Kind: ControlGroup, Source: model.ProcFS, Name: counter, Fold: fold})
}

// ProfileLength returns the time in which the samples of a tree were taken, or between the
// two profiles of goroutines; that of the evidence where they do not tell.
func (p Meter) ProfileLength(tree string) Fact {
	return p.counted("time of the "+trees[tree].words, Origin{Kind: Window, Source: trees[tree].source, Tree: tree})
}

// WindowLength returns the time that the evidence covers.
func (p Meter) WindowLength() Fact { return p.counted("window", Origin{Kind: Window}) }

// Setting returns what was set for the run, or built into it; what is its name, like
// "GOMAXPROCS".
func (p Meter) Setting(name, what string, v float64, u Unit) Fact {
	return fact(name, v, u, Origin{Kind: Setting, Name: what})
}

// Standing returns a number of the matching goroutines of the moment: goroutines, still, or
// waited in seconds, which is that of the one that stands longest.
func (p Meter) Standing(name, column string, match func(*model.Standing) bool) Fact {
	o := Origin{Kind: Standings, Columns: []string{column}}
	if p.Model.Moment == nil {
		return fact(name, 0, Count, o)
	}
	o.Source = p.Model.Moment.Source
	var longest time.Duration
	for i := range p.Model.Moment.Goroutines {
		s := &p.Model.Moment.Goroutines[i]
		if match != nil && !match(s) {
			continue
		}
		if column != "waited" {
			o.entries = append(o.entries, i)
		} else if s.Waited > longest {
			longest, o.entries = s.Waited, []int{i}
		}
	}
	f := p.counted(name, o)
	if column == "waited" && len(o.entries) == 0 {
		f = fact(name, 0, Seconds, o)
	}
	return f
}

// standingColumn returns a number of goroutines that stand alike.
func standingColumn(s *model.Standing, column string) (float64, Unit) {
	switch column {
	case "still":
		return float64(s.Still), Count
	case "waited":
		return s.Waited.Seconds(), Seconds
	}
	return float64(s.Count), Count
}

// Statistic returns a number that the model's own views give and that no other
// constructor has: of the wake-up graph, the collector, the timeline, the
// generations of the trace, or a load. what names it in the field's words.
func (p Meter) Statistic(kind Kind, what, name string, v float64, u Unit) Fact {
	source := model.Trace
	if kind == LoadResults {
		source = model.LoadResult
	}
	return fact(name, v, u, Origin{Kind: kind, Source: source, Name: what})
}

// From says which evidence has a statistic, where it is not the one that its kind
// usually is of.
func (f Fact) From(s model.Source) Fact {
	f.Origin.Source, f.Origin.Text = s, ""
	f.Origin.Text = f.Origin.String()
	return f
}

// OverSeries returns a statistic of what n processes sent of a type, over hours.
func OverSeries(name, of string, n int, v float64, u Unit) Fact {
	return fact(name, v, u, Origin{Kind: Series, Name: of, Columns: []string{name}, N: int64(n)})
}

// Saved returns a fact that was saved as words alone, by an older version.
func Saved(name, text string) Fact {
	return Fact{Name: name, Text: text, Origin: Words(name)}
}

// Figure returns a number that was measured elsewhere, and where.
func Figure(name string, v float64, u Unit, where string) Fact {
	return fact(name, v, u, Origin{Kind: Published, Name: where})
}

// A Row is one of the things that a fact counts.
type Row struct {
	What  string
	Value float64
	Unit  Unit
}

// counted makes the fact of an origin that has rows.
func (p Meter) counted(name string, o Origin) Fact {
	v, u := o.Total(p.Model)
	return fact(name, v, u, o)
}

// Total adds up the rows of an origin.
func (o *Origin) Total(m *model.Model) (v float64, u Unit) {
	u = Count
	for _, r := range o.Rows(m) {
		v, u = v+r.Value, r.Unit
	}
	return v, u
}

// Rows returns the things that an origin counts, which add up to the fact; none for
// kinds that have a picture of their own or are one number.
func (o *Origin) Rows(m *model.Model) (rows []Row) {
	add := func(what string, v float64, u Unit) { rows = append(rows, Row{what, v, u}) }
	switch o.Kind {
	case Goroutines:
		for i := range o.groupsIn(m) {
			g := &m.Sched.Groups[i]
			for _, c := range o.Columns {
				if v, u, ok := groupColumn(g, c); ok {
					add(g.Name+": "+c, v, u)
				}
			}
		}
	case Processors:
		if m.Sched != nil {
			for _, c := range o.Columns {
				sum, u := 0.0, Seconds
				for i := range m.Sched.Procs {
					v, unit := procColumn(&m.Sched.Procs[i], c)
					sum, u = sum+v, unit
				}
				add(c, sum, u)
			}
		}
	case Standings:
		for _, i := range o.entries {
			if m.Moment == nil || i >= len(m.Moment.Goroutines) {
				break
			}
			s := &m.Moment.Goroutines[i]
			what := s.State
			if f, ok := model.UserFrame(m.Stacks.Frames(s.Stack)); ok {
				what += " in " + f.Func
			}
			v, u := standingColumn(s, o.Columns[0])
			add(what, v, u)
		}
	case Held:
		return o.heldRows(m)
	case Account:
		if a := m.CPUAccount(); a != nil {
			for _, c := range o.Columns {
				switch c {
				case "in use":
					add(c, a.Cores(), Cores)
				case "samples":
					add(c, float64(a.Samples), Count)
				default:
					add(c, a.Share(model.CPUPart(c)), Ratio)
				}
			}
		}
	case Metric:
		if m.Metrics != nil {
			if v, ok := o.Fold.apply(m.Metrics.Series[o.Name]); ok {
				add(o.Name, v, o.Fold.unit(metricUnit(o.Name)))
			}
		}
	case Syscalls:
		if m.Syscalls != nil {
			for _, name := range o.Names {
				c := m.Syscalls.Call(name)
				for _, column := range o.Columns {
					v, u := syscallColumn(&c, column)
					add(name, v, u)
				}
			}
		}
	case Process, Machine, ControlGroup:
		if c, ok := counters[o.Kind][o.Name]; ok {
			if v, ok := o.Fold.apply(c.series(m)); ok {
				add(o.Name, v, o.Fold.unit(c.unit))
			}
		}
	case Window:
		d := m.Run.Duration
		if profile := ProfileOf(m, o.Tree); profile != nil && profile.Duration > 0 {
			d = profile.Duration
		}
		if o.Source == model.SyscallLog {
			d = 0
			if m.Syscalls != nil {
				d = m.Syscalls.Window
			}
		}
		if s, e := m.Goroutines.Start, m.Goroutines.End; o.Tree == "goroutine" && s != nil && e != nil && s.Known && e.Known && e.At > s.At {
			d = e.At - s.At
		}
		add("window", d.Seconds(), Seconds)
	}
	return rows
}

// groupsIn hands out the indices of the groups that are counted.
func (o *Origin) groupsIn(m *model.Model) func(func(int) bool) {
	return func(yield func(int) bool) {
		if m.Sched == nil {
			return
		}
		for i := range m.Sched.Groups {
			if slices.Contains(o.Groups, m.Sched.Groups[i].Name) && !yield(i) {
				return
			}
		}
	}
}

// apply folds a series; false where it has too few points for it.
func (f Fold) apply(s model.Series) (float64, bool) {
	switch f {
	case First:
		p, ok := s.First()
		return p.Value, ok
	case Last:
		p, ok := s.Last()
		return p.Value, ok
	case Least:
		return s.Min(), len(s) > 0
	case Most:
		return s.Max(), len(s) > 0
	case Change:
		by, _, ok := s.Delta()
		return by, ok
	case Rate:
		return s.Rate()
	case Growth:
		var up float64
		for i := 1; i < len(s); i++ {
			up += max(0, s[i].Value-s[i-1].Value)
		}
		return up, len(s) > 1
	case Trend:
		v, _, _, ok := s.Slope()
		return v, ok
	}
	return math.NaN(), false
}

// unit returns that of a folded series.
func (f Fold) unit(u Unit) Unit {
	if f != Rate && f != Trend {
		return u
	}
	switch u {
	case Bytes:
		return BytesPerSec
	case Seconds:
		return Cores
	}
	return PerSec
}

// metricUnit returns the unit in a metric's name.
func metricUnit(name string) Unit {
	switch _, unit, _ := strings.Cut(name, ":"); unit {
	case "bytes":
		return Bytes
	case "seconds", "cpu-seconds":
		return Seconds
	}
	switch name { // of a scrape, whose names have no unit apart
	case model.ScrapedResident:
		return Bytes
	case model.ScrapedCPU:
		return Seconds
	}
	return Count
}

// A counter is a number that the system kept, over time.
type counter struct {
	unit   Unit
	series func(*model.Model) model.Series
}

var counters = map[Kind]map[string]counter{
	Process: {
		"time":         ofProcess(Seconds, func(s *model.ProcessSample) float64 { return s.At.Seconds() }),
		"cpu":          ofProcess(Seconds, func(s *model.ProcessSample) float64 { return (s.User + s.System).Seconds() }),
		"user":         ofProcess(Seconds, func(s *model.ProcessSample) float64 { return s.User.Seconds() }),
		"system":       ofProcess(Seconds, func(s *model.ProcessSample) float64 { return s.System.Seconds() }),
		"run_queue":    ofProcess(Seconds, func(s *model.ProcessSample) float64 { return s.RunQueue.Seconds() }),
		"threads":      ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.Threads) }),
		"files":        ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.FDs) }),
		"rss":          ofProcess(Bytes, func(s *model.ProcessSample) float64 { return float64(s.RSS) }),
		"voluntary":    ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.Voluntary) }),
		"involuntary":  ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.Involuntary) }),
		"minor_faults": ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.MinorFaults) }),
		"major_faults": ofProcess(Count, func(s *model.ProcessSample) float64 { return float64(s.MajorFaults) }),
	},
	Machine: {
		"time":      ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.At.Seconds() }),
		"busy":      ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.Busy.Seconds() }),
		"idle":      ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.Idle.Seconds() }),
		"iowait":    ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.IOWait.Seconds() }),
		"steal":     ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.Steal.Seconds() }),
		"cpu_stall": ofMachine(Seconds, func(s *model.MachineSample) float64 { return s.CPUStall.Seconds() }),
		"available": ofMachine(Bytes, func(s *model.MachineSample) float64 { return float64(s.Available) }),
	},
	ControlGroup: {
		"time":           ofGroup(Seconds, func(s *model.LimitSample) float64 { return s.At.Seconds() }),
		"usage":          ofGroup(Seconds, func(s *model.LimitSample) float64 { return s.Usage.Seconds() }),
		"throttled_time": ofGroup(Seconds, func(s *model.LimitSample) float64 { return s.ThrottledTime.Seconds() }),
		"periods":        ofGroup(Count, func(s *model.LimitSample) float64 { return float64(s.Periods) }),
		"throttled":      ofGroup(Count, func(s *model.LimitSample) float64 { return float64(s.Throttled) }),
		"memory":         ofGroup(Bytes, func(s *model.LimitSample) float64 { return float64(s.Memory) }),
	},
}

func ofProcess(u Unit, of func(*model.ProcessSample) float64) counter {
	return counter{u, func(m *model.Model) model.Series {
		s := m.Process.Series(func(s model.ProcessSample) float64 { return of(&s) })
		return slices.DeleteFunc(s, func(p model.Point) bool { return p.Value < 0 }) // files that nobody was allowed to count
	}}
}

func ofMachine(u Unit, of func(*model.MachineSample) float64) counter {
	return counter{u, func(m *model.Model) (out model.Series) {
		if m.Machine != nil {
			for i := range m.Machine.Samples {
				out = append(out, model.Point{At: m.Machine.Samples[i].At, Value: of(&m.Machine.Samples[i])})
			}
		}
		return out
	}}
}

func ofGroup(u Unit, of func(*model.LimitSample) float64) counter {
	return counter{u, func(m *model.Model) (out model.Series) {
		if m.Limits != nil {
			for i := range m.Limits.Samples {
				out = append(out, model.Point{At: m.Limits.Samples[i].At, Value: of(&m.Limits.Samples[i])})
			}
		}
		return out
	}}
}
