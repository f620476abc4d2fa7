//go:build amd64 || arm64

package kernel

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A Session watches a process from Start to Stop.
type Session struct {
	opt     Options
	begin   time.Time
	pid     int
	memory  *symbols.Process
	target  target
	probes  *probes
	noBPF   error // why programs do not count the calls
	offBPF  bool  // probes sum the switches
	callBPF bool  // probes count the calls

	wide, threads *sampler
	userOnly      bool // CPU has no time in the kernel
	callPerf      bool // threads counts the calls

	refused []Refusal
	clock   cpuClock
	refresh chan struct{}
	fresh   chan struct{}
}

// errStopped is what a second Stop answers.
var errStopped = errors.New("the session was stopped")

// Start begins to watch a process. It fails only when nothing at all of what
// was asked for can be had; see [Session.Refusals] for the rest.
func Start(o Options) (*Session, error) { return start(o, mechanisms{wide: true, bpf: true}) }

// mechanisms are the means that may be tried; tests leave some out, or want all to be
// watched whatever it costs.
type mechanisms struct{ wide, bpf, all bool }

func start(o Options, w mechanisms) (*Session, error) {
	if o.PID <= 0 {
		return nil, fmt.Errorf("process %d: no such process", o.PID)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(o.PID)); err != nil {
		return nil, fmt.Errorf("process %d: %w", o.PID, unix.ESRCH)
	}
	o.Hz = min(o.Hz, maxHz())
	s := &Session{opt: o, pid: o.PID, memory: symbols.Open(o.PID)}
	s.startProbes(w)
	s.startSamplers(w)
	if s.wide == nil && s.threads == nil && !s.offBPF && !s.callBPF {
		s.closeAll()
		return nil, s.nothing()
	}
	s.begin = time.Now()
	s.clock.start(s.pid)
	s.refresh, s.fresh = make(chan struct{}), make(chan struct{})
	go s.keepMemory()
	return s, nil
}

// nothing returns the error of a session without anything.
func (s *Session) nothing() error {
	if len(s.refused) == 0 {
		return errors.New("there is nothing to watch")
	}
	var parts []string
	for _, r := range s.refused {
		parts = append(parts, r.What+": "+r.Why)
	}
	return fmt.Errorf("process %d: %s", s.pid, strings.Join(parts, "; "))
}

// maxHz returns the kernel's own bound of samples a second.
func maxHz() int {
	const usual = 100000
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_max_sample_rate")
	if err != nil {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n <= 0 {
		return usual
	}
	return n
}

// A cpuClock is a process's own clock of CPU time, dead threads included. Like
// the process it may be gone at the end, so it is read now and then.
type cpuClock struct {
	id          int32
	first, last time.Duration
}

func (c *cpuClock) start(pid int) {
	const scheduled = 2 // CPUCLOCK_SCHED: by the scheduler's nanoseconds, not by ticks
	c.id = ^int32(pid)<<3 | scheduled
	c.read()
	c.first = c.last
}

func (c *cpuClock) read() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(c.id, &ts) == nil {
		c.last = time.Duration(ts.Nano())
	}
	return c.last
}

func (c *cpuClock) cpuTime() time.Duration { return c.last - c.first }

// keepMemory looks at what the process has mapped again and again, ever more
// rarely: a program that was just started has not loaded its libraries yet.
func (s *Session) keepMemory() {
	defer close(s.fresh)
	wait, every := 50*time.Millisecond, 100*time.Millisecond
	if s.opt.Sparse { // it runs for long mostly, and is looked at again at the end
		wait, every = 2*time.Second, time.Second
	}
	look, clock := time.NewTimer(wait), time.NewTimer(beat.UntilNext(every))
	defer look.Stop()
	defer clock.Stop()
	for {
		select {
		case <-s.refresh:
			s.memory.Refresh()
			return
		case <-look.C:
			s.memory.Refresh()
			wait = min(2*wait, 10*time.Second)
			look.Reset(wait)
		case <-clock.C:
			s.clock.read()
			clock.Reset(beat.UntilNext(every))
		}
	}
}

func (s *Session) refuse(what string, why, how string) {
	s.refused = append(s.refused, Refusal{what, why, how})
}

// Refusals returns what was wanted and is missing, wholly or in part.
func (s *Session) Refusals() []Refusal { return slices.Clone(s.refused) }

// startProbes starts the eBPF programs; what fails is tried by events.
func (s *Session) startProbes(w mechanisms) {
	if !w.bpf {
		return
	}
	if s.target, s.noBPF = targetOf(s.pid); s.noBPF != nil {
		return
	}
	if s.probes, s.noBPF = newProbes(s.target); s.noBPF != nil {
		s.probes = nil
		return
	}
	s.probes.sparse = s.opt.Sparse
	if s.opt.Syscalls {
		s.noBPF = s.probes.watchCalls(s.pid, s.opt.AllSyscalls || w.all)
		s.callBPF = s.noBPF == nil
	}
	// The state of the thread that goes is an argument since 5.18.
	if s.opt.OffCPU && kernelAtLeast(5, 18) {
		s.offBPF = s.probes.watchSwitches(s.pid, w.all) == nil
	}
}

