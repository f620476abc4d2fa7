package goroutines

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// Errors that callers tell apart.
var (
	ErrSystem = errors.New("goroutines can be read from outside on Linux only, on amd64 and arm64")
	ErrGone   = errors.New("it has ended")
	// ErrUnsure is wrapped by what says why the memory is not believed.
	ErrUnsure = errors.New("its goroutines cannot be read")
)

// memory is what is read. Its addresses are the process's.
type memory interface {
	// gather reads the spans one behind the other, and tells how many bytes were
	// read: the first that cannot be ends it. An error is of reading as such.
	gather(b []byte, spans []span) (int, error)
	// same is an error when another program's memory is read by now, or none. The
	// address is one that there was.
	same(at uint64) error
	// another is the same memory, for another goroutine to read.
	another() (memory, error)
	used() int64 // system calls so far
	now() int64  // the process's monotonic clock
	close()
}

type span struct {
	at   uint64
	size int
}

// A State is what a goroutine does, by the runtime's word for it.
type State uint8

// The states of the runtime that a goroutine with work has.
const (
	Runnable  State = 1
	Running   State = 2
	Syscall   State = 3
	Waiting   State = 4
	copystack State = 8
	Preempted State = 9
	leaked    State = 10
)

const (
	finished              = State(0)
	idle, dead, deadExtra = 0, 6, 11
	scanning              = 0x1000 // may be added
)

func (s State) String() string {
	switch s {
	case Runnable, Preempted:
		return "runnable"
	case Running, copystack: // it runs, and is given a larger stack
		return "running"
	case Syscall:
		return "syscall"
	case Waiting, leaked:
		return "waiting"
	}
	return "unknown"
}

// A Snapshot is all goroutines at about one moment.
type Snapshot struct {
	Time time.Time
	// Watched is for how long the reader had looked before: who made no step since its
	// first look is known, and nothing of what was before.
	Watched time.Duration
	Count   int // without the runtime's own, as runtime.NumGoroutine counts
	System  int // the runtime's own
	Groups  []Group
	// Torn is how many changed so while they were read that nothing is known of
	// them. They are in no group.
	Torn int
	// Unread is how many have labels that are not known: of a program of Go 1.23 and older,
	// with more lists of them than are read, or changed meanwhile.
	Unread int
	// Calls is how many system calls the snapshot took.
	Calls int64
}

// A Group is the goroutines that began at one function, were started at one go
// statement, and do the same.
type Group struct {
	Start   symbols.Place // the function
	Creator symbols.Place // the go statement; empty for the first goroutine
	State   State
	Reason  string // of Waiting: as tracebacks have it
	System  bool   // the runtime's own
	Count   int
	// Oldest is how long at least the one has been so that has been longest; 0
	// where that is not known.
	Oldest time.Duration
	// Ages[i] is how many have been so for 2^i seconds or longer, as far as is known.
	Ages Ages
	// Parts are the goroutines by their labels, the most first; nil where none has any.
	Parts []Part
	// Stack is where that one is, innermost first. Empty for goroutines that run,
	// and for groups behind the largest. A few have each their stack read, and those that
	// stand elsewhere are a group of their own.
	Stack []symbols.Place
}

// ages is how many ages goroutines are counted by: up to half an hour.
const ages = 12

// Ages are numbers of goroutines by how long they have been so.
type Ages [ages]int

// add counts one that has been so for d.
func (a *Ages) add(d time.Duration) {
	for i := 0; i < ages && d >= time.Second<<i; i++ {
		a[i]++
	}
}

// UnchangedFor returns how many of a group have been as they are for of, the longest time up to d by
// which they are counted; 0 for less than a second.
func (g *Group) UnchangedFor(d time.Duration) (n int, of time.Duration) {
	for i := range g.Ages {
		if by := time.Second << i; by <= d {
			n, of = g.Ages[i], by
		}
	}
	return n, of
}

