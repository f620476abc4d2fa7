package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A table is one table of CSV. byGroup tells that its rows belong to
// goroutine groups; of the others a group has no share that one could give.
type table struct {
	name    string
	needs   func(*model.Model) bool
	byGroup bool
	rows    func(*model.Model, Options) [][]string // the first one is the head
	source  model.Source                           // that it needs; empty is a trace
}

func hasSched(m *model.Model) bool { return m.Sched != nil }
func hasGC(m *model.Model) bool    { return m.GC != nil }
func hasTasks(m *model.Model) bool { return m.Tasks != nil }

var tables = []table{
	{name: "groups", needs: hasSched, byGroup: true, rows: groupRows},
	{name: "goroutines", needs: hasSched, byGroup: true, rows: goroutineRows},
	{name: "procs", needs: hasSched, byGroup: false, rows: procRows},
	{name: "waits", needs: hasSched, byGroup: true, rows: waitRows},
	{name: "wakes", needs: hasSched, byGroup: false, rows: wakeRows},
	{name: "buckets", needs: hasSched, byGroup: false, rows: bucketRows},
	{name: "cycles", needs: hasGC, byGroup: false, rows: cycleRows},
	{name: "pauses", needs: hasGC, byGroup: false, rows: pauseRows},
	{name: "heap", needs: hasGC, byGroup: false, rows: heapRows},
	{name: "utilization", needs: hasGC, byGroup: false, rows: utilRows},
	{name: "tasks", needs: hasTasks, byGroup: false, rows: taskRows},
	{name: "regions", needs: hasTasks, byGroup: false, rows: regionRows},
	takenTable("cpu", CPU),
	takenTable("kernel", Kernel),
	takenTable("offcpu", OffCPU),
	takenTable("wall", Wall),
	takenTable("block", Block),
	takenTable("mutex", Mutex),
	takenTable("allocs", Allocs),
	takenTable("liveheap", Heap),
	takenTable("goroutineprofile", Goroutine),
	{name: "process", needs: has(model.ProcFS), rows: processRows, source: model.ProcFS},
	{name: "threads", needs: has(model.ProcFS), rows: threadRows, source: model.ProcFS},
	{name: "machine", needs: func(m *model.Model) bool { return m.Machine != nil }, rows: machineRows, source: model.ProcFS},
	{name: "limits", needs: func(m *model.Model) bool { return m.Limits != nil }, rows: limitRows, source: model.ProcFS},
	{name: "metrics", needs: has(model.MetricsLog), rows: metricRows, source: model.MetricsLog},
	{name: "syscalls", needs: has(model.SyscallLog), rows: syscallRows, source: model.SyscallLog},
}

func has(s model.Source) func(*model.Model) bool {
	return func(m *model.Model) bool { return m.Has(s) }
}

// takenTable returns the table of a profile that was recorded as one.
func takenTable(name string, p Profile) table {
	t := takenProfile(p)
	return table{
		name: name, needs: has(t.source), byGroup: p == CPU, source: t.source,
		rows: func(m *model.Model, o Options) [][]string {
			// The kernel's labels say what its samples are of; others are the program's own.
			return takenRows(m, o, m.Profile(t.source), p == Kernel || p == OffCPU)
		},
	}
}

// Tables returns the names that [Options.Table] knows.
func Tables() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	return names
}

// TablesOf returns those of [Tables] that a model holds.
func TablesOf(m *model.Model) (names []string) {
	for _, t := range tables {
		if t.needs(m) {
			names = append(names, t.name)
		}
	}
	return names
}

