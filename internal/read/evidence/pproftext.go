package evidence

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What go tool pprof prints, and people paste: a few lines that say of which profile, then
//
//	-top      a line for each function: flat, cum and their shares of the total
//	-peek     the same with callers before and callees after each, as -tree has it
//	-list     the lines of functions, each with flat and cum
//	-traces   whole stacks: those are read as the profile that they are
//
// A session at pprof's prompt may have several of them. Filters and pprof's own dropping
// of small nodes leave functions out; the total stays that of the profile.

var (
	pprofTotal = regexp.MustCompile(`Showing nodes accounting for \S+, +\S+% of (\S+) total|^(?:\(pprof\) )?\S+ of (\S+) total \( *\S+%\)|^(?:\(pprof\) )?Total: +(\S+)$`)
	pprofHead  = regexp.MustCompile(`^\s*flat\s+flat%\s+sum%\s+cum\s+cum%`)
	pprofNode  = regexp.MustCompile(`^\s*(-?[0-9.]+[a-zA-Zµ]*)\s+-?[0-9.]+%\s+-?[0-9.]+%\s+(-?[0-9.]+[a-zA-Zµ]*)\s+(-?[0-9.]+)%\s+(?:\| )?(\S.*)$`)
	pprofEdge  = regexp.MustCompile(`^\s*(-?[0-9.]+[a-zA-Zµ]*)\s+[0-9.]+%\s+\|\s+(\S.*)$`)
	// A routine of -list and its sums: "     1.20s      5.30s (flat, cum) 21.87% of Total".
	pprofRoutine = regexp.MustCompile(`^ROUTINE =+ (\S.*?)(?: in (\S.*))?$`)
	pprofSums    = regexp.MustCompile(`^\s*(\S+)\s+(\S+) \(flat, cum\)`)
	pprofLine    = regexp.MustCompile(`^\s*(\S+)\s+(\S+)\s+([0-9]+):`)
	// Of -traces, a line between stacks and the first line of one.
	pprofRule  = regexp.MustCompile(`^-{11}\+-{20,}$`)
	pprofTrace = regexp.MustCompile(`^\s*(-?[0-9.]+[a-zA-Zµ]*)\s{3}(\S.*)$`)
	// What people type to choose one of a heap profile's columns, as a flag or at the prompt.
	pprofChoice = regexp.MustCompile(`(?:^|-|=)((?:alloc|inuse)_(?:space|objects))\b`)
	// With -lines a name is followed by its place, with -files by its file.
	pprofPlace = regexp.MustCompile(`^(\S.*?) (\S+?)(?::([0-9]+)|(?:\.go|\.s|\.c))$`)
)

// isPprofText accepts a text with lines that only go tool pprof prints.
func isPprofText(head []byte) bool {
	typed, rows := false, 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n ")
		switch {
		case bytes.HasPrefix(line, []byte("Type: ")):
			typed = true
		case bytes.Contains(line, []byte("Showing nodes accounting for")) && pprofTotal.Match(line), pprofHead.Match(line),
			bytes.HasPrefix(line, []byte("ROUTINE =====")), typed && pprofRule.Match(line):
			return true
		case pprofNode.Match(line):
			if rows++; rows == bareRows {
				return true
			}
		}
	}
	return false
}

// bareRows is how many lines of a table are one without its first lines.
const bareRows = 2

// readPprofText folds tables into the model's, and stacks as the profile that was printed.
func (l *loader) readPprofText(s source) error {
	p := &pprofText{name: s.name, at: map[string]int{}, traces: newTextParser(textKind{})}
	if err := l.lines(s, func(line []byte) error { p.line(string(line)); return nil }); err != nil {
		return err
	}
	p.flush()
	l.noteClipped(s.name, p.left)
	if len(p.tables) == 0 && len(p.traces.p.Sample) == 0 {
		return l.pass(notEvidence(artifact.Text, s.name, nil))
	}
	for _, t := range p.tables {
		l.addTable(t)
	}
	if len(p.traces.p.Sample) == 0 {
		return nil
	}
	return l.foldProfile(p.profile(s))
}

// noteClipped says that a text had more than is kept of one.
func (l *loader) noteClipped(name string, left int) {
	if left > 0 {
		l.note("%s has more functions than are kept of a printed profile: %d were left out", name, left)
	}
}

// addTable keeps a table, together with one that shows more of the same profile.
func (l *loader) addTable(t *model.Table) {
	l.uses++
	l.from[model.Printed] = t.File
	if !slices.ContainsFunc(l.m.Tables, func(have *model.Table) bool { return have.Join(t) }) {
		l.m.Tables = append(l.m.Tables, t)
	}
}

