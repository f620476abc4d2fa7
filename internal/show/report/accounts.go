package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// cpuTable has the parts of the CPU time; in text the pieces of each below it.
func cpuTable(m *model.Model) *table {
	a := m.CPUAccount()
	t := newTable("no CPU time", "part cpu_ns share cores? by .pieces")
	values := func(name string, d time.Duration) []any {
		return []any{name, d, quotient(d, a.Total), quotient(d, a.Window)}
	}
	for _, e := range a.Parts {
		by, pieces := map[string]time.Duration{}, []row{}
		for _, n := range e.By {
			by[n.Name] = n.Time
			pieces = append(pieces, t.row(values("  "+n.Name, n.Time)))
		}
		t.add(values(string(e.Part), e.Time), by, pieces)
	}
	t.Expand = func(r row) []row {
		pieces, _ := t.get(r, ".pieces").([]row)
		return pieces
	}
	t.show("CPU", "cpu_ns")
	t.text("CORES", func(r row) string {
		if a.Window <= 0 {
			return "" // nothing tells over which time
		}
		return fixed(t.get(r, "cores").(float64))
	})
	t.show("SHARE", "share")
	t.names("PART", "part")
	t.order = []string{"part=", "cpu=cpu_ns"}
	t.total(values("all", a.Total))
	t.note(cpuNotes(m, a)...)
	return t
}

func quotient(part, of time.Duration) float64 {
	return statistics.Quotient(part.Seconds(), of.Seconds())
}

// cpuNotes say what the account rests on: rusage, each source's coverage, and
// the runtime's own estimate beside them.
func cpuNotes(m *model.Model, a *model.CPUAccount) (lines []string) {
	if a.Known {
		text := fmt.Sprintf("rusage: %s in user mode and %s in the kernel, over %s", figures.Duration(a.User), figures.Duration(a.System), figures.Duration(a.Window))
		if a.From >= 10*time.Millisecond {
			text += " that began at " + figures.Duration(a.From)
		}
		lines = append(lines, text)
	}
	c := diagnosis.CPU{Counted: a.Known, Source: string(a.Believed), Scale: a.Scale, Coverage: map[string]float64{}}
	for s, v := range a.Coverage {
		c.Coverage[string(s)] = v
	}
	if text := coverageText(&c); text != "" {
		lines = append(lines, text)
	}
	if a.Why != "" {
		lines = append(lines, a.Why)
	}
	if k := m.CPUClasses(); k != nil {
		text := fmt.Sprintf("/cpu/classes, the runtime's own estimate: %s (garbage collector %s, scavenger %s) over %s", figures.Duration(k.Total-k.Idle), figures.Duration(k.GC), figures.Duration(k.Scavenge), figures.Duration(k.Window))
		if k.Rusage > 0 {
			text += ", rusage " + figures.Duration(k.Rusage)
		}
		if k.Exceeds {
			text += ": it counts Ps that waited for a CPU; do not believe it"
		}
		lines = append(lines, text)
	}
	return append(lines, wordsFor(a)...)
}

// workTable has the CPU time of each kind of work by the function that asks for it.
func workTable(m *model.Model) *table {
	list, all := m.Works()
	t := newTable("no CPU time caused by a line of the program", "work function file line cpu_ns share cpu_ns_per_op?")
	left, operation := all, m.CPUPerOperation()
	costs := func(d time.Duration) []any {
		share := quotient(d, all)
		return []any{d, share, time.Duration(share * float64(operation))}
	}
	for _, e := range list {
		t.add(string(e.Work), e.Line.Func, e.Line.File, e.Line.Line, costs(e.Time))
		left -= e.Time
	}
	t.show("CPU", "cpu_ns", "SHARE", "share")
	if operation > 0 {
		t.show("CPU/OP", "cpu_ns_per_op")
	}
	t.names("WORK", "work")
	t.text("FOR", t.place).Left = true
	t.order = []string{"cpu=cpu_ns", "work=work", "function=function"}
	t.total("all", figures.Duration(left)+" of it caused by no line: the runtime's own", "", 0, costs(all))
	return t
}

// place returns a row's function and line, where it has one.
func (t *table) place(r row) string {
	if line := t.get(r, "line").(int64); line != 0 {
		return fmt.Sprintf("%s:%d", t.name(r, "function"), line)
	}
	return t.name(r, "function")
}

