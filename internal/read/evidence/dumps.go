package evidence

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A log has more than one dump of goroutines when a program printed some by itself, or
// was started again. The stack of a single goroutine, which a panic prints, is in the
// same form and says nothing of the others.

// A dumpSection tells the dumps of one writer apart and leaves the lines of others
// out of them.
type dumpSection struct {
	f           *finder
	writer      string
	d           *dump
	ids         map[int64]bool // of the goroutines in d
	stamp       time.Time      // of the first line of d
	running     bool           // d has a goroutine that runs, with its stack
	interrupted bool           // by other lines, after the last goroutine
	inside      bool           // a goroutine
	dead        bool           // the runtime said of the dump that follows that nobody can go on
	cause       string         // why the program ended that prints the dump that follows; "" where nothing tells
	head, call  []byte         // the lines that the next decides on; empty without
	cut         []byte         // a call whose end is on the next line, as of a narrow terminal

	first, last foundDump
	dumps       int
	single      foundDump // the last of one goroutine
	singles     int
}

type foundDump struct {
	p          *model.Profile
	looks      []look
	dead       bool
	death      *model.Death // nil where the program may have gone on
	goroutines int
	at         time.Time
}

// dumpsOf returns where the dumps of one writer are read, whatever is before their lines.
func (f *finder) dumpsOf(writer string) section {
	for _, s := range f.dumps {
		if s.writer == writer {
			return s
		}
	}
	s := &dumpSection{f: f, writer: writer}
	f.dumps = append(f.dumps, s)
	return s
}

var (
	createdBy  = []byte("created by ")
	elsewhere  = []byte("goroutine running on other thread")
	elidedLine = regexp.MustCompile(`^\.\.\.(?:additional|\d+) frames elided\.\.\.$`)
	dumpCause  = regexp.MustCompile(`^(?:SIG[A-Z]+: |panic: |fatal error: )`)
	deathCause = regexp.MustCompile(`^(?:panic: |fatal error: )\S`)
	cutCall    = regexp.MustCompile(`^[^\s(]+(?:\(\*[^\s()]+\)[^\s(]*)?\([0-9a-fx, {}?.]*$`)
	placeEnds  = [][]byte{[]byte(" +0x"), []byte(" fp=0x")}
)

func (s *dumpSection) line(line []byte, sure bool) (bool, error) {
	switch {
	case bytes.HasPrefix(line, []byte("goroutine ")) && dumpHeader.Match(line), joinedHeader.Match(line):
		return true, s.begin(line)
	case bytes.HasPrefix(line, allAsleep):
		err := s.endGoroutine()
		s.endDump()
		s.dead = true
		return true, err
	case len(bytes.TrimSpace(line)) == 0:
		return true, s.endGoroutine()
	case !s.inside:
		return false, s.other(line, sure)
	case bytes.HasPrefix(bytes.TrimLeft(line, " \t"), elsewhere):
		return true, s.take()
	case len(s.call) > 0:
		if isPlace(line) {
			return true, s.frame(bytes.TrimLeft(line, " \t"))
		}
	case elidedLine.Match(line):
		return true, nil
	case cutCall.Match(line):
		s.cut = append(s.cut[:0], line...)
		return true, nil
	case len(s.cut) > 0:
		line = append(s.cut, line...)
		s.cut = s.cut[:0]
	}
	if isCall(line) {
		s.call = append(s.call[:0], line...)
		return true, nil
	}
	return false, s.other(line, sure)
}

// other notes that a line is no part of a dump.
func (s *dumpSection) other(line []byte, sure bool) error {
	s.interrupted = s.interrupted || sure && !s.inside
	if !dumpCause.Match(line) {
		return nil
	}
	err := s.endGoroutine()
	s.endDump()
	if s.cause = ""; deathCause.Match(line) {
		s.cause = clipName(string(bytes.TrimSpace(line)))
	}
	return err
}

// isCall reports whether a line is the first of the two that a frame has.
func isCall(line []byte) bool {
	if bytes.HasPrefix(line, createdBy) {
		return true
	}
	i := bytes.LastIndexByte(line, '(')
	if i <= 0 || line[len(line)-1] != ')' {
		return false
	}
	name := line[:i]
	if j := bytes.IndexByte(name, '['); j >= 0 {
		name = name[:j] // of types there may be any
	}
	return !bytes.ContainsAny(name, " \t")
}