// CSV writes one table with a head. Durations and times are nanoseconds,
// times since the window's start; a time outside the window is empty. Stacks
// are function names, leaf first, between semicolons. Text that a spreadsheet
// would take for a formula gets an apostrophe in front.
func CSV(w io.Writer, m *model.Model, o Options) error {
	if err := o.checkGroup(m); err != nil {
		return err
	}
	if o.Table == "" {
		switch o.Profile {
		case Net, Sync, Syscall, Sched:
			o.Table = "waits"
		case States, "":
			o.Table = "groups"
		case Heap:
			o.Table = "liveheap"
		case Goroutine:
			o.Table = "goroutineprofile"
		case CPU, Kernel, OffCPU, Wall, Block, Mutex, Allocs:
			o.Table = string(o.Profile)
		default:
			_, err := collect(m, o)
			return err
		}
	}
	for _, t := range tables {
		if t.name != o.Table {
			continue
		}
		switch {
		case !t.needs(m):
			needs := t.source
			if needs == "" {
				needs = model.Trace
			}
			return missing(m, needs, "table "+t.name, "the evidence for it was not recorded")
		case o.Group != "" && !t.byGroup:
			return missing(m, "", "table "+t.name, "it cannot be given for one goroutine group")
		}
		return csv.NewWriter(w).WriteAll(t.rows(m, o))
	}
	return unknown("table", o.Table, Tables())
}

func ns(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }

// when returns a moment of the window; negative ones lie outside of it.
func when(d time.Duration) string {
	if d < 0 {
		return ""
	}
	return ns(d)
}

func num[T int | int32 | int64 | uint64](n T) string { return fmt.Sprint(n) }

// decimal returns empty for what is no number, like the utilization of no P.
func decimal(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func cell(s string) string {
	s = plain(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func stackCell(m *model.Model, id model.Stack) string {
	var names []string
	for _, f := range m.Stacks.Frames(id) {
		names = append(names, strings.ReplaceAll(f.Func, ";", ":"))
	}
	return cell(strings.Join(names, ";"))
}

// A timesTable lays out [model.Times] and ranges in columns: those wait
// reasons and ranges that any row has.
type timesTable struct{ reasons, ranges []string }

func (t *timesTable) see(times model.Times, ranges map[string]time.Duration) {
	t.reasons = merge(t.reasons, times.Blocked)
	t.ranges = merge(t.ranges, ranges)
}

func merge(known []string, m map[string]time.Duration) []string {
	set := make(map[string]bool, len(known))
	for _, k := range known {
		set[k] = true
	}
	for k := range m {
		set[k] = true
	}
	return sortedKeys(set)
}

func (t *timesTable) head(first ...string) []string {
	row := append(first, "running_ns", "runnable_ns", "syscall_ns", "syscall_blocked_ns", "unknown_ns", "blocked_ns")
	for _, r := range t.reasons {
		row = append(row, cell(model.StateBlocked(r)))
	}
	for _, r := range t.ranges {
		row = append(row, cell("in range: "+r))
	}
	return row
}

func (t *timesTable) row(times model.Times, ranges map[string]time.Duration, first ...string) []string {
	row := append(first, ns(times.Running), ns(times.Runnable), ns(times.Syscall), ns(times.SyscallBlocked),
		ns(times.Unknown), ns(times.BlockedTotal()))
	for _, r := range t.reasons {
		row = append(row, ns(times.Blocked[r]))
	}
	for _, r := range t.ranges {
		row = append(row, ns(ranges[r]))
	}
	return row
}

func groupRows(m *model.Model, o Options) [][]string {
	var t timesTable
	for i := range m.Sched.Groups {
		if g := &m.Sched.Groups[i]; o.keeps(g.Name) {
			t.see(g.Times, g.Ranges)
		}
	}
	rows := [][]string{t.head("group", "system", "count", "created", "ended", "peak", "runs", "delay_p50_ns", "delay_p99_ns", "delay_max_ns")}
	for i := range m.Sched.Groups {
		if g := &m.Sched.Groups[i]; o.keeps(g.Name) {
			rows = append(rows, t.row(g.Times, g.Ranges, cell(g.Name), strconv.FormatBool(g.System), num(g.Count), num(g.Created),
				num(g.Ended), num(g.Peak), num(g.Runs), ns(g.Delay.Quantile(0.5)), ns(g.Delay.Quantile(0.99)), ns(g.Delay.Max)))
		}
	}
	return rows
}

func goroutineRows(m *model.Model, o Options) [][]string {
	var t timesTable
	for i := range m.Sched.Goroutines {
		if g := &m.Sched.Goroutines[i]; o.keeps(g.Group) {
			t.see(g.Times, g.Ranges)
		}
	}
	rows := [][]string{t.head("goroutine", "group", "created_ns", "first_ns", "ended_ns", "runs")}
	for i := range m.Sched.Goroutines {
		if g := &m.Sched.Goroutines[i]; o.keeps(g.Group) {
			rows = append(rows, t.row(g.Times, g.Ranges, num(g.ID), cell(g.Group), when(g.Created), when(g.First), when(g.Ended), num(g.Runs)))
		}
	}
	return rows
}

func procRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"p", "user_ns", "gc_ns", "gc_idle_ns", "syscall_ns", "scheduler_ns", "idle_ns", "unknown_ns", "starts"}}
	for _, p := range m.Sched.Procs {
		rows = append(rows, []string{num(p.ID), ns(p.User), ns(p.GC), ns(p.GCIdle), ns(p.Syscall), ns(p.Scheduler), ns(p.Idle), ns(p.Unknown), num(p.Starts)})
	}
	return rows
}

