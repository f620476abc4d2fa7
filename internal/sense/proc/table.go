package proc

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Watch says what a [Table] is of. The zero value is all processes of the
// machine, with what takes one system call for each.
type Watch struct {
	PID     int  // one process; 0 for all
	Tree    bool // its descendants too; nothing changes without PID
	Threads bool // each thread, and by them switches and run-queue wait
	Memory  bool // PSS, of processes that we may look into
	Files   bool // number of open files, of the same
	// Keep bounds the descriptors that stay open. 0 is half of what this process
	// may have (RLIMIT_NOFILE), a negative number is none.
	Keep int
	// Rest, if set, is called for each process that was read: for how many Updates it is left
	// alone then. It stays meanwhile as it was, and that it has ended is seen at once.
	Rest func(*Task) int
}

// A Task is a process or a thread as it was last read. What is negative was
// not asked for, or may not be read.
type Task struct {
	Read    time.Time // when it was
	Still   bool      // it did not run since the Update before; false where that is not known
	ID      int       // of the process or the thread
	Process int       // the same, or the process that the thread belongs to
	Parent  int       // of the process; 0 for the first ones
	Depth   int       // in the tree: 0 for what has no parent in the table
	Thread  bool
	Kernel  bool // a thread of the kernel, which counts as a process

	Name  string        // as its program set it: any bytes
	State byte          // as proc(5) has it: R, S, D, T, Z, I and others
	Start time.Duration // since boot, in steps of 10 ms

	// CPU time since the start. A process's has its ended threads' in it. Both
	// are in steps of 10 ms; where threads were asked for and the kernel has
	// scheduler statistics their sum is exact, and the two are to each other
	// as those steps are.
	User, System time.Duration
	MinorFaults  int64
	MajorFaults  int64 // waited for a disk

	// Of a process alone.
	Threads int
	FDs     int
	RSS     uint64 // bytes
	PSS     int64  // bytes; some refreshes old, see [Table.Update]

	// Of a thread, or the sum over a process's threads, with what the ended ones
	// had when they were last read.
	RunQueue    time.Duration // ready, and waiting for a CPU
	Voluntary   int64         // context switches: it waited
	Involuntary int64         // it was taken off the CPU
}

// A Use is what a [Table] itself costs.
type Use struct {
	Calls  int64 // system calls made since NewTable
	Opened int64 // of these, openings of files
	Kept   int   // descriptors that are open now
}

// A Table is the state of many processes, read anew at each Update. Any number
// of goroutines may use it.
type Table struct {
	mu    sync.Mutex
	watch Watch
	files *files
	byID  map[int]*process
	all   []*process // by id, those that the last Update found
	order []*process // parents before children, siblings by id

	closed bool
	live   bool      // it is of this machine
	now    time.Time // of the last Update
	sched  statistics
	births births    // when ids were listed
	listed uint64    // in which round
	turn   int       // in order: whose PSS is read next
	rested time.Time // when PSS may be read again

	// To be used again: in a steady state nothing is allocated.
	ids       []int
	threadIDs []int
	stack     []*process
	merged    []*task
	processes []*process
	tasks     []*task
}

// A process is one that the last Update found.
type process struct {
	id    int
	stat  statLine
	file  file
	round uint64 // of the Update that saw it
	next  uint64 // of the Update that reads it again
	at    time.Time
	ran   time.Duration // its CPU time, exactly, before it was read; negative when not known
	fresh uint64        // of the Update that read it
	idle  bool          // it did not run since the Update before

	// Its place in the tree.
	child, sibling *process // its last child, and the parent's child before it
	rooted         bool     // has no parent in the table
	placed         uint64   // by which Update
	depth          int

	details
}

// statistics is whether the kernel was built with scheduler statistics.
type statistics int

const (
	untried statistics = iota
	present
	missing
)

// maxProcesses bounds a table. /proc has at most 4 million processes.
const maxProcesses = 100_000

// NewTable makes a table, empty until its first Update. The error is
// [ErrSystem], or why /proc cannot be read.
func NewTable(w Watch) (*Table, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return newTable("/proc", w)
}

func newTable(proc string, w Watch) (*Table, error) {
	budget := max(0, w.Keep)
	if w.Keep == 0 {
		budget = allowedFiles() / 2
	}
	f, err := openFiles(proc, budget)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", proc, err)
	}
	return &Table{watch: w, files: f, live: f.genuine(), byID: map[int]*process{}}, nil
}