// isPlace reports whether a line is the second of a frame: "/src/work.go:12 +0x34". It
// is indented, but for those who trim what they keep; then its path has no blanks.
func isPlace(line []byte) bool {
	place := bytes.TrimLeft(line, " \t")
	trimmed := len(place) == len(line)
	place = bytes.TrimSuffix(place, []byte(" +")) // where a narrow terminal has cut it
	for _, end := range placeEnds {
		if i := bytes.Index(place, end); i >= 0 {
			place = place[:i]
		}
	}
	i := bytes.LastIndexByte(place, ':')
	if i <= 0 || i == len(place)-1 || bytes.IndexByte(place, '\t') >= 0 || trimmed && bytes.IndexByte(place, ' ') >= 0 {
		return false
	}
	for _, c := range place[i+1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// begin begins a goroutine, and a dump where this cannot be of the one before.
func (s *dumpSection) begin(line []byte) error {
	if err := s.endGoroutine(); err != nil {
		return err
	}
	if s.ids[s.goroutineOf(line)] || s.interrupted && s.running && len(s.ids) == 1 {
		s.endDump()
	}
	s.head, s.inside = append(s.head[:0], line...), true
	return nil
}

// frame takes a frame: the call that was kept, and its place.
func (s *dumpSection) frame(place []byte) error {
	if len(s.head) > 0 && bytes.Contains(s.head, []byte("[running")) {
		// Of a stopped program one goroutine runs: the one that prints the dump.
		if len(s.ids) > 0 && (s.running || s.interrupted) {
			s.endDump()
		}
		s.running = true
	}
	if err := s.take(); err != nil {
		return err
	}
	if err := s.d.line(s.call); err != nil {
		return err
	}
	s.call = append(append(s.call[:0], '\t'), place...) // which some trim
	err := s.d.line(s.call)
	s.call = s.call[:0]
	return err
}

// take gives the head that was kept to the dump.
func (s *dumpSection) take() error {
	if len(s.head) == 0 {
		return nil
	}
	if s.d == nil {
		s.d, s.ids, s.stamp = newDump(s.f.l, s.f.name), map[int64]bool{}, s.f.lineTime()
		s.d.cause, s.cause = s.cause, ""
	}
	if s.dead {
		s.dead = false
		if err := s.d.line(allAsleep); err != nil {
			return err
		}
	}
	s.ids[s.goroutineOf(s.head)] = true
	err := s.d.line(s.head)
	s.head, s.interrupted = s.head[:0], false
	return err
}

// goesOn reports whether goroutines can go on by themselves: where one can the runtime
// finds no deadlock, and its words are of another dump.
func goesOn(k look) bool {
	switch k.state {
	case "running", "runnable", "sleep", "IO wait", "syscall":
		return true
	}
	return false
}

// goroutineOf returns the number of a goroutine. Those that were joined have none, and get one
// of their own.
func (s *dumpSection) goroutineOf(head []byte) int64 {
	if joinedHeader.Match(head) {
		return -int64(len(s.ids) + 1)
	}
	id, _, _ := bytes.Cut(head[len("goroutine "):], []byte(" "))
	n, _ := strconv.ParseInt(string(id), 10, 64)
	return n
}

func (s *dumpSection) endGoroutine() error {
	if !s.inside {
		return nil
	}
	if err := s.take(); err != nil {
		return err
	}
	s.inside, s.call, s.cut = false, s.call[:0], s.cut[:0]
	return s.d.flush()
}

func (s *dumpSection) end() error {
	err := s.endGoroutine()
	s.interrupted, s.cause = true, ""
	return err
}

// goroutines returns how many the dump that is read has.
func (s *dumpSection) goroutines() (n int) {
	for i := range s.d.looks {
		n += int(s.d.looks[i].count)
	}
	return n
}

// endDump keeps the dump that was read if it is the first or the last so far.
func (s *dumpSection) endDump() {
	if s.d == nil {
		return
	}
	found := foundDump{s.d.t.p, s.d.looks, s.d.dead && !slices.ContainsFunc(s.d.looks, goesOn), s.d.death(), s.goroutines(), s.stamp}
	switch {
	case found.goroutines == 1 && !found.dead:
		s.single = found
		s.singles++
	case s.dumps == 0:
		s.first = found
		fallthrough
	default:
		s.last = found
		s.dumps++
	}
	s.d, s.ids, s.running = nil, nil, false
}

// finishDumps gives the loader the first and the last of the dumps of the writer with
// the largest: those of several are of several processes.
func (f *finder) finishDumps() (found bool, err error) {
	var best *dumpSection
	writers, singles := 0, 0
	for _, s := range f.dumps {
		s.endDump()
		singles += s.singles
		if s.dumps > 0 {
			writers++
			if best == nil || s.largest() > best.largest() {
				best = s
			}
		}
	}
	if best == nil {
		return false, nil
	}
	if err := f.l.sameRun(model.GoroutineProfile, f.name); err != nil {
		return false, err
	}
	if writers > 1 {
		f.l.note("%s has goroutine dumps of %d processes; that of the one with most goroutines is used", f.name, writers)
	}
	if singles > 0 {
		f.l.note("%s has stacks of a single goroutine too, as a panic prints them: %d, which were left out", f.name, singles)
	}
	if best.dumps > 1 {
		f.l.note("%s has %d goroutine dumps; the first is used as the start of the run and the last as its end", f.name, best.dumps)
		f.keepDump(best.first)
	}
	f.keepDump(best.last)
	return true, nil
}

func (s *dumpSection) largest() int { return max(s.first.goroutines, s.last.goroutines) }

// finishSingles gives the loader the last stack of a single goroutine, for want of
// anything else.
func (f *finder) finishSingles() (found bool) {
	for _, s := range f.dumps {
		if s.singles == 0 {
			continue
		}
		f.l.note("%s has the stack of one goroutine, as a panic prints it, and says nothing of the others", f.name)
		if s.singles > 1 {
			f.l.note("%s has %d such stacks; the last is used", f.name, s.singles)
		}
		f.keepDump(s.single)
		return true
	}
	return false
}

// keepDump keeps a dump as a snapshot. Those of a recording's output are for want of
// better ones.
func (f *finder) keepDump(d foundDump) {
	if run := &f.l.m.Run; d.death != nil && run.Death == nil {
		run.Death = d.death
	}
	s := snapshot{name: f.name, member: f.member, at: d.at, dump: true, p: d.p, looks: d.looks, dead: d.dead}
	if f.member != "" {
		f.l.logs.dumps = append(f.l.logs.dumps, s)
	} else {
		f.l.snapshot(model.GoroutineProfile, s)
	}
}
