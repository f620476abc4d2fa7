//go:build linux && (amd64 || arm64)

package kernel

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// TestOverhead measures what each source costs the program under watch: CPU
// time for the same work, as a ratio to that without a watch, rounds of all
// sources interleaved. It only tells, and only when asked: on a busy machine
// the figures are worth nothing.
//
//	GOWHY_KERNEL_OVERHEAD=1 go test -run TestOverhead -v ./internal/sense/kernel
func TestOverhead(t *testing.T) {
	if os.Getenv("GOWHY_KERNEL_OVERHEAD") == "" {
		t.Skip("a measurement: set GOWHY_KERNEL_OVERHEAD=1")
	}
	const rounds = 7
	all := mechanisms{wide: true, bpf: true}
	none := mechanisms{}
	sources := []struct {
		name string
		ways mechanisms
		opt  Options
	}{
		{"none", all, Options{}},
		{"cpu 199 Hz", all, Options{Hz: 199}},
		{"cpu 997 Hz", all, Options{Hz: 997}},
		{"offcpu", all, Options{OffCPU: true}},
		{"syscalls", all, Options{Syscalls: true}},
		{"all, 199 Hz", all, Options{Hz: 199, OffCPU: true, Syscalls: true}},
		{"all syscalls", all, Options{Syscalls: true, AllSyscalls: true}},
		{"cpu 99 Hz by threads", none, Options{Hz: 99}},
		{"offcpu by records", none, Options{OffCPU: true}},
	}
	for _, mode := range []string{"loop 400000", "mixed 200000", "steady 60000", "wake 150000"} {
		used := make([][]float64, len(sources))
		for range rounds {
			for i, s := range sources {
				used[i] = append(used[i], watchedWork(t, mode, s.opt, s.ways).Seconds())
			}
		}
		for i, s := range sources {
			ratios := make([]float64, rounds)
			for n := range ratios {
				ratios[n] = used[i][n] / used[0][n]
			}
			slices.Sort(ratios)
			slices.Sort(used[i])
			t.Logf("%-14s %-22s ×%.3f (%.3f to %.3f)  %.1f ms", mode, s.name, ratios[rounds/2], ratios[1], ratios[rounds-2], 1000*used[i][rounds/2])
		}
	}
}

// watchedWork returns the CPU time of a child's work under a watch.
func watchedWork(t *testing.T, mode string, o Options, w mechanisms) time.Duration {
	c := startChild(t, mode)
	defer c.end()
	if o == (Options{}) {
		return c.work(t)
	}
	o.PID = c.cmd.Process.Pid
	s, err := start(o, w)
	if err != nil {
		t.Fatal(err)
	}
	used := c.work(t)
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	return used
}

// TestCosts measures what the parts of an event cost: programs that do nothing,
// that know the process, that read the clock, and the real ones.
//
//	GOWHY_KERNEL_OVERHEAD=1 go test -run TestCosts -v ./internal/sense/kernel
func TestCosts(t *testing.T) {
	if os.Getenv("GOWHY_KERNEL_OVERHEAD") == "" {
		t.Skip("a measurement: set GOWHY_KERNEL_OVERHEAD=1")
	}
	nothing := func(target) asm.Instructions { return nil }
	process := func(g target) asm.Instructions { return g.only(-8, "end") }
	clock := func(g target) asm.Instructions { return append(g.only(-8, "end"), asm.FnKtimeGetNs.Call()) }
	calls, switches := []string{"sys_exit", "sys_enter"}, []string{"sched_switch"}
	for _, e := range []struct {
		mode   string
		events int
		parts  []costPart
	}{
		{"calls 300000", 360_000, []costPart{
			{"unwatched", nil}, {"enter, nothing", part(calls[1:], nothing)}, {"nothing", part(calls, nothing)},
			{"process", part(calls, process)}, {"and clock", part(calls, clock)},
			{"all", func(p *probes, pid int) error { return p.watchCalls(pid, true) }},
		}},
		{"pinned 40000", 80_000, []costPart{
			{"unwatched", nil}, {"nothing", part(switches, nothing)},
			{"process", part(switches, process)}, {"and clock", part(switches, clock)},
			{"all", func(p *probes, pid int) error { return p.watchSwitches(pid, true) }},
		}},
	} {
		const rounds = 7
		used := make([][]float64, len(e.parts))
		for range rounds {
			for i, p := range e.parts {
				used[i] = append(used[i], float64(p.work(t, e.mode))/float64(e.events))
			}
		}
		for i, p := range e.parts {
			slices.Sort(used[i])
			t.Logf("%-12s %-16s %5.0f ns (%.0f to %.0f), +%.0f", e.mode, p.name, used[i][rounds/2], used[i][1], used[i][rounds-2], used[i][rounds/2]-used[0][rounds/2])
		}
	}
}

// A costPart is a way to watch a process, nil for none.
type costPart struct {
	name  string
	watch func(p *probes, pid int) error
}

// part attaches a program of these instructions to tracepoints.
func part(tracepoints []string, body func(target) asm.Instructions) func(*probes, int) error {
	return func(p *probes, _ int) error {
		var hooks []*hook
		for _, name := range tracepoints {
			program, err := load("gowhy_cost", ebpf.RawTracepoint, body(p.target), exit("end", 0))
			h, err := p.hook(name, program, err)
			if err != nil {
				return err
			}
			hooks = append(hooks, h)
		}
		p.closers = append(p.closers, closer(func() { detach(hooks) }))
		return attach(hooks)
	}
}

type closer func()

func (f closer) Close() error { f(); return nil }

func (c costPart) work(t *testing.T, mode string) time.Duration {
	child := startChild(t, mode)
	defer child.end()
	if c.watch == nil {
		return child.work(t)
	}
	pid := child.cmd.Process.Pid
	g, err := targetOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProbes(g)
	if err != nil {
		t.Skip(err)
	}
	defer p.close()
	if err := c.watch(p, pid); err != nil {
		t.Fatal(err)
	}
	return child.work(t)
}