// After returns the snapshot of a program that does not run for d: all have been as they are
// for longer.
func (s *Snapshot) After(d time.Duration) *Snapshot {
	later := *s
	later.Time, later.Calls = s.Time.Add(d), 0
	later.Groups = slices.Clone(s.Groups)
	for n := range later.Groups {
		g := &later.Groups[n]
		g.Oldest += d
		g.Ages = g.Ages.after(d, g.Count)
		g.Parts = slices.Clone(g.Parts)
		for i := range g.Parts {
			p := &g.Parts[i]
			p.Oldest += d
			p.Ages = p.Ages.after(d, p.Count)
		}
	}
	return &later
}

// after returns the ages of so many that stay as they are for d.
func (a *Ages) after(d time.Duration, count int) Ages {
	later := *a
	for i := range later {
		for j := i - 1; j >= 0 && time.Second<<j+d >= time.Second<<i; j-- {
			later[i] = max(later[i], a[j])
		}
		if d >= time.Second<<i {
			later[i] = count
		}
	}
	return later
}

// State counts the goroutines in a state, the runtime's own left out.
func (s *Snapshot) State(is ...State) (n int) {
	for _, g := range s.Groups {
		if !g.System && slices.ContainsFunc(is, func(i State) bool { return g.State.String() == i.String() }) {
			n += g.Count
		}
	}
	return n
}

// A Reader reads the goroutines of one process. It is for one goroutine at a time.
type Reader struct {
	// Stacks has the stacks of the largest groups read.
	Stacks bool

	first   time.Time // of its looks
	memory  memory
	code    code
	layout  *layout
	low     uint64 // of a structure, the part that is read
	width   int
	list    uint64 // address of runtime.allgs
	counter map[string]uint64
	close   func()

	bounds  bounds
	holes   bool             // some of the memory is missing, and what is there is wanted
	running []core.Registers // of threads; nil where they are not known

	pointers, fresh []byte
	order           []int32 // the goroutines by address
	buffer          []byte  // while it reads
	spans           []span
	members         []member
	seen            []sight
	marks           []int64 // see wait; by time
	groups          map[key]int
	tally           []tally
	lists           map[listKey]int // of labels, in the tally's
	unread          int
	functions       map[uint64]*function
	every           func(Goroutine) // see [View.Goroutines]
	sampling        bool            // see [Reader.Sample]
	walks           map[int32]walk
}

// code is what the program's file says of its functions.
type code interface {
	Entry(pc uint64) (entry uint64, name string, ok bool)
	frames(pc uint64) []symbols.Place // of a return address
	started(entry uint64, name string) symbols.Place
	// pushed returns how many bytes what goes on at an address has put on the stack:
	// the address to return to is behind them.
	pushed(pc uint64) (n uint64, ok bool)
}

// A key is what the goroutines of a group have in common.
type key struct {
	start, creator uint64
	state          State
	reason         uint8
	depth          uint64 // of the stack, in bytes, where stacks are read: others differ in it mostly
}

type tally struct {
	key    key
	count  int
	since  int64 // of the oldest, on the process's clock
	ages   Ages
	oldest registers
	each   []aged       // all, as long as they are few and stacks are read
	listed []labelTally // those with labels
	plain  int64        // as since, of those without
}

// aged are the registers of one, since when it has been so, and where its labels are.
type aged struct {
	registers
	since  int64
	labels uint64
}

// registers are where a goroutine goes on. They are the same again unless it ran.
type registers struct {
	index           int32 // in allgs
	runs            uint8
	id              uint64
	pc, sp, bp, top uint64
}

// A member is a goroutine in the pieces of memory being read.
type member struct {
	index  int32 // in allgs
	offset int   // in the buffer
}

// A sight is what was last seen of a goroutine.
type sight struct {
	id            uint64
	since         int64
	runs          uint8
	state, reason uint8
}

type function struct {
	name   string
	system bool
	place  symbols.Place // once it is wanted
}

const (
	// maxGoroutines is far beyond what a machine's memory holds. A program that
	// lies about them makes the reader take 700 MB.
	maxGoroutines = 1 << 24
	// maxAddress is beyond what a program has; 52 bits are the most on arm64.
	maxAddress = 1 << 56
	// pieceBytes is read at a time. Much more would leave the processor's cache.
	pieceBytes = 1 << 20
	// near is the distance in memory over which two structures are read in one
	// piece.
	near = 2048
	// maxGroups bounds a snapshot; what is beyond is in one group without name.
	maxGroups = 10_000
	// stackBytes is how much of a stack is read.
	stackBytes = 16 << 10
	maxFrames  = 64
	// maxTorn is the share of goroutines that may be torn, beside a few, until
	// the layout is taken to be wrong. Ten thousand that did nothing but start
	// and end had 0.3%.
	maxTorn = 0.05
	fewTorn = 8
)

