package report

import (
	"cmp"
	"fmt"
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

// A cpuRow is a part of the CPU time, or in text a piece of one.
type cpuRow struct {
	Part  string           `json:"part"`
	CPU   int64            `json:"cpu_ns"`
	Share float64          `json:"share"`
	Cores float64          `json:"cores,omitempty"` // none where no time is known
	By    map[string]int64 `json:"by"`

	order  int
	pieces []*cpuRow
}

func cpuTable(m *model.Model) table[*cpuRow] {
	a := m.CPUAccount()
	var t table[*cpuRow]
	t.Empty = "no CPU time"
	row := func(name string, d time.Duration) *cpuRow {
		return &cpuRow{Part: name, CPU: int64(d), Share: statistics.Quotient(d.Seconds(), a.Total.Seconds()), Cores: statistics.Quotient(d.Seconds(), a.Window.Seconds()), By: map[string]int64{}}
	}
	for i, e := range a.Parts {
		r := row(string(e.Part), e.Time)
		r.order = i
		for _, n := range e.By {
			r.By[n.Name] = int64(n.Time)
			r.pieces = append(r.pieces, row("  "+n.Name, n.Time))
		}
		t.Rows = append(t.Rows, r)
	}
	t.Expand = func(r *cpuRow) []*cpuRow { return r.pieces }
	t.Columns = []layout.Column[*cpuRow]{
		{Head: "CPU", Text: func(r *cpuRow) string { return figures.Duration(time.Duration(r.CPU)) }},
		{Head: "CORES", Text: func(r *cpuRow) string {
			if a.Window <= 0 {
				return "" // nothing tells over which time
			}
			return fixed(r.Cores)
		}},
		{Head: "SHARE", Text: func(r *cpuRow) string { return figures.Percent(r.Share) }},
		{Head: "PART", Left: true, Text: func(r *cpuRow) string { return r.Part }},
	}
	t.order = []sortKey[*cpuRow]{{"part", smallest(func(r *cpuRow) int { return r.order })}, {"cpu", largest(func(r *cpuRow) int64 { return r.CPU })}}
	t.Total = func([]*cpuRow) *cpuRow { return row("all", a.Total) }
	t.Notes = func(_ []*cpuRow, width int) []string { return cpuNotes(m, a, width) }
	return t
}

// cpuNotes say what the account rests on: rusage, each source's coverage, and
// the runtime's own estimate beside them.
func cpuNotes(m *model.Model, a *model.CPUAccount, width int) []string {
	var lines []string
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
	lines = append(lines, wordsFor(a)...)
	for i, l := range lines {
		lines[i] = strings.Join(layout.FigureLines(l, min(width, layout.MaxWidth)), "\n")
	}
	if len(lines) == 0 {
		return nil
	}
	return []string{strings.Join(lines, "\n")}
}

// A workRow is the CPU time of a kind of work that a function asks for.
type workRow struct {
	Work     string  `json:"work"`
	Function string  `json:"function"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	CPU      int64   `json:"cpu_ns"`
	Share    float64 `json:"share"`
	// PerOp is the part of the CPU time of one operation, 0 where nothing tells that.
	PerOp int64 `json:"cpu_ns_per_op,omitempty"`
}

func workTable(m *model.Model) table[*workRow] {
	list, all := m.Works()
	var t table[*workRow]
	t.Empty = "no CPU time caused by a line of the program"
	share := func(d time.Duration) float64 { return statistics.Quotient(d.Seconds(), all.Seconds()) }
	left, operation := all, m.CPUPerOperation()
	row := func(work, function string, d time.Duration) *workRow {
		return &workRow{Work: work, Function: function, CPU: int64(d), Share: share(d), PerOp: int64(share(d) * float64(operation))}
	}
	for _, e := range list {
		r := row(string(e.Work), e.Line.Func, e.Time)
		r.File, r.Line = e.Line.File, e.Line.Line
		t.Rows = append(t.Rows, r)
		left -= e.Time
	}
	t.Columns = []layout.Column[*workRow]{
		{Head: "CPU", Text: func(r *workRow) string { return figures.Duration(time.Duration(r.CPU)) }},
		{Head: "SHARE", Text: func(r *workRow) string { return figures.Percent(r.Share) }},
	}
	if operation > 0 {
		t.Columns = append(t.Columns, layout.Column[*workRow]{Head: "CPU/OP", Text: func(r *workRow) string { return figures.Duration(time.Duration(r.PerOp)) }})
	}
	t.Columns = append(t.Columns, []layout.Column[*workRow]{
		{Head: "WORK", Left: true, Text: func(r *workRow) string { return r.Work }},
		{Head: "FOR", Left: true, Text: func(r *workRow) string {
			if r.Line == 0 {
				return r.Function
			}
			return fmt.Sprintf("%s:%d", r.Function, r.Line)
		}},
	}...)
	t.order = []sortKey[*workRow]{
		{"cpu", largest(func(r *workRow) int64 { return r.CPU })},
		{"work", smallest(func(r *workRow) string { return r.Work })},
		{"function", smallest(func(r *workRow) string { return r.Function })},
	}
	t.Total = func([]*workRow) *workRow {
		return row("all", figures.Duration(left)+" of it caused by no line: the runtime's own", all)
	}
	return t
}

// A lineRow is what a line of the program or of its libraries costs.
type lineRow struct {
	Function string  `json:"function"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	CPU      int64   `json:"cpu_ns"`
	Cum      int64   `json:"cum_ns"`
	Share    float64 `json:"share"`
	Objects  float64 `json:"objects"`
	Bytes    float64 `json:"bytes"`
	// Of one operation, 0 where nothing tells that.
	CPUPerOp     int64   `json:"cpu_ns_per_op,omitempty"`
	CumPerOp     int64   `json:"cum_ns_per_op,omitempty"`
	ObjectsPerOp float64 `json:"objects_per_op,omitempty"`
	BytesPerOp   float64 `json:"bytes_per_op,omitempty"`
}

func lineTable(m *model.Model) table[*lineRow] {
	list, all := m.Lines()
	var t table[*lineRow]
	t.Empty = "no CPU time and no allocation caused by a line of the program"
	share := func(d time.Duration) float64 { return statistics.Quotient(d.Seconds(), all.CPU.Seconds()) }
	operation := m.CPUPerOperation()
	perOp := operation > 0 || m.OperationShare(1) > 0
	row := func(c *model.LineCost) *lineRow {
		return &lineRow{Function: c.Line.Func, File: c.Line.File, Line: c.Line.Line, CPU: int64(c.CPU), Cum: int64(c.Cum), Share: share(c.Cum),
			Objects: c.Objects, Bytes: c.Bytes, CPUPerOp: int64(share(c.CPU) * float64(operation)), CumPerOp: int64(share(c.Cum) * float64(operation)),
			ObjectsPerOp: m.OperationShare(c.Objects), BytesPerOp: m.OperationShare(c.Bytes)}
	}
	rest := all
	for i := range list {
		t.Rows = append(t.Rows, row(&list[i]))
		rest.CPU -= list[i].CPU
	}
	column := func(head string, text func(r *lineRow) string) {
		t.Columns = append(t.Columns, layout.Column[*lineRow]{Head: head, Text: text})
	}
	if perOp {
		column("CPU/OP", func(r *lineRow) string { return figures.Duration(time.Duration(r.CPUPerOp)) })
		column("CUM/OP", func(r *lineRow) string { return figures.Duration(time.Duration(r.CumPerOp)) })
	} else {
		column("CPU", func(r *lineRow) string { return figures.Duration(time.Duration(r.CPU)) })
		column("CUM", func(r *lineRow) string { return figures.Duration(time.Duration(r.Cum)) })
	}
	column("SHARE", func(r *lineRow) string { return figures.Percent(r.Share) })
	if all.Objects > 0 && perOp {
		column("OBJECTS/OP", func(r *lineRow) string { return figures.Number(r.ObjectsPerOp) })
		column("BYTES/OP", func(r *lineRow) string { return figures.Bytes(r.BytesPerOp) })
	} else if all.Objects > 0 {
		column("OBJECTS", func(r *lineRow) string { return figures.Int(int64(r.Objects)) })
		column("BYTES", func(r *lineRow) string { return figures.Bytes(r.Bytes) })
	}
	t.Columns = append(t.Columns, layout.Column[*lineRow]{Head: "LINE", Left: true, Text: func(r *lineRow) string {
		if r.Line == 0 {
			return r.Function
		}
		return fmt.Sprintf("%s:%d", r.Function, r.Line)
	}})
	t.order = []sortKey[*lineRow]{
		{"cpu", largest(func(r *lineRow) int64 { return r.CPU })},
		{"cum", largest(func(r *lineRow) int64 { return r.Cum })},
		{"bytes", largest(func(r *lineRow) float64 { return r.Bytes })},
		{"objects", largest(func(r *lineRow) float64 { return r.Objects })},
	}
	t.Total = func([]*lineRow) *lineRow {
		r := row(&all)
		r.Function = "all, " + figures.Duration(rest.CPU) + " of the CPU for no line: the runtime's own"
		return r
	}
	t.Notes = func(_ []*lineRow, width int) []string {
		text := "CPU and allocations are of the line and of what it calls of the standard library; CUM, and its SHARE, " +
			"of all that it calls: an upper bound on what the line can save"
		if all.Objects > 0 {
			text += ". Objects are those of the allocs profile, where several of a few bytes share one"
		}
		if !perOp && m.Load != nil && len(m.Load.Benchmarks) > 0 {
			text += ". Several benchmarks ran: record one of them with -bench, and the account is of one operation"
		}
		return []string{strings.Join(layout.FigureLines(text, min(width, layout.MaxWidth)), "\n")}
	}
	return t
}

// A labelRow is what goroutines with one label of pprof did.
type labelRow struct {
	Label      string  `json:"label"`
	Value      string  `json:"value"`
	CPU        int64   `json:"cpu_ns"`
	Share      float64 `json:"share"`
	Goroutines int64   `json:"goroutines"`
}

// labelTable is by the labels that the program gives its goroutines: those of the CPU
// profile, and of the goroutines at the end. One with several labels is in several rows.
func labelTable(m *model.Model) table[*labelRow] {
	var t table[*labelRow]
	t.Empty = "no labels"
	type key struct{ label, value string }
	rows := map[key]*labelRow{}
	each := func(p *model.Profile, column int, add func(r *labelRow, v int64)) (all int64) {
		if p == nil || column < 0 {
			return 0
		}
		for i := range p.Samples {
			s := &p.Samples[i]
			if column >= len(s.Values) {
				continue
			}
			all += s.Values[column]
			for label, value := range s.Labels {
				k := key{label, value}
				if rows[k] == nil {
					rows[k] = &labelRow{Label: label, Value: value}
				}
				add(rows[k], s.Values[column])
			}
		}
		return all
	}
	var all int64
	if m.CPU != nil {
		_, nanos := m.CPU.Columns()
		all = each(m.CPU, nanos, func(r *labelRow, v int64) { r.CPU += v })
	}
	goroutines := each(m.Goroutines.End, 0, func(r *labelRow, v int64) { r.Goroutines += v })
	for _, r := range rows {
		r.Share = statistics.Quotient(float64(r.CPU), float64(all))
		t.Rows = append(t.Rows, r)
	}
	slices.SortFunc(t.Rows, func(a, b *labelRow) int { return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Value, b.Value)) })
	t.Columns = []layout.Column[*labelRow]{
		{Head: "CPU", Text: func(r *labelRow) string { return figures.Duration(time.Duration(r.CPU)) }},
		{Head: "SHARE", Text: func(r *labelRow) string { return figures.Percent(r.Share) }},
		{Head: "GOROUTINES", Text: func(r *labelRow) string { return figures.Int(int(r.Goroutines)) }},
		{Head: "LABEL", Left: true, Text: func(r *labelRow) string { return r.Label }},
		{Head: "VALUE", Left: true, Text: func(r *labelRow) string { return r.Value }},
	}
	t.order = []sortKey[*labelRow]{
		{"cpu", largest(func(r *labelRow) int64 { return r.CPU })},
		{"goroutines", largest(func(r *labelRow) int64 { return r.Goroutines })},
		{"label", smallest(func(r *labelRow) string { return r.Label })},
		{"value", smallest(func(r *labelRow) string { return r.Value })},
	}
	t.Total = func([]*labelRow) *labelRow {
		return &labelRow{Label: "all", Value: "with and without labels", CPU: all, Share: 1, Goroutines: goroutines}
	}
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

