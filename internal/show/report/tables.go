package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The columns of goroutine time, what sorts by them, and their values.
const (
	timesColumns = " .total running_ns runnable_ns syscall_ns syscall_blocked_ns .blocked blocked_ns unknown_ns "
	timesOrder   = "total=.total running=running_ns runnable=runnable_ns syscall=syscall_ns blocked=.blocked unknown=unknown_ns "
)

func timesOf(t model.Times) []any {
	blocked := t.Blocked
	if blocked == nil {
		blocked = map[string]time.Duration{}
	}
	return []any{t.Total(), t.Running, t.Runnable, t.Syscall + t.SyscallBlocked, t.SyscallBlocked, t.BlockedTotal(), blocked, t.Unknown}
}

// showTimes shows the columns of goroutine time, which add up to the first.
func (t *table) showTimes() {
	t.show("TOTAL", ".total", "RUNNING", "running_ns", "RUNNABLE", "runnable_ns")
	t.spare(4, "SYSCALL", "syscall_ns")
	t.show("BLOCKED", ".blocked")
	t.spare(3, "UNKNOWN", "unknown_ns")
	c := t.text("MOSTLY ON", func(r row) string {
		blocked, _ := t.get(r, "blocked_ns").(map[string]time.Duration)
		return mostly(blocked)
	})
	c.Left, c.Drop = true, 1
}

const startNotSeen = "(start not seen)"

func groupTable(m *model.Model) *table {
	t := newTable("no goroutines", "name system count created ended runs"+timesColumns+"ranges")
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		t.add(g.Name, g.System, g.Count, g.Created, g.Ended, g.Runs, timesOf(g.Times), g.Ranges)
	}
	t.show("COUNT", "count")
	t.showTimes()
	t.text("GROUP", func(r row) string { return cmp.Or(t.name(r, "name"), startNotSeen) }).Left = true
	t.order = strings.Fields(timesOrder + "count=count created=created runs=runs name=name")
	t.sum("all", "name")
	t.Notes = t.ranges
	return t
}

// rangesShown is how many special ranges a table has; JSON has all of them.
const rangesShown = 12

// ranges lists the special ranges of the groups, longest first: they
// overlap the states above, so they have no place in their sum.
func (t *table) ranges(rows []row, width int) []string {
	type entry struct {
		time.Duration
		what, group string
	}
	var list []entry
	wide := 0
	for _, r := range rows {
		ranges := t.get(r, "ranges").(map[string]time.Duration)
		for _, name := range slices.Sorted(maps.Keys(ranges)) {
			if d := ranges[name]; d > 0 {
				list = append(list, entry{d, layout.Safe(name), layout.Safe(cmp.Or(t.name(r, "name"), startNotSeen))})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.Duration, a.Duration) })
	shown := list[:min(len(list), rangesShown)]
	for _, e := range shown {
		wide = max(wide, utf8.RuneCountInString(e.what))
	}
	lines := []string{"special ranges (they overlap the times above)"}
	for _, e := range shown {
		l := fmt.Sprintf("  %8s  %s  ", figures.Duration(e.Duration), layout.Pad(e.what, wide))
		lines = append(lines, l+layout.Shorten(e.group, max(layout.LeastName, width-utf8.RuneCountInString(l))))
	}
	if hidden := len(list) - len(shown); hidden > 0 {
		lines = append(lines, fmt.Sprintf("  and %s; --json has them", figures.Plural(hidden, "shorter one")))
	}
	return []string{strings.Join(lines, "\n")}
}

func goroutineTable(m *model.Model) *table {
	t := newTable("no goroutines", "id group created_ns ended_ns runs"+timesColumns+"ranges")
	for i := range m.Sched.Goroutines {
		g := &m.Sched.Goroutines[i]
		t.add(ident(g.ID), g.Group, moment(g.Created), moment(g.Ended), g.Runs, timesOf(g.Times), g.Ranges)
	}
	t.show("ID", "id")
	t.showTimes()
	t.names("GROUP", "group")
	t.order = strings.Fields(timesOrder + "id=id runs=runs")
	alive := 0
	for i := range m.Sched.Groups {
		alive += m.Sched.Groups[i].Count
	}
	if !m.Sched.AllKept && len(t.Rows) < alive {
		t.Notes = func([]row, int) []string {
			return []string{fmt.Sprintf("looked at: the %s of %s goroutines that ran or waited for a P longest;\n"+
				"--top 0 shows all, --by group has their sums", figures.Int(len(t.Rows)), figures.Int(alive))}
		}
	}
	return t
}

// moment returns a time of the window, nil where it is outside.
func moment(d time.Duration) any {
	if d < 0 {
		return nil
	}
	return instant(d)
}