// noteTables says what the tables do not show.
func (l *loader) noteTables() {
	for _, t := range l.m.Tables {
		if shown := t.Shown(); shown < wholeTable {
			l.note("%s shows %s, in which %s of the profile's total was counted; shares are of the total", t.File,
				figures.Plural(len(t.Functions), "function"), figures.Percent(shown))
		}
	}
}

// wholeTable is the part of the total from which a table is all that pprof prints when
// nobody asks for less: it drops nodes of half a percent, which come to a few together.
const wholeTable = 0.9

// Limits on what is printed: pprof itself stops at 500 nodes unless told not to.
const (
	maxTableFunctions = 1 << 16
	maxTables         = 64
	maxTableCallers   = 64
)

// A pprofText is read line by line.
type pprofText struct {
	name     string
	tables   []*model.Table
	kind     string // of the profile, as its header says
	taken    time.Time
	duration time.Duration
	samples  float64 // all of them, as the header says; 0 when it does not

	total   float64
	implied float64 // the total by a function's cum and its share
	share   float64 // of that function, in percent
	unit    string
	rows    []model.TableFunction
	at      map[string]int // of rows, by name
	open    bool           // a table has begun
	left    int            // functions beyond the limit
	callers []model.TableCaller
	after   bool // in a block of -peek, after the function's own line

	routine *model.TableFunction // of -list
	most    float64              // the cum of its line

	traces  *textParser
	tracing bool
	begun   bool // a stack's first line was read
	period  int64
}

func (p *pprofText) line(line string) {
	line = strings.TrimRight(line, " \t")
	if rest, ok := strings.CutPrefix(line, "(pprof) "); ok {
		line = rest
	}
	switch {
	case p.header(line):
	case pprofRule.MatchString(line):
		p.tracing, p.begun = true, false
		p.traces.flush()
	case p.tracing:
		p.trace(line)
	case strings.HasPrefix(line, "-----"):
		p.callers, p.after = nil, false
	default:
		p.row(line)
	}
}

// header takes a line that says something of the whole profile.
func (p *pprofText) header(line string) bool {
	if m := pprofTotal.FindStringSubmatch(line); m != nil {
		v, unit, ok := pprofValue(cmp.Or(m[1], m[2], m[3]))
		if ok {
			p.begin(v, unit)
		}
		return ok
	}
	if m := pprofChoice.FindStringSubmatch(line); m != nil && (len(p.rows) == 0 || m[0] == line) {
		p.flush()
		p.kind = m[1]
		return true
	}
	key, value, ok := strings.Cut(line, ": ")
	if !ok {
		return false
	}
	switch value = strings.TrimSpace(value); key {
	case "Type":
		p.flush()
		p.kind, p.tracing = value, false
	case "Time":
		p.taken = pprofTime(value)
	case "Duration":
		d, rest, _ := strings.Cut(value, ",")
		if v, unit, ok := pprofValue(d); ok && unit == "nanoseconds" {
			p.duration = time.Duration(v)
		}
		if _, sum, ok := strings.Cut(rest, "Total samples = "); ok {
			sum, _, _ = strings.Cut(sum, " ")
			p.samples, _, _ = pprofValue(strings.TrimSpace(sum))
		}
	default:
		return false
	}
	return true
}

// begin starts a table, unless it goes on with the one before it.
func (p *pprofText) begin(total float64, unit string) {
	p.routine, p.callers, p.after, p.tracing = nil, nil, false, false
	if p.open && p.unit == unit && math.Abs(total-p.total) <= 0.005*p.total {
		return
	}
	p.flush()
	p.total, p.unit, p.open = total, unit, true
}

// row takes a line of a table, or one that is none.
func (p *pprofText) row(line string) {
	if m := pprofRoutine.FindStringSubmatch(line); m != nil {
		p.routine, p.most = &model.TableFunction{Func: pprofName(m[1]), File: clipName(m[2])}, 0
		return
	}
	if p.routine != nil {
		p.listed(line)
		return
	}
	if m := pprofNode.FindStringSubmatch(line); m != nil {
		f := placed(m[4])
		f.Flat, _, _ = pprofValue(m[1])
		cum, unit, _ := pprofValue(m[2])
		f.Cum = cum
		p.imply(cum, unit, m[3])
		f.Callers, p.callers, p.after = p.callers, nil, true
		p.add(f)
		return
	}
	if m := pprofEdge.FindStringSubmatch(line); m != nil && !p.after && len(p.callers) < maxTableCallers {
		v, _, _ := pprofValue(m[1])
		p.callers = append(p.callers, model.TableCaller{Func: placed(m[2]).Func, Cum: v})
	}
}

// imply finds the total out of a function's sum and its share, which is printed with four
// digits: the largest share says it best.
func (p *pprofText) imply(cum float64, unit, percent string) {
	share, err := strconv.ParseFloat(percent, 64)
	if err == nil && share > p.share && cum > 0 {
		p.share, p.implied = share, 100*cum/share
		p.unit = cmp.Or(p.unit, unit)
	}
}

