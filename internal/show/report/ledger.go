package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
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
var LedgerTables = func() (names []string) {
	for _, a := range accounts {
		names = append(names, a.name)
	}
	return names
}()

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
//     limit, heap, alloc, held), value (null when nothing tells it), unit, share (of the parts'
//     sum, of a limit, of what is reached on the heap), from, growth, growth_low and growth_high (bytes a second), headroom
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
	i := slices.Index(LedgerTables, o.By)
	if i < 0 {
		return fmt.Errorf("no ledger by %q; it is one of %s", o.By, strings.Join(LedgerTables, ", "))
	}
	if err := accounts[i].lacks(m); err != nil {
		return err
	}
	return accounts[i].table(m).write(w, m, o, accounts[i].has == nil || o.By == "time")
}

// write writes a table, of a trace with how much of that there is.
func (t *table) write(w io.Writer, m *model.Model, o LedgerOptions, ofTrace bool) error {
	if err := t.sort(o.By, o.Sort); err != nil {
		return err
	}
	shown := t.Rows
	if o.Top > 0 && o.Top < len(shown) {
		shown = shown[:o.Top]
	}
	if o.JSON {
		list, err := t.objects(shown)
		if err != nil {
			return err
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	x := newTexter(o.Options)
	prose := x.Width
	x.Width = max(o.Width, layout.MinWidth) // figures need the whole screen
	if o.Width == 0 {
		x.Width = math.MaxInt // a file or a pipe has no edge, and names are searched for
	}
	t.Print(x.Text, shown)
	x.Width = prose
	if m.Sched != nil && ofTrace {
		x.coverage(m)
	} else if len(m.Run.Coverage.Notes) > 0 {
		x.Line("")
		x.notes(m.Run.Coverage.Notes)
	}
	return x.Flush(w)
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
		x.Line(x.Paint(layout.Dim, l))
	}
	x.notes(c.Notes)
}

// notes says what was lost or skipped.
func (x *texter) notes(list []string) {
	for _, n := range list {
		for _, l := range layout.Lines("note: "+n, x.Width) {
			x.Line(x.Paint(layout.Yellow, l))
		}
	}
}