// lineTable has what each line of the program or of its libraries costs.
func lineTable(m *model.Model) *table {
	list, all := m.Lines()
	t := newTable("no CPU time and no allocation caused by a line of the program",
		"function file line cpu_ns cum_ns share objects bytes cpu_ns_per_op? cum_ns_per_op? objects_per_op? bytes_per_op?")
	operation := m.CPUPerOperation()
	perOp := operation > 0 || m.OperationShare(1) > 0
	each := func(d time.Duration) time.Duration { return time.Duration(quotient(d, all.CPU) * float64(operation)) }
	costs := func(c *model.LineCost) []any {
		return []any{c.CPU, c.Cum, quotient(c.Cum, all.CPU), c.Objects, c.Bytes, each(c.CPU), each(c.Cum), m.OperationShare(c.Objects), m.OperationShare(c.Bytes)}
	}
	rest := all.CPU
	for i := range list {
		c := &list[i]
		t.add(c.Line.Func, c.Line.File, c.Line.Line, costs(c))
		rest -= c.CPU
	}
	if perOp {
		t.show("CPU/OP", "cpu_ns_per_op", "CUM/OP", "cum_ns_per_op")
	} else {
		t.show("CPU", "cpu_ns", "CUM", "cum_ns")
	}
	t.show("SHARE", "share")
	if all.Objects > 0 && perOp {
		t.show("OBJECTS/OP", "objects_per_op", "BYTES/OP", "bytes_per_op")
	} else if all.Objects > 0 {
		t.text("OBJECTS", func(r row) string { return figures.Int(int64(t.get(r, "objects").(float64))) })
		t.show("BYTES", "bytes")
	}
	t.text("LINE", t.place).Left = true
	t.order = []string{"cpu=cpu_ns", "cum=cum_ns", "bytes=bytes", "objects=objects"}
	t.total("all, "+figures.Duration(rest)+" of the CPU for no line: the runtime's own", "", 0, costs(&all))
	text := "CPU and allocations are of the line and of what it calls of the standard library; CUM, and its SHARE, " +
		"of all that it calls: an upper bound on what the line can save"
	if all.Objects > 0 {
		text += ". Objects are those of the allocs profile, where several of a few bytes share one"
	}
	if !perOp && m.Load != nil && len(m.Load.Benchmarks) > 0 {
		text += ". Several benchmarks ran: record one of them with -bench, and the account is of one operation"
	}
	t.note(text)
	return t
}

// functionTable has what each function costs by itself, and with all that it calls.
func functionTable(m *model.Model) *table {
	list, all := m.Functions()
	t := newTable("no sample of the CPU or of the heap", "function cpu_ns cum_ns share bytes cum_bytes inuse_bytes cum_inuse_bytes")
	values := func(c *model.FunctionCost) []any {
		return []any{c.Name, c.CPU, c.CumCPU, quotient(c.CumCPU, all.CPU), int64(c.Bytes), int64(c.CumBytes), int64(c.InUse), int64(c.CumInUse)}
	}
	for i := range list {
		t.add(values(&list[i]))
	}
	if all.CPU > 0 {
		t.show("CPU", "cpu_ns", "CUM", "cum_ns", "SHARE", "share")
	}
	if all.InUse > 0 {
		t.show("IN USE", "inuse_bytes", "CUM", "cum_inuse_bytes")
	}
	if all.Bytes > 0 && (all.CPU == 0 || all.InUse == 0) { // all three are too wide
		t.show("BYTES", "bytes", "CUM", "cum_bytes")
	}
	t.text("FUNCTION", func(r row) string { return shortFunction(t.name(r, "function")) }).Left = true
	t.order = []string{"cpu=cpu_ns", "cum=cum_ns", "inuse=inuse_bytes", "bytes=bytes"}
	sum := values(&all)
	sum[0], sum[2], sum[5], sum[7] = "all", sum[1], sum[4], sum[6]
	t.total(sum)
	t.note("each function by itself, and in CUM with all that it calls")
	return t
}

// labelTable returns by the labels that the program gives its goroutines: those of the CPU
// profile, and of the goroutines at the end. One with several labels is in several rows.
func labelTable(m *model.Model) *table {
	t := newTable("no labels", "label value cpu_ns share goroutines")
	type label struct{ name, value string }
	rows := map[label]bool{}
	sums := func(p *model.Profile, column int) (by map[label]int64, all int64) {
		by = map[label]int64{}
		if p == nil || column < 0 {
			return by, 0
		}
		for i := range p.Samples {
			s := &p.Samples[i]
			if column >= len(s.Values) {
				continue
			}
			all += s.Values[column]
			for name, value := range s.Labels {
				rows[label{name, value}] = true
				by[label{name, value}] += s.Values[column]
			}
		}
		return by, all
	}
	nanos := -1
	if m.CPU != nil {
		_, nanos = m.CPU.Columns()
	}
	cpu, all := sums(m.CPU, nanos)
	goroutines, alive := sums(m.Goroutines.End, 0)
	for _, l := range slices.SortedFunc(maps.Keys(rows), func(a, b label) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.value, b.value)) }) {
		t.add(l.name, l.value, time.Duration(cpu[l]), statistics.Quotient(float64(cpu[l]), float64(all)), goroutines[l])
	}
	t.show("CPU", "cpu_ns", "SHARE", "share", "GOROUTINES", "goroutines")
	t.names("LABEL", "label", "VALUE", "value")
	t.order = []string{"cpu=cpu_ns", "goroutines=goroutines", "label=label", "value=value"}
	t.total("all", "with and without labels", time.Duration(all), 1.0, alive)
	return t
}

