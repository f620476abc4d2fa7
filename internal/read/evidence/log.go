package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A log is text of any origin in which the runtime's lines may be: alone, or
// behind what a container runtime puts before each line. Most of a large log is
// of no interest, so lines are not looked at one by one: what only the runtime
// writes is searched for in large pieces, which runs at the speed of memory.

// Limits on logs.
const (
	logChunk      = 1 << 20 // bytes searched at once; a longer line is cut
	maxLogEntries = 1 << 20 // lines of each kind that are kept
	maxBenchText  = 4 << 20 // bytes of lines of benchmarks
)

// What to search for: text in the middle of each line of interest.
var (
	gcMark    = []byte(" MB goal")
	gcClock   = []byte(" ms clock, ") // earlier in a whole line of it
	schedMark = []byte(" runqueue=")
	benchMark = []byte(" ns/op")
)

// logs are what was found in all logs.
type logs struct {
	gc        []gcEntry
	sched     []schedEntry
	bench     []byte     // lines of go test -bench
	longLines int        // lines over the limits
	torn      int        // lines that begin like the runtime's and are broken
	dumps     []snapshot // of goroutines, in the output that a recording has
	short     shortages
	inits     []model.Init // of the last process that began
	started   int          // processes before it
}

func (g *logs) entries() int { return len(g.gc) + len(g.sched) }

// told returns how many lines were found that are evidence by themselves.
func (g *logs) told() int { return g.entries() + len(g.bench) + len(g.inits) + g.started }

// readLog searches a text.
func (l *loader) readLog(s source) error {
	before, inits := l.logs.told(), len(l.logs.inits)+l.logs.started
	l.logs.short.file = s.name
	short := l.logs.short.lines
	head := artifact.FirstLine(l.headOf(&s))
	f := newFinder(l, s)
	err := l.scanLog(s, f)
	var p *problem.Error
	if l.ctx.Err() != nil || errors.As(err, &p) {
		return cmp.Or(l.ctx.Err(), err)
	}
	lines := l.logs.told() > before
	tells := l.logs.short.lines > short
	excerpts, ferr := f.finish(!lines && s.member == "")
	if ferr != nil {
		return ferr
	}
	if lines || excerpts || tells {
		l.uses++
		if lines {
			l.from[model.GCTrace] = s.name
		}
		if len(l.logs.inits)+l.logs.started > inits {
			l.from[model.Counted] = s.name
		}
		if tells {
			l.from[model.ShortageLog] = s.name
		}
		if err != nil {
			l.note("%s could not be read to its end: %v", s.name, err)
		}
		return nil
	}
	if err != nil {
		return l.pass(cutProblem(s.name, err))
	}
	if s.member != "" {
		return nil // a recording has the program's output, whatever is in it
	}
	return l.pass(notEvidence(artifact.Text, s.name, []byte(head)))
}

// headOf returns the beginning of a source again.
func (l *loader) headOf(s *source) []byte {
	head, err := s.peek()
	if err != nil {
		return nil
	}
	return head
}

func (l *loader) scanLog(s source, f *finder) error {
	// Colours may begin anywhere: in the middle of a line, and after the first lines.
	r := bufio.NewReaderSize(&plainReader{r: ctxReader{l.ctx, s.r}}, logChunk)
	for {
		piece, err := r.Peek(logChunk)
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			l.logs.search(piece)
			return cmp.Or(f.search(piece), err)
		}
		n := len(piece)
		if n == logChunk {
			n = wholeLines(piece)
		}
		l.logs.search(piece[:n])
		if ferr := f.search(piece[:n]); ferr != nil {
			return ferr
		}
		if _, derr := r.Discard(n); derr != nil {
			return derr
		}
		if n == 0 || err == io.EOF {
			return nil
		}
	}
}

// wholeLines returns where the last line of a piece ends that does not go on behind it.
func wholeLines(piece []byte) int {
	n := bytes.LastIndexByte(piece, '\n') + 1
	for end := n; end > 0; {
		begin := bytes.LastIndexByte(piece[:end-1], '\n') + 1
		if !unwrapContainer(piece[begin : end-1]).cut {
			return end
		}
		end = begin
	}
	return cmp.Or(n, len(piece))
}

// search finds the lines of interest in a piece of whole lines.
func (g *logs) search(piece []byte) {
	eachMarkedLine(piece, gcMark, g.gcLine)
	eachMarkedLine(piece, initMark, g.initLine)
	eachMarkedLine(piece, schedMark, g.schedLine)
	eachMarkedLine(piece, benchMark, g.benchLine)
	g.short.search(piece)
}

// eachMarkedLine calls f with every line of piece that contains mark, and with what follows it.
func eachMarkedLine(piece, mark []byte, f func(line, rest []byte)) {
	for {
		i := bytes.Index(piece, mark)
		if i < 0 {
			return
		}
		begin := bytes.LastIndexByte(piece[:i], '\n') + 1
		end := len(piece)
		if j := bytes.IndexByte(piece[i:], '\n'); j >= 0 {
			end = i + j
		}
		f(bytes.TrimRight(piece[begin:end], "\r"), piece[end:])
		piece = piece[end:]
	}
}

func (g *logs) gcLine(line, _ []byte) {
	text, stamp := unwrap(line)
	var e gcEntry
	i := bytes.LastIndex(text[:max(0, bytes.Index(text, gcMark))], []byte("gc "))
	ok := i >= 0
	if ok {
		e, ok = parseGC(text[i:])
	}
	switch {
	case !ok && bytes.Contains(text, gcClock):
		g.torn++ // another thread wrote in between: the runtime writes a line in many pieces
	case !ok:
	case len(g.gc) == maxLogEntries:
		g.longLines++
	default:
		e.stamp = stampOf(stamp, text[:i])
		g.gc = append(g.gc, e)
	}
}

