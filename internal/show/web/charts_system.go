package web

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// counter returns a counter of the process over time; a negative value was not permitted,
// or not read at that moment.
func (p plot) counter(of func(*model.ProcessSample) float64) (s model.Series) {
	if p.Process == nil {
		return nil
	}
	for i := range p.Process.Samples {
		if n := of(&p.Process.Samples[i]); n >= 0 {
			s = append(s, model.Point{At: p.Process.Samples[i].At, Value: n})
		}
	}
	return s
}

// calls and switches are counters that are not read for each sample.
func (p plot) calls(of func(*model.ProcessSample) int64) model.Series {
	return p.counter(func(s *model.ProcessSample) float64 { return unlessOld(s.OldCalls, of(s)) })
}

func (p plot) switches(of func(*model.ProcessSample) int64) model.Series {
	return p.counter(func(s *model.ProcessSample) float64 { return unlessOld(s.OldSwitches, of(s)) })
}

func unlessOld(old bool, n int64) float64 {
	if old {
		return -1
	}
	return float64(n)
}

// moved returns a counter that counted anything in the run, else empty: a kernel that
// has no such counter leaves it at 0.
func moved(s model.Series) model.Series {
	if s.Max() == s.Min() {
		return nil
	}
	return s
}

func syscallsOfProcess(p plot) *Chart {
	return p.chart("syscalls", "per_second", fromProc, false,
		rate("read", p.calls(func(s *model.ProcessSample) int64 { return s.ReadCalls })),
		rate("write", p.calls(func(s *model.ProcessSample) int64 { return s.WriteCalls })),
		rate("cgo", moved(p.metric("/cgo/go-to-c-calls:calls"))))
}

func cpuOfProcess(p plot) *Chart {
	return p.chart("cpu", "cores", fromProc, true,
		rate("user", p.counter(func(s *model.ProcessSample) float64 { return s.User.Seconds() })),
		rate("kernel", p.counter(func(s *model.ProcessSample) float64 { return s.System.Seconds() })))
}

func cpuOfMetrics(p plot) *Chart {
	return p.chart("cpu", "cores", fromMetrics, true,
		rate("user", p.metric("/cpu/classes/user:cpu-seconds")),
		rate("collector", p.metric("/cpu/classes/gc/total:cpu-seconds")),
		rate("scavenger", p.metric("/cpu/classes/scavenge/total:cpu-seconds")))
}

func latencyOfLoad(p plot) *Chart {
	if p.Load == nil {
		return nil
	}
	p50, p99 := line{name: "p50"}, line{name: "p99"}
	for _, i := range p.Load.Over {
		at := i.At + i.Width/2
		p50.add(at, latencyOrGap(i.P50))
		p99.add(at, latencyOrGap(i.P99))
	}
	return p.chart("latency", "ns", fromLoad, false, p50, p99)
}

// latencyOrGap returns a latency; 0 is one that was not measured.
func latencyOrGap(d time.Duration) float64 {
	if d == 0 {
		return gap
	}
	return float64(d)
}

func rateOfLoad(p plot) *Chart {
	if p.Load == nil {
		return nil
	}
	done, failed := line{name: "done"}, line{name: "failed"}
	for _, i := range p.Load.Over {
		if i.Width <= 0 {
			continue
		}
		at := i.At + i.Width/2
		done.add(at, float64(i.Ops-i.Failed)/i.Width.Seconds())
		failed.add(at, float64(i.Failed)/i.Width.Seconds())
	}
	if !slices.ContainsFunc(failed.value, func(f float64) bool { return f > 0 }) {
		failed = line{}
	}
	offered := line{name: "offered"}
	if p.Load.Offered > 0 && len(done.at) > 0 {
		offered.add(done.at[0], p.Load.Offered)
		offered.add(done.at[len(done.at)-1], p.Load.Offered)
	}
	if c := p.chart("load", "per_second", fromLoad, false, done, failed, offered); c != nil {
		return c
	}
	return p.chart("load", "count", fromLoad, false, gauge("backlog", p.Load.Backlog))
}