// A timeRow is one use of the time of one kind of thing.
type timeRow struct {
	Axis   string `json:"axis"`
	Part   string `json:"part"`
	Time   int64  `json:"time_ns"`
	Window int64  `json:"window_ns"`
	// Share is of the axis' total; null for what overlaps its parts.
	Share *float64 `json:"share"`

	order int
}

func timeTable(m *model.Model) table[*timeRow] {
	var t table[*timeRow]
	t.Empty = "no time"
	for _, a := range m.Axes() {
		for _, p := range a.Parts {
			share := statistics.Quotient(p.Time.Seconds(), a.Total.Seconds())
			t.Rows = append(t.Rows, &timeRow{a.Name, p.Name, int64(p.Time), int64(a.Window), &share, len(t.Rows)})
		}
		for _, p := range a.Beside {
			t.Rows = append(t.Rows, &timeRow{a.Name, p.Name, int64(p.Time), int64(a.Window), nil, len(t.Rows)})
		}
	}
	t.Columns = []layout.Column[*timeRow]{
		{Head: "OF", Left: true, Text: func(r *timeRow) string { return r.Axis }},
		{Head: "TIME", Text: func(r *timeRow) string { return figures.Duration(time.Duration(r.Time)) }},
		{Head: "ON AVERAGE", Text: func(r *timeRow) string { return fixed(statistics.Quotient(float64(r.Time), float64(r.Window))) }},
		{Head: "SHARE", Text: func(r *timeRow) string {
			if r.Share == nil {
				return "(beside)"
			}
			return figures.Percent(*r.Share)
		}},
		{Head: "SPENT", Left: true, Text: func(r *timeRow) string { return r.Part }},
	}
	t.order = []sortKey[*timeRow]{{"of", smallest(func(r *timeRow) int { return r.order })}, {"time", largest(func(r *timeRow) int64 { return r.Time })}}
	t.Notes = func(_ []*timeRow, width int) []string {
		var lines []string
		for _, a := range m.Axes() {
			lines = append(lines, fmt.Sprintf("%s: %s = %s, over %s", a.Name, a.What, figures.Duration(a.Total), figures.Duration(a.Window)))
		}
		if why := diagnosis.Disturbed(m); why != "" {
			lines = append(lines, "note: "+why)
		}
		for i, l := range lines {
			lines[i] = strings.Join(layout.FigureLines(l, min(width, layout.MaxWidth)), "\n")
		}
		return []string{strings.Join(lines, "\n")}
	}
	return t
}

