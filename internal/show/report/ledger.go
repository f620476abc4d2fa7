package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// LedgerOptions say which account is shown and how. A Width of 0 is no limit.
type LedgerOptions struct {
	layout.Options
	By   string // one of [LedgerTables]; "" is "group", or "cpu" without a trace
	Sort string // a column; "" is the table's own order
	Top  int    // rows shown; 0 is all
	JSON bool
}

// LedgerTables are the accounts that [Ledger] knows.
var LedgerTables = append([]string{"group", "goroutine", "p", "gc", "task", "region"}, accounts...)

// Ledger writes an account of the model: a table with a row of totals and a
// line about coverage, or JSON. In JSON all times are integers in nanoseconds
// and every object of a table has the same keys:
//
//   - group: name, system, count, created, ended, runs, running_ns,
//     runnable_ns, syscall_ns (with and without a P), syscall_blocked_ns (the
//     part of it without), blocked_ns {reason: ns}, unknown_ns, ranges {name: ns};
//   - goroutine: id, group, created_ns and ended_ns (since the window's start;
//     null when outside it), runs, and the times of a group;
//   - p: id, user_ns, gc_ns, gc_idle_ns, syscall_ns, scheduler_ns, idle_ns,
//     unknown_ns, starts;
//   - gc: seq, begin_ns, end_ns (null when outside the window), duration_ns,
//     heap_bytes and goal_bytes at its begin, pauses, pause_ns, pause_max_ns
//     (those from its begin to the next one's);
//   - task: name, count, complete, latency_ns {mean, p50, p95, p99, max};
//   - region: name, count, open, latency_ns, and the times of a group;
//   - cpu: part, cpu_ns, share (of all CPU time), cores, by {name: ns};
//   - time: axis (Ps, threads, machine, control group), part, time_ns,
//     window_ns, share (of the axis; null for what overlaps its parts);
//   - memory: name, of (resident or taken: parts that add up to the row of all; beside,
//     limit, heap, alloc), value (null when nothing tells it), unit, share (of the parts'
//     sum, of a limit), from, growth, growth_low and growth_high (bytes a second), headroom
//     and reached_seconds of a limit (null when not known);
//   - operation: name, value, unit, source;
//   - function: function, cpu_ns (of its own), cum_ns (with all that it calls), share (of
//     all CPU time that was sampled, of cum_ns), bytes and cum_bytes (allocated),
//     inuse_bytes and cum_inuse_bytes;
//   - line: function, file, line, cpu_ns (of the line and of what it calls of the
//     standard library), cum_ns (of all that it calls), share (of all CPU time that was
//     sampled, of cum_ns), objects and bytes (allocated, as cpu_ns), and where operations
//     are known cpu_ns_per_op, cum_ns_per_op, objects_per_op, bytes_per_op;
//   - work: work, function, file, line (that asks for most of it), cpu_ns, share
//     (of all CPU time that was sampled);
//   - label: label, value, cpu_ns, share (of the CPU profile), goroutines (at the end);
//   - syscall: name, count, time_ns, cpu_ns (null when not measured), bytes,
//     errors {name: count}, per_operation (null when not known);
//   - thread: id, name, user_ns, system_ns, run_queue_ns, voluntary, involuntary.
//
// Its errors are those of w and [*problem.Error].
func Ledger(w io.Writer, m *model.Model, o LedgerOptions) error {
	o.By = defaultTable(m, o.By)
	if isAccount(o.By) {
		if err := accountNeeds(m, o.By); err != nil {
			return err
		}
	} else if m.Sched == nil && slices.Contains(LedgerTables, o.By) {
		return problem.New(problem.Absence, diagnosis.HowToGet(model.Trace), "a ledger needs an execution trace")
	}
	switch o.By {
	case "cpu":
		return writeLedger(w, m, o, cpuTable)
	case "time":
		return writeLedger(w, m, o, timeTable)
	case "memory":
		return writeLedger(w, m, o, memoryTable)
	case "operation":
		return writeLedger(w, m, o, operationTable)
	case "function":
		return writeLedger(w, m, o, functionTable)
	case "line":
		return writeLedger(w, m, o, lineTable)
	case "work":
		return writeLedger(w, m, o, workTable)
	case "label":
		return writeLedger(w, m, o, labelTable)
	case "syscall":
		return writeLedger(w, m, o, syscallTable)
	case "thread":
		return writeLedger(w, m, o, threadTable)
	case "group":
		return writeLedger(w, m, o, groupTable)
	case "goroutine":
		return writeLedger(w, m, o, goroutineTable)
	case "p":
		return writeLedger(w, m, o, procTable)
	case "gc":
		return writeLedger(w, m, o, gcTable)
	case "task":
		return writeLedger(w, m, o, taskTable)
	case "region":
		return writeLedger(w, m, o, regionTable)
	}
	return fmt.Errorf("no ledger by %q; it is one of %s", o.By, strings.Join(LedgerTables, ", "))
}

