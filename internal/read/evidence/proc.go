package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// readProc reads what [procLog] wrote.
func (l *loader) readProc(s source) error {
	if err := l.take(model.ProcFS, "process log", s.name); err != nil {
		return err
	}
	samples, err := artifact.ParseProc(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if len(samples) == 0 {
		return l.pass(&problem.Error{What: fmt.Sprintf("%q is a process log without a sample", s.name), Err: err})
	}
	if err != nil {
		l.note("%s is read up to its sample %d: %v", s.name, len(samples), err)
	}
	l.covers(spanOfSeries, samples[0].Time, samples[len(samples)-1].Time)
	l.align(func(c clock) { l.foldProc(c, samples) })
	return nil
}

func (l *loader) foldProc(c clock, samples []proc.Sample) {
	p := &model.Process{PID: l.m.Run.PID}
	g := &model.Machine{}
	limits := &model.Limits{}
	for i := range samples {
		s := &samples[i]
		at, _ := c.since(s.Time)
		p.Samples = append(p.Samples, processSample(at, s.Process))
		if read := s.Machine.Busy+s.Machine.Idle > 0; read && (len(g.Samples) == 0 || !s.Machine.Time.Equal(samples[i-1].Machine.Time)) {
			// The machine is looked at less often than the process, and not every
			// look tells.
			if t, known := c.since(s.Machine.Time); known {
				at = t
			}
			g.Samples = append(g.Samples, machineSample(at, s.Machine))
		}
		if s.Maps != nil {
			p.Maps = foldMaps(at, s.Maps)
		}
		if s.Group != nil { // its CPU may be counted nowhere, and its stops are still
			limits.Samples = append(limits.Samples, model.LimitSample{At: at, Usage: max(0, s.Group.Usage), Periods: s.Group.Periods,
				Throttled: s.Group.Throttled, ThrottledTime: s.Group.ThrottledTime, Memory: s.Group.Memory, Cache: s.Group.Cache, Droppable: s.Group.Droppable})
		}
	}
	last := samples[len(samples)-1]
	g.CPUs = max(0, last.Machine.CPUs)
	limits.CPUs, limits.Quota, limits.Period, limits.Memory = max(0, last.Limits.CPUs), max(0, last.Limits.Quota), max(0, last.Limits.Period), last.Limits.Memory
	limits.Files, limits.MemoryHigh = last.Limits.Files, last.Limits.MemoryHigh
	if limits.Memory > 1<<62 {
		limits.Memory = 0 // how version 1 of control groups says "none"
	}
	p.Samples = inWindow(c, p.Samples, func(s *model.ProcessSample) time.Duration { return s.At })
	g.Samples = inWindow(c, g.Samples, func(s *model.MachineSample) time.Duration { return s.At })
	limits.Samples = inWindow(c, limits.Samples, func(s *model.LimitSample) time.Duration { return s.At })
	if len(p.Samples) == 0 {
		return // none in the piece that the user asked for
	}
	p.Threads = threads(samples)
	l.m.Process = p
	if p.Maps == nil || !p.Maps.Core { // a core knows nothing of what was around the program
		l.m.Machine, l.m.Limits = g, limits
	}
}

func foldMaps(at time.Duration, m *proc.Maps) *model.Maps {
	of := func(r proc.Resident) model.Resident {
		return model.Resident{RSS: r.RSS, PSS: r.PSS, Swap: r.Swap, Huge: r.Huge}
	}
	var largest []model.Mapped
	for _, x := range m.Largest {
		largest = append(largest, model.Mapped(x))
	}
	return &model.Maps{At: at, Arenas: m.Arenas, Core: m.Core, Largest: largest, Heap: of(m.Heap), Anonymous: of(m.Anonymous), Stack: of(m.Stack), Program: of(m.Program),
		Libraries: of(m.Libraries), Files: of(m.Files), Shared: of(m.Shared), Kernel: of(m.Kernel)}
}

func processSample(at time.Duration, c proc.Counters) model.ProcessSample {
	return model.ProcessSample{At: at, User: c.User, System: c.System, MinorFaults: c.MinorFaults, MajorFaults: c.MajorFaults,
		Voluntary: c.Voluntary, Involuntary: c.Involuntary, RunQueue: c.RunQueue, Threads: c.Threads, FDs: c.FDs,
		RSS: c.RSS, Swap: c.Swap, ReadCalls: c.ReadCalls, WriteCalls: c.WriteCalls, ReadBytes: c.ReadBytes, WriteBytes: c.WriteBytes,
		OldSwitches: c.OldSwitches, OldCalls: c.OldCalls}
}

func machineSample(at time.Duration, m proc.Machine) model.MachineSample {
	return model.MachineSample{At: at, Busy: m.Busy, Idle: m.Idle, IOWait: m.IOWait, Steal: m.Steal,
		CPUStall: m.CPUStall, MemoryStall: m.MemoryStall, IOStall: m.IOStall, Load: m.Load, Available: m.Available}
}

// threads returns what each thread did between the first and the last time that
// threads were listed. One that began in between began at zero; what one did
// that ended is not known.
func threads(samples []proc.Sample) []model.Thread {
	var lists [][]proc.Thread
	for _, s := range samples {
		if len(s.Threads) > 0 {
			lists = append(lists, s.Threads)
		}
	}
	if len(lists) < 2 {
		return nil
	}
	began := map[int]proc.Thread{}
	for _, t := range lists[0] {
		began[t.ID] = t
	}
	var all []model.Thread
	for _, t := range lists[len(lists)-1] {
		b := began[t.ID]
		if b.User > t.User || b.System > t.System {
			b = proc.Thread{} // the number was given to another thread
		}
		all = append(all, model.Thread{ID: t.ID, Name: t.Name, User: t.User - b.User, System: t.System - b.System,
			RunQueue: max(0, t.RunQueue-b.RunQueue), Voluntary: max(0, t.Voluntary-b.Voluntary), Involuntary: max(0, t.Involuntary-b.Involuntary)})
	}
	slices.SortStableFunc(all, func(a, b model.Thread) int { return cmp.Compare(b.User+b.System, a.User+a.System) })
	return all
}