func (g *logs) schedLine(line, rest []byte) {
	text, stamp := unwrap(line)
	i := bytes.LastIndex(text[:max(0, bytes.Index(text, schedMark))], []byte("SCHED "))
	if i < 0 {
		return
	}
	e, ok := parseSched(text[i:])
	switch {
	case !ok:
		g.torn++
	case len(g.sched) == maxLogEntries:
		g.longLines++
	default:
		e.stamp = stampOf(stamp, text[:i])
		if e.Local == nil {
			e.details(rest)
		}
		g.sched = append(g.sched, e)
	}
}

// details reads the lines of scheddetail that follow the first.
func (e *schedEntry) details(rest []byte) {
	for line := range bytes.Lines(bytes.TrimLeft(rest, "\r\n")) {
		text, _ := unwrap(line)
		if !e.detail(text) {
			return
		}
	}
}

func (g *logs) benchLine(line, _ []byte) {
	if bytes.HasPrefix(line, []byte("Benchmark")) && len(g.bench)+len(line) < maxBenchText {
		g.bench = append(append(g.bench, line...), '\n')
	}
}

// unwrap takes a line out of the JSON that container runtimes and log shippers
// put it into, with its time.
func unwrap(line []byte) (text []byte, stamp string) {
	if len(line) == 0 || line[0] != '{' {
		return line, ""
	}
	var w struct{ Log, Message, Msg, Time, Timestamp, TS string }
	_ = json.Unmarshal(line, &w) // fields of another type than ours are left out
	for _, s := range []string{w.Log, w.Message, w.Msg} {
		if s != "" {
			return []byte(strings.TrimRight(s, "\r\n")), cmp.Or(w.Time, w.Timestamp, w.TS)
		}
	}
	return line, ""
}

// stampOf returns the time that a line's wrapping tells, or that the first word
// before the runtime's text is. Times without a zone say too little.
func stampOf(stamp string, prefix []byte) time.Time {
	if stamp == "" {
		if f := bytes.Fields(prefix[:min(len(prefix), 200)]); len(f) > 0 {
			stamp = string(bytes.Trim(f[0], "[]"))
		}
	}
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// joinLogs brings what was found into the model.
func (l *loader) joinLogs() {
	g := &l.logs
	l.m.Shortages = g.short.list()
	l.joinInits()
	if g.torn > 0 {
		l.note("lines of gctrace or schedtrace that other output runs through were left out: %d", g.torn)
	}
	if g.longLines > 0 {
		l.note("lines of gctrace or schedtrace beyond the first %d of each were left out: %d", maxLogEntries, g.longLines)
	}
	gc, runs := lastRun(g.gc, func(a, b *gcEntry) bool { return b.Cycle > a.Cycle && b.began >= a.began })
	sched, schedRuns := lastRun(g.sched, func(a, b *schedEntry) bool { return b.At > a.At })
	if n := max(runs, schedRuns); n > 1 {
		l.note("the logs have gctrace or schedtrace lines of %d runs of a program, "+
			"one after the other; the last of more than a line is used", n)
	}
	l.align(func(c clock) { l.alignLogs(c, gc, sched) })
}

// lastRun returns the entries of the last run of a program in a log, and the
// number of runs: each begins its clock and its counts again. A single line shows
// nothing that becomes more or less: it counts only where no run has two.
func lastRun[T any](entries []T, goesOn func(a, b *T) bool) (last []T, runs int) {
	if len(entries) == 0 {
		return nil, 0
	}
	first := 0
	for i := range entries {
		if i > 0 && goesOn(&entries[i-1], &entries[i]) {
			last = entries[first : i+1]
			continue
		}
		first = i
		runs++
		if len(last) < 2 {
			last = entries[i : i+1]
		}
	}
	return last, runs
}

// alignLogs brings the lines to the window's clock: by the trace's collections,
// which are exact to a millisecond, else by the times in the log.
func (l *loader) alignLogs(c clock, gc []gcEntry, sched []schedEntry) {
	origin, aligned := c.since(gcOrigin(gc))
	if l.m.GC != nil {
		if o, ok := matchCycles(l.m.GC.Cycles, gc); ok {
			origin, aligned = o, true
		}
	}
	for _, e := range gc {
		if aligned {
			e.At += origin
		}
		if e.Aligned = aligned; !aligned || c.contains(e.At) {
			l.m.GCLog = append(l.m.GCLog, e.GCLine)
		}
	}
	// The scheduler's clock begins with its first line, which the runtime
	// prints as it starts: that is the collector's origin within milliseconds.
	if o, ok := c.since(schedOrigin(sched)); ok {
		origin, aligned = o, true
	}
	for _, e := range sched {
		if aligned {
			e.At += origin
		}
		if e.Aligned = aligned; !aligned || c.contains(e.At) {
			l.m.SchedLog = append(l.m.SchedLog, e.SchedLine)
		}
	}
	if c.cut && !aligned && len(gc)+len(sched) > 0 {
		l.note("the lines of gctrace and schedtrace could not be aligned with the window; all of them are used")
	}
	l.logProcs(gc, sched)
}

// logProcs tells GOMAXPROCS when nothing better did.
func (l *loader) logProcs(gc []gcEntry, sched []schedEntry) {
	switch {
	case l.m.Run.Procs != 0:
	case len(sched) > 0:
		l.m.Run.Procs = sched[len(sched)-1].Procs
	case len(gc) > 0:
		l.m.Run.Procs = gc[len(gc)-1].Procs
	}
}