// An operationRow is what one operation costs of something.
type operationRow struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"` // seconds, bytes, count
	Source string  `json:"source"`

	order int
}

func operationTable(m *model.Model) table[*operationRow] {
	var t table[*operationRow]
	t.Empty = "nothing was measured that could be divided by the operations"
	for i, p := range m.PerOperation() {
		t.Rows = append(t.Rows, &operationRow{p.Name(), p.Value, p.Unit, string(p.Source), i})
	}
	t.Columns = []layout.Column[*operationRow]{
		{Head: "PER OPERATION", Text: func(r *operationRow) string { return layout.Safe(fact.Unit(r.Unit).Format(r.Value)) }},
		{Head: "SOURCE", Left: true, Drop: 1, Text: func(r *operationRow) string { return orDash(r.Source) }},
		{Head: "WHAT", Left: true, Text: func(r *operationRow) string { return r.Name }},
	}
	t.order = []sortKey[*operationRow]{{"what", smallest(func(r *operationRow) int { return r.order })}, {"name", smallest(func(r *operationRow) string { return r.Name })}}
	o := m.Operations()
	t.Notes = func(_ []*operationRow, width int) []string {
		text := fmt.Sprintf("operations: %s (%s) in %s, %s a second; counted by %s", figures.Int(int64(o.Count+0.5)), o.Name,
			figures.Duration(m.Run.Duration), figures.Number(o.PerSecond(m.Run.Duration)), o.From)
		return []string{strings.Join(layout.FigureLines(text, min(width, layout.MaxWidth)), "\n")}
	}
	return t
}