// bounds are those of the stacks that are read: of how many groups, largest first; up to how
// many of a group each has its own read; and how many that are in all.
type bounds struct{ stacks, few, fewStacks int }

// ofProcess are those of a program that runs. A stack takes a system call and about 5 µs.
var ofProcess = bounds{stacks: 64, few: 8, fewStacks: 128}

// Open prepares the reading of a process's goroutines. The error says why they
// cannot be had: [ErrSystem], [ErrGone], [fs.ErrPermission] or [ErrUnsure] are
// in it.
func Open(pid int) (*Reader, error) {
	if !fits() {
		return nil, ErrSystem
	}
	m, err := openProcess(pid)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe"); err != nil {
		m.close()
		return nil, readError(pid, err)
	}
	names := symbols.Open(pid)
	r, err := openNamed(m, names)
	if err != nil {
		names.Close()
		m.close()
		return nil, err
	}
	r.close = names.Close
	return r, nil
}

func openNamed(m memory, names *symbols.Process) (*Reader, error) {
	version := names.GoVersion()
	if version == "" {
		return nil, unsure("it is no Go program, or built without build information")
	}
	return open(m, names, version)
}

func unsure(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsure}, args...)...)
}

// readError says why a process's memory cannot be read.
func readError(pid int, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the memory of process %d may not be read: %w", pid, fs.ErrPermission)
	case errors.Is(err, syscall.ESRCH), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return fmt.Errorf("the memory of process %d: %w", pid, err)
}

func open(m memory, names *symbols.Process, version string) (*Reader, error) {
	im, base, err := names.Program()
	if err != nil {
		return nil, unsure("%w", err)
	}
	t := tablesOf(im, version)
	if t.err != nil {
		return nil, t.err
	}
	l := t.layout
	if l.reasons == nil {
		own, strings := *l, t.at["runtime.waitReasonStrings"]
		if own.reasons = readStrings(m, strings.Addr+base, int(strings.Size/16)); own.reasons == nil {
			return nil, unsure("its names of wait reasons were not found")
		}
		l = &own
	}
	r := newReader(m, program{im, names, base, map[uint64][]symbols.Place{}}, l)
	for name, v := range t.at {
		r.counter[name] = v.Addr + base
	}
	if _, ok := t.at["runtime.gomaxprocs"]; !ok {
		r.findCounters(t, base)
	}
	if c, ok := m.(*coreMemory); ok {
		r.settle(c)
	}
	if a, ok := t.at["runtime.allgs"]; ok {
		r.list = a.Addr + base
		return r, r.check()
	}
	for _, a := range t.candidates() {
		r.list = a + base
		if err := r.check(); err == nil || !errors.Is(err, ErrUnsure) {
			return r, err
		}
	}
	return nil, unsure("its list of goroutines was not found, for it has no symbols")
}

func newReader(m memory, c code, l *layout) *Reader {
	r := &Reader{Stacks: true, memory: m, code: c, layout: l, counter: map[string]uint64{}, close: func() {}, bounds: ofProcess,
		groups: map[key]int{}, lists: map[listKey]int{}, functions: map[uint64]*function{}}
	low, high := uint32(missing), uint32(0)
	for f := range fields {
		if at := l.at[f]; fieldNames[f].in == "runtime.g" && at != missing {
			low, high = min(low, at), max(high, at+8)
		}
	}
	r.low, r.width = uint64(low), int(high-low)
	return r
}

// readStrings reads an array of strings.
func readStrings(m memory, addr uint64, n int) (list []string) {
	if n <= 0 || n > 256 {
		return nil
	}
	heads := make([]byte, 16*n)
	if got, err := m.gather(heads, []span{{addr, len(heads)}}); err != nil || got < len(heads) {
		return nil
	}
	for ; len(heads) > 0; heads = heads[16:] {
		at, size := word(heads), word(heads[8:])
		text := make([]byte, min(size, 128))
		if len(text) > 0 {
			if got, err := m.gather(text, []span{{at, len(text)}}); err != nil || got < len(text) {
				return nil
			}
		}
		if bytes.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return nil
		}
		list = append(list, string(text))
	}
	return list
}