// kernelWords explain what is in the account by name and is no system call.
var kernelWords = []struct{ name, means string }{
	{"interrupt", "what timers, devices and packets did in the kernel while that part had the CPU"},
	{"page fault", "first use of memory, which the kernel then provides"},
	{"system call", "entering and leaving calls, where no sample tells which"},
}

func wordsFor(a *model.CPUAccount) (lines []string) {
	for _, w := range kernelWords {
		if slices.ContainsFunc(a.Parts, func(e model.CPUEntry) bool {
			return slices.ContainsFunc(e.By, func(n model.CPUName) bool { return n.Name == w.name })
		}) {
			lines = append(lines, w.name+": "+w.means)
		}
	}
	return lines
}

// fixed keeps the points of a column under each other.
func fixed(v float64) string { return fmt.Sprintf("%.3f", v) }

// timeTable has each use of the time of one kind of thing.
func timeTable(m *model.Model) *table {
	t := newTable("no time", "axis part time_ns window_ns share")
	var lines []string
	for _, a := range m.Axes() {
		for _, p := range a.Parts {
			t.add(a.Name, p.Name, p.Time, a.Window, quotient(p.Time, a.Total))
		}
		for _, p := range a.Beside {
			t.add(a.Name, p.Name, p.Time, a.Window)
		}
		lines = append(lines, fmt.Sprintf("%s: %s = %s, over %s", a.Name, a.What, figures.Duration(a.Total), figures.Duration(a.Window)))
	}
	t.names("OF", "axis")
	t.show("TIME", "time_ns")
	t.text("ON AVERAGE", func(r row) string {
		return fixed(statistics.Quotient(amount(r, t.at["time_ns"]), amount(r, t.at["window_ns"])))
	})
	share := t.columnWriter("share")
	t.text("SHARE", func(r row) string {
		if t.get(r, "share") == nil {
			return "(beside)"
		}
		return share(r)
	})
	t.names("SPENT", "part")
	t.order = []string{"of=", "time=time_ns"}
	if why := diagnosis.Disturbed(m); why != "" {
		lines = append(lines, "note: "+why)
	}
	t.note(lines...)
	return t
}

// operationTable has what one operation costs of each thing.
func operationTable(m *model.Model) *table {
	t := newTable("nothing was measured that could be divided by the operations", "name value unit source")
	for _, p := range m.PerOperation() {
		t.add(p.Name(), p.Value, p.Unit, string(p.Source))
	}
	t.text("PER OPERATION", func(r row) string {
		return layout.Safe(fact.Unit(t.name(r, "unit")).Format(t.get(r, "value").(float64)))
	})
	t.names("SOURCE", "source", "WHAT", "name")
	t.Columns[1].Drop = 1
	t.order = []string{"what=", "name=name"}
	o := m.Operations()
	t.note(fmt.Sprintf("operations: %s (%s) in %s, %s a second; counted by %s", figures.Int(int64(o.Count+0.5)), o.Name,
		figures.Duration(m.Run.Duration), figures.Number(o.PerSecond(m.Run.Duration)), o.From))
	return t
}