// A syscallRow is all system calls of one name, or other work of the kernel.
type syscallRow struct {
	Name string `json:"name"`
	// What the kernel counted; null when it did not.
	Count *int64 `json:"count"`
	Time  *int64 `json:"time_ns"` // from entry to return, waiting included
	// CPU is what samples show; null without samples.
	CPU          *int64           `json:"cpu_ns"`
	Bytes        int64            `json:"bytes"`
	Errors       map[string]int64 `json:"errors"`
	PerOperation *float64         `json:"per_operation"`
}

func syscallTable(m *model.Model) table[*syscallRow] {
	var t table[*syscallRow]
	t.Empty = "no system calls"
	rows := map[string]*syscallRow{}
	get := func(name string) *syscallRow {
		if rows[name] == nil {
			rows[name] = &syscallRow{Name: name, Errors: map[string]int64{}}
			t.Rows = append(t.Rows, rows[name])
		}
		return rows[name]
	}
	perSecond := func(r *syscallRow) float64 { return 0 }
	if s := m.Syscalls; s != nil {
		ops := m.Operations().PerSecond(m.Run.Duration)
		for _, c := range s.Calls {
			r := get(c.Name)
			r.Count, r.Bytes = &c.Count, c.Bytes
			if c.Time > 0 {
				ns := int64(c.Time)
				r.Time = &ns
			}
			for e, n := range c.Errors {
				r.Errors[e] = n
			}
			if ops > 0 && s.Window > 0 {
				per := float64(c.Count) / s.Window.Seconds() / ops
				r.PerOperation = &per
			}
		}
		perSecond = func(r *syscallRow) float64 { return statistics.Quotient(float64(value(r.Count)), s.Window.Seconds()) }
	}
	if a := m.CPUAccount(); a != nil && a.Believed != "" {
		for _, n := range a.KernelCalls() {
			ns := int64(n.Time)
			get(n.Name).CPU = &ns
		}
	}
	t.Columns = syscallColumns(perSecond)
	t.order = []sortKey[*syscallRow]{
		{"cpu", largest(func(r *syscallRow) int64 { return value(r.CPU) })}, {"count", largest(func(r *syscallRow) int64 { return value(r.Count) })},
		{"time", largest(func(r *syscallRow) int64 { return value(r.Time) })}, {"bytes", largest(func(r *syscallRow) int64 { return r.Bytes })},
		{"errors", largest(func(r *syscallRow) int64 { return failures(r) })}, {"name", smallest(func(r *syscallRow) string { return r.Name })},
	}
	if m.Syscalls != nil && m.CPUAccount() == nil {
		t.order[0], t.order[1] = t.order[1], t.order[0] // without samples the most frequent first
	}
	t.Total = func(list []*syscallRow) *syscallRow { return syscallTotal(list) }
	t.Notes = func(_ []*syscallRow, width int) []string { return syscallNotes(m, width) }
	return t
}

