package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed idlespin.md
var idlespinPage string

var idlespin = &diagnosis.Rule{
	Name:  "idlespin",
	Title: "More Ps than work: threads spin and are woken for nothing",
	Doc:   idlespinPage,
	// No Needs: a trace shows it best, and the system's counters show it too.
	Explains: []string{"futexstorm"},
	Check:    checkIdlespin,
}

const (
	// idlespinUse is the share of the Ps below which some are surplus.
	idlespinUse = 0.5
	// idlespinShare is the part of the busy time that goes into looking for
	// work. The consumer that the rule was made after spent 25 to 30 % there
	// with 8 Ps and half of it with 4.
	idlespinShare = 0.20
	// idlespinStarts is how often a second threads take up a P. The lab's
	// consumer, which gets a batch each millisecond, does so 2,900 times with 8
	// Ps, and 2 Ps save a fifth of its CPU; an idle server stays in the hundreds.
	idlespinStarts = 2000
	// idlespinFutexes is how many futex calls a second say the same. On work of
	// short waits 1 P made 38, 2 made 7,630 and 8 made 17,599 for the same
	// throughput.
	idlespinFutexes = 5000
	// idlespinCores is the price in cores from which it does not matter how
	// often: threads that spin long enough are never put to sleep and started.
	idlespinCores = 0.25
	// idlespinPeak is the use of the Ps in the busiest 100 ms of a hundred
	// above which they are not surplus but a reserve for bursts.
	idlespinPeak   = 0.8
	idlespinWindow = 100 * time.Millisecond
	// idlespinRoom is how many Ps are left per core in use: half as many
	// again, so that bursts and the collector find one.
	idlespinRoom = 1.5
	// idlespinProcs is the fewest Ps of which some can be surplus. With two or
	// three, the one that would go is the one that keeps the collector and
	// a burst from stopping everything else.
	idlespinProcs = 4
	// idlespinCost is the least it must cost, in cores.
	idlespinCost = 0.05
	// idlespinFutex is how many futex calls each operation may need before they
	// are the price of waking threads for it.
	idlespinFutex = 1
)

// A spin is what the rule measures.
type spin struct {
	used, share, starts, peak float64
	cores                     float64 // spent looking for work
	profile                   float64 // the same as a share of the CPU samples, 0 without them
	from                      string  // which samples
	fewer                     int     // Ps that would do
}

func checkIdlespin(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		checkWakeful(p)
		return
	}
	if len(p.Model.Sched.Timeline) == 0 {
		p.Unchecked("surplus Ps", "the trace tells nothing about how their use changes over time", diagnosis.HowToGet(model.Trace))
		return
	}
	s := measureSpin(p)
	switch {
	case s.share < idlespinShare && s.profile < idlespinShare || s.cores < idlespinCost:
		p.Fine(fmt.Sprintf("scheduler: threads spend %s cores looking for work, beside %s doing it", num(s.cores), num(working(p))))
	case s.used >= idlespinUse || s.fewer >= p.Procs() || p.Procs() < idlespinProcs:
		p.Fine(fmt.Sprintf("number of Ps: %s of their time is used", pct(s.used)))
	case s.peak > idlespinPeak:
		p.Fine(fmt.Sprintf("number of Ps: %s of their time is used, but up to %s for %s at a time", pct(s.used), pct(s.peak), dur(idlespinWindow)))
	case s.starts < idlespinStarts && s.cores < idlespinCores && s.profile < idlespinShare:
		p.Fine(fmt.Sprintf("scheduler: threads take up a P only %s times a second and spend %s cores looking for work", num(math.Round(s.starts)), num(s.cores)))
	default:
		p.Report(surplus(p, s))
	}
}

func measureSpin(p *diagnosis.Pass) spin {
	work := working(p)
	s := spin{
		used:  work / float64(p.Procs()),
		peak:  peakUse(p),
		fewer: max(1, int(math.Ceil(idlespinRoom*work))),
	}
	for _, proc := range p.Model.Sched.Procs {
		s.cores += div(proc.Scheduler.Seconds(), p.Seconds())
		s.starts += div(float64(proc.Starts), p.Seconds())
	}
	s.share = div(s.cores, s.cores+work)
	if share, n := p.CPUShare(lookingForWork); n > 0 {
		if _, all := diagnosis.CPUTime(p.Model); all >= diagnosis.ThinSamples {
			s.profile, s.from = share, "CPU profile"
		}
	}
	if c, ok := spentCPU(p); ok && c.Believed == model.KernelCPU {
		s.profile, s.from = c.part(model.Scheduling), c.source
	}
	return s
}

// lookingForWork are the functions that a thread without a goroutine is in.
func lookingForWork(f string) bool {
	name, ok := strings.CutPrefix(f, "runtime.")
	return ok && slices.Contains([]string{
		"findRunnable", "findrunnable", "schedule", "futex", "futexsleep", "futexwakeup", "notesleep", "notewakeup",
		"stopm", "startm", "wakep", "resetspinning", "stealWork", "runqsteal", "sysmon",
	}, name)
}