// A table is one account.
type table[R any] struct {
	layout.Grid[R]
	// order sorts rows by each name that --sort takes; the first is the default.
	order []sortKey[R]
}

type sortKey[R any] struct {
	name string
	less func(a, b R) int
}

func writeLedger[R any](w io.Writer, m *model.Model, o LedgerOptions, make func(*model.Model) table[R]) error {
	t := make(m)
	if err := t.sort(o.By, o.Sort); err != nil {
		return err
	}
	shown := t.Rows
	if o.Top > 0 && o.Top < len(shown) {
		shown = shown[:o.Top]
	}
	if o.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(append([]R{}, shown...))
	}
	x := newTexter(o.Options)
	prose := x.Width
	x.Width = max(o.Width, layout.MinWidth) // figures need the whole screen
	if o.Width == 0 {
		x.Width = math.MaxInt // a file or a pipe has no edge, and names are searched for
	}
	t.Print(x.Text, shown)
	x.Width = prose
	if m.Sched != nil && (!isAccount(defaultTable(m, o.By)) || o.By == "time") {
		x.coverage(m)
	} else if len(m.Run.Coverage.Notes) > 0 {
		x.Line("")
		x.notes(m.Run.Coverage.Notes)
	}
	return x.Flush(w)
}

func (t *table[R]) sort(by, name string) error {
	key := slices.IndexFunc(t.order, func(k sortKey[R]) bool { return k.name == name })
	if name == "" {
		key = 0
	}
	if key < 0 {
		known := make([]string, len(t.order))
		for i, k := range t.order {
			known[i] = k.name
		}
		return problem.Unknown("sort", name, known, "the ledger by %s cannot be sorted by %q; it knows %s", by, name, strings.Join(known, ", "))
	}
	slices.SortStableFunc(t.Rows, t.order[key].less)
	return nil
}

// coverage says how much of the trace the figures are of.
func (x *texter) coverage(m *model.Model) {
	c := &m.Run.Coverage
	text := fmt.Sprintf("coverage: %s of trace, %s events in %s over %s", figures.Bytes(c.Bytes),
		figures.Int(c.Events), figures.Plural(c.Generations, "generation"), figures.Duration(m.Run.Duration))
	if m.Run.Procs > 0 {
		text += fmt.Sprintf(", GOMAXPROCS %d", m.Run.Procs)
	}
	var total time.Duration
	for i := range m.Sched.Groups {
		total += m.Sched.Groups[i].Total()
	}
	if c.LostBytes > 0 {
		text += fmt.Sprintf("; lost: %s, about %s events, %s", figures.Bytes(c.LostBytes), figures.Int(c.LostEvents), figures.Duration(c.Lost))
	}
	if c.Unknown > 0 && total > 0 {
		text += "; unknown: " + figures.Percent(float64(c.Unknown)/float64(total)) + " of goroutine time"
	}
	x.Line("")
	for _, l := range layout.Lines(text, x.Width) {
		x.Line(x.In(layout.Dim, l))
	}
	x.notes(c.Notes)
}

// notes says what was lost or skipped.
func (x *texter) notes(list []string) {
	for _, n := range list {
		for _, l := range layout.Lines("note: "+n, x.Width) {
			x.Line(x.In(layout.Yellow, l))
		}
	}
}

// largest returns a comparison that puts large values first.
func largest[R any, V cmp.Ordered](v func(R) V) func(a, b R) int {
	return func(a, b R) int { return cmp.Compare(v(b), v(a)) }
}

func smallest[R any, V cmp.Ordered](v func(R) V) func(a, b R) int {
	return func(a, b R) int { return cmp.Compare(v(a), v(b)) }
}

// ledgerTimes is goroutine time in the ledger's JSON.
type ledgerTimes struct {
	Running        int64            `json:"running_ns"`
	Runnable       int64            `json:"runnable_ns"`
	Syscall        int64            `json:"syscall_ns"`
	SyscallBlocked int64            `json:"syscall_blocked_ns"`
	Blocked        map[string]int64 `json:"blocked_ns"`
	Unknown        int64            `json:"unknown_ns"`
}

func toTimes(t model.Times) ledgerTimes {
	return ledgerTimes{
		Running: int64(t.Running), Runnable: int64(t.Runnable),
		Syscall: int64(t.Syscall + t.SyscallBlocked), SyscallBlocked: int64(t.SyscallBlocked),
		Blocked: toNS(t.Blocked), Unknown: int64(t.Unknown),
	}
}

