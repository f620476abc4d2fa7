package live

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/watch/budget"
)

// Options say what to watch. The zero value is all Go programs.
type Options struct {
	PIDs   []int         // these alone
	All    bool          // processes that are not Go programs too
	Every  time.Duration // between refreshes; 1 s when zero
	Budget float64       // of a CPU, for all of it; DefaultBudget when zero
	// Rules judge the programs; nil judges none.
	Rules []*diagnosis.Rule
	// Stacks has the stack of each group of goroutines read too.
	Stacks bool
	// Trace takes execution traces along, of programs that have an endpoint.
	Trace bool
}

// DefaultBudget is a fiftieth of a CPU.
const DefaultBudget = 0.02

// A Watch watches a machine. Its methods may be called from any goroutine.
type Watch struct {
	o      Options
	mu     sync.Mutex
	table  *proc.Table
	finder *proc.Finder
	host   *proc.Host
	meter  *budget.Meter
	judge  *judge

	tasks     []proc.Task
	last      map[int]proc.Task // as the refresh before had them
	machine   proc.Machine
	seen      Machine // as in the last frame
	processes map[int]*process
	users     map[int]string
	ended     map[string]int // by program: how many with that name have ended
	left      []*process     // programs that ended lately, whose place others may take
	fresh     []*process     // programs that were found in this refresh
	shown     int            // how many the frame before had
	calls     int64
	threads   int // of which process they are wanted
	attended  int // which process is looked at; 0 is none
	cost      Cost
}

// A process is what is kept of one between refreshes.
type process struct {
	start   time.Duration // since boot: numbers are used again
	comm    string        // another program may be in its place
	goes    bool
	closed  bool
	program proc.Program
	target  *target // of a Go program that may be looked into
	pid     int
	was     int       // the number of the one whose place it took
	gone    time.Time // when it had ended
}