// peakUse is the use of the Ps in the busiest of a hundred windows of 100 ms.
func peakUse(p *diagnosis.Pass) float64 {
	var use []float64
	var width time.Duration
	var sum float64
	for _, b := range p.Model.Sched.Timeline {
		width += b.Width
		sum += b.Running * b.Width.Seconds()
		if width >= idlespinWindow {
			use = append(use, sum/width.Seconds()/float64(p.Procs()))
			width, sum = 0, 0
		}
	}
	if len(use) == 0 {
		return div(sum, width.Seconds()*float64(p.Procs()))
	}
	slices.Sort(use)
	return use[int(math.Ceil(0.99*float64(len(use))))-1]
}

func surplus(p *diagnosis.Pass, s spin) diagnosis.Finding {
	work, procs := 0.0, knownProcs(p.Model)
	if p.Model.Sched != nil {
		work, procs = working(p), p.Procs()
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%d Ps for %s cores of work: threads take up a P %s times a second and spend %s cores, %s of all their busy time, looking for work.",
			procs, num(work), num(math.Round(s.starts)), num(s.cores), pct(s.share)),
		Evidence: []fact.Fact{
			{Name: "Ps used", Value: s.used, Unit: fact.Ratio, Source: "trace: Ps, running, collecting or in a system call"},
			{Name: "Ps used in the busiest windows", Value: s.peak, Unit: fact.Ratio, Source: "trace: timeline, 99th percentile over 100 ms"},
			{Name: "looking for work", Value: s.cores, Unit: fact.Cores, Source: "trace: Ps held without a goroutine"},
			{Name: "Ps taken up", Value: s.starts, Unit: fact.PerSec, Source: "trace: Ps"},
			{Name: "Ps that would do", Value: float64(s.fewer), Unit: fact.Count, Source: "1.5 × cores of work, rounded up"},
		},
		Cost: diagnosis.Cost{Value: s.cores, Unit: fact.Cores, Share: max(s.share, s.profile), What: "threads looking for work"},
		Bound: diagnosis.Bound{
			Value: s.cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: s.share, Partial: s.profile == 0,
			Method: "Amdahl: all of the time that Ps were held without a goroutine; it is an upper bound, since some of it is work that fewer Ps have to do as well",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"a P held without a goroutine may be a thread that the operating system had put aside"},
		RuledOut: []string{
			fmt.Sprintf("bursts that need all Ps: even the busiest windows use %s of them", pct(s.peak)),
			fmt.Sprintf("a program at rest: %s cores of work", num(work)),
		},
		Remedy: diagnosis.Remedy{
			Text: fmt.Sprintf("Try GOMAXPROCS=%d, 1.5 times the cores of work. The collector gets fewer helpers by it too, so keep it only if the 99th percentile of latency is not more than 5 %% worse. In a container set the CPU limit instead: from %s on GOMAXPROCS follows it.", s.fewer, containerProcs.version()),
			Knob: fmt.Sprintf("GOMAXPROCS=%d", s.fewer),
		},
		Experiment: tried(diagnosis.CPUPerOp, fmt.Sprintf("GOMAXPROCS=%d", s.fewer), fmt.Sprintf("GOMAXPROCS=%d", procs), "Keep it only if the 99th percentile of latency is not more than 5 % worse. If CPU time does not fall, this finding is refuted."),
	}
	if s.profile > s.share { // waking threads is done by goroutines, which a trace takes for work
		f.Bound.Value, f.Bound.Share = s.profile*div(s.cores, s.share), s.profile
		f.Bound.Method = "Amdahl: all CPU in the scheduler, by the samples, which have the waking of threads, too; it is an upper bound, since some of it is work that fewer Ps have to do as well"
	}
	f.Evidence = append(f.Evidence, wakeFacts(p)...)
	if s.profile >= idlespinShare {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fmt.Sprintf("trace and %s agree: %s of the samples are in the scheduler's search for work", s.from, pct(s.profile))}
		f.Evidence = append(f.Evidence, fact.Fact{Name: "scheduler's share of the samples", Value: s.profile, Unit: fact.Ratio, Source: s.from})
	} else if rate, _ := futexes(p); rate >= idlespinFutexes {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fmt.Sprintf("trace and system calls agree: %s futex calls a second", num(math.Round(rate)))}
	}
	return f
}

// futexes is how often a second threads were put to sleep or woken, and how
// often for each operation; the latter is 0 when operations are not known.
func futexes(p *diagnosis.Pass) (perSecond, perOperation float64) {
	if p.Model.Syscalls == nil {
		return 0, 0
	}
	perSecond = calls(p.Model.Syscalls, "futex")
	rate, _ := operations(p)
	return perSecond, div(perSecond, rate)
}