// startSamplers opens the events for what programs do not do.
func (s *Session) startSamplers(w mechanisms) {
	p := plan{period: time.Second / time.Duration(max(s.opt.Hz, 1))}
	if s.opt.Hz > 0 && !(w.wide && s.startWide(p)) {
		p.kinds = append(p.kinds, kindCPU)
	}
	if s.opt.OffCPU && !s.offBPF {
		p.kinds = append(p.kinds, kindSwitch)
	}
	s.startCallEvents(&p)
	if len(p.kinds) > 0 {
		s.startThreads(p)
	}
}

// startWide samples whole CPUs.
func (s *Session) startWide(p plan) bool {
	p.wide, p.kinds = true, []eventKind{kindCPU}
	if s.probes != nil {
		if filter, err := loadFilter(s.target); err == nil {
			defer filter.Close() // the events keep it
			p.filter = filter.FD()
		}
	}
	e, err := openEvents(s.pid, p)
	if err != nil {
		return false
	}
	s.wide, err = startSampler(e, newThreadNames(s.pid), s.memory)
	s.checkNames()
	return err == nil
}

// startCallEvents plans the tracepoints of system calls, where no program
// counts them.
func (s *Session) startCallEvents(p *plan) {
	if !s.opt.Syscalls || s.callBPF {
		return
	}
	var err error
	if p.enter, err = tracepointID("raw_syscalls/sys_enter"); err == nil {
		p.exit, err = tracepointID("raw_syscalls/sys_exit")
	}
	if err == nil {
		// Alone first: a refusal must not take the others with it.
		probe := *p
		probe.kinds = []eventKind{kindEnter, kindExit}
		var e *events
		if e, err = openEvents(s.pid, probe); err == nil {
			e.close()
			p.kinds = append(p.kinds, kindEnter, kindExit)
			s.callPerf = true
			return
		}
	}
	if s.noBPF != nil {
		err = s.noBPF // the better way
	}
	why, how := explain("syscalls", s.pid, err)
	s.refuse("syscalls", why, how)
}

// startThreads opens events for each thread, with the kernel's part or
// without.
func (s *Session) startThreads(p plan) {
	has := func(k eventKind) bool { return slices.Contains(p.kinds, k) }
	e, err := openEvents(s.pid, p)
	if err != nil && permissionDenied(err) && !s.callPerf {
		first := err
		p.userOnly = true
		if e, err = openEvents(s.pid, p); err == nil {
			s.refuseKernel(first, has)
		}
	}
	if err == nil {
		s.threads, err = startSampler(e, newThreadNames(s.pid), s.memory)
	}
	if err != nil {
		s.callPerf = false
		for k, what := range map[eventKind]string{kindCPU: "cpu", kindSwitch: "offcpu", kindEnter: "syscalls"} {
			if has(k) {
				why, how := explain(what, s.pid, err)
				s.refuse(what, why, how)
			}
		}
		slices.SortFunc(s.refused, func(a, b Refusal) int { return cmp.Compare(a.What, b.What) })
		return
	}
	if e.left > 0 {
		why := fmt.Sprintf("%d of %d threads are not watched: each takes a file for every CPU, and there are only so many", e.left, len(e.threads))
		s.refuse("cpu", why, grantCommand)
	}
	if !p.userOnly {
		s.checkNames()
	}
}

func (s *Session) refuseKernel(err error, has func(eventKind) bool) {
	why, how := explain("kernel stacks", s.pid, err)
	if has(kindCPU) {
		s.userOnly = true
		s.refuse("kernel stacks", why, how)
	}
	if has(kindSwitch) {
		s.refuse("offcpu", "only times, no stacks: "+why, how)
	}
}

// checkNames tells when addresses in the kernel will have no names.
func (s *Session) checkNames() {
	if why, how, ok := kernelNames(); !ok && !slices.ContainsFunc(s.refused, func(r Refusal) bool { return r.What == "kernel stacks" }) {
		s.refuse("kernel stacks", why, how)
	}
}

func (s *Session) closeAll() {
	for _, sm := range []*sampler{s.wide, s.threads} {
		if sm != nil {
			sm.stop()
		}
	}
	if s.probes != nil {
		s.probes.close()
	}
	s.memory.Close()
}