// listed takes a line of -list: the routine's sums, or those of a line of its code.
func (p *pprofText) listed(line string) {
	if m := pprofSums.FindStringSubmatch(line); m != nil {
		p.routine.Flat, _, _ = pprofValue(m[1])
		p.routine.Cum, _, _ = pprofValue(m[2])
		p.add(*p.routine)
		return
	}
	m := pprofLine.FindStringSubmatch(line)
	i, known := p.at[p.routine.Func]
	if m == nil || !known {
		return
	}
	if cum, _, ok := pprofValue(m[2]); ok && cum > p.most {
		p.most = cum
		p.rows[i].Line, _ = strconv.Atoi(m[3])
		p.rows[i].File = p.routine.File
	}
}

// add keeps a function. One that a session shows twice is one.
func (p *pprofText) add(f model.TableFunction) {
	i, ok := p.at[f.Func]
	switch {
	case ok:
		g := &p.rows[i]
		if g.Line > 0 && f.Line > 0 && g.Line != f.Line { // of -lines
			g.Flat += f.Flat
			g.Cum = max(g.Cum, f.Cum)
			return
		}
		g.Flat, g.Cum = max(g.Flat, f.Flat), max(g.Cum, f.Cum)
		if len(g.Callers) == 0 {
			g.Callers = f.Callers
		}
	case len(p.rows) >= maxTableFunctions:
		p.left++
	default:
		p.at[f.Func] = len(p.rows)
		p.rows = append(p.rows, f)
	}
}

// flush ends a table.
func (p *pprofText) flush() {
	p.traces.flush()
	if p.total == 0 { // pasted without the line that says it
		p.total = cmp.Or(p.samples, p.implied)
	}
	if len(p.rows) > 0 && p.total > 0 && len(p.tables) < maxTables {
		t := model.Table{File: p.name, Total: p.total, Duration: p.duration, Functions: p.rows}
		t.Source, t.Type = p.of()
		p.tables = append(p.tables, model.NewTable(t))
	}
	p.rows, p.at, p.open, p.total, p.implied, p.share, p.routine = nil, map[string]int{}, false, 0, 0, 0, nil
}

// of tells which profile was printed: by its header, else by its unit and by where the
// functions are that count themselves.
func (p *pprofText) of() (model.Source, model.ValueType) {
	t := model.ValueType{Name: p.kind, Unit: p.unit}
	switch p.kind {
	case "cpu", "samples":
		return model.CPU, t
	case "goroutine":
		return model.GoroutineProfile, t
	case "alloc_space", "alloc_objects":
		return model.Heap, t
	case "inuse_space", "inuse_objects", "space", "objects":
		return model.LiveHeap, t
	case "threadcreate":
		return model.ThreadCreate, t
	case "goroutineleak":
		return model.Leak, t
	case "delay", "contentions":
		if p.flat(unlocks) > p.flat(waits) {
			return model.Mutex, t
		}
		return model.Block, t
	case "":
	default:
		return "", t
	}
	all := p.flat(func(string) bool { return true })
	switch {
	case p.unit == "nanoseconds" && p.flat(waits) > all/2:
		return model.Block, model.ValueType{Name: "delay", Unit: p.unit}
	case p.unit == "nanoseconds" && p.flat(unlocks) > all/2:
		return model.Mutex, model.ValueType{Name: "delay", Unit: p.unit}
	case p.unit == "nanoseconds":
		return model.CPU, model.ValueType{Name: "cpu", Unit: p.unit}
	case p.unit == "count" && p.flat(func(f string) bool { return f == "runtime.gopark" }) > all/2:
		return model.GoroutineProfile, model.ValueType{Name: "goroutine", Unit: p.unit}
	}
	return "", t
}

// flat adds up what was counted in functions that match.
func (p *pprofText) flat(match func(function string) bool) (sum float64) {
	for i := range p.rows {
		if match(p.rows[i].Func) {
			sum += p.rows[i].Flat
		}
	}
	return sum
}

// waits reports whether a function is one that a block profile's stacks end in.
func waits(f string) bool {
	switch f {
	case "runtime.chanrecv1", "runtime.chanrecv2", "runtime.chansend1", "runtime.selectgo", "runtime.selectnbrecv", "internal/poll.(*fdMutex).rwlock",
		"sync.(*Mutex).Lock", "sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock",
		"sync.(*WaitGroup).Wait", "sync.(*Cond).Wait", "sync.runtime_Semacquire", "sync.runtime_SemacquireMutex":
		return true
	}
	return false
}

