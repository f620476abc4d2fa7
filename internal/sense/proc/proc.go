// Package proc reads what Linux says of a process and of the machine under it:
// CPU time, faults, switches, memory, limits, threads, sockets.
//
// It hides the files of /proc and of control groups, in both versions and
// mixed: their formats and how these changed, where they are mounted, which of
// them speak for one thread only, how coarse their clocks are, who may read
// them, and how often reading is affordable. Its types are [Process], which
// gives a [Sample] of everything whenever asked, [Table], a monitor of many
// processes and threads as a tree, and [Program], a running Go program.
//
// What it costs: a sample asks the kernel for CPU time and reads a few small
// files through descriptors that stay open, 25 to 60 µs, so at 10 Hz some
// 0.05% of a CPU. What grows with the number of threads, CPUs or open files
// is paced: it is read anew only after 300 or 1000 times what reading it last
// took, and repeated in between. With 1000 threads a sample took 0.4 ms.
// A table takes one system call for each file of a process or thread, without
// allocating: see [Table.Update].
//
// proc never changes anything, never signals a process, never judges what it
// reads, and on other systems answers that it has nothing.
package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrGone is the error of a process that has ended or never was.
var ErrGone = errors.New("there is no such process")

// ErrSystem is the error on systems other than Linux.
var ErrSystem = errors.New("not available on this system: " + runtime.GOOS + " has no /proc")

// A Sample is the state of all counters at one moment.
type Sample struct {
	Time    time.Time `json:"t"` // never steps back while the process is open
	Process Counters  `json:"process"`
	Machine Machine   `json:"machine"`
	Limits  Limits    `json:"limits"`
	Group   *Group    `json:"group,omitempty"`   // nil when it is in no control group
	Threads []Thread  `json:"threads,omitempty"` // only when asked for
	// Maps is what its memory is mapped from; nil but where who samples adds it.
	Maps *Maps `json:"maps,omitempty"`
}

