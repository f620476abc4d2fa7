package evidence

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/proc"
)

const (
	procKind   = "gowhy proc"
	procSchema = 1

	// The counters of the process are read this often: ten a second shows a
	// burst and costs less than a thousandth of a CPU. A long recording goes on
	// at one a second, so that an hour is some megabytes.
	procEvery      = 100 * time.Millisecond
	procEveryLater = time.Second
	procLater      = 5 * time.Minute

	maxProcLine    = 8 << 20
	maxProcSamples = 1 << 18
	maxThreads     = 1 << 16
)

// A header is the first line of the logs that gowhy writes.
type header struct {
	Kind   string `json:"kind"`
	Schema int    `json:"schema"`
}

// A procLog writes samples of a process as they are taken.
type procLog struct {
	p    *proc.Process
	file *os.File // unbuffered: what was seen must survive us

	first, last proc.Sample
	any         bool
	quit, done  chan struct{}
}

// startProcLog begins with a sample of every thread.
func startProcLog(pid int, path string) (*procLog, error) {
	p, err := proc.Open(pid)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		p.Close()
		return nil, err
	}
	l := &procLog{p: p, file: file, quit: make(chan struct{}), done: make(chan struct{})}
	if err := json.NewEncoder(l.file).Encode(header{procKind, procSchema}); err != nil {
		return nil, errors.Join(err, p.Close(), file.Close())
	}
	if err := l.sample(true); err != nil {
		return nil, errors.Join(err, p.Close(), file.Close())
	}
	go l.run()
	return l, nil
}

func (l *procLog) run() {
	defer close(l.done)
	tick := time.NewTicker(procEvery)
	defer tick.Stop()
	slow := time.NewTimer(procLater)
	defer slow.Stop()
	for {
		select {
		case <-tick.C:
			if l.sample(false) != nil {
				return
			}
		case <-slow.C:
			tick.Reset(procEveryLater)
		case <-l.quit:
			return
		}
	}
}

// sample writes the state of now. Of a process that has just ended, only its
// CPU time and faults are left; the rest stays as it was.
func (l *procLog) sample(threads bool) error {
	s, err := l.p.Sample(threads)
	if errors.Is(err, proc.ErrGone) && l.any && s.Process.User+s.Process.System > 0 {
		final := l.last
		final.Time, final.Threads = s.Time, nil
		final.Process.User = max(final.Process.User, s.Process.User)
		final.Process.System = max(final.Process.System, s.Process.System)
		final.Process.MinorFaults = max(final.Process.MinorFaults, s.Process.MinorFaults)
		final.Process.MajorFaults = max(final.Process.MajorFaults, s.Process.MajorFaults)
		s = final
	} else if err != nil {
		return err
	}
	text, jerr := json.Marshal(s)
	if jerr != nil {
		return jerr
	}
	if !l.any {
		l.first, l.any = s, true
	}
	l.last = s
	if _, werr := l.file.Write(append(text, '\n')); werr != nil {
		return werr
	}
	return err
}

// stop ends with a sample of every thread, as long as the process is there.
func (l *procLog) stop() error {
	close(l.quit)
	<-l.done
	err := l.sample(true)
	if errors.Is(err, proc.ErrGone) {
		err = nil // what was read before counts
	}
	l.p.Close()
	return errors.Join(err, l.file.Close())
}

// cpu is what the process used between the first and the last sample.
func (l *procLog) cpu() (used, in time.Duration) { return cpuBetween(l.first, l.last) }

func cpuBetween(a, b proc.Sample) (used, in time.Duration) {
	return b.Process.User + b.Process.System - a.Process.User - a.Process.System, b.Time.Sub(a.Time)
}

// cpuBefore measures what a process uses while it is not recorded. It waits.
func cpuBefore(pid int, wait func()) (used, in time.Duration) {
	p, err := proc.Open(pid)
	if err != nil {
		return 0, 0
	}
	defer p.Close()
	a, err := p.Sample(false)
	if err != nil {
		return 0, 0
	}
	wait()
	b, err := p.Sample(false)
	if err != nil {
		return 0, 0
	}
	return cpuBetween(a, b)
}