// trace takes a line of -traces: labels, the first line of a stack, or one more frame.
func (p *pprofText) trace(line string) {
	if !p.begun {
		m := pprofTrace.FindStringSubmatch(line)
		if m == nil {
			return // a label
		}
		v, unit, ok := pprofValue(m[1])
		if !ok {
			return
		}
		p.begun, p.unit = true, unit
		p.period = gcd(p.period, int64(v))
		p.traces.sample = &profile.Sample{Value: []int64{int64(v)}}
		p.traceFrame(m[2])
		return
	}
	if name := strings.TrimSpace(line); name != "" && line[0] == ' ' {
		p.traceFrame(name)
	}
}

func (p *pprofText) traceFrame(name string) {
	if s := p.traces.sample; s != nil && len(s.Location) < maxStackFrames {
		f := placed(name)
		s.Location = append(s.Location, p.traces.places.Location(stacks.Frame{Func: f.Func, File: f.File, Line: f.Line}))
	}
}

// profile returns that of the stacks. A CPU profile's samples are counted by what all times
// are multiples of: its period.
func (p *pprofText) profile(s source) *pprofFile {
	out := p.traces.p
	kind := cmp.Or(p.kind, map[string]string{"nanoseconds": "cpu", "bytes": "inuse_space"}[p.unit], "samples")
	out.SampleType = []*profile.ValueType{{Type: kind, Unit: p.unit}}
	if kind == "cpu" {
		out.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
		for _, sample := range out.Sample {
			sample.Value = []int64{sample.Value[0] / max(1, p.period), sample.Value[0]}
		}
	}
	out.DurationNanos = int64(p.duration)
	if !p.taken.IsZero() {
		out.TimeNanos = p.taken.UnixNano()
	}
	return &pprofFile{Profile: out, name: s.name, member: s.member, kindStated: p.kind != ""}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// placed reads a function's name, with its place where -lines printed that, or its file.
func placed(s string) model.TableFunction {
	name := pprofName(s)
	if m := pprofPlace.FindStringSubmatch(name); m != nil && strings.ContainsAny(m[2], "./") {
		line, _ := strconv.Atoi(m[3])
		file := strings.TrimSuffix(name[len(m[1])+1:], ":"+m[3])
		return model.TableFunction{Func: clipName(m[1]), File: clipName(file), Line: line}
	}
	return model.TableFunction{Func: name}
}

// pprofName returns a function's name without what pprof says of its calls.
func pprofName(s string) string {
	for _, mark := range []string{" (inline)", " (partial-inline)"} {
		s = strings.TrimSuffix(s, mark)
	}
	return clipName(strings.TrimSpace(s))
}

// pprofUnits are those in which pprof prints, by what they are multiples of. Kilobytes
// have 1024 bytes there.
var pprofUnits = map[string]struct {
	unit  string
	times float64
}{
	"": {"count", 1}, "ns": {"nanoseconds", 1}, "us": {"nanoseconds", 1e3}, "µs": {"nanoseconds", 1e3}, "ms": {"nanoseconds", 1e6}, "s": {"nanoseconds", 1e9},
	"min": {"nanoseconds", 60e9}, "mins": {"nanoseconds", 60e9}, "hr": {"nanoseconds", 3600e9}, "hrs": {"nanoseconds", 3600e9},
	"day": {"nanoseconds", 24 * 3600e9}, "days": {"nanoseconds", 24 * 3600e9}, "wk": {"nanoseconds", 7 * 24 * 3600e9}, "wks": {"nanoseconds", 7 * 24 * 3600e9},
	"yr": {"nanoseconds", 365 * 24 * 3600e9}, "yrs": {"nanoseconds", 365 * 24 * 3600e9},
	"B": {"bytes", 1}, "kB": {"bytes", 1 << 10}, "MB": {"bytes", 1 << 20}, "GB": {"bytes", 1 << 30}, "TB": {"bytes", 1 << 40}, "PB": {"bytes", 1 << 50},
}

// maxPprofValue is what a sum can be: above, an integer overflows.
const maxPprofValue = 1 << 62

// pprofValue reads "16.03wks", "1.50s", "1496.93kB", "294412"; "." is nothing.
func pprofValue(s string) (v float64, unit string, ok bool) {
	if s == "." {
		return 0, "", true
	}
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' })
	if i < 0 {
		i = len(s)
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	u, known := pprofUnits[s[i:]]
	if err != nil || !known || math.Abs(n*u.times) > maxPprofValue {
		return 0, "", false
	}
	return math.Round(n * u.times), u.unit, true
}

// pprofTime reads when a profile was taken. Other zones than UTC are names, which say
// nothing of where.
func pprofTime(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05 MST", "Jan 2, 2006 at 3:04pm (MST)"} {
		if t, err := time.Parse(layout, s); err == nil && strings.Contains(s, "UTC") {
			return t
		}
	}
	return time.Time{}
}
