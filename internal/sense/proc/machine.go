package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

var pageSize = uint64(os.Getpagesize())

// A Machine is the state of the whole machine's counters since boot, summed
// over its CPUs, the process's own part included.
type Machine struct {
	// Time is when these were read, at most a few samples ago: a machine with
	// hundreds of CPUs takes milliseconds to add up.
	Time time.Time `json:"t"`
	CPUs int       `json:"cpus"` // online

	Busy   time.Duration `json:"busy_ns"` // user code, kernel and interrupts
	Idle   time.Duration `json:"idle_ns"` // without IOWait
	IOWait time.Duration `json:"iowait_ns"`
	Steal  time.Duration `json:"steal_ns"` // taken by the hypervisor

	// The totals of pressure stall information: time in which at least one task
	// waited for the resource. Negative when the kernel does not measure it.
	CPUStall    time.Duration `json:"cpu_stall_ns"`
	MemoryStall time.Duration `json:"memory_stall_ns"`
	IOStall     time.Duration `json:"io_stall_ns"`

	Load      float64 `json:"load1"`     // 1-minute load average
	Memory    uint64  `json:"memory"`    // bytes installed
	Available uint64  `json:"available"` // bytes that can be had without swapping
}

// A Host is this machine, open for reading. Use it from one goroutine.
type Host struct {
	machine *machine
	open    time.Time
	buf     []byte
}

// OpenHost opens this machine's counters. The error is [ErrSystem].
func OpenHost() (*Host, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return &Host{openMachine("/"), time.Now(), make([]byte, 8<<10)}, nil
}

// Read reads the counters. Those without CPUs could not be read.
func (h *Host) Read() Machine { return h.machine.read(h.open.Add(time.Since(h.open)), h.buf) }

// Close closes all files.
func (h *Host) Close() { h.machine.close() }

// machine reads it.
type machine struct {
	stat, loadavg, meminfo, cpu, memory, io *os.File

	online map[int]bool
	buf    []byte // /proc/stat has a number for each interrupt
	last   cachedValue[Machine]
}

func openMachine(root string) *machine {
	open := func(name string) *os.File {
		f, _ := os.Open(filepath.Join(root, "proc", name))
		return f
	}
	return &machine{
		stat: open("stat"), loadavg: open("loadavg"), meminfo: open("meminfo"),
		cpu: open("pressure/cpu"), memory: open("pressure/memory"), io: open("pressure/io"),
		buf: make([]byte, 64<<10),
	}
}

func (m *machine) close() {
	for _, f := range []*os.File{m.stat, m.loadavg, m.meminfo, m.cpu, m.memory, m.io} {
		if f != nil {
			f.Close()
		}
	}
}

func (m *machine) read(now time.Time, buf []byte) Machine {
	return m.last.get(now, func() Machine {
		s := Machine{Time: now.Round(0)}
		text, err := m.readStat()
		if err == nil {
			m.online = parseMachineStat(text, &s)
		}
		if s.CPUs == 0 {
			return m.last.value // which says by its time that this reading is missing
		}
		s.CPUStall, s.MemoryStall, s.IOStall = stall(m.cpu, buf), stall(m.memory, buf), stall(m.io, buf)
		if text, err := readAt(m.loadavg, buf); err == nil {
			s.Load = parseLoad(text)
		}
		if text, err := readAt(m.meminfo, buf); err == nil {
			s.Memory, s.Available = parseMeminfo(text)
		}
		return s
	})
}

// countEvery is how often the list of CPUs is read, where that is all: they are switched on
// and off by people.
const countEvery = time.Minute

// A census is which CPUs are online of machines that are not open, by their root: once
// for all processes.
type census struct {
	mu     sync.Mutex
	online map[string]map[int]bool
	at     map[string]time.Time
}

var cpus = census{online: map[string]map[int]bool{}, at: map[string]time.Time{}}

func (c *census) of(root string, now time.Time) map[int]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.at[root]; ok && now.Sub(at) < countEvery {
		return c.online[root]
	}
	c.at[root] = now
	f, err := os.Open(filepath.Join(root, "proc", "stat"))
	if err != nil {
		return c.online[root]
	}
	defer f.Close()
	m := machine{stat: f, buf: make([]byte, 64<<10)}
	var s Machine
	if text, err := m.readStat(); err == nil {
		c.online[root] = parseMachineStat(text, &s)
	}
	return c.online[root]
}

// readStat reads the lines of all CPUs, of which the largest machines have
// more than the buffer was made for. Behind them is a line for interrupts.
func (m *machine) readStat() ([]byte, error) {
	for {
		text, err := readAt(m.stat, m.buf)
		if len(text) < len(m.buf) || len(m.buf) >= maxStat || bytes.Contains(text, []byte("\nintr")) {
			return text, err
		}
		m.buf = make([]byte, 2*len(m.buf))
	}
}

const maxStat = 2 << 20 // bytes: 8192 CPUs take at most 130 each

// usable returns how many of the CPUs in a list are online; 0 when unknown. The kernel's list
// also has those that could be plugged in.
func (m *machine) usable(affinity string) (n int) {
	parseCPUs(affinity, func(cpu int) {
		if m.online[cpu] {
			n++
		}
	})
	return n
}

// parseMachineStat reads /proc/stat and returns which CPUs are online. The
// lines of single CPUs come first; what follows is not looked at.
func parseMachineStat(text []byte, s *Machine) map[int]bool {
	online := map[int]bool{}
	for line := range lines(text) {
		f := bytes.Fields(line)
		if len(f) < 5 || !bytes.HasPrefix(f[0], []byte("cpu")) {
			break
		}
		if id := f[0][3:]; len(id) > 0 {
			if n, err := strconv.Atoi(string(id)); err == nil && n >= 0 && n < maxCPUs {
				online[n] = true
			}
			continue
		}
		at := func(i int) time.Duration {
			if i >= len(f) {
				return 0 // of a kernel before 2.6.11
			}
			return ticks(f[i])
		}
		// user nice system idle iowait irq softirq steal; guests are within user.
		s.Busy = at(1) + at(2) + at(3) + at(6) + at(7)
		s.Idle, s.IOWait, s.Steal = at(4), at(5), at(8)
	}
	s.CPUs = len(online)
	return online
}

// stall reads the total of a pressure file; -1 without one.
func stall(f *os.File, buf []byte) time.Duration {
	text, err := readAt(f, buf)
	if err != nil {
		return -1 // also where it is switched off: EOPNOTSUPP
	}
	return parsePressure(text)
}

// parsePressure reads the line "some avg10=… avg60=… avg300=… total=µs".
func parsePressure(text []byte) time.Duration {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if !bytes.HasPrefix(line, []byte("some ")) {
		return -1
	}
	_, total, ok := bytes.Cut(line, []byte(" total="))
	if !ok {
		return -1
	}
	return readDuration(total, time.Microsecond)
}

func parseLoad(text []byte) float64 {
	first, _, _ := bytes.Cut(text, []byte(" "))
	load, err := strconv.ParseFloat(string(first), 64)
	if err != nil || !(load >= 0 && load < 1e9) {
		return 0
	}
	return load
}

func parseMeminfo(text []byte) (total, available uint64) {
	for line := range lines(text) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(key) {
		case "MemTotal":
			total = kilobytes(bytes.TrimSpace(value))
		case "MemAvailable":
			return total, kilobytes(bytes.TrimSpace(value))
		}
	}
	return total, 0
}