// Counters are those of a process since its start. All but the times, RSS and
// Swap are negative where reading them is not permitted.
type Counters struct {
	// User and System are CPU time as getrusage(2) has it, of all threads,
	// those that ended included.
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`

	MinorFaults int64 `json:"minflt"`
	MajorFaults int64 `json:"majflt"` // waited for a disk

	// Context switches of all threads: it waited, it was taken off the CPU.
	// What a thread did since it was last read is lost when it ends.
	Voluntary   int64 `json:"voluntary"`
	Involuntary int64 `json:"involuntary"`
	// RunQueue is how long threads were ready and waited for a CPU, summed like
	// the switches; 0 where the kernel does not count it.
	RunQueue time.Duration `json:"runqueue_ns"`
	// Slices is how often threads got a CPU, summed like the switches; 0 where the
	// kernel does not count it, and RunQueue neither. Recordings do not have it.
	Slices int64 `json:"-"`

	Threads int `json:"threads"`
	FDs     int `json:"fds"`

	RSS  uint64 `json:"rss"`  // bytes
	Swap uint64 `json:"swap"` // bytes

	ReadCalls  int64 `json:"syscr"` // system calls that read
	WriteCalls int64 `json:"syscw"`
	ReadBytes  int64 `json:"rchar"` // by these calls, from wherever
	WriteBytes int64 `json:"wchar"`

	// What costs much to read is read less often: then the context switches,
	// RunQueue and Slices, or the four of the calls, are those of an earlier sample.
	OldSwitches bool `json:"old_switches,omitempty"`
	OldCalls    bool `json:"old_calls,omitempty"`
}

// A Thread is the state of one thread's counters.
type Thread struct {
	ID          int           `json:"id"`
	Name        string        `json:"name"`
	User        time.Duration `json:"user_ns"`
	System      time.Duration `json:"system_ns"`
	RunQueue    time.Duration `json:"runqueue_ns"`
	Voluntary   int64         `json:"voluntary"`
	Involuntary int64         `json:"involuntary"`
}

// A Process is open for sampling. Use it from one goroutine.
type Process struct {
	root  string // of the file system, "/" but in tests
	pid   int
	live  bool // root is this machine's
	alone bool // samples are without the machine
	open  time.Time

	stat       *os.File
	status, io *os.File // nil where many are watched: two descriptors of each
	fds        bool     // its open files may be counted
	buf        []byte   // while it reads

	cpu      split // User and System as last given
	switches switches
	files    cachedValue[int]
	weight   Weight
	heavy    error                 // why there is none
	reweigh  time.Time             // when it is read again
	calls    cachedValue[Counters] // of /proc/PID/io, whose price grows with threads
	machine  *machine
	groups   *groups
	limit    uint64    // of open files
	limited  time.Time // when it is read again
}

// buffers are those of processes that are not read at the moment.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// borrow has a buffer until what it returns is called.
func (p *Process) borrow() (giveBack func()) {
	b := buffers.Get().(*[64 << 10]byte)
	p.buf, p.switches.buf = b[:], b[:]
	return func() {
		p.buf, p.switches.buf = nil, nil
		buffers.Put(b)
	}
}

// Open opens a process of this machine. The error is [ErrGone], [ErrSystem],
// or fs.ErrPermission where a system hides other users' processes.
func Open(pid int) (*Process, error) { return open("/", pid, false) }

// OpenAlone opens a process whose samples are without the machine, of which they have
// the number of CPUs alone: who watches many reads it once for all, with a [Host].
func OpenAlone(pid int) (*Process, error) { return open("/", pid, true) }

func open(root string, pid int, alone bool) (*Process, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	p := &Process{root: root, pid: pid, live: root == "/", alone: alone, open: time.Now()}
	var err error
	if p.stat, err = os.Open(p.path("stat")); err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, asErrGone(err))
	}
	// These may be refused to other users; a sample then says so.
	if fd, err := os.Open(p.path("fd")); err == nil {
		p.fds = true
		fd.Close()
	}
	p.switches.open(p)
	if alone {
		p.machine, p.groups = &machine{}, joinGroups(root, pid)
		return p, nil
	}
	p.status, _ = os.Open(p.path("status"))
	p.io, _ = os.Open(p.path("io"))
	p.machine, p.groups = openMachine(root), openGroups(root, pid)
	return p, nil
}

// Close closes all files; the process itself does not notice.
func (p *Process) Close() error {
	for _, f := range []*os.File{p.stat, p.status, p.io} {
		if f != nil {
			f.Close()
		}
	}
	p.machine.close()
	p.groups.close()
	return nil
}

func (p *Process) path(name string) string {
	return filepath.Join(p.root, "proc", strconv.Itoa(p.pid), name)
}

// Sample reads the counters. With threads it also reads each thread, some
// 30 µs for one, and nothing is repeated from earlier samples: ask for them at
// the ends of a recording. The error is
// [ErrGone] after the process ended; while its parent has not yet asked for
// its exit status, the sample beside the error still has the final CPU time
// and faults.
func (p *Process) Sample(threads bool) (Sample, error) {
	// Now and Since: wall clocks step, the monotonic reading does not.
	now := p.open.Add(time.Since(p.open))
	s := Sample{Time: now.Round(0)}
	defer p.borrow()()
	text, err := readAt(p.stat, p.buf)
	if err != nil {
		return s, fmt.Errorf("process %d: %w", p.pid, asErrGone(err))
	}
	st, err := parseStat(text)
	if err != nil {
		return s, fmt.Errorf("process %d: %w", p.pid, err)
	}
	p.fillStat(&s.Process, st)
	if st.zombie() {
		return s, fmt.Errorf("process %d: %w", p.pid, ErrGone)
	}
	if threads {
		p.hurry()
	}
	affinity := p.fillStatus(&s.Process)
	p.fillIO(&s.Process, now)
	s.Process.FDs = p.countFDs(now)
	if p.alone {
		p.machine.online = cpus.of(p.root, now)
	} else {
		s.Machine = p.machine.read(now, p.buf)
	}
	s.Limits, s.Group = p.groups.read(now, p.buf)
	s.Limits.Files = p.fileLimit(now)
	s.Limits.CPUs = p.machine.usable(affinity)
	if threads {
		p.groups.readCache(s.Group, p.buf)
		s.Threads = p.switches.list()
	}
	s.Process.OldSwitches = now.Before(p.switches.next)
	total := p.switches.read(now)
	s.Process.Voluntary, s.Process.Involuntary, s.Process.RunQueue = total.voluntary, total.involuntary, total.runQueue
	s.Process.Slices = total.slices
	return s, nil
}

func (p *Process) fillStat(c *Counters, st statLine) {
	c.User, c.System = st.user, st.system
	if p.live {
		if total, user, system, ok := cpuClocks(p.pid); ok {
			c.User, c.System = p.cpu.scale(total, user, system)
		}
	}
	c.MinorFaults, c.MajorFaults, c.Threads, c.RSS = st.minor, st.major, st.threads, st.rss
}

// fillStatus also returns the list of CPUs that the process may use.
func (p *Process) fillStatus(c *Counters) (affinity string) {
	text, ok := p.text(p.status, "status")
	if !ok {
		return ""
	}
	st := parseStatus(text)
	if st.rss > 0 { // in step with the kernel's own sums, unlike stat's
		c.RSS = st.rss
	}
	c.Swap = st.swap
	return st.affinity
}

func (p *Process) fillIO(c *Counters, now time.Time) {
	c.OldCalls = now.Before(p.calls.next)
	from := p.calls.get(now, func() Counters {
		c := Counters{ReadCalls: -1, WriteCalls: -1, ReadBytes: -1, WriteBytes: -1}
		if text, ok := p.text(p.io, "io"); ok {
			parseIO(text, &c)
		}
		return c
	})
	c.ReadCalls, c.WriteCalls = from.ReadCalls, from.WriteCalls
	c.ReadBytes, c.WriteBytes = from.ReadBytes, from.WriteBytes
}

// text reads one of the process's files, which may be open.
func (p *Process) text(f *os.File, name string) ([]byte, bool) {
	if f == nil {
		return readSmall(p.path(name), p.buf)
	}
	text, err := readAt(f, p.buf)
	return text, err == nil
}

// fileLimitEvery is how often a process's limit of open files is read again: few change it
// while they run.
const fileLimitEvery = 10 * time.Second

func (p *Process) fileLimit(now time.Time) uint64 {
	if !now.Before(p.limited) {
		text, _ := p.text(nil, "limits")
		p.limit, p.limited = parseFileLimit(string(text)), now.Add(fileLimitEvery)
	}
	return p.limit
}

// hurry makes everything paced due.
func (p *Process) hurry() {
	p.calls.next, p.files.next, p.machine.last.next = time.Time{}, time.Time{}, time.Time{}
	p.switches.next, p.limited = time.Time{}, time.Time{}
	p.groups.hurry()
}

// countFDs returns the number of open files, or -1. Since Linux 6.2 it is the
// size of the directory; before, it takes a walk through all of them.
func (p *Process) countFDs(now time.Time) int {
	if !p.fds {
		return -1
	}
	if p.live {
		if info, err := os.Stat(p.path("fd")); err == nil && info.Size() > 0 {
			return int(info.Size())
		}
	}
	return p.files.get(now, func() int {
		dir, err := os.Open(p.path("fd"))
		if err != nil {
			return -1
		}
		defer dir.Close()
		names, _ := dir.Readdirnames(maxFiles)
		return len(names)
	})
}

// readAt reads a file from its start: the kernel writes the text anew for
// each such reading, and no open or close is needed.
func readAt(f *os.File, buf []byte) ([]byte, error) {
	if f == nil {
		return nil, fs.ErrPermission
	}
	n, err := f.ReadAt(buf, 0)
	if n > 0 {
		return buf[:n], nil
	}
	return nil, err
}

// asErrGone turns what the kernel answers for an ended process into ErrGone.
func asErrGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return ErrGone
	}
	return err
}

// A cachedValue is read anew only so often that reading costs less than a
// thousandth of the time. What it costs is CPU: on a busy machine a reading takes as long
// as others keep the thread from a CPU, and a value that waited for that would be old.
type cachedValue[T any] struct {
	value T
	next  time.Time
}

const paceShare = 1000

func (p *cachedValue[T]) get(now time.Time, read func() T) T {
	if now.Before(p.next) {
		return p.value
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := ThreadTime()
	p.value = read()
	p.next = now.Add(paceShare * (ThreadTime() - start))
	return p.value
}