// Stop ends the watching and returns what was seen. It may be called when the
// process is gone, and only once.
func (s *Session) Stop() (*Result, error) {
	if s.memory == nil {
		return nil, errStopped
	}
	close(s.refresh)
	<-s.fresh
	s.clock.read()
	r := &Result{Begin: s.begin, End: time.Now(), Hz: s.opt.Hz, UserOnly: s.userOnly, CPUTime: s.clock.cpuTime(), OffShare: 1, SyscallsShare: 1}
	if s.probes != nil {
		s.probes.stop()
	}
	for _, sm := range []*sampler{s.wide, s.threads} {
		if sm != nil {
			sm.stop()
			r.Lost += sm.lost + sm.switches.lost + sm.cpu.lost + sm.off.lost
			r.SyscallsLost += sm.calls.lost
		}
	}
	cpu, off := s.stacks()
	names := s.kernelNames(cpu, off)
	b := builder{memory: s.memory, kernel: names, frames: map[pcKey][]Frame{}}
	var of map[*cell]int
	r.CPU, of = b.samples(cpu, time.Second/time.Duration(max(s.opt.Hz, 1)))
	r.Off, _ = b.samples(off, 0)
	s.moments(r, of)
	s.calls(r)
	if s.offBPF {
		r.OffShare = s.probes.switches.share()
	}
	if s.probes != nil {
		_, switches := s.probes.lostCounts()
		r.Lost += switches
		s.probes.close()
	}
	s.memory.Close()
	s.memory = nil
	return r, nil
}

// stacks gathers the sums of all means in one form.
func (s *Session) stacks() (cpu, off []offSum) {
	for _, sm := range []*sampler{s.wide, s.threads} {
		if sm == nil {
			continue
		}
		cpu = append(cpu, sm.sums(sm.cpu)...)
		off = append(off, sm.sums(sm.off)...)
	}
	if s.offBPF {
		off = append(off, s.probes.waitSums.totals()...)
	}
	return cpu, off
}

func (s *sampler) sums(t *chainTable) []offSum {
	sums := make([]offSum, 0, len(t.cells))
	for _, c := range t.list {
		if c.count > 0 {
			sums = append(sums, offSum{cell: c, chain: parseChain(c.chain), thread: s.names.name(c.tid), preempted: c.preempted, count: c.count, time: c.time})
		}
	}
	return sums
}

// moments fills in when the samples were taken. Only one of the samplers has
// any.
func (s *Session) moments(r *Result, of map[*cell]int) {
	for _, sm := range []*sampler{s.wide, s.threads} {
		if sm != nil && len(sm.moments.list) > 0 {
			r.Moments, r.MomentsLost = sm.moments.ordered(sm.cpu.list, of), sm.moments.lost
		}
	}
}

func (s *Session) kernelNames(lists ...[]offSum) map[uint64]string {
	var pcs []uint64
	for _, list := range lists {
		for _, o := range list {
			for i, pc := range o.chain.kernel {
				pcs = append(pcs, lookupPC(pc, i == 0))
			}
		}
	}
	if len(pcs) == 0 {
		return nil
	}
	return kernelFunctions.of(func() (io.ReadCloser, error) { return os.Open("/proc/kallsyms") }, pcs)
}

// kernelFunctions are shared by all sessions of this process: there is one kernel.
var kernelFunctions keptTable

// calls fills in the system calls.
func (s *Session) calls(r *Result) {
	switch {
	case s.callBPF:
		r.Syscalls = namedCalls(s.probes.callSums.totals())
		r.SyscallsShare = s.probes.calls.share()
		lost, _ := s.probes.lostCounts()
		r.SyscallsLost += lost
	case s.callPerf:
		r.Syscalls = namedCalls(s.threads.calls.calls)
		r.SyscallsLost += s.threads.lost
	}
}

// namedCalls names calls and their errors.
func namedCalls(counts map[int64]*callCount) []Syscall {
	var calls []Syscall
	for number, n := range counts {
		c := Syscall{Name: syscallName(number), Count: n.count, Time: n.time}
		if returnsBytes[c.Name] {
			c.Bytes = n.bytes
		}
		for errno, count := range n.errors {
			if noResult[c.Name] {
				break
			}
			if c.Errors == nil {
				c.Errors = make(map[string]int64)
			}
			c.Errors[errnoName(errno)] += count
		}
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b Syscall) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return calls
}

// errnoName names an errno, those that only the kernel itself knows included:
// a call that a signal interrupts ends with one and is made again.
func errnoName(errno int) string {
	if name := unix.ErrnoName(unix.Errno(errno)); name != "" {
		return name
	}
	switch errno {
	case 512:
		return "ERESTARTSYS"
	case 513:
		return "ERESTARTNOINTR"
	case 514:
		return "ERESTARTNOHAND"
	case 516:
		return "ERESTART_RESTARTBLOCK"
	}
	return "errno " + strconv.Itoa(errno)
}

// noResult are the calls that return what a register held before: it may look
// like an error.
var noResult = map[string]bool{"rt_sigreturn": true}

