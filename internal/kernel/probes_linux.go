//go:build amd64 || arm64

package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Bounds of the maps in the kernel. Together they are below 30 MB.
const (
	probeThreads = 16384 // threads in a system call, or off the CPU, at once
	probeErrors  = 4096  // pairs of call and errno
	probeSums    = 16384 // different off-CPU places
	probeStacks  = 16384 // different stacks of the program
	kernelStacks = 2048  // different stacks of the kernel
	kernelDepth  = 32
	userDepth    = 127 // the kernel's own bound
)

// probes are the eBPF programs of a session, with their maps.
type probes struct {
	closers []io.Closer
	links   []link.Link
	lost    *ebpf.Map // counters: enters, errors, switches

	threads, calls, errors *ebpf.Map
	switches               switchMaps
}

func newProbes() (*probes, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, err
	}
	p := new(probes)
	var err error
	p.lost, err = p.newMap("gowhy_lost", ebpf.Array, 4, 4*8, 1)
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *probes) newMap(name string, kind ebpf.MapType, key, value, entries uint32) (*ebpf.Map, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: name, Type: kind, KeySize: key, ValueSize: value, MaxEntries: entries})
	if err != nil {
		return nil, fmt.Errorf("eBPF map %s: %w", name, err)
	}
	p.closers = append(p.closers, m)
	return m, nil
}

// A mapWish is a map to make, and where to keep it.
type mapWish struct {
	to                  **ebpf.Map
	name                string
	kind                ebpf.MapType
	key, value, entries uint32
}

// newMaps makes several maps, and stops at the first that fails.
func (p *probes) newMaps(wishes ...mapWish) error {
	for _, w := range wishes {
		m, err := p.newMap(w.name, w.kind, w.key, w.value, w.entries)
		if err != nil {
			return err
		}
		*w.to = m
	}
	return nil
}

func (p *probes) attach(tracepoint string, prog *ebpf.Program, err error) error {
	if err != nil {
		return err
	}
	defer prog.Close() // the link keeps it
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: tracepoint, Program: prog})
	if err != nil {
		return fmt.Errorf("raw tracepoint %s: %w", tracepoint, err)
	}
	p.links = append(p.links, l)
	return nil
}

// watchCalls counts system calls from now on.
func (p *probes) watchCalls(t target) error {
	err := p.newMaps(
		mapWish{&p.threads, "gowhy_in", ebpf.Hash, 8, 16, probeThreads},
		mapWish{&p.calls, "gowhy_calls", ebpf.PerCPUArray, 4, callSize, maxCall + 1},
		mapWish{&p.errors, "gowhy_errors", ebpf.Hash, 8, 8, probeErrors},
	)
	if err != nil {
		return err
	}
	// Exits first: an enter without an exit would leave a start that the next
	// call overwrites, and nothing else.
	prog, err := syscallExit(t, p.threads, p.calls, p.errors, p.lost)
	if err := p.attach("sys_exit", prog, err); err != nil {
		return err
	}
	prog, err = syscallEnter(t, p.threads, p.lost)
	return p.attach("sys_enter", prog, err)
}

// watchSwitches sums the time off the CPU from now on. It wants to know
// whether watchCalls works: then a call's number can stand for a stack.
func (p *probes) watchSwitches(t target, calls bool) error {
	m := &p.switches
	err := p.newMaps(
		mapWish{&m.waits, "gowhy_waits", ebpf.Hash, 8, waitSize, probeThreads},
		mapWish{&m.sums, "gowhy_sums", ebpf.Hash, sumKeySize, 16, probeSums},
		mapWish{&m.budget, "gowhy_budget", ebpf.PerCPUArray, 4, 16, 1},
		mapWish{&m.kernelStacks, "gowhy_kstacks", ebpf.StackTrace, 4, kernelDepth * 8, kernelStacks},
		mapWish{&m.users, "gowhy_ustacks", ebpf.StackTrace, 4, userDepth * 8, probeStacks},
	)
	if err != nil {
		return err
	}
	m.lost = p.lost
	if calls {
		m.threads = p.threads
	}
	prog, err := schedSwitch(t, *m)
	return p.attach("sched_switch", prog, err)
}

// detach stops counting. The maps stay.
func (p *probes) detach() {
	for _, l := range p.links {
		l.Close()
	}
	p.links = nil
}

func (p *probes) close() {
	p.detach()
	for _, c := range p.closers {
		c.Close()
	}
	p.closers = nil
}

// lostCounts are the calls and the switches that found a map full.
func (p *probes) lostCounts() (calls, switches int64) {
	var v [4]uint64
	if p.lost.Lookup(uint32(0), &v) != nil {
		return 0, 0
	}
	return int64(v[0] + v[1]), int64(v[2])
}

// readCalls returns the sums of system calls by number.
func (p *probes) readCalls() (map[int64]*callCount, error) {
	calls := make(map[int64]*callCount)
	for number := range uint32(maxCall + 1) {
		var cpus []struct{ Count, Time, Bytes uint64 }
		if err := p.calls.Lookup(number, &cpus); err != nil {
			return nil, err
		}
		var sum callCount
		for _, c := range cpus {
			sum.count += int64(c.Count)
			sum.time += time.Duration(c.Time)
			sum.bytes += int64(c.Bytes)
		}
		if sum.count > 0 {
			calls[int64(number)] = &sum
		}
	}
	var key struct{ Number, Errno uint32 }
	var n uint64
	for it := p.errors.Iterate(); it.Next(&key, &n); {
		if c := calls[int64(key.Number)]; c != nil {
			c.fail(int(key.Errno), int64(n))
		}
	}
	return calls, nil
}