func waitRows(m *model.Model, o Options) [][]string {
	rows := [][]string{{"kind", "reason", "group", "count", "total_ns", "stack"}}
	f := model.WaitFilter{}
	switch o.Profile {
	case Net, Sync, Syscall, Sched:
		f.Kind = model.WaitKind(o.Profile)
	}
	for w := range m.Sched.WaitsBy(f) {
		if o.keeps(w.Group) {
			rows = append(rows, []string{string(w.Kind), cell(w.Reason), cell(w.Group), num(w.Count), ns(w.Total), stackCell(m, w.Stack)})
		}
	}
	return rows
}

func wakeRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"count", "waker", "woken"}}
	for _, w := range m.Sched.Wakes {
		rows = append(rows, []string{num(w.Count), stackCell(m, w.Waker), stackCell(m, w.Woken)})
	}
	return rows
}

func bucketRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"start_ns", "width_ns", "running", "held", "runnable"}}
	for _, b := range m.Sched.Timeline {
		rows = append(rows, []string{ns(b.Start), ns(b.Width), decimal(b.Running), decimal(b.Held), decimal(b.Runnable)})
	}
	return rows
}

func cycleRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"cycle", "begin_ns", "end_ns"}}
	for _, c := range m.GC.Cycles {
		rows = append(rows, []string{num(c.Seq), when(c.Begin), when(c.End)})
	}
	return rows
}

func pauseRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"kind", "begin_ns", "duration_ns", "stack"}}
	for _, p := range m.GC.Pauses {
		rows = append(rows, []string{cell(p.Kind), ns(p.At), ns(p.Duration), stackCell(m, p.Stack)})
	}
	return rows
}

func heapRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"at_ns", "alloc_bytes", "goal_bytes"}}
	for _, h := range m.GC.Heap {
		rows = append(rows, []string{ns(h.At), num(h.Alloc), num(h.Goal)})
	}
	return rows
}

// utilRows are steps of mutator utilization with everything counted.
func utilRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"from_ns", "utilization"}}
	for _, s := range m.GC.Utilization(model.CountAll, m.Run.Procs, 0, m.Run.Duration) {
		for _, step := range s {
			rows = append(rows, []string{ns(step.At), decimal(step.Util)})
		}
	}
	return rows
}

func taskRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"task", "count", "complete", "mean_ns", "p50_ns", "p99_ns", "max_ns"}}
	for _, t := range m.Tasks.Tasks {
		l := t.Latency
		rows = append(rows, []string{cell(t.Name), num(t.Count), num(t.Complete), ns(l.Mean()), ns(l.Quantile(0.5)), ns(l.Quantile(0.99)), ns(l.Max)})
	}
	return rows
}

func regionRows(m *model.Model, _ Options) [][]string {
	var t timesTable
	for _, r := range m.Tasks.Regions {
		t.see(r.Times, nil)
	}
	rows := [][]string{t.head("region", "count", "open", "mean_ns", "p50_ns", "p99_ns", "max_ns")}
	for _, r := range m.Tasks.Regions {
		l := r.Latency
		rows = append(rows, t.row(r.Times, nil, cell(r.Name), num(r.Count), num(r.Open), ns(l.Mean()), ns(l.Quantile(0.5)), ns(l.Quantile(0.99)), ns(l.Max)))
	}
	return rows
}