func procTable(m *model.Model) *table {
	t := newTable("no Ps", "id user_ns gc_ns gc_idle_ns syscall_ns scheduler_ns idle_ns unknown_ns starts")
	for _, p := range m.Sched.Procs {
		t.add(ident(p.ID), p.User, p.GC, p.GCIdle, p.Syscall, p.Scheduler, p.Idle, p.Unknown, p.Starts)
	}
	t.names("P", "id")
	t.show("USER", "user_ns", "GC", "gc_ns", "GC IDLE", "gc_idle_ns", "SYSCALL", "syscall_ns", "SCHEDULER", "scheduler_ns", "IDLE", "idle_ns",
		"UNKNOWN", "unknown_ns", "STARTS", "starts")
	t.order = []string{"id=id", "user=user_ns", "idle=idle_ns", "gc=gc_ns", "syscall=syscall_ns", "starts=starts"}
	t.sum("all", "id")
	return t
}

func gcTable(m *model.Model) *table {
	t := newTable("no garbage collection in the window", "seq begin_ns end_ns duration_ns heap_bytes goal_bytes pauses pause_ns pause_max_ns")
	cycles := slices.Clone(m.GC.Cycles)
	slices.SortFunc(cycles, func(a, b model.Cycle) int { return cmp.Compare(a.Begin, b.Begin) })
	for i, c := range cycles {
		next := m.Run.Duration + 1
		if i+1 < len(cycles) {
			next = cycles[i+1].Begin
		}
		t.addCycle(m, c, next)
	}
	orDash := func(column string) func(row) string {
		return func(r row) string {
			if n := t.get(r, column).(int64); n != 0 {
				return figures.Bytes(n)
			}
			return "-"
		}
	}
	t.show("GC", "seq", "BEGIN", "begin_ns", "DURATION", "duration_ns")
	t.text("HEAP", orDash("heap_bytes"))
	t.text("GOAL", orDash("goal_bytes"))
	t.show("PAUSES", "pauses", "STOPPED", "pause_ns", "LONGEST", "pause_max_ns")
	t.order = []string{"seq=seq", "duration=duration_ns", "heap=heap_bytes", "pause=pause_ns"}
	t.sum("all", "seq", "pause_max_ns", "heap_bytes", "goal_bytes")
	return t
}

// addCycle adds a collection, with the pauses from its begin to the next one's.
func (t *table) addCycle(m *model.Model, c model.Cycle, next time.Duration) {
	begin, end := max(c.Begin, 0), c.End
	if end < 0 {
		end = m.Run.Duration
	}
	var heap, goal uint64
	for _, h := range m.GC.Heap {
		if h.At > begin {
			break
		}
		heap, goal = h.Alloc, h.Goal
	}
	pauses, pause, longest := 0, time.Duration(0), time.Duration(0)
	for _, p := range m.GC.Pauses {
		if p.At >= begin && p.At < next {
			pauses, pause, longest = pauses+1, pause+p.Duration, max(longest, p.Duration)
		}
	}
	t.add(ident(c.Seq), moment(c.Begin), moment(c.End), max(0, end-begin), heap, goal, pauses, pause, longest)
}

// A latency is a distribution in JSON.
type latency struct {
	Mean time.Duration `json:"mean"`
	P50  time.Duration `json:"p50"`
	P95  time.Duration `json:"p95"`
	P99  time.Duration `json:"p99"`
	Max  time.Duration `json:"max"`
}

const latencyColumns = " latency_ns .mean .p50 .p95 .p99 .max "

func latencyOf(h *model.Histogram) []any {
	l := latency{h.Mean(), h.Quantile(.5), h.Quantile(.95), h.Quantile(.99), h.Max}
	return []any{l, l.Mean, l.P50, l.P95, l.P99, l.Max}
}

func taskTable(m *model.Model) *table {
	t := newTable("the program marks no tasks (runtime/trace.NewTask)", "name count complete"+latencyColumns)
	for i := range m.Tasks.Tasks {
		k := &m.Tasks.Tasks[i]
		t.add(k.Name, k.Count, k.Complete, latencyOf(&k.Latency))
	}
	t.show("COUNT", "count", "COMPLETE", "complete", "MEAN", ".mean", "P50", ".p50", "P95", ".p95", "P99", ".p99", "MAX", ".max")
	t.names("TASK", "name")
	t.order = []string{"count=count", "p50=.p50", "p99=.p99", "max=.max", "name=name"}
	return t
}

func regionTable(m *model.Model) *table {
	t := newTable("the program marks no regions (runtime/trace.StartRegion)", "name count open"+latencyColumns+timesColumns)
	for i := range m.Tasks.Regions {
		g := &m.Tasks.Regions[i]
		t.add(g.Name, g.Count, g.Open, latencyOf(&g.Latency), timesOf(g.Times))
	}
	t.show("COUNT", "count")
	t.text("P50", t.columnWriter(".p50")).Drop = 2
	t.show("P99", ".p99")
	t.showTimes()
	t.names("REGION", "name")
	t.order = strings.Fields(timesOrder + "count=count p99=.p99 name=name")
	return t
}
