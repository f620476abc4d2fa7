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

// A groupRow is a goroutine group in the ledger.
type groupRow struct {
	Name    string `json:"name"`
	System  bool   `json:"system"`
	Count   int    `json:"count"`
	Created int    `json:"created"`
	Ended   int    `json:"ended"`
	Runs    int64  `json:"runs"`
	ledgerTimes
	Ranges map[string]int64 `json:"ranges"`
}

func groupTable(m *model.Model) table[*groupRow] {
	var t table[*groupRow]
	t.Empty = "no goroutines"
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		t.Rows = append(t.Rows, &groupRow{g.Name, g.System, g.Count, g.Created, g.Ended, g.Runs, toTimes(g.Times), toNS(g.Ranges)})
	}
	times := func(r *groupRow) *ledgerTimes { return &r.ledgerTimes }
	t.Columns = append([]layout.Column[*groupRow]{{Head: "COUNT", Text: func(r *groupRow) string { return figures.Int(r.Count) }}},
		timesColumns(times)...)
	t.Columns = append(t.Columns, layout.Column[*groupRow]{Head: "GROUP", Left: true, Text: func(r *groupRow) string { return cmp.Or(r.Name, "(start not seen)") }})
	t.order = append(timesOrder(times),
		sortKey[*groupRow]{"count", largest(func(r *groupRow) int { return r.Count })},
		sortKey[*groupRow]{"created", largest(func(r *groupRow) int { return r.Created })},
		sortKey[*groupRow]{"runs", largest(func(r *groupRow) int64 { return r.Runs })},
		sortKey[*groupRow]{"name", smallest(func(r *groupRow) string { return r.Name })})
	t.Total = func(rows []*groupRow) *groupRow {
		sum := &groupRow{Name: "all", ledgerTimes: ledgerTimes{Blocked: map[string]int64{}}}
		for _, r := range rows {
			sum.Count += r.Count
			sum.add(r.ledgerTimes)
		}
		return sum
	}
	t.Notes = rangeTable
	return t
}

// rangesShown is how many special ranges a table has; JSON has all of them.
const rangesShown = 12