// New begins to watch. The error is [proc.ErrSystem] where nothing can be watched.
func New(o Options) (*Watch, error) {
	o.PIDs = slices.Clone(o.PIDs)
	o.Every, o.Budget = cmp.Or(o.Every, time.Second), cmp.Or(o.Budget, DefaultBudget)
	w := &Watch{o: o, finder: proc.NewFinder(), meter: budget.NewMeter(meterWindow, time.Now, budget.OwnCPU),
		processes: map[int]*process{}, last: map[int]proc.Task{}, users: map[int]string{}, ended: map[string]int{}}
	table, err := proc.NewTable(proc.Watch{Rest: w.rest})
	if err != nil {
		return nil, err
	}
	host, err := proc.OpenHost()
	if err != nil {
		table.Close()
		return nil, err
	}
	w.table, w.host = table, host
	if len(o.Rules) > 0 {
		if w.judge, err = startJudge(o, w); err != nil {
			w.Close()
			return nil, err
		}
	}
	if err := w.read(); err != nil { // rates are between two readings
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close ends it and removes what it recorded.
func (w *Watch) Close() {
	w.judge.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.processes {
		p.target.close()
	}
	w.table.Close()
	w.host.Close()
}

// Keep writes a recording of a program's last half minute, for the user to have.
func (w *Watch) Keep(pid int, to string) error {
	return w.judge.keep(pid, time.Time{}, time.Time{}, to)
}

// KeepWindow writes a recording of all pieces that meet a window.
func (w *Watch) KeepWindow(pid int, from, until time.Time, to string) error {
	return w.judge.keep(pid, from, until, to)
}

// Attend has a program judged before others, and all the time, and its share of
// memory read; 0 is none. With trace the next piece has an execution trace, where
// the program offers one.
func (w *Watch) Attend(pid int, trace bool) {
	w.judge.attend(pid, trace)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attended = pid
}

// ShowThreads has a program's threads in the frames; 0 is nobody's.
func (w *Watch) ShowThreads(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.threads = pid
}

// ShowAll has processes that are not Go programs in the frames, or not.
func (w *Watch) ShowAll(all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.o.All = all
	w.table.Wake()
}

const (
	// unseenRest is for how many refreshes a process is left alone that is not shown:
	// more, and one that turns into a Go program is noticed late. A young one does so.
	unseenRest = 10
	settled    = 10 * time.Second
)

// rest tells for how many refreshes a process need not be read.
func (w *Watch) rest(t *proc.Task) int {
	if t.Kernel {
		return unseenRest + t.ID%3 // not all of them in one refresh
	}
	p := w.processes[t.ID]
	switch {
	case p == nil || p.goes || w.wanted(*t, p):
		return 0
	case sinceBoot()-t.Start > settled:
		return unseenRest + t.ID%3
	}
	return 0
}

// read reads all processes, without a frame.
func (w *Watch) read() error {
	if err := w.table.Update(); err != nil {
		return err
	}
	w.tasks = w.table.Tree(w.tasks[:0])
	w.machine = w.host.Read()
	clear(w.last)
	for _, t := range w.tasks {
		w.last[t.ID] = t
	}
	return nil
}

// Refresh reads everything anew.
func (w *Watch) Refresh() (*Frame, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	began := budget.OwnCPU()
	if err := w.table.Update(); err != nil {
		return nil, err
	}
	now := time.Now()
	w.tasks = w.table.Tree(w.tasks[:0])
	f := &Frame{Time: now.Round(0), Processes: make([]Process, 0, w.shown)}
	w.readMachine(f)
	boot, share := sinceBoot(), w.share()
	for _, t := range w.tasks {
		if t.Kernel || t.State == 'Z' {
			continue
		}
		f.Machine.Processes++
		p := w.find(t)
		switch {
		case p.closed:
			f.Machine.Closed++
		case p.goes:
			f.Machine.Programs++
		}
		if !w.wanted(t, p) {
			continue
		}
		f.Processes = append(f.Processes, w.process(t, p, now, boot, share))
	}
	w.shown = len(f.Processes)
	w.forget()
	w.succeed(now)
	clear(w.last)
	for _, t := range w.tasks {
		w.last[t.ID] = t
	}
	w.judge.choose(f)
	f.Cost = Cost{Share: w.meter.Share(), Budget: w.o.Budget, Every: pace(w.o.Every, budget.OwnCPU()-began, w.o.Budget)}
	f.Cost.Calls = w.table.Use().Calls - w.calls
	w.cost = f.Cost
	w.calls += f.Cost.Calls
	return f, nil
}

func (w *Watch) wanted(t proc.Task, p *process) bool {
	if len(w.o.PIDs) > 0 {
		return slices.Contains(w.o.PIDs, t.ID)
	}
	return w.o.All || p.goes && t.ID != os.Getpid()
}

// leastTime is the least between two readings of counters that go by ticks of 10 ms.
const leastTime = 50 * time.Millisecond

// readMachine compares the machine's counters with those of the refresh before.
func (w *Watch) readMachine(f *Frame) {
	m := &f.Machine
	a, b := w.machine, w.host.Read()
	if b.Time.Sub(a.Time) < leastTime && w.seen.CPUs > 0 { // too soon to compare
		*m = w.seen
		return
	}
	defer func() { w.seen = *m }()
	*m = Machine{CPUs: b.CPUs, Load: b.Load, Memory: b.Memory, Available: b.Available, CPUPressure: -1, MemoryPressure: -1, IOPressure: -1}
	w.machine = b
	passed := b.Time.Sub(a.Time).Seconds()
	if passed <= 0 {
		return
	}
	rate := func(before, after time.Duration) float64 {
		if before < 0 || after < 0 {
			return -1
		}
		return max(0, (after-before).Seconds()/passed)
	}
	m.Busy, m.Steal = rate(a.Busy, b.Busy), rate(a.Steal, b.Steal)
	m.CPUPressure, m.MemoryPressure, m.IOPressure = rate(a.CPUStall, b.CPUStall), rate(a.MemoryStall, b.MemoryStall), rate(a.IOStall, b.IOStall)
}

// find returns the record of a process: it is looked at when it is new, or another program
// than before.
func (w *Watch) find(t proc.Task) *process {
	p := w.processes[t.ID]
	if p != nil && p.start == t.Start && p.comm == t.Name {
		return p
	}
	if p != nil {
		w.end(p)
	}
	p = &process{start: t.Start, comm: t.Name, pid: t.ID}
	program, ok := w.finder.Find(t.ID)
	if ok && program.Err == nil && len(program.Args) == 0 && sinceBoot()-t.Start < settled {
		return p // it is being started: its name is there before its arguments; so it is not kept
	}
	w.processes[t.ID] = p
	switch {
	case !ok:
	case program.Err != nil:
		p.closed = true
	default:
		p.goes, p.program = true, program
		p.target = &target{pid: t.ID, stacks: w.o.Stacks, atOnce: len(w.o.PIDs) > 0}
		w.fresh = append(w.fresh, p)
	}
	return p
}

// forget lets go of processes that have ended.
func (w *Watch) forget() {
	if len(w.processes) == len(w.tasks) {
		return
	}
	here := make(map[int]bool, len(w.tasks))
	for _, t := range w.tasks {
		here[t.ID] = true
	}
	for pid, p := range w.processes {
		if !here[pid] {
			w.end(p)
			delete(w.processes, pid)
		}
	}
}

// end is called for a process that is gone, or is another program now.
func (w *Watch) end(p *process) {
	p.target.close()
	if !p.goes {
		return
	}
	if len(w.ended) < 10_000 {
		w.ended[p.path()]++
	}
	p.gone = time.Now()
	w.left = append(w.left, p)
	w.left = w.left[max(0, len(w.left)-maxLeft):]
}

const (
	// restartTime is how long a program may take to be there again.
	restartTime = time.Minute
	maxLeft     = 100
)

// succeed finds which of the new programs are others begun anew: the same file
// with the same arguments. Who watched those watches these.
func (w *Watch) succeed(now time.Time) {
	for _, p := range w.fresh {
		i := slices.IndexFunc(w.left, func(l *process) bool {
			return now.Sub(l.gone) < restartTime && l.pid != p.pid && l.path() == p.path() && slices.Equal(l.program.Args, p.program.Args)
		})
		if i < 0 {
			continue
		}
		p.was = w.left[i].pid
		w.left = slices.Delete(w.left, i, i+1)
		if at := slices.Index(w.o.PIDs, p.was); at >= 0 {
			w.o.PIDs[at] = p.pid
		}
		if w.attended == p.was {
			w.attended = p.pid
		}
		w.judge.follow(p.was, p.pid)
	}
	w.fresh = w.fresh[:0]
}

// path returns where the file of a program was, even if it is another file by now.
func (p *process) path() string { return strings.TrimSuffix(p.program.Exe, " (deleted)") }

func (w *Watch) process(t proc.Task, p *process, now time.Time, boot time.Duration, share float64) Process {
	r := Process{PID: t.ID, Parent: t.Parent, Name: t.Name, State: string(rune(t.State)), Up: max(0, boot-t.Start), Threads: t.Threads, RSS: t.RSS}
	if before, ok := w.last[t.ID]; ok && before.Start == t.Start {
		if passed := t.Read.Sub(before.Read).Seconds(); passed > 0 { // 0 of one that was left alone: it did nothing
			r.CPU = CPU{User: (t.User - before.User).Seconds() / passed, System: (t.System - before.System).Seconds() / passed}
			r.Faults = float64(t.MajorFaults-before.MajorFaults) / passed
		}
	}
	if !p.goes {
		return r
	}
	r.User = w.user(p.program.UID)
	b := p.program.Build
	r.Program, r.Module, r.Version, r.Go, r.Args = b.Path, b.Main.Path, b.Main.Version, b.GoVersion, p.program.Args
	r.Restarts, r.Was = w.ended[p.path()], p.was
	p.target.threads = w.threads == t.ID
	p.target.weighed = w.weighs(t.ID)
	p.target.read(&r, now, share, t.Still)
	r.Verdict = w.judge.verdict(t.ID)
	return r
}

// weighs reports whether a program's share of memory is read: when it is looked at, or
// watched alone.
func (w *Watch) weighs(pid int) bool { return w.attended == pid || len(w.o.PIDs) == 1 }

// ownCPU returns the CPU time of all watching lately.
func (w *Watch) ownCPU() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cost.Share
}

// A memory is that of a program which is watched, for who records it: its goroutines as they
// were read last, and what the reader of them can open. It is a [record.Memory].
type memory struct {
	w   *Watch
	pid int
}

// memory returns the memory of a program.
func (w *Watch) memory(pid int) memory { return memory{w, pid} }

var errUnread = errors.New("its memory is not read")

// Read returns the last snapshot of the goroutines, nil while there is none.
func (m memory) Read() (*goroutines.Snapshot, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if p := m.w.processes[m.pid]; p != nil && p.target != nil {
		return p.target.latestSnapshot(), nil
	}
	return nil, errUnread
}

// Gauge opens the counters of the runtime, where the goroutines are read.
func (m memory) Gauge() (*goroutines.Gauge, error) { return opened(m, (*goroutines.Reader).Gauge) }

// HeapReader opens the memory profile, where the goroutines are read.
func (m memory) HeapReader() (*goroutines.HeapReader, error) {
	return opened(m, (*goroutines.Reader).HeapReader)
}

func opened[T any](m memory, open func(*goroutines.Reader) (*T, error)) (*T, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if p := m.w.processes[m.pid]; p != nil && p.target != nil && p.target.reader != nil {
		return open(p.target.reader)
	}
	return nil, errUnread
}

// share returns how much of the time the dear readings of one program may take: a half of the
// budget is for all of them.
func (w *Watch) share() float64 {
	n := 0
	for _, p := range w.processes {
		if p.goes {
			n++
		}
	}
	return w.o.Budget / 2 / float64(max(1, n))
}

func (w *Watch) user(uid int) string {
	if uid < 0 {
		return ""
	}
	name, ok := w.users[uid]
	if !ok {
		name = strconv.Itoa(uid)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		w.users[uid] = name
	}
	return name
}

// Absent says which of the processes that are watched alone are not there.
func (f *Frame) Absent(pids []int) error {
	var errs []error
	for _, pid := range pids {
		if !slices.ContainsFunc(f.Processes, func(p Process) bool { return p.PID == pid }) {
			errs = append(errs, fmt.Errorf("process %d: %w", pid, proc.ErrGone))
		}
	}
	return errors.Join(errs...)
}