// check reads once and asks whether what comes is a program's goroutines, by two of
// which everything is known: the first, and the one that the runtime starts before
// the program, to collect when nobody else does.
func (r *Reader) check() error {
	s, err := r.Read()
	if err != nil {
		return err
	}
	found := false
	for i, t := range r.tally {
		g, id := &s.Groups[i], t.oldest.id
		switch {
		case g.Start.Func == "runtime.main" && id != 1:
			return unsure("its first goroutine has the number %d", id)
		case g.Start.Func == "runtime.forcegchelper":
			if !strings.HasPrefix(g.Creator.Func, "runtime.init") || g.State == Waiting && g.Reason != "force gc (idle)" {
				return unsure("the runtime's own goroutine for idle times, started by %q, waits for %q", g.Creator.Func, g.Reason)
			}
			found = true
		}
	}
	if !found {
		return unsure("the runtime's own goroutines are not among them")
	}
	return nil
}

// Rest gives back what was looked at of the program's file. It is for who does not read
// for a while.
func (r *Reader) Rest() {
	if p, ok := r.code.(program); ok {
		p.image.Rest()
	}
}

// Close lets go of the program's file and memory.
func (r *Reader) Close() {
	r.close()
	r.memory.close()
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// Read reads all goroutines of now. Where the error is [ErrUnsure] the next reading
// may succeed; after any other the reader is of no more use.
func (r *Reader) Read() (*Snapshot, error) {
	s, err := r.read()
	if gone := r.memory.same(r.list); gone != nil {
		return nil, gone
	}
	return s, err
}

// pieces are the buffers of readers that read at the moment.
var pieces = sync.Pool{New: func() any { return new([pieceBytes]byte) }}

// borrow gives the reader a buffer, until what it returns is called.
func (r *Reader) borrow() func() {
	buffer := pieces.Get().(*[pieceBytes]byte)
	r.buffer = buffer[:]
	return func() {
		r.buffer = nil
		pieces.Put(buffer)
	}
}

func (r *Reader) read() (*Snapshot, error) {
	defer r.borrow()()
	calls := r.memory.used()
	s := &Snapshot{Time: time.Now()}
	n, err := r.readPointers()
	if err != nil {
		return nil, err
	}
	r.arrange(n)
	s.Torn = n - len(r.order)
	if err := r.tooTorn(s.Torn, n); err != nil {
		return nil, err
	}
	r.seen = append(r.seen, make([]sight, max(0, n-len(r.seen)))...)
	now := r.memory.now()
	clear(r.groups)
	clear(r.lists)
	r.tally, r.unread = r.tally[:0], 0
	r.readMark(now)
	if err := r.readAll(s, now); err != nil {
		return nil, err
	}
	if err := r.tooTorn(s.Torn, n); err != nil {
		return nil, err
	}
	r.describe(s, now)
	if r.first.IsZero() {
		r.first = s.Time
	}
	s.Watched = s.Time.Sub(r.first)
	s.Calls = r.memory.used() - calls
	return s, nil
}

func (r *Reader) tooTorn(torn, n int) error {
	if !r.holes && torn > fewTorn && float64(torn) > maxTorn*float64(n) {
		return unsure("%d of %d have states or starts that cannot be", torn, n)
	}
	return nil
}

// readPointers reads the list of goroutines: its head before and after, for a
// list that grows moves.
func (r *Reader) readPointers() (n int, err error) {
	head := func() (at uint64, n uint64, err error) {
		var b [16]byte
		got, err := r.memory.gather(b[:], []span{{r.list, len(b)}})
		if err == nil && got < len(b) {
			err = unsure("its list of them is not in its memory")
		}
		return word(b[:]), word(b[8:]), err
	}
	const tries = 5
	for range tries {
		at, count, err := head()
		if err != nil {
			return 0, err
		}
		if at == 0 || at%8 != 0 || count == 0 || count > maxGoroutines {
			return 0, unsure("its list of them is empty or too long")
		}
		// So many must be there before they get memory here.
		var last [8]byte
		if got, err := r.memory.gather(last[:], []span{{at + 8*(count-1), len(last)}}); err != nil || got < len(last) {
			return 0, cmp.Or(err, unsure("its list of them is not in its memory"))
		}
		r.fresh = slices.Grow(r.fresh[:0], int(8*count))[:8*count]
		got, err := r.memory.gather(r.fresh, []span{{at, len(r.fresh)}})
		if err != nil {
			return 0, err
		}
		again, _, err := head()
		if err != nil {
			return 0, err
		}
		if got == len(r.fresh) && again == at {
			return int(count), nil
		}
	}
	return 0, unsure("its list of them moves faster than it can be read")
}

// arrange puts the goroutines in the order of their addresses, when some came.
// What is no address, or in the structure before, is left out.
func (r *Reader) arrange(n int) {
	if string(r.fresh) == string(r.pointers) {
		return
	}
	r.fresh, r.pointers = r.pointers, r.fresh
	r.order = slices.Grow(r.order[:0], n)
	for i := range int32(n) {
		if p := r.pointer(i); p != 0 && p%8 == 0 && p < maxAddress {
			r.order = append(r.order, i)
		}
	}
	slices.SortFunc(r.order, func(a, b int32) int { return cmp.Compare(r.pointer(a), r.pointer(b)) })
	end := uint64(0)
	r.order = slices.DeleteFunc(r.order, func(i int32) bool {
		if r.pointer(i) < end {
			return true
		}
		end = r.pointer(i) + uint64(r.width)
		return false
	})
}

func (r *Reader) pointer(i int32) uint64 { return word(r.pointers[8*i:]) }

// readAll reads the structures, a buffer full at a time.
func (r *Reader) readAll(s *Snapshot, now int64) error {
	r.spans, r.members = r.spans[:0], r.members[:0]
	used, end := 0, uint64(0)
	for _, i := range r.order {
		at := r.pointer(i) + r.low
		// What is between this one and the last is read too, or a piece begins.
		size, gap := r.width, at-end
		joins := len(r.spans) > 0 && gap <= near
		if joins {
			size += int(gap)
		}
		if used+size > len(r.buffer) || !joins && len(r.spans) == maxSpans {
			if err := r.readPiece(s, now, used); err != nil {
				return err
			}
			used, joins, size = 0, false, r.width
		}
		if joins {
			r.spans[len(r.spans)-1].size += size
		} else {
			r.spans = append(r.spans, span{at, size})
		}
		used += size
		end = at + uint64(r.width)
		r.members = append(r.members, member{i, used - r.width})
	}
	return r.readPiece(s, now, used)
}

// maxSpans is how many pieces one system call reads (UIO_MAXIOV).
const maxSpans = 1024

func (r *Reader) readPiece(s *Snapshot, now int64, used int) error {
	if len(r.spans) == 0 {
		return nil
	}
	got, err := r.memory.gather(r.buffer[:used], r.spans)
	if err != nil {
		return err
	}
	for _, m := range r.members {
		g := r.buffer[m.offset : m.offset+r.width]
		if m.offset+r.width > got && !r.behindHole(m.index, g) || !r.add(m.index, g, now) {
			s.Torn++
		}
	}
	r.spans, r.members = r.spans[:0], r.members[:0]
	return nil
}

// behindHole reads a structure by itself that lies behind what is missing of the memory.
func (r *Reader) behindHole(index int32, g []byte) bool {
	if !r.holes {
		return false
	}
	got, err := r.memory.gather(g, []span{{r.pointer(index) + r.low, len(g)}})
	return err == nil && got == len(g)
}

// stands reports whether it can be known where a goroutine in a state is.
func (r *Reader) stands(state State) bool { return state.String() != "running" || r.running != nil }

func (r *Reader) field(g []byte, f field) uint64 {
	at := r.layout.at[f]
	if at == missing {
		return 0
	}
	return word(g[uint64(at)-r.low:])
}

// status reads what a goroutine does, and what it waits for; no state of one that has ended. It
// is false for what cannot be a goroutine.
func (r *Reader) status(g []byte) (state State, reason uint8, ok bool) {
	status := uint32(r.field(g, gStatus)) &^ scanning
	switch status {
	case idle, dead, deadExtra:
		return finished, 0, true
	case uint32(Runnable), uint32(Running), uint32(Syscall), uint32(Waiting), uint32(copystack), uint32(Preempted), uint32(leaked):
	default:
		return finished, 0, false
	}
	state = State(status)
	if state == Waiting || state == leaked {
		reason = uint8(r.field(g, gWaitReason))
	}
	return state, reason, int(reason) < len(r.layout.reasons)
}

// reason returns what a goroutine in a state waits for, in the runtime's words.
func (r *Reader) reason(state State, reason uint8) string {
	if state.String() != "waiting" {
		return ""
	}
	return r.layout.reasons[reason]
}

// add counts a goroutine. It is false for what cannot be one.
func (r *Reader) add(index int32, g []byte, now int64) bool {
	state, reason, ok := r.status(g)
	if !ok || state == finished {
		return ok
	}
	k := key{start: r.field(g, gStartPC), creator: r.field(g, gCreatorPC), state: state, reason: reason}
	id := r.field(g, gID)
	if id == 0 || k.start == 0 {
		return false
	}
	if r.Stacks && (k.state != Running || r.running != nil) {
		at := r.registers(index, g, k.state)
		k.depth = at.top - at.sp
	}
	n, known := r.groups[k]
	if !known {
		if r.function(k.start) == nil {
			return false
		}
		if len(r.tally) >= maxGroups {
			k = key{}
		}
		if n, known = r.groups[k]; !known {
			n = len(r.tally)
			r.groups[k] = n
			r.tally = append(r.tally, tally{key: k, since: now, plain: now})
		}
	}
	seen := &r.seen[index]
	is := sight{id: id, since: now, runs: uint8(r.field(g, gTrackingSeq)), state: uint8(k.state), reason: k.reason}
	if seen.id == is.id && seen.runs == is.runs && seen.state == is.state && seen.reason == is.reason {
		is.since = seen.since
	}
	*seen = is
	if r.every != nil {
		r.every(r.one(k, index, g))
	}
	if k.state == Waiting || k.state == leaked || k.state == Syscall {
		is.since = min(is.since, r.waited(int64(r.field(g, gWaitSince)), now))
	}
	t := &r.tally[n]
	if r.layout.at[gTrackingSeq] != missing { // else nobody knows who ran between two looks
		t.ages.add(time.Duration(now - is.since))
	}
	if t.count++; t.count == 1 || is.since < t.since {
		t.since = is.since
		t.oldest = r.registers(index, g, k.state)
	}
	labels := r.field(g, gLabels)
	if r.Stacks && (t.count <= r.bounds.few || r.sampling) {
		t.choose(aged{r.registers(index, g, k.state), is.since, labels}, r.bounds.few)
	}
	switch {
	case labels == 0:
		t.plain = min(t.plain, is.since)
	case !r.addList(n, index, labels, is.since, now):
		t.plain = min(t.plain, is.since)
		r.unread++
	}
	return true
}

func (r *Reader) registers(index int32, g []byte, state State) registers {
	at := registers{index, uint8(r.field(g, gTrackingSeq)), r.field(g, gID), r.field(g, gSchedPC), r.field(g, gSchedSP), r.field(g, gSchedBP), r.field(g, gStackHi)}
	if state == Syscall {
		at.pc, at.sp, at.bp = r.field(g, gSyscallPC), r.field(g, gSyscallSP), r.field(g, gSyscallBP)
	}
	if state == Running {
		if was, ok := r.ran(r.field(g, gStackLo), at.top); ok {
			at.pc, at.sp, at.bp = was.PC, was.SP, was.BP
		}
	}
	return at
}

// waited returns a time at which a goroutine waited already, by what the runtime noted
// of it. That is done by the first collection after it began to, but what is
// noted is when the marking of the collection before ended: it may have begun to
// wait later than that, and not later than the next marking's end.
func (r *Reader) waited(noted, now int64) int64 {
	if noted <= 0 || noted > now {
		return now
	}
	n, known := slices.BinarySearch(r.marks, noted)
	if !known {
		if len(r.marks) == maxMarks {
			return now
		}
		r.marks = slices.Insert(r.marks, n, noted)
	}
	if n+1 == len(r.marks) {
		return now
	}
	return r.marks[n+1]
}

// maxMarks bounds how many collections are told apart. Those of goroutines that
// no longer wait are forgotten when there are more.
const maxMarks = 1024

// readMark adds the end of the latest marking to those that goroutines tell of.
func (r *Reader) readMark(now int64) {
	if len(r.marks) == maxMarks {
		r.marks = r.marks[:0]
	}
	at, ok := r.counter["runtime.work"]
	if !ok || r.layout.at[workMarkEnd] == missing {
		return
	}
	var b [8]byte
	if got, err := r.memory.gather(b[:], []span{{at + uint64(r.layout.at[workMarkEnd]), 8}}); err == nil && got == 8 {
		r.waited(int64(word(b[:])), now)
	}
}

// function returns the entry of a function by its start; nil where no function begins.
func (r *Reader) function(start uint64) *function {
	f, ok := r.functions[start]
	if !ok {
		if entry, name, found := r.code.Entry(start); found && entry == start {
			f = &function{name: name, system: system(name)}
		}
		if len(r.functions) < maxGroups {
			r.functions[start] = f
		}
	}
	return f
}

// cleaners are where the goroutines begin that call finalizers and cleanups.
var cleaners = []string{"runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups"}

// inProgram reports whether a stack is in a function that is not the runtime's.
func inProgram(stack []symbols.Place) bool {
	return slices.ContainsFunc(stack, func(p symbols.Place) bool { return !strings.HasPrefix(p.Func, "runtime.") })
}

// system tells the runtime's own goroutines, as the runtime tells them. Those
// that call finalizers and cleanups count as the program's while they do, which their
// stacks show.
func system(name string) bool {
	switch name {
	case "runtime.main", "runtime.corostart", "runtime.handleAsyncEvent":
		return false
	}
	return strings.HasPrefix(name, "runtime.")
}

// describe gives the groups their names, largest first, and behind them what is apart.
func (r *Reader) describe(s *Snapshot, now int64) {
	slices.SortFunc(r.tally, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.key.start, b.key.start), cmp.Compare(a.key.creator, b.key.creator),
			cmp.Compare(a.key.state, b.key.state), cmp.Compare(a.key.reason, b.key.reason), cmp.Compare(a.key.depth, b.key.depth))
	})
	labels := r.readLabels()
	left, all := r.bounds.fewStacks, r.programs()
	var rest []Group // of a few, those that stand elsewhere
	s.Groups = make([]Group, 0, len(r.tally))
	for i, t := range r.tally {
		g := Group{State: t.key.state, Count: t.count, Oldest: time.Duration(max(0, now-t.since)), Ages: t.ages}
		unread := 0
		g.Parts, unread = t.parts(&labels, now)
		r.unread += unread
		f := r.function(t.key.start)
		if f != nil {
			if f.place == (symbols.Place{}) {
				f.place = r.code.started(t.key.start, f.name)
			}
			g.System, g.Start = f.system, f.place
		}
		if t.key.creator != 0 && (f == nil || f.name != "runtime.main") {
			if at := r.code.frames(t.key.creator); len(at) > 0 {
				g.Creator = at[0]
			}
		}
		g.Reason = r.reason(t.key.state, t.key.reason)
		cleans := f != nil && slices.Contains(cleaners, f.name)
		switch read := r.Stacks && (i < r.bounds.stacks || cleans) && r.stands(g.State); {
		case r.sampling && !g.System:
			list := r.sampled(&g, &t, r.quota(&t, all), &labels, now)
			g, rest = list[0], append(rest, list[1:]...)
		case read && t.count > 1 && t.count <= min(r.bounds.few, left) && !g.System:
			left -= t.count
			list := r.apart(&g, t.each, &labels, now)
			g, rest = list[0], append(rest, list[1:]...)
		case read:
			g.Stack = r.stack(t.oldest, g.State)
			g.System = g.System && !(cleans && inProgram(g.Stack))
		}
		if g.System {
			s.System += t.count
		} else {
			s.Count += t.count
		}
		s.Groups = append(s.Groups, g)
	}
	s.Groups = append(s.Groups, rest...)
	s.Unread = r.unread
}