// Close closes all files. An Update after it fails.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files.close()
	t.closed = true
	clear(t.byID)
	t.all, t.order = nil, nil
	return nil
}

// Use tells what the table has cost so far.
func (t *Table) Use() Use {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Use{Calls: t.files.calls, Opened: t.files.missed, Kept: t.files.kept}
}

// Update reads everything anew: one system call for each file that is kept
// open, three for each that is not, and a few to list what there is. A process
// that did not run since is only asked for that, which takes a tenth of reading
// its file, and processes are listed only when some came or went. Of a
// thread that did not run since, one file is read instead of three. PSS takes
// the kernel a walk through the process's memory: of some processes it is read
// each time, for 2 ms and 1% of the time at most, so that it becomes older the
// more of them there are.
//
// Processes that came are in the table, those that went are not, and one that
// has the number of another begins anew. The error is [ErrGone] when the one
// process that is watched has ended; the table is empty then. With an error of
// listing it is as it was.
func (t *Table) Update() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	if err := t.list(); err != nil {
		return fmt.Errorf("processes: %w", err)
	}
	t.files.round++
	t.now = time.Now()
	t.all = t.all[:0]
	for _, id := range t.ids {
		t.visit(id)
	}
	t.sweep()
	t.arrange()
	for _, p := range t.order {
		t.look(p)
	}
	if t.watch.Memory {
		t.weigh()
	}
	if t.watch.PID != 0 && len(t.order) == 0 {
		return fmt.Errorf("process %d: %w", t.watch.PID, ErrGone)
	}
	return nil
}

// list finds the numbers of the processes to read. Descendants can only be
// found among all: the kernel's own list of children is seldom built in.
func (t *Table) list() (err error) {
	if t.watch.PID != 0 && !t.watch.Tree {
		t.ids = append(t.ids[:0], t.watch.PID)
		return nil
	}
	now := births{}
	if t.live {
		now = t.files.births()
	}
	if now.known && now == t.births && t.files.round < t.listed+listEvery {
		return nil
	}
	t.ids, err = t.files.list(t.ids[:0], 0, "", maxProcesses)
	slices.Sort(t.ids)
	t.births, t.listed = now, t.files.round
	if err != nil {
		t.births = births{}
	}
	return err
}

const (
	// listEvery is how many Updates may pass until processes are listed in any case:
	// where /proc is another namespace's the numbers given there are not known.
	listEvery = 5
	// stillFor is the same of reading a process that does not run: its memory may be
	// taken from it.
	stillFor = 10
)

// still tells whether a process has done nothing since it was read. Nothing of what
// is read changes unless it runs, but for its parent, whose end is seen, and its memory.
func (t *Table) still(p *process) bool {
	if !t.live || t.watch.PID != 0 && !t.watch.Tree { // of one process it saves little
		return false
	}
	t.files.calls++
	ran, ok := cpuTime(p.id)
	if !ok {
		p.ran, p.idle = -1, false
		return false
	}
	p.idle = ran == p.ran
	same := p.idle && t.files.round < p.fresh+stillFor+uint64(p.id)%stillFor // not all at once
	p.ran = ran
	return same
}

// visit reads one process, into its old entry where it is still the same.
func (t *Table) visit(id int) {
	p := t.byID[id]
	if p != nil && t.files.round < p.next {
		p.round = t.files.round
		t.all = append(t.all, p)
		return
	}
	if p != nil && !t.still(p) && !t.read(p) {
		t.forget(p)
		p = nil
	}
	if p == nil {
		p = t.newProcess(id)
		t.still(p)
		if !t.read(p) {
			t.files.drop(&p.file)
			t.processes = append(t.processes, p)
			return
		}
		t.byID[id] = p
	}
	p.round = t.files.round
	p.at = t.now
	if t.watch.Rest != nil {
		r := p.row(&t.watch)
		p.next = p.round + 1 + uint64(max(0, t.watch.Rest(&r)))
	}
	t.all = append(t.all, p)
}

// Wake has the next Update read every process.
func (t *Table) Wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byID {
		p.next, p.ran = 0, -1
	}
}

// read reads a process's stat file. It is false when the process has ended, or
// is another than before.
func (t *Table) read(p *process) bool {
	text, err := t.files.read(&p.file, p.id, 0, "stat")
	known := p.round != 0
	if err != nil {
		return known && !ended(err) // out of descriptors: it stays as it was
	}
	start := p.stat.start
	if err := p.stat.parse(text); err != nil {
		return known
	}
	p.fresh = t.files.round
	return !known || p.stat.start == start
}