func takenRows(m *model.Model, o Options, p *model.Profile, labelled bool) [][]string {
	head := []string{"group"}
	for _, t := range p.Types {
		head = append(head, cell(t.Name+"_"+t.Unit))
	}
	if labelled {
		head = append(head, "labels")
	}
	rows := [][]string{append(head, "stack")}
	for _, s := range p.Samples {
		if !o.keeps(s.Group) {
			continue
		}
		row := []string{cell(s.Group)}
		for _, v := range s.Values {
			row = append(row, num(v))
		}
		if labelled {
			row = append(row, labelCell(s.Labels))
		}
		rows = append(rows, append(row, stackCell(m, s.Stack)))
	}
	return rows
}

// labelCell returns the labels of a sample, like "mode=user;thread=app".
func labelCell(labels map[string]string) string {
	var list []string
	for _, k := range sortedKeys(labels) {
		list = append(list, strings.ReplaceAll(k+"="+labels[k], ";", ":"))
	}
	return cell(strings.Join(list, ";"))
}

func processRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"at_ns", "user_ns", "system_ns", "run_queue_ns", "voluntary", "involuntary", "minor_faults", "major_faults", "threads", "fds",
		"rss_bytes", "swap_bytes", "read_calls", "write_calls", "read_bytes", "write_bytes"}}
	for _, s := range m.Process.Samples {
		rows = append(rows, []string{ns(s.At), ns(s.User), ns(s.System), ns(s.RunQueue), num(s.Voluntary), num(s.Involuntary), num(s.MinorFaults), num(s.MajorFaults),
			num(s.Threads), permitted(s.FDs), num(s.RSS), num(s.Swap), permitted(s.ReadCalls), permitted(s.WriteCalls), permitted(s.ReadBytes), permitted(s.WriteBytes)})
	}
	return rows
}

// permitted returns a count, empty where it could not be read.
func permitted[T int | int64](n T) string {
	if n < 0 {
		return ""
	}
	return num(n)
}

func threadRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"thread", "name", "user_ns", "system_ns", "run_queue_ns", "voluntary", "involuntary"}}
	for _, t := range m.Process.Threads {
		rows = append(rows, []string{num(t.ID), cell(t.Name), ns(t.User), ns(t.System), ns(t.RunQueue), num(t.Voluntary), num(t.Involuntary)})
	}
	return rows
}

func machineRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"at_ns", "busy_ns", "idle_ns", "iowait_ns", "steal_ns", "cpu_stall_ns", "memory_stall_ns", "io_stall_ns", "load", "available_bytes"}}
	for _, s := range m.Machine.Samples {
		rows = append(rows, []string{ns(s.At), ns(s.Busy), ns(s.Idle), ns(s.IOWait), ns(s.Steal), when(s.CPUStall), when(s.MemoryStall), when(s.IOStall),
			decimal(s.Load), num(s.Available)})
	}
	return rows
}

func limitRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"at_ns", "usage_ns", "periods", "throttled", "throttled_ns", "memory_bytes"}}
	for _, s := range m.Limits.Samples {
		rows = append(rows, []string{ns(s.At), ns(s.Usage), num(s.Periods), num(s.Throttled), ns(s.ThrottledTime), num(s.Memory)})
	}
	return rows
}

// metricRows returns the runtime's metrics, one value a line: they are not all
// read at the same moments.
func metricRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"metric", "at_ns", "value"}}
	for _, name := range sortedKeys(m.Metrics.Series) {
		for _, p := range m.Metrics.Series[name] {
			rows = append(rows, []string{cell(name), ns(p.At), decimal(p.Value)})
		}
	}
	return rows
}

func syscallRows(m *model.Model, _ Options) [][]string {
	rows := [][]string{{"name", "count", "time_ns", "bytes", "errors"}}
	for _, c := range m.Syscalls.Calls {
		errs := map[string]string{}
		for e, n := range c.Errors {
			errs[e] = num(n)
		}
		rows = append(rows, []string{cell(c.Name), num(c.Count), ns(c.Time), num(c.Bytes), labelCell(errs)})
	}
	return rows
}