// apart returns the groups of those of one that stand elsewhere, by their stacks.
func (r *Reader) apart(g *Group, each []aged, labels *labelling, now int64) (list []Group) {
	var tallies []tally
	for _, one := range each {
		stack := r.stack(one.registers, g.State)
		at := slices.IndexFunc(list, func(o Group) bool { return slices.Equal(o.Stack, stack) })
		if at < 0 {
			at = len(list)
			list = append(list, *g)
			list[at].Stack = stack
			tallies = append(tallies, tally{since: now, plain: now})
		}
		alone := labelTally{at: one.labels, count: 1, since: one.since}
		if r.layout.at[gTrackingSeq] != missing {
			alone.ages.add(time.Duration(max(0, now-one.since)))
		}
		tallies[at].add(&alone)
	}
	for i := range list {
		t := &tallies[i]
		list[i].Count, list[i].Oldest, list[i].Ages = t.count, time.Duration(max(0, now-t.since)), t.ages
		list[i].Parts, _ = t.parts(labels, now)
	}
	return list
}

// injected are the functions that a signal's handler has a goroutine call, wherever it is.
var injected = []string{"runtime.asyncPreempt", "runtime.sigpanic"}

// stack returns where a goroutine is that does not run. One that ran meanwhile has other
// registers, and the answer has none.
func (r *Reader) stack(at registers, state State) []symbols.Place {
	b, g, ok := r.readStack(at, state)
	if !ok || len(b) == 0 || r.registers(at.index, g, state) != at {
		return nil
	}
	// One that is about to wait again has its registers of before, and not yet counts.
	if now, _, known := r.status(g); !known || now != state {
		return nil
	}
	return r.walk(at, b)
}