// syscallTable has all system calls by name, and other work of the kernel: nil for what
// it did not count, and for CPU time without samples.
func syscallTable(m *model.Model) *table {
	t := newTable("no system calls", "name count time_ns cpu_ns bytes errors per_operation .failed")
	rows := map[string]row{}
	get := func(name string) row {
		if rows[name] == nil {
			rows[name] = t.add(name, nil, nil, nil, 0, map[string]int64{}, nil, 0)
		}
		return rows[name]
	}
	window := time.Duration(0)
	if s := m.Syscalls; s != nil {
		window = s.Window
		ops := m.Operations().PerSecond(m.Run.Duration)
		for _, c := range s.Calls {
			r := get(c.Name)
			t.set(r, "count", c.Count)
			t.set(r, "bytes", c.Bytes)
			if c.Time > 0 {
				t.set(r, "time_ns", c.Time)
			}
			failed := int64(0)
			for _, n := range c.Errors {
				failed += n
			}
			if failed > 0 {
				t.set(r, "errors", c.Errors)
				t.set(r, ".failed", failed)
			}
			if ops > 0 && window > 0 {
				t.set(r, "per_operation", float64(c.Count)/window.Seconds()/ops)
			}
		}
	}
	if a := m.CPUAccount(); a != nil && a.Believed != "" {
		for _, n := range a.KernelCalls() {
			t.set(get(n.Name), "cpu_ns", n.Time)
		}
	}
	t.showSyscalls(window)
	t.order = []string{"cpu=cpu_ns", "count=count", "time=time_ns", "bytes=bytes", "errors=.failed", "name=name"}
	if m.Syscalls != nil && m.CPUAccount() == nil {
		t.order[0], t.order[1] = t.order[1], t.order[0] // without samples the most frequent first
	}
	t.sum("all", "name")
	t.note(syscallNotes(m)...)
	return t
}

func (t *table) showSyscalls(window time.Duration) {
	t.show("CALLS", "count")
	t.text("A SECOND", func(r row) string {
		n, ok := t.get(r, "count").(int64)
		if !ok {
			return "-"
		}
		return figures.Number(statistics.Quotient(float64(n), window.Seconds()))
	}).Drop = 2
	t.show("CPU", "cpu_ns", "IN CALLS", "time_ns")
	t.text("MEAN", func(r row) string {
		n, _ := t.get(r, "count").(int64)
		d, ok := t.get(r, "time_ns").(time.Duration)
		if !ok || n == 0 {
			return "-"
		}
		return figures.Duration(d / time.Duration(n))
	}).Drop = 3
	c := t.text("BYTES", func(r row) string {
		if n := t.get(r, "bytes").(int64); n != 0 {
			return figures.Bytes(n)
		}
		return "0"
	})
	c.Drop, c.Quiet = 4, true
	t.spare(5, "FAILED", ".failed")
	t.text("NAME", func(r row) string {
		errors, _ := t.get(r, "errors").(map[string]int64)
		return t.name(r, "name") + mostFailed(errors)
	}).Left = true
}

// mostFailed names the error that most of the failed calls had.
func mostFailed(errors map[string]int64) string {
	best := ""
	for e, n := range errors {
		if best == "" || n > errors[best] || n == errors[best] && e < best {
			best = e
		}
	}
	switch {
	case best == "":
		return ""
	case strings.HasPrefix(best, "ERESTART"): // the kernel's own word for a call that a signal interrupts
		return " (interrupted)"
	}
	return " (" + best + ")"
}

func samplesOf(s model.Source) string {
	if s == model.CPU {
		return "the CPU profile's samples"
	}
	return sampleName(string(s))
}

func syscallNotes(m *model.Model) (lines []string) {
	if s := m.Syscalls; s != nil && !s.Exact() {
		lines = append(lines, fmt.Sprintf("counted in %s of the time, scaled up; all calls: record --sources syscalls", figures.Percent(s.Share)))
	}
	switch a := m.CPUAccount(); {
	case a == nil || a.Believed == "":
		lines = append(lines, "CPU: no samples")
	case a.Known:
		lines = append(lines, fmt.Sprintf("CPU: by %s; they show %s in the kernel, rusage has %s", samplesOf(a.Believed), figures.Duration(a.Kernel), figures.Duration(a.System)))
	default:
		lines = append(lines, fmt.Sprintf("CPU: by %s; they show %s in the kernel", samplesOf(a.Believed), figures.Duration(a.Kernel)))
	}
	if s := m.Syscalls; s == nil {
		lines = append(lines, "calls were not counted; to count them: "+diagnosis.HowToGet(&m.Run, model.SyscallLog))
	} else if s.Lost > 0 {
		lines = append(lines, fmt.Sprintf("%s calls could not be counted", figures.Int(s.Lost)))
	}
	return lines
}

func threadTable(m *model.Model) *table {
	t := newTable("no threads", "id name user_ns system_ns run_queue_ns voluntary involuntary .cpu")
	for _, h := range m.Process.Threads {
		t.add(ident(h.ID), h.Name, h.User, h.System, h.RunQueue, h.Voluntary, h.Involuntary, h.User+h.System)
	}
	t.names("THREAD", "id")
	t.show("CPU", ".cpu", "USER", "user_ns", "KERNEL", "system_ns", "RUN QUEUE", "run_queue_ns", "WAITS", "voluntary", "PREEMPTED", "involuntary")
	t.text("NAME", t.columnWriter("name")).Left = true
	t.Columns[len(t.Columns)-1].Drop = 1
	t.order = []string{"cpu=.cpu", "user=user_ns", "kernel=system_ns", "runqueue=run_queue_ns", "waits=voluntary", "preempted=involuntary", "id=id"}
	t.sum("all", "id")
	if first, last, ok := m.Process.Window(); ok {
		t.note(fmt.Sprintf("the process used %s in %s; threads that ended are not listed",
			figures.Duration(last.User+last.System-first.User-first.System), figures.Duration(last.At-first.At)))
	}
	return t
}

