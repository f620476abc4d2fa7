//go:build amd64 || arm64

package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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
	// sparseMaps is how many times smaller they are for who watches without an end,
	// who takes stacks of few switches: the kernel makes and clears all of them anew
	// for each recording, which was a third of what recording ten seconds cost.
	sparseMaps = 8
)

// probes are the eBPF programs of a session, with their maps.
type probes struct {
	target  target
	closers []io.Closer
	lost    *ebpf.Map // counters: enters, errors, switches

	sparse   bool     // see duty
	calls    *watcher // nil when not watched
	switches *watcher
	callSums *callSource
	waitSums *switchSource
}

func newProbes(t target) (*probes, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, err
	}
	p := &probes{target: t}
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
		if p.sparse && w.entries >= kernelStacks {
			w.entries /= sparseMaps
		}
		m, err := p.newMap(w.name, w.kind, w.key, w.value, w.entries)
		if err != nil {
			return err
		}
		*w.to = m
	}
	return nil
}

// A hook is a program and the raw tracepoint that it is for.
type hook struct {
	tracepoint string
	program    *ebpf.Program
	link       link.Link
}

// hook keeps a program that was loaded, or passes on why it was not.
func (p *probes) hook(tracepoint string, program *ebpf.Program, err error) (*hook, error) {
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, program)
	return &hook{tracepoint: tracepoint, program: program}, nil
}

// attach attaches hooks, all or none.
func attach(hooks []*hook) error {
	for i, h := range hooks {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: h.tracepoint, Program: h.program})
		if err != nil {
			detach(hooks[:i])
			return fmt.Errorf("raw tracepoint %s: %w", h.tracepoint, err)
		}
		h.link = l
	}
	return nil
}

func detach(hooks []*hook) {
	for _, h := range hooks {
		if h.link != nil {
			h.link.Close()
			h.link = nil
		}
	}
}

// callMaps are what the programs of system calls work on.
type callMaps struct {
	gate, seen, lost       *ebpf.Map
	threads, calls, errors *ebpf.Map
}

// watchCalls counts system calls from now on.
func (p *probes) watchCalls(pid int, all bool) error {
	m := callMaps{lost: p.lost}
	err := p.newMaps(
		mapWish{&m.gate, "gowhy_gate", ebpf.Array, 4, gateSize, 1},
		mapWish{&m.seen, "gowhy_seen", ebpf.PerCPUArray, 4, 8, 1},
		mapWish{&m.threads, "gowhy_in", ebpf.Hash, 8, threadSize, probeThreads},
		mapWish{&m.calls, "gowhy_calls", ebpf.PerCPUArray, 4, callSize, maxCall + 1},
		mapWish{&m.errors, "gowhy_errors", ebpf.Hash, 8, 8, probeErrors},
	)
	if err != nil {
		return err
	}
	prog, err := syscallExit(p.target, m)
	exit, err := p.hook("sys_exit", prog, err)
	if err != nil {
		return err
	}
	prog, err = syscallEnter(p.target, m)
	enter, err := p.hook("sys_enter", prog, err)
	if err != nil {
		return err
	}
	p.callSums = newCallSource(pid, p.target.foreign, m)
	w := &watcher{pid: pid, hooks: []*hook{exit, enter}, gate: m.gate, source: p.callSums,
		duty: duty{event: pace(callCost), all: all, sparse: p.sparse, random: rand.Float64}}
	if err := w.start(); err != nil {
		return err
	}
	p.calls = w
	return nil
}

// watchSwitches sums the time off the CPU from now on.
func (p *probes) watchSwitches(pid int, all bool) error {
	m := switchMaps{lost: p.lost}
	err := p.newMaps(
		mapWish{&m.gate, "gowhy_gate", ebpf.Array, 4, gateSize, 1},
		mapWish{&m.waits, "gowhy_waits", ebpf.Hash, 8, waitSize, probeThreads},
		mapWish{&m.sums, "gowhy_sums", ebpf.Hash, sumKeySize, 16, probeSums},
		mapWish{&m.budget, "gowhy_budget", ebpf.PerCPUArray, 4, budgetSize, 1},
		mapWish{&m.kernelStacks, "gowhy_kstacks", ebpf.StackTrace, 4, kernelDepth * 8, kernelStacks},
		mapWish{&m.users, "gowhy_ustacks", ebpf.StackTrace, 4, userDepth * 8, probeStacks},
	)
	if err != nil {
		return err
	}
	prog, err := schedSwitch(p.target, m)
	h, err := p.hook("sched_switch", prog, err)
	if err != nil {
		return err
	}
	p.waitSums = newSwitchSource(pid, p.target.foreign, m)
	w := &watcher{pid: pid, hooks: []*hook{h}, gate: m.gate, source: p.waitSums,
		duty: duty{event: pace(waitCost), stack: pace(stackCost), all: all, sparse: p.sparse, random: rand.Float64}}
	if err := w.start(); err != nil {
		return err
	}
	p.switches = w
	return nil
}

// stop stops watching. The maps stay.
func (p *probes) stop() {
	for _, w := range []*watcher{p.calls, p.switches} {
		if w != nil {
			w.stop()
		}
	}
}

func (p *probes) close() {
	p.stop()
	for _, c := range p.closers {
		c.Close()
	}
	p.closers = nil
}

// lostCounts returns the calls and the switches that found a map full.
func (p *probes) lostCounts() (calls, switches int64) {
	var v [4]uint64
	if p.lost.Lookup(uint32(0), &v) != nil {
		return 0, 0
	}
	return int64(v[0] + v[1]), int64(v[2])
}

// An offSum is the time off the CPU at one place.
type offSum struct {
	cell      *cell // of a sampler, nil of the programs'
	chain     chain
	thread    string
	preempted bool
	count     int64
	time      time.Duration
}

// shareOut gives the switches that got no stack to those that did, in
// proportion, among switches of threads of the same name, in the same system
// call where that is known, and preempted or not. The sums stay what they were.
// Where none got a stack they remain without.
func shareOut(sums map[sumKey]*[2]float64) {
	without := make(map[sumKey]sumKey)
	for key := range sums {
		if keyPart(key, waitUserAt) == noStack {
			without[classOf(key)] = key
		}
	}
	with := make(map[sumKey][]sumKey)
	for key := range sums {
		if c := classOf(key); keyPart(key, waitUserAt) != noStack {
			if _, ok := without[c]; ok {
				with[c] = append(with[c], key)
			}
		}
	}
	for c, keys := range with {
		rest := without[c]
		slices.SortFunc(keys, func(a, b sumKey) int { return bytes.Compare(a[:], b[:]) })
		for i := range 2 { // counts, then times
			shareProportionally(sums, keys, sums[rest][i], i)
		}
		delete(sums, rest)
	}
}

// shareProportionally adds a total to one value of several sums. Where all are
// 0 each gets the same.
func shareProportionally(sums map[sumKey]*[2]float64, keys []sumKey, total float64, value int) {
	var have float64
	for _, key := range keys {
		have += sums[key][value]
	}
	for _, key := range keys {
		part := 1 / float64(len(keys))
		if have > 0 {
			part = sums[key][value] / have
		}
		sums[key][value] += total * part
	}
}

// A sumKey is what switches are summed by, as a program wrote it.
type sumKey [sumKeySize]byte

// keyPart is 4 bytes of a key, by their place in a wait.
func keyPart(key sumKey, at int) int32 {
	return int32(binary.NativeEndian.Uint32(key[at-waitKeyAt:]))
}

// classOf returns a key without its stacks.
func classOf(key sumKey) sumKey {
	clear(key[:waitNameAt-waitKeyAt])
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