// lowest returns the first address of a stack that leads to its callers: on arm64 a function keeps the frame pointer of
// its caller right below its stack pointer.
func (r *Reader) lowest(at registers) uint64 {
	if machineOf(r.code) == elf.EM_AARCH64 {
		return at.sp - 8
	}
	return at.sp
}

// readStack reads the stack of a goroutine in a state from its lowest address on, none of one that runs, and behind it
// the goroutine's structure once more.
func (r *Reader) readStack(at registers, state State) (stack, g []byte, ok bool) {
	size := 0
	if r.stands(state) && at.pc != 0 && at.sp > 8 && at.sp < at.top {
		size = int(min(stackBytes, at.top-r.lowest(at)))
	}
	b, spans := r.buffer[:size+r.width], []span{{r.lowest(at), size}, {r.pointer(at.index) + r.low, r.width}}
	if size == 0 {
		spans = spans[1:]
	}
	got, err := r.memory.gather(b, spans)
	return b[:size], b[size:], err == nil && got == len(b)
}

// walk follows the frame pointers on a stack. Where a function did not call, at the top and before
// what a signal injects, the pointer may still be its caller's: the address to return to is then
// found by what it pushed.
func (r *Reader) walk(at registers, b []byte) (list []symbols.Place) {
	pc, sp, frame, low := at.pc, at.sp, at.bp, r.lowest(at)
	returns := false // the address is one to return to: the call is before it
	for range maxFrames {
		stopped, called := pc, returns
		entry, name, ok := r.code.Entry(pc)
		if called || !ok || entry != pc {
			_, name, ok = r.code.Entry(pc - 1)
		} else { // it has not begun yet
			pc++
		}
		if !ok {
			break
		}
		returns = !slices.Contains(injected, name)
		list = append(list, r.code.frames(pc)...)
		if !called {
			pushed, known := r.code.pushed(stopped)
			if to := sp - low + pushed; known && frame != sp+pushed-8 && to < uint64(len(b)) && uint64(len(b))-to >= 8 {
				pc = word(b[to:])
				continue
			}
		}
		if frame < low || frame-low > uint64(len(b)) || uint64(len(b))-(frame-low) < 16 {
			break
		}
		next := word(b[frame-low:])
		pc, sp = word(b[frame-low+8:]), frame+16
		if next != 0 && next <= frame {
			break
		}
		frame = next
	}
	return list[:min(len(list), maxFrames)]
}