// wakeFacts is what the system says of threads that sleep and wake.
func wakeFacts(p *diagnosis.Pass) (out []fact.Fact) {
	if rate, each := futexes(p); rate > 0 {
		out = append(out, fact.Fact{Name: "futex calls", Value: rate, Unit: fact.PerSec, Source: "system calls"})
		if each > 0 {
			out = append(out, fact.Fact{Name: "futex calls for each operation", Value: each, Unit: fact.Count, Source: "system calls ÷ operations"})
		}
	}
	if rate, ok := p.Model.Process.Rate(func(s model.ProcessSample) int64 { return s.Voluntary }); ok {
		out = append(out, fact.Fact{Name: "threads that went to sleep", Value: rate, Unit: fact.PerSec, Source: "/proc: voluntary context switches"})
	}
	return out
}

// checkWakeful looks for surplus Ps without a trace: by the share of the
// samples in the scheduler, or by threads that are woken for each operation.
func checkWakeful(p *diagnosis.Pass) {
	procs, u, c, ok := wakefulEvidence(p)
	if !ok {
		p.Unchecked("surplus Ps", "that needs an execution trace, or GOMAXPROCS, the counters of the process and samples of its CPU time", diagnosis.HowToGet(model.Trace))
		return
	}
	search := c.part(model.Scheduling)
	w := spin{
		used: div(u.cores(), float64(procs)), share: search, profile: search, from: c.source,
		cores: search * u.cores(), fewer: max(1, int(math.Ceil(idlespinRoom*u.cores()*(1-search)))),
	}
	w.peak = peakCPU(p.Model.Process) / float64(procs)
	rate, each := futexes(p)
	stormy := rate >= idlespinFutexes && each >= idlespinFutex
	switch {
	case search < idlespinShare && !stormy || w.cores < idlespinCost:
		p.Fine(fmt.Sprintf("scheduler: %s of the CPU goes into scheduling, %s cores", pct(search), num(w.cores)))
	case w.used >= idlespinUse || w.fewer >= procs || procs < idlespinProcs:
		p.Fine(fmt.Sprintf("number of Ps: %s of them are used", pct(min(1, w.used))))
	case math.IsInf(w.peak, 1):
		p.Unchecked("surplus Ps", "the counters of the process were read too seldom to tell bursts that need them", diagnosis.HowToGet(model.Trace))
	case w.peak > idlespinPeak:
		p.Fine(fmt.Sprintf("number of Ps: %s of them are used, but up to %s at times", pct(w.used), pct(min(1, w.peak))))
	default:
		p.Report(wakeful(p, w, procs, u, c))
	}
}

func wakefulEvidence(p *diagnosis.Pass) (procs int, u cpuUse, c cpuSpent, ok bool) {
	u, counted := rusage(p.Model)
	c, sampled := spentCPU(p)
	procs = knownProcs(p.Model)
	return procs, u, c, counted && sampled && procs > 0 && len(p.Model.Process.Samples) > 2
}

// peakCPU is the most cores that the process used between two readings of its
// counters, the busiest of a hundred left out.
func peakCPU(proc *model.Process) float64 {
	var use []float64
	last := proc.Samples[0]
	for _, s := range proc.Samples[1:] {
		if s.At-last.At >= idlespinWindow {
			use = append(use, (s.User+s.System-last.User-last.System).Seconds()/(s.At-last.At).Seconds())
			last = s
		}
	}
	if len(use) == 0 {
		return math.Inf(1) // they say nothing about bursts
	}
	slices.Sort(use)
	return use[int(math.Ceil(0.99*float64(len(use))))-1]
}

func wakeful(p *diagnosis.Pass, s spin, procs int, u cpuUse, c cpuSpent) diagnosis.Finding {
	f := surplus(p, s)
	f.Summary = fmt.Sprintf("%d Ps for %s cores of work: the scheduler takes another %s cores, %s of the CPU in use.",
		procs, num(u.cores()-s.cores), num(s.cores), pct(s.share))
	f.Evidence = append([]fact.Fact{
		{Name: "Ps used", Value: s.used, Unit: fact.Ratio, Source: "/proc: CPU time ÷ GOMAXPROCS"},
		{Name: "Ps used at the busiest time", Value: s.peak, Unit: fact.Ratio, Source: "/proc: 99th percentile"},
		{Name: "scheduler's share of the CPU", Value: s.share, Unit: fact.Ratio, Source: c.from()},
		{Name: "CPU in the scheduler", Value: s.cores, Unit: fact.Cores, Source: c.from()},
		{Name: "Ps that would do", Value: float64(s.fewer), Unit: fact.Count, Source: "1.5 × cores of work, rounded up"},
	}, wakeFacts(p)...)
	f.Cost.What = "CPU in the scheduler"
	f.Bound.Method = "Amdahl: all CPU time in the scheduler; it is an upper bound, since some of it is work that fewer Ps have to do as well"
	f.Confidence = diagnosis.Medium
	f.Reasons = []string{fmt.Sprintf("one kind of evidence, the %s; a trace would show how often Ps are taken up for nothing", c.source)}
	if rate, _ := futexes(p); rate >= idlespinFutexes {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fmt.Sprintf("the %s and the system calls agree: %s futex calls a second", c.source, num(math.Round(rate)))}
	}
	f.RuledOut[1] = fmt.Sprintf("a program at rest: %s cores of work", num(u.cores()-s.cores))
	return f
}