// returnsBytes are the calls whose positive result is a number of bytes.
var returnsBytes = map[string]bool{
	"read": true, "write": true, "readv": true, "writev": true, "pread64": true, "pwrite64": true,
	"preadv": true, "pwritev": true, "preadv2": true, "pwritev2": true,
	"recvfrom": true, "sendto": true, "recvmsg": true, "sendmsg": true, "sendfile": true,
	"splice": true, "tee": true, "vmsplice": true, "copy_file_range": true,
	"getrandom": true, "getdents64": true, "getdents": true, "process_vm_readv": true, "process_vm_writev": true,
}

// lookupPC returns the address whose function a frame is of: the call is before the
// return address.
func lookupPC(pc uint64, leaf bool) uint64 {
	if leaf || pc == 0 {
		return pc
	}
	return pc - 1
}

type pcKey struct {
	pc   uint64
	leaf bool
}

// A builder turns sums into samples.
type builder struct {
	memory *symbols.Process
	kernel map[uint64]string
	frames map[pcKey][]Frame
}

// samples merges the sums that differ only in the thread's number, and tells at
// which index the samples of a cell are then. A period gives time to samples
// that have none of their own.
func (b *builder) samples(sums []offSum, period time.Duration) ([]Sample, map[*cell]int) {
	merged := make(map[string]*Sample)
	from := make(map[*Sample][]*cell)
	var key []byte
	for _, o := range sums {
		key = key[:0]
		for _, pcs := range [][]uint64{o.chain.kernel, o.chain.user} {
			key = binary.NativeEndian.AppendUint64(key, uint64(len(pcs)))
			for _, pc := range pcs {
				key = binary.NativeEndian.AppendUint64(key, pc)
			}
		}
		key = strconv.AppendBool(key, o.preempted)
		key = append(key, o.thread...)
		s := merged[string(key)]
		if s == nil {
			s = b.sample(o, period > 0)
			merged[string(key)] = s
		}
		s.Count += o.count
		s.Time += o.time + time.Duration(o.count)*period
		if o.cell != nil {
			from[s] = append(from[s], o.cell)
		}
	}
	order := make([]*Sample, 0, len(merged))
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		order = append(order, merged[key])
	}
	slices.SortStableFunc(order, func(a, b *Sample) int { return cmp.Compare(b.Time, a.Time) })
	samples, at := make([]Sample, 0, len(order)), make(map[*cell]int, len(sums))
	for i, s := range order {
		samples = append(samples, *s)
		for _, c := range from[s] {
			at[c] = i
		}
	}
	nameEntries(samples)
	return samples, at
}

// nameEntries names the call of samples on the way into or out of one by other
// samples from the same place of the program, where these agree: what enters
// the kernel there is nearly always the same call.
func nameEntries(samples []Sample) {
	const several = "\x00"
	calls := make(map[string]string)
	place := func(s Sample) string {
		var key []byte
		for _, f := range s.Stack {
			if !f.Kernel {
				key = binary.NativeEndian.AppendUint64(key, f.PC)
			}
		}
		return string(key)
	}
	for _, s := range samples {
		switch key := place(s); {
		case key == "", s.Syscall == "", s.Syscall == inEntry, s.Syscall == inPageFault, s.Syscall == inInterrupt:
		case calls[key] == "":
			calls[key] = s.Syscall
		case calls[key] != s.Syscall:
			calls[key] = several
		}
	}
	for i := range samples {
		if s := &samples[i]; s.Syscall == inEntry {
			if call := calls[place(*s)]; call != "" && call != several {
				s.Syscall = call
			}
		}
	}
}

func (b *builder) sample(o offSum, onCPU bool) *Sample {
	s := &Sample{Thread: o.thread, Preempted: o.preempted, Kernel: len(o.chain.kernel) > 0}
	var names []string
	for i, pc := range o.chain.kernel {
		name := b.kernel[lookupPC(pc, i == 0)]
		if !onCPU && len(names) == 0 && isWatcherFrame(name) {
			continue
		}
		names = append(names, name)
		s.Stack = append(s.Stack, Frame{PC: pc, Func: name, Kernel: true})
	}
	s.Syscall = inKernel(names)
	for i, pc := range o.chain.user {
		key := pcKey{pc, i == 0}
		frames, ok := b.frames[key]
		if !ok {
			for _, p := range b.memory.Frames(pc, key.leaf) {
				frames = append(frames, Frame{PC: pc, Func: p.Func, File: p.File, Line: p.Line})
			}
			b.frames[key] = frames
		}
		s.Stack = append(s.Stack, frames...)
	}
	return s
}

// kernelAtLeast compares the version of the running kernel.
func kernelAtLeast(major, minor int) bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var a, b int
	if n, _ := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &a, &b); n < 2 {
		return false
	}
	return a > major || a == major && b >= minor
}