func memoryOfProcess(p plot) *Chart {
	group := line{name: "group"}
	if p.Limits != nil {
		for _, s := range p.Limits.Samples {
			group.add(s.At, bytesOrGap(s.Memory))
		}
	}
	return p.chart("memory", "bytes", fromProc, false,
		gauge("resident", p.counter(func(s *model.ProcessSample) float64 { return float64(s.RSS) })),
		gauge("swapped", moved(p.counter(func(s *model.ProcessSample) float64 { return float64(s.Swap) }))),
		group, gauge("runtime", p.metric("/memory/classes/total:bytes")))
}

func memoryOfMetrics(p plot) *Chart {
	return p.chart("memory", "bytes", fromMetrics, false,
		gauge("runtime", p.metric("/memory/classes/total:bytes")), gauge("released", p.metric("/memory/classes/heap/released:bytes")),
		gauge("stacks", p.metric("/memory/classes/heap/stacks:bytes")))
}

func switchesOfProcess(p plot) *Chart {
	return p.chart("switches", "per_second", fromProc, false,
		rate("voluntary", p.switches(func(s *model.ProcessSample) int64 { return s.Voluntary })),
		rate("involuntary", p.switches(func(s *model.ProcessSample) int64 { return s.Involuntary })),
		rate("faults", p.counter(func(s *model.ProcessSample) float64 { return float64(s.MinorFaults + s.MajorFaults) })))
}

// ofMachine returns a counter of the machine, of those that the kernel has.
func (p plot) ofMachine(of func(*model.MachineSample) time.Duration) (s model.Series) {
	if p.Machine == nil {
		return nil
	}
	for i := range p.Machine.Samples {
		if d := of(&p.Machine.Samples[i]); d >= 0 {
			s = append(s, model.Point{At: p.Machine.Samples[i].At, Value: d.Seconds()})
		}
	}
	return s
}

func machineOfProc(p plot) *Chart {
	return p.chart("machine", "cores", fromProc, false,
		p.cores("busy", p.ofMachine(func(s *model.MachineSample) time.Duration { return s.Busy })),
		p.cores("process", p.counter(func(s *model.ProcessSample) float64 { return (s.User + s.System).Seconds() })),
		p.cores("iowait", moved(p.ofMachine(func(s *model.MachineSample) time.Duration { return s.IOWait }))),
		p.cores("steal", moved(p.ofMachine(func(s *model.MachineSample) time.Duration { return s.Steal }))))
}

// cores is CPU time per second, never of more cores than there are: the kernel counts
// the machine's time in ticks, and a tick more of each core falls into some stretches.
func (p plot) cores(name string, s model.Series) line {
	l := rate(name, s)
	if p.Machine == nil || p.Machine.CPUs <= 0 {
		return l
	}
	for i, v := range l.value {
		if v > float64(p.Machine.CPUs) {
			l.value[i] = float64(p.Machine.CPUs)
		}
	}
	return l
}

// pressureOfProc returns the share of time in which somebody had to wait.
func pressureOfProc(p plot) *Chart {
	var stopped model.Series
	if p.Limits != nil {
		for _, s := range p.Limits.Samples {
			stopped = append(stopped, model.Point{At: s.At, Value: s.ThrottledTime.Seconds()})
		}
	}
	return p.chart("pressure", "share", fromProc, false,
		rate("cpu", p.ofMachine(func(s *model.MachineSample) time.Duration { return s.CPUStall })),
		rate("memory", p.ofMachine(func(s *model.MachineSample) time.Duration { return s.MemoryStall })),
		rate("io", p.ofMachine(func(s *model.MachineSample) time.Duration { return s.IOStall })),
		rate("throttled", moved(stopped)))
}