func toNS(m map[string]time.Duration) map[string]int64 {
	out := make(map[string]int64, len(m))
	for k, d := range m {
		out[k] = int64(d)
	}
	return out
}

func (t *ledgerTimes) add(o ledgerTimes) {
	t.Running += o.Running
	t.Runnable += o.Runnable
	t.Syscall += o.Syscall
	t.SyscallBlocked += o.SyscallBlocked
	t.Unknown += o.Unknown
	for r, d := range o.Blocked {
		t.Blocked[r] += d
	}
}

func (t *ledgerTimes) blocked() (d int64) {
	for _, b := range t.Blocked {
		d += b
	}
	return d
}

func (t *ledgerTimes) total() int64 {
	return t.Running + t.Runnable + t.Syscall + t.Unknown + t.blocked()
}

// timesColumns are the columns of goroutine time, which add up to the first.
func timesColumns[R any](of func(R) *ledgerTimes) []layout.Column[R] {
	ns := func(head string, v func(*ledgerTimes) int64) layout.Column[R] {
		return layout.Column[R]{Head: head, Text: func(r R) string { return figures.Duration(time.Duration(v(of(r)))) }}
	}
	return []layout.Column[R]{
		ns("TOTAL", (*ledgerTimes).total),
		ns("RUNNING", func(t *ledgerTimes) int64 { return t.Running }),
		ns("RUNNABLE", func(t *ledgerTimes) int64 { return t.Runnable }),
		spare(4, ns("SYSCALL", func(t *ledgerTimes) int64 { return t.Syscall })),
		ns("BLOCKED", (*ledgerTimes).blocked),
		spare(3, ns("UNKNOWN", func(t *ledgerTimes) int64 { return t.Unknown })),
		{Head: "MOSTLY ON", Left: true, Drop: 1, Text: func(r R) string { return mostly(of(r).Blocked) }},
	}
}

// spare marks a column that can be left out when it is all zeros.
func spare[R any](drop int, c layout.Column[R]) layout.Column[R] {
	c.Drop, c.Quiet = drop, true
	return c
}

// mostly names the reason that most of the blocked time has.
func mostly(blocked map[string]int64) string {
	best, sum := "", int64(0)
	for _, r := range slices.Sorted(maps.Keys(blocked)) {
		sum += blocked[r]
		if blocked[r] > blocked[best] {
			best = r
		}
	}
	if sum == 0 {
		return "-"
	}
	return cmp.Or(best, "(not recorded)") + " " + figures.Percent(float64(blocked[best])/float64(sum))
}

func timesOrder[R any](of func(R) *ledgerTimes) []sortKey[R] {
	key := func(name string, v func(*ledgerTimes) int64) sortKey[R] {
		return sortKey[R]{name, largest(func(r R) int64 { return v(of(r)) })}
	}
	return []sortKey[R]{
		key("total", (*ledgerTimes).total),
		key("running", func(t *ledgerTimes) int64 { return t.Running }),
		key("runnable", func(t *ledgerTimes) int64 { return t.Runnable }),
		key("syscall", func(t *ledgerTimes) int64 { return t.Syscall }),
		key("blocked", (*ledgerTimes).blocked),
		key("unknown", func(t *ledgerTimes) int64 { return t.Unknown }),
	}
}

func orDash(s string) string { return cmp.Or(s, "-") }

func optional(d time.Duration) *int64 {
	if d < 0 {
		return nil
	}
	ns := int64(d)
	return &ns
}

func optionalText(ns *int64) string {
	if ns == nil {
		return "-"
	}
	return figures.Duration(time.Duration(*ns))
}

// A ledgerLatency is a distribution in the ledger's JSON.
type ledgerLatency struct {
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P95  int64 `json:"p95"`
	P99  int64 `json:"p99"`
	Max  int64 `json:"max"`
}

func toLatency(h *model.Histogram) ledgerLatency {
	return ledgerLatency{int64(h.Mean()), int64(h.Quantile(.5)), int64(h.Quantile(.95)), int64(h.Quantile(.99)), int64(h.Max)}
}

func latencyColumns[R any](of func(R) *ledgerLatency) []layout.Column[R] {
	c := func(head string, v func(*ledgerLatency) int64) layout.Column[R] {
		return layout.Column[R]{Head: head, Text: func(r R) string { return figures.Duration(time.Duration(v(of(r)))) }}
	}
	return []layout.Column[R]{
		c("MEAN", func(l *ledgerLatency) int64 { return l.Mean }),
		c("P50", func(l *ledgerLatency) int64 { return l.P50 }),
		c("P95", func(l *ledgerLatency) int64 { return l.P95 }),
		c("P99", func(l *ledgerLatency) int64 { return l.P99 }),
		c("MAX", func(l *ledgerLatency) int64 { return l.Max }),
	}
}