// An offSum is the time off the CPU at one place.
type offSum struct {
	chain     chain
	call      string // the system call, where it is known and the kernel's part is not
	thread    string
	preempted bool
	count     int64
	time      time.Duration
}

// readSwitches returns the sums of time off the CPU, with the waits that go on
// at the time now. Detach first.
func (p *probes) readSwitches(now uint64) []offSum {
	sums := make(map[[sumKeySize]byte]*[2]uint64)
	var key [sumKeySize]byte
	var sum [2]uint64
	for it := p.switches.sums.Iterate(); it.Next(&key, &sum); {
		v := sum
		sums[key] = &v
	}
	var task uint64
	var wait [waitSize]byte
	for it := p.switches.waits.Iterate(); it.Next(&task, &wait); {
		since := binary.NativeEndian.Uint64(wait[waitSinceAt:])
		if since == 0 || since > now {
			continue
		}
		key := [sumKeySize]byte(wait[waitKeyAt:])
		if sums[key] == nil {
			sums[key] = new([2]uint64)
		}
		sums[key][0]++
		sums[key][1] += now - since
	}
	shareOut(sums)
	out := make([]offSum, 0, len(sums))
	for key, v := range sums {
		s := offSum{count: int64(v[0]), time: time.Duration(v[1])}
		kernel := key[waitKernelAt-waitKeyAt:]
		if n := int32(binary.NativeEndian.Uint32(kernel)); n <= inCallBase {
			s.call = syscallName(inCallBase - int64(n))
		} else {
			s.chain.kernel = readStack(p.switches.kernelStacks, kernel, kernelDepth)
		}
		s.chain.user = readStack(p.switches.users, key[waitUserAt-waitKeyAt:], userDepth)
		name, _, _ := bytes.Cut(key[waitNameAt-waitKeyAt:waitPreemptedAt-waitKeyAt], []byte{0})
		s.thread = string(name)
		s.preempted = binary.NativeEndian.Uint32(key[waitPreemptedAt-waitKeyAt:]) != 0
		out = append(out, s)
	}
	return out
}

// shareOut gives the switches that got no stack to those that did, in
// proportion, among switches of threads of the same name, in the same system
// call where that is known, and preempted or not. The sums stay what they were.
// Where none got a stack they remain without.
func shareOut(sums map[[sumKeySize]byte]*[2]uint64) {
	type class [sumKeySize]byte
	without := make(map[class][sumKeySize]byte)
	for key := range sums {
		if keyPart(key, waitUserAt) == noStack {
			without[class(classOf(key))] = key
		}
	}
	with := make(map[class][][sumKeySize]byte)
	for key := range sums {
		if c := class(classOf(key)); keyPart(key, waitUserAt) != noStack {
			if _, ok := without[c]; ok {
				with[c] = append(with[c], key)
			}
		}
	}
	for c, keys := range with {
		rest := without[c]
		slices.SortFunc(keys, func(a, b [sumKeySize]byte) int { return bytes.Compare(a[:], b[:]) })
		for i := range 2 { // counts, then times
			shareProportionally(sums, keys, sums[rest][i], i)
		}
		delete(sums, rest)
	}
}

// shareProportionally adds a total to one value of several sums, each its
// share to the last unit.
func shareProportionally(sums map[[sumKeySize]byte]*[2]uint64, keys [][sumKeySize]byte, total uint64, value int) {
	var have float64
	for _, key := range keys {
		have += float64(sums[key][value])
	}
	var seen float64
	var given uint64
	for i, key := range keys {
		seen += float64(sums[key][value])
		upTo := total
		if i < len(keys)-1 && have > 0 {
			upTo = min(total, max(given, uint64(float64(total)*seen/have)))
		}
		sums[key][value] += upTo - given
		given = upTo
	}
}

// keyPart is a stack's number in the key of a sum, by its place in a wait.
func keyPart(key [sumKeySize]byte, at int) int32 {
	return int32(binary.NativeEndian.Uint32(key[at-waitKeyAt:]))
}

// classOf is a key without its stacks; of the kernel's part a call's number
// stays.
func classOf(key [sumKeySize]byte) [sumKeySize]byte {
	clear(key[waitUserAt-waitKeyAt : waitNameAt-waitKeyAt])
	if keyPart(key, waitKernelAt) > inCallBase {
		clear(key[:waitUserAt-waitKeyAt])
	}
	return key
}

// readStack returns the stack of a number, nil when the kernel had no place
// for it: another stack had the same hash.
func readStack(m *ebpf.Map, id []byte, depth int) []uint64 {
	n := int32(binary.NativeEndian.Uint32(id))
	if n < 0 {
		return nil
	}
	pcs := make([]uint64, depth)
	if m.Lookup(uint32(n), &pcs) != nil {
		return nil
	}
	for i, pc := range pcs {
		if pc == 0 {
			return pcs[:i]
		}
	}
	return pcs
}

// permissionDenied tells an error of permission from others.
func permissionDenied(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS)
}