// rangeTable lists the special ranges of the groups, longest first: they
// overlap the states above, so they have no place in their sum.
func rangeTable(rows []*groupRow, width int) []string {
	type entry struct {
		ns          int64
		what, group string
	}
	var list []entry
	for _, r := range rows {
		for _, name := range slices.Sorted(maps.Keys(r.Ranges)) {
			if d := r.Ranges[name]; d > 0 {
				list = append(list, entry{d, layout.Safe(name), layout.Safe(cmp.Or(r.Name, "(start not seen)"))})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, largest(func(e entry) int64 { return e.ns }))
	shown := list[:min(len(list), rangesShown)]
	wide := 0
	for _, e := range shown {
		wide = max(wide, utf8.RuneCountInString(e.what))
	}
	lines := []string{"special ranges (they overlap the times above)"}
	for _, e := range shown {
		l := fmt.Sprintf("  %8s  %s  ", figures.Duration(time.Duration(e.ns)), layout.Pad(e.what, wide))
		lines = append(lines, l+layout.Shorten(e.group, max(layout.LeastName, width-utf8.RuneCountInString(l))))
	}
	if hidden := len(list) - len(shown); hidden > 0 {
		lines = append(lines, fmt.Sprintf("  and %s; --json has them", figures.Plural(hidden, "shorter one")))
	}
	return []string{strings.Join(lines, "\n")}
}

// A goroutineRow is a goroutine in the ledger.
type goroutineRow struct {
	ID      int64  `json:"id"`
	Group   string `json:"group"`
	Created *int64 `json:"created_ns"`
	Ended   *int64 `json:"ended_ns"`
	Runs    int64  `json:"runs"`
	ledgerTimes
	Ranges map[string]int64 `json:"ranges"`
}

func goroutineTable(m *model.Model) table[*goroutineRow] {
	var t table[*goroutineRow]
	t.Empty = "no goroutines"
	for i := range m.Sched.Goroutines {
		g := &m.Sched.Goroutines[i]
		t.Rows = append(t.Rows, &goroutineRow{g.ID, g.Group, optional(g.Created), optional(g.Ended), g.Runs, toTimes(g.Times), toNS(g.Ranges)})
	}
	times := func(r *goroutineRow) *ledgerTimes { return &r.ledgerTimes }
	t.Columns = append([]layout.Column[*goroutineRow]{{Head: "ID", Text: func(r *goroutineRow) string { return fmt.Sprint(r.ID) }}}, timesColumns(times)...)
	t.Columns = append(t.Columns, layout.Column[*goroutineRow]{Head: "GROUP", Left: true, Text: func(r *goroutineRow) string { return orDash(r.Group) }})
	t.order = append(timesOrder(times),
		sortKey[*goroutineRow]{"id", smallest(func(r *goroutineRow) int64 { return r.ID })},
		sortKey[*goroutineRow]{"runs", largest(func(r *goroutineRow) int64 { return r.Runs })})
	alive := 0
	for i := range m.Sched.Groups {
		alive += m.Sched.Groups[i].Count
	}
	if !m.Sched.AllKept && len(t.Rows) < alive {
		t.Notes = func([]*goroutineRow, int) []string {
			return []string{fmt.Sprintf("looked at: the %s of %s goroutines that ran or waited for a P longest;\n"+
				"--top 0 shows all, --by group has their sums", figures.Int(len(t.Rows)), figures.Int(alive))}
		}
	}
	return t
}

// A procRow is a P in the ledger.
type procRow struct {
	ID        int   `json:"id"`
	User      int64 `json:"user_ns"`
	GC        int64 `json:"gc_ns"`
	GCIdle    int64 `json:"gc_idle_ns"`
	Syscall   int64 `json:"syscall_ns"`
	Scheduler int64 `json:"scheduler_ns"`
	Idle      int64 `json:"idle_ns"`
	Unknown   int64 `json:"unknown_ns"`
	Starts    int64 `json:"starts"`
}

const allProcs = -1 // the id of the row of totals

func procTable(m *model.Model) table[*procRow] {
	var t table[*procRow]
	t.Empty = "no Ps"
	for _, p := range m.Sched.Procs {
		t.Rows = append(t.Rows, &procRow{p.ID, int64(p.User), int64(p.GC), int64(p.GCIdle), int64(p.Syscall), int64(p.Scheduler), int64(p.Idle), int64(p.Unknown), p.Starts})
	}
	ns := func(head string, v func(*procRow) int64) layout.Column[*procRow] {
		return layout.Column[*procRow]{Head: head, Text: func(r *procRow) string { return figures.Duration(time.Duration(v(r))) }}
	}
	user := func(r *procRow) int64 { return r.User }
	idle := func(r *procRow) int64 { return r.Idle }
	t.Columns = []layout.Column[*procRow]{
		{Head: "P", Left: true, Text: func(r *procRow) string {
			if r.ID == allProcs {
				return "all"
			}
			return fmt.Sprint(r.ID)
		}},
		ns("USER", user), ns("GC", func(r *procRow) int64 { return r.GC }), ns("GC IDLE", func(r *procRow) int64 { return r.GCIdle }),
		ns("SYSCALL", func(r *procRow) int64 { return r.Syscall }), ns("SCHEDULER", func(r *procRow) int64 { return r.Scheduler }),
		ns("IDLE", idle), ns("UNKNOWN", func(r *procRow) int64 { return r.Unknown }),
		{Head: "STARTS", Text: func(r *procRow) string { return figures.Int(r.Starts) }},
	}
	t.order = []sortKey[*procRow]{
		{"id", smallest(func(r *procRow) int { return r.ID })}, {"user", largest(user)}, {"idle", largest(idle)},
		{"gc", largest(func(r *procRow) int64 { return r.GC })}, {"syscall", largest(func(r *procRow) int64 { return r.Syscall })},
		{"starts", largest(func(r *procRow) int64 { return r.Starts })},
	}
	t.Total = func(rows []*procRow) *procRow {
		sum := &procRow{ID: allProcs}
		for _, r := range rows {
			sum.User += r.User
			sum.GC += r.GC
			sum.GCIdle += r.GCIdle
			sum.Syscall += r.Syscall
			sum.Scheduler += r.Scheduler
			sum.Idle += r.Idle
			sum.Unknown += r.Unknown
			sum.Starts += r.Starts
		}
		return sum
	}
	return t
}

// A gcRow is a collection in the ledger.
type gcRow struct {
	Seq      uint64 `json:"seq"`
	Begin    *int64 `json:"begin_ns"`
	End      *int64 `json:"end_ns"`
	Duration int64  `json:"duration_ns"` // of the part inside the window
	Heap     uint64 `json:"heap_bytes"`
	Goal     uint64 `json:"goal_bytes"`
	Pauses   int    `json:"pauses"`
	Pause    int64  `json:"pause_ns"`
	PauseMax int64  `json:"pause_max_ns"`
}

func gcTable(m *model.Model) table[*gcRow] {
	var t table[*gcRow]
	t.Empty = "no garbage collection in the window"
	cycles := slices.Clone(m.GC.Cycles)
	slices.SortFunc(cycles, func(a, b model.Cycle) int { return cmp.Compare(a.Begin, b.Begin) })
	for i, c := range cycles {
		next := m.Run.Duration + 1
		if i+1 < len(cycles) {
			next = cycles[i+1].Begin
		}
		t.Rows = append(t.Rows, gcRowOf(m, c, next))
	}
	duration64 := func(r *gcRow) int64 { return r.Duration }
	t.Columns = []layout.Column[*gcRow]{
		{Head: "GC", Text: func(r *gcRow) string {
			if r.Seq == 0 {
				return "all"
			}
			return fmt.Sprint(r.Seq)
		}},
		{Head: "BEGIN", Text: func(r *gcRow) string { return optionalText(r.Begin) }},
		{Head: "DURATION", Text: func(r *gcRow) string { return figures.Duration(time.Duration(r.Duration)) }},
		{Head: "HEAP", Text: func(r *gcRow) string { return bytesOrDash(r.Heap) }},
		{Head: "GOAL", Text: func(r *gcRow) string { return bytesOrDash(r.Goal) }},
		{Head: "PAUSES", Text: func(r *gcRow) string { return fmt.Sprint(r.Pauses) }},
		{Head: "STOPPED", Text: func(r *gcRow) string { return figures.Duration(time.Duration(r.Pause)) }},
		{Head: "LONGEST", Text: func(r *gcRow) string { return figures.Duration(time.Duration(r.PauseMax)) }},
	}
	t.order = []sortKey[*gcRow]{
		{"seq", smallest(func(r *gcRow) uint64 { return r.Seq })}, {"duration", largest(duration64)},
		{"heap", largest(func(r *gcRow) uint64 { return r.Heap })}, {"pause", largest(func(r *gcRow) int64 { return r.Pause })},
	}
	t.Total = func(rows []*gcRow) *gcRow {
		sum := &gcRow{}
		for _, r := range rows {
			sum.Duration += r.Duration
			sum.Pauses += r.Pauses
			sum.Pause += r.Pause
			sum.PauseMax = max(sum.PauseMax, r.PauseMax)
			sum.Heap, sum.Goal = max(sum.Heap, r.Heap), max(sum.Goal, r.Goal)
		}
		return sum
	}
	return t
}

func gcRowOf(m *model.Model, c model.Cycle, next time.Duration) *gcRow {
	r := &gcRow{Seq: c.Seq, Begin: optional(c.Begin), End: optional(c.End)}
	begin, end := max(c.Begin, 0), c.End
	if end < 0 {
		end = m.Run.Duration
	}
	r.Duration = int64(max(0, end-begin))
	for _, h := range m.GC.Heap {
		if h.At > begin {
			break
		}
		r.Heap, r.Goal = h.Alloc, h.Goal
	}
	for _, p := range m.GC.Pauses {
		if p.At >= begin && p.At < next {
			r.Pauses++
			r.Pause += int64(p.Duration)
			r.PauseMax = max(r.PauseMax, int64(p.Duration))
		}
	}
	return r
}

func bytesOrDash(n uint64) string {
	if n == 0 {
		return "-"
	}
	return figures.Bytes(n)
}

// A taskRow is a type of user task in the ledger.
type taskRow struct {
	Name     string        `json:"name"`
	Count    int64         `json:"count"`
	Complete int64         `json:"complete"`
	Latency  ledgerLatency `json:"latency_ns"`
}

func taskTable(m *model.Model) table[*taskRow] {
	var t table[*taskRow]
	t.Empty = "the program marks no tasks (runtime/trace.NewTask)"
	for i := range m.Tasks.Tasks {
		k := &m.Tasks.Tasks[i]
		t.Rows = append(t.Rows, &taskRow{k.Name, k.Count, k.Complete, toLatency(&k.Latency)})
	}
	t.Columns = []layout.Column[*taskRow]{
		{Head: "COUNT", Text: func(r *taskRow) string { return figures.Int(r.Count) }},
		{Head: "COMPLETE", Text: func(r *taskRow) string { return figures.Int(r.Complete) }},
	}
	t.Columns = append(t.Columns, latencyColumns(func(r *taskRow) *ledgerLatency { return &r.Latency })...)
	t.Columns = append(t.Columns, layout.Column[*taskRow]{Head: "TASK", Left: true, Text: func(r *taskRow) string { return orDash(r.Name) }})
	t.order = []sortKey[*taskRow]{
		{"count", largest(func(r *taskRow) int64 { return r.Count })}, {"p50", largest(func(r *taskRow) int64 { return r.Latency.P50 })},
		{"p99", largest(func(r *taskRow) int64 { return r.Latency.P99 })}, {"max", largest(func(r *taskRow) int64 { return r.Latency.Max })},
		{"name", smallest(func(r *taskRow) string { return r.Name })},
	}
	return t
}

// A regionRow is a type of user region in the ledger.
type regionRow struct {
	Name    string        `json:"name"`
	Count   int64         `json:"count"`
	Open    int64         `json:"open"`
	Latency ledgerLatency `json:"latency_ns"`
	ledgerTimes
}

func regionTable(m *model.Model) table[*regionRow] {
	var t table[*regionRow]
	t.Empty = "the program marks no regions (runtime/trace.StartRegion)"
	for i := range m.Tasks.Regions {
		g := &m.Tasks.Regions[i]
		t.Rows = append(t.Rows, &regionRow{g.Name, g.Count, g.Open, toLatency(&g.Latency), toTimes(g.Times)})
	}
	times := func(r *regionRow) *ledgerTimes { return &r.ledgerTimes }
	latency := latencyColumns(func(r *regionRow) *ledgerLatency { return &r.Latency })
	latency[1].Drop = 2
	t.Columns = append([]layout.Column[*regionRow]{{Head: "COUNT", Text: func(r *regionRow) string { return figures.Int(r.Count) }},
		latency[1], latency[3]}, timesColumns(times)...)
	t.Columns = append(t.Columns, layout.Column[*regionRow]{Head: "REGION", Left: true, Text: func(r *regionRow) string { return orDash(r.Name) }})
	t.order = append(timesOrder(times), sortKey[*regionRow]{"count", largest(func(r *regionRow) int64 { return r.Count })},
		sortKey[*regionRow]{"p99", largest(func(r *regionRow) int64 { return r.Latency.P99 })},
		sortKey[*regionRow]{"name", smallest(func(r *regionRow) string { return r.Name })})
	return t
}