func syscallColumns(perSecond func(*syscallRow) float64) []layout.Column[*syscallRow] {
	return []layout.Column[*syscallRow]{
		{Head: "CALLS", Text: func(r *syscallRow) string {
			if r.Count == nil {
				return "-"
			}
			return figures.Int(*r.Count)
		}},
		{Head: "A SECOND", Drop: 2, Text: func(r *syscallRow) string {
			if r.Count == nil {
				return "-"
			}
			return figures.Number(perSecond(r))
		}},
		{Head: "CPU", Text: func(r *syscallRow) string { return optionalText(r.CPU) }},
		{Head: "IN CALLS", Text: func(r *syscallRow) string { return optionalText(r.Time) }},
		{Head: "MEAN", Drop: 3, Text: func(r *syscallRow) string {
			if r.Time == nil || value(r.Count) == 0 {
				return "-"
			}
			return figures.Duration(time.Duration(*r.Time / *r.Count))
		}},
		spare(4, layout.Column[*syscallRow]{Head: "BYTES", Text: func(r *syscallRow) string {
			if r.Bytes == 0 {
				return "0"
			}
			return figures.Bytes(r.Bytes)
		}}),
		spare(5, layout.Column[*syscallRow]{Head: "FAILED", Text: func(r *syscallRow) string { return figures.Int(failures(r)) }}),
		{Head: "NAME", Left: true, Text: func(r *syscallRow) string { return r.Name + mostFailed(r) }},
	}
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func failures(r *syscallRow) (n int64) {
	for _, k := range r.Errors {
		n += k
	}
	return n
}

// mostFailed names the error that most of the failed calls had.
func mostFailed(r *syscallRow) string {
	best := ""
	for e, n := range r.Errors {
		if best == "" || n > r.Errors[best] || n == r.Errors[best] && e < best {
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

func syscallTotal(list []*syscallRow) *syscallRow {
	sum := &syscallRow{Name: "all", Errors: map[string]int64{}}
	add := func(to **int64, n *int64) {
		if n == nil {
			return
		}
		if *to == nil {
			*to = new(int64)
		}
		**to += *n
	}
	for _, r := range list {
		add(&sum.Count, r.Count)
		add(&sum.Time, r.Time)
		add(&sum.CPU, r.CPU)
		sum.Bytes += r.Bytes
	}
	return sum
}

func samplesOf(s model.Source) string {
	if s == model.CPU {
		return "the CPU profile's samples"
	}
	return sampleName(string(s))
}

func syscallNotes(m *model.Model, width int) []string {
	var lines []string
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
		lines = append(lines, "calls were not counted; to count them: "+diagnosis.HowToGet(model.SyscallLog))
	} else if s.Lost > 0 {
		lines = append(lines, fmt.Sprintf("%s calls could not be counted", figures.Int(s.Lost)))
	}
	for i, l := range lines {
		lines[i] = strings.Join(layout.FigureLines(l, min(width, layout.MaxWidth)), "\n")
	}
	return []string{strings.Join(lines, "\n")}
}

// A threadRow is an OS thread.
type threadRow struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	User        int64  `json:"user_ns"`
	System      int64  `json:"system_ns"`
	RunQueue    int64  `json:"run_queue_ns"`
	Voluntary   int64  `json:"voluntary"`
	Involuntary int64  `json:"involuntary"`
}

func (r *threadRow) cpu() int64 { return r.User + r.System }

func threadTable(m *model.Model) table[*threadRow] {
	var t table[*threadRow]
	t.Empty = "no threads"
	for _, h := range m.Process.Threads {
		t.Rows = append(t.Rows, &threadRow{h.ID, h.Name, int64(h.User), int64(h.System), int64(h.RunQueue), h.Voluntary, h.Involuntary})
	}
	ns := func(head string, v func(*threadRow) int64) layout.Column[*threadRow] {
		return layout.Column[*threadRow]{Head: head, Text: func(r *threadRow) string { return figures.Duration(time.Duration(v(r))) }}
	}
	t.Columns = []layout.Column[*threadRow]{
		{Head: "THREAD", Left: true, Text: func(r *threadRow) string {
			if r.ID < 0 {
				return "all"
			}
			return fmt.Sprint(r.ID)
		}},
		ns("CPU", (*threadRow).cpu), ns("USER", func(r *threadRow) int64 { return r.User }), ns("KERNEL", func(r *threadRow) int64 { return r.System }),
		ns("RUN QUEUE", func(r *threadRow) int64 { return r.RunQueue }),
		{Head: "WAITS", Text: func(r *threadRow) string { return figures.Int(r.Voluntary) }},
		{Head: "PREEMPTED", Text: func(r *threadRow) string { return figures.Int(r.Involuntary) }},
		{Head: "NAME", Left: true, Drop: 1, Text: func(r *threadRow) string { return orDash(r.Name) }},
	}
	t.order = []sortKey[*threadRow]{
		{"cpu", largest((*threadRow).cpu)}, {"user", largest(func(r *threadRow) int64 { return r.User })},
		{"kernel", largest(func(r *threadRow) int64 { return r.System })}, {"runqueue", largest(func(r *threadRow) int64 { return r.RunQueue })},
		{"waits", largest(func(r *threadRow) int64 { return r.Voluntary })}, {"preempted", largest(func(r *threadRow) int64 { return r.Involuntary })},
		{"id", smallest(func(r *threadRow) int { return r.ID })},
	}
	t.Total = func(list []*threadRow) *threadRow {
		sum := &threadRow{ID: -1}
		for _, r := range list {
			sum.User += r.User
			sum.System += r.System
			sum.RunQueue += r.RunQueue
			sum.Voluntary += r.Voluntary
			sum.Involuntary += r.Involuntary
		}
		return sum
	}
	t.Notes = func(_ []*threadRow, width int) []string {
		first, last, ok := m.Process.Window()
		if !ok {
			return nil
		}
		text := fmt.Sprintf("the process used %s in %s; threads that ended are not listed", figures.Duration(last.User+last.System-first.User-first.System), figures.Duration(last.At-first.At))
		return []string{strings.Join(layout.FigureLines(text, min(width, layout.MaxWidth)), "\n")}
	}
	return t
}

// accountNeeds says what the accounts that do not come from a trace need, nil
// when the model has it.
func accountNeeds(m *model.Model, by string) error {
	missing := func(what string, s model.Source) error {
		return problem.New(problem.Absence, diagnosis.HowToGet(s), "the ledger by %s needs %s", by, what)
	}
	switch by {
	case "cpu":
		if m.CPUAccount() == nil {
			return missing("a CPU profile, the kernel's samples or the process's counters", model.CPU)
		}
	case "time":
		if len(m.Axes()) == 0 {
			return missing("an execution trace or the process's counters", model.ProcFS)
		}
	case "memory":
		if m.MemoryAccount() == nil {
			return missing("runtime metrics, a heap profile, a trace or the process's counters", model.ProcFS)
		}
	case "operation":
		switch elsewhere, unanswered := m.LoadElsewhere(); {
		case m.Operations().PerSecond(m.Run.Duration) > 0:
		case elsewhere:
			return problem.New(problem.Absence, "gowhy record -o run.gowhy --load load.txt -- CMD   # both of the same seconds",
				"the ledger by operation needs operations of the same time: the load ran at other times than the profile")
		case unanswered:
			return problem.New(problem.Absence, "see that the program listens where the load is sent, then record again",
				"the ledger by operation needs operations, and none of the load test's had an answer")
		default:
			return missing("operations: the result of a load generator, or a trace with user tasks or of a server that starts a goroutine for each", model.LoadResult)
		}
	case "function":
		if m.BelievedCPU() == nil && m.Heap == nil && m.InUse() == nil {
			return missing("a CPU profile, the kernel's samples or a heap profile", model.CPU)
		}
	case "line":
		if m.BelievedCPU() == nil && m.Heap == nil {
			return missing("a CPU profile, the kernel's samples or an allocs profile", model.CPU)
		}
	case "work":
		if m.BelievedCPU() == nil {
			return missing("a CPU profile or the kernel's samples", model.CPU)
		}
	case "label":
		if len(labelTable(m).Rows) == 0 {
			return problem.New(problem.Absence, "pprof.Do(ctx, pprof.Labels(\"route\", name), serve)   # in the program",
				"the ledger by label needs a CPU profile or goroutines with labels that the program gave them")
		}
	case "syscall":
		if a := m.CPUAccount(); m.Syscalls == nil && (a == nil || a.Believed == "") {
			return missing("counts of system calls or samples of CPU time", model.SyscallLog)
		}
	case "thread":
		if m.Process == nil || len(m.Process.Threads) == 0 {
			return missing("the counters of the process's threads", model.ProcFS)
		}
	}
	return nil
}

// accounts are the tables that need no trace, by name.
var accounts = []string{"cpu", "time", "memory", "operation", "function", "line", "work", "label", "syscall", "thread"}

// defaultTable is by goroutine groups where there is a trace, else of CPU time, else by
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

func isAccount(by string) bool { return slices.Contains(accounts, by) }