// An account is one that the ledger knows.
type account struct {
	name  string
	table func(*model.Model) *table
	// has reports whether a model holds it, nil for those of a trace; needs are what it is made
	// of, of which source is the one to record.
	has    func(*model.Model) bool
	needs  string
	source model.Source
}

var accounts = []account{
	{name: "group", table: groupTable}, {name: "goroutine", table: goroutineTable}, {name: "p", table: procTable},
	{name: "gc", table: gcTable}, {name: "task", table: taskTable}, {name: "region", table: regionTable},
	{"cpu", cpuTable, func(m *model.Model) bool { return m.CPUAccount() != nil }, "a CPU profile, the kernel's samples or the process's counters", model.CPU},
	{"time", timeTable, func(m *model.Model) bool { return len(m.Axes()) > 0 }, "an execution trace or the process's counters", model.ProcFS},
	{"memory", memoryTable, func(m *model.Model) bool { return m.MemoryAccount() != nil },
		"runtime metrics, a heap profile, a trace or the process's counters", model.ProcFS},
	{"operation", operationTable, func(m *model.Model) bool { return m.Operations().PerSecond(m.Run.Duration) > 0 },
		"operations: the result of a load generator, or a trace with user tasks or of a server that starts a goroutine for each", model.LoadResult},
	{"function", functionTable, func(m *model.Model) bool { return m.BelievedCPU() != nil || m.Heap != nil || m.InUse() != nil },
		"a CPU profile, the kernel's samples or a heap profile", model.CPU},
	{"line", lineTable, func(m *model.Model) bool { return m.BelievedCPU() != nil || m.Heap != nil },
		"a CPU profile, the kernel's samples or an allocs profile", model.CPU},
	{"work", workTable, func(m *model.Model) bool { return m.BelievedCPU() != nil }, "a CPU profile or the kernel's samples", model.CPU},
	{"label", labelTable, func(m *model.Model) bool { return len(labelTable(m).Rows) > 0 }, "", ""},
	{"syscall", syscallTable, func(m *model.Model) bool {
		a := m.CPUAccount()
		return m.Syscalls != nil || a != nil && a.Believed != ""
	}, "counts of system calls or samples of CPU time", model.SyscallLog},
	{"thread", threadTable, func(m *model.Model) bool { return m.Process != nil && len(m.Process.Threads) > 0 },
		"the counters of the process's threads", model.ProcFS},
}

// lacks returns what an account needs that a model has not, nil when it has it.
func (a *account) lacks(m *model.Model) error {
	switch {
	case a.has == nil && m.Sched == nil:
		return problem.New(problem.Absence, diagnosis.HowToGet(&m.Run, model.Trace), "a ledger needs an execution trace")
	case a.has == nil || a.has(m):
		return nil
	}
	switch elsewhere, unanswered := m.LoadElsewhere(); {
	case a.name == "operation" && elsewhere:
		return problem.New(problem.Absence, "record while the load runs, and give its result with --load",
			"the ledger by operation needs operations of the same time: the load ran at other times than the profile")
	case a.name == "operation" && unanswered:
		return problem.New(problem.Absence, "see that the program listens where the load is sent, then record again",
			"the ledger by operation needs operations, and none of the load test's had an answer")
	case a.name == "label":
		return problem.New(problem.Absence, "pprof.Do(ctx, pprof.Labels(\"route\", name), serve)   # in the program",
			"the ledger by label needs a CPU profile or goroutines with labels that the program gave them")
	}
	return problem.New(problem.Absence, diagnosis.HowToGet(&m.Run, a.source), "the ledger by %s needs %s", a.name, a.needs)
}

// defaultTable returns by goroutine groups where there is a trace, else of CPU time, else by
// the functions of a heap profile.
func defaultTable(m *model.Model, by string) string {
	switch {
	case by != "" || m.Sched != nil:
	case m.CPUAccount() != nil:
		return "cpu"
	case m.InUse() != nil || m.Heap != nil:
		return "function"
	}
	return cmp.Or(by, "group")
}