// readProc reads what [procLog] wrote.
func (l *loader) readProc(s source) error {
	if err := l.take(model.ProcFS, "process log", s.name); err != nil {
		return err
	}
	samples, err := parseProc(ctxReader{l.ctx, s.r})
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

// parseProc returns the samples before the first that cannot be read.
func parseProc(r io.Reader) ([]proc.Sample, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxProcLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	var h header
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return nil, err
	}
	if h.Kind != procKind || h.Schema > procSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	var samples []proc.Sample
	for lines.Scan() {
		var s proc.Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return samples, err
		}
		if s.Time.IsZero() || len(samples) > 0 && s.Time.Before(samples[len(samples)-1].Time) {
			return samples, errors.New("its time goes backwards")
		}
		if len(samples) == maxProcSamples {
			return samples, errors.New("there are too many")
		}
		if len(s.Threads) > maxThreads {
			s.Threads = s.Threads[:maxThreads]
		}
		samples = append(samples, s)
	}
	return samples, lines.Err()
}

func (l *loader) foldProc(c clock, samples []proc.Sample) {
	p := &model.Process{PID: l.m.Run.PID}
	g := &model.Machine{}
	limits := &model.Limits{}
	for i := range samples {
		s := &samples[i]
		at, _ := c.since(s.Time)
		p.Samples = append(p.Samples, processSample(at, s.Process))
		if n := len(g.Samples); i == 0 || !s.Machine.Time.Equal(samples[i-1].Machine.Time) || n == 0 {
			// The machine is looked at less often than the process.
			if t, known := c.since(s.Machine.Time); known {
				at = t
			}
			g.Samples = append(g.Samples, machineSample(at, s.Machine))
		}
		if s.Group != nil { // its CPU may be counted nowhere, and its stops are still
			limits.Samples = append(limits.Samples, model.LimitSample{At: at, Usage: max(0, s.Group.Usage), Periods: s.Group.Periods,
				Throttled: s.Group.Throttled, ThrottledTime: s.Group.ThrottledTime, Memory: s.Group.Memory})
		}
	}
	last := samples[len(samples)-1]
	g.CPUs = max(0, last.Machine.CPUs)
	limits.CPUs, limits.Quota, limits.Period, limits.Memory = max(0, last.Limits.CPUs), max(0, last.Limits.Quota), max(0, last.Limits.Period), last.Limits.Memory
	if limits.Memory > 1<<62 {
		limits.Memory = 0 // how version 1 of control groups says "none"
	}
	p.Samples = kept(c, p.Samples, func(s *model.ProcessSample) time.Duration { return s.At })
	g.Samples = kept(c, g.Samples, func(s *model.MachineSample) time.Duration { return s.At })
	limits.Samples = kept(c, limits.Samples, func(s *model.LimitSample) time.Duration { return s.At })
	if len(p.Samples) == 0 {
		return // none in the piece that the user asked for
	}
	p.Threads = threads(samples)
	l.m.Process, l.m.Machine, l.m.Limits = p, g, limits
}

func processSample(at time.Duration, c proc.Counters) model.ProcessSample {
	return model.ProcessSample{At: at, User: c.User, System: c.System, MinorFaults: c.MinorFaults, MajorFaults: c.MajorFaults,
		Voluntary: c.Voluntary, Involuntary: c.Involuntary, RunQueue: c.RunQueue, Threads: c.Threads, FDs: c.FDs,
		RSS: c.RSS, Swap: c.Swap, ReadCalls: c.ReadCalls, WriteCalls: c.WriteCalls, ReadBytes: c.ReadBytes, WriteBytes: c.WriteBytes}
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

// procRefusal says how a process's counters would be had.
func procRefusal(pid int, err error) Refusal {
	r := Refusal{Member: recording.ProcMember, Why: err.Error()}
	if errors.Is(err, os.ErrPermission) {
		r.How = fmt.Sprintf("sudo gowhy record --pid %d", pid)
	}
	return r
}