// sweep forgets the processes that were not seen.
func (t *Table) sweep() {
	if len(t.byID) == len(t.all) {
		return
	}
	for _, p := range t.byID {
		if p.round != t.files.round {
			t.forget(p)
		}
	}
}

func (t *Table) forget(p *process) {
	t.unlook(p)
	t.files.drop(&p.file)
	delete(t.byID, p.id)
	t.processes = append(t.processes, p)
}

func (t *Table) newProcess(id int) *process {
	if n := len(t.processes); n > 0 {
		p := t.processes[n-1]
		t.processes = t.processes[:n-1]
		threads := p.threads[:0]
		*p = process{id: id, details: details{threads: threads}}
		return p
	}
	return &process{id: id}
}

// arrange puts the watched processes in the order of their tree.
func (t *Table) arrange() {
	t.order = t.order[:0]
	for _, p := range t.all {
		p.child, p.sibling = nil, nil
	}
	for _, p := range t.all {
		parent := t.byID[p.stat.parent]
		// A child is not older than its parent: that one took over the number of
		// a parent that ended between the two readings.
		p.rooted = parent == nil || parent == p || parent.stat.start > p.stat.start
		if !p.rooted {
			p.sibling, parent.child = parent.child, p
		} else if p.stat.parent != 0 {
			p.ran = -1 // it was given to another
		}
	}
	if t.watch.PID != 0 {
		if p := t.byID[t.watch.PID]; p != nil {
			t.place(p)
		}
	} else {
		for _, p := range t.all {
			if p.rooted {
				t.place(p)
			}
		}
		for _, p := range t.all { // in a circle, if numbers are used again that fast
			t.place(p)
		}
	}
	for _, p := range t.all {
		if p.watched && p.placed != t.files.round {
			t.unlook(p) // it was given to a parent outside
		}
	}
}

// place appends a process and its descendants, unless they have their places.
func (t *Table) place(root *process) {
	if root.placed == t.files.round {
		return
	}
	root.depth, root.placed = 0, t.files.round
	t.stack = append(t.stack[:0], root)
	for len(t.stack) > 0 {
		p := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.order = append(t.order, p)
		for c := p.child; c != nil; c = c.sibling {
			if c.placed != t.files.round {
				c.depth, c.placed = p.depth+1, t.files.round
				t.stack = append(t.stack, c)
			}
		}
	}
}

// Tree appends the tasks as the last Update found them: each process before
// its threads, these before its children, siblings by id. What is given keeps
// its memory, so that a caller who hands the last answer back, cut to nothing,
// makes no garbage.
func (t *Table) Tree(into []Task) []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.order {
		into = append(into, p.row(&t.watch))
		if !t.watch.Threads {
			continue
		}
		for _, th := range p.threads {
			into = append(into, th.row(p))
		}
	}
	return into
}

func (p *process) row(w *Watch) Task {
	r := Task{
		Read: p.at, Still: p.idle, ID: p.id, Process: p.id, Parent: p.stat.parent, Depth: p.depth, Kernel: p.stat.kernel,
		Name: p.stat.name, State: p.stat.state, Start: p.stat.start,
		User: p.user, System: p.system, MinorFaults: p.stat.minor, MajorFaults: p.stat.major,
		Threads: p.stat.threads, FDs: p.fds, RSS: p.stat.rss, PSS: p.pss,
		RunQueue: -1, Voluntary: -1, Involuntary: -1,
	}
	if w.Threads {
		r.RunQueue, r.Voluntary, r.Involuntary = p.count.runQueue, p.count.voluntary, p.count.involuntary
	}
	return r
}

func (th *task) row(p *process) Task {
	return Task{
		Read: p.at, ID: th.id, Process: p.id, Parent: p.stat.parent, Depth: p.depth + 1, Thread: true, Kernel: p.stat.kernel,
		Name: th.stat.name, State: th.stat.state, Start: th.stat.start,
		User: th.user, System: th.system, MinorFaults: th.stat.minor, MajorFaults: th.stat.major,
		Threads: -1, FDs: -1, PSS: -1,
		RunQueue: th.count.runQueue, Voluntary: th.count.voluntary, Involuntary: th.count.involuntary,
	}
}

// errClosed is the error of an Update after Close.
var errClosed = errors.New("the table is closed")
