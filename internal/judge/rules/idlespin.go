package rules

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed idlespin.md
var idlespinPage string

var idlespin = &diagnosis.Rule{
	Name:  "idlespin",
	Title: "More Ps than work: threads spin and are woken for nothing",
	Doc:   idlespinPage,
	// No Needs: a trace shows it best, and the system's counters show it too.
	Explains: []string{"futexstorm"},
	Whole:    true,
	Check:    checkIdlespin,
}

const (
	// idlespinUse is the share of the Ps below which some are surplus.
	idlespinUse = 0.5
	// idlespinShare is the part of the busy time that goes into looking for
	// work. The consumer that the rule was made after spent 25 to 30% there
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
	// idlespinCost is the least it must cost, in cores.
	idlespinCost = 0.05
	// idlespinFutex is how many futex calls each operation may need before they
	// are the price of waking threads for it.
	idlespinFutex = 1
	// idlespinWorse is how much longer the tail of latency may become.
	idlespinWorse = 0.05
)

// A spin is what the rule measures, with a trace or without.
type spin struct {
	ps, work    fact.Fact // Ps, and the cores that worked
	used, peak  fact.Fact // part of the Ps, and that in the busiest windows
	cores       fact.Fact // spent looking for work
	busy        fact.Fact // that and work
	share       fact.Fact // cores as a part of busy
	starts      fact.Fact // Ps taken up a second; nothing without a trace
	profile     fact.Fact // share of the CPU samples in it; nothing without them
	source      string    // of those
	fewer       fact.Fact // Ps that would do
	rate, perOp fact.Fact // futex calls
}

// fewerPs is how many Ps would do: half as many again as cores work.
var fewerPs = &fact.Formula{Name: "fewer Ps", Words: "{0} and half as much again, rounded up",
	Value: func(x []float64) float64 { return max(1, math.Ceil(idlespinRoom*x[0])) }}

func checkIdlespin(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		checkWakeful(p)
		return
	}
	if len(p.Model.Sched.Timeline) == 0 {
		p.Unchecked("surplus Ps", "the trace tells nothing about how their use changes over time", p.HowToGet(model.Trace))
		return
	}
	s := measureSpin(p)
	switch {
	case s.share.Value < idlespinShare && s.profile.Value < idlespinShare || s.cores.Value < idlespinCost:
		p.Fine(fact.Sentence("scheduler: threads spend %s looking for work, beside %s doing it", s.cores, s.work))
	case !s.surplus():
		p.Fine(fact.Sentence("number of Ps: %s of their time is used", s.used))
	case s.peak.Value > idlespinPeak:
		p.Fine(fact.Sentence("number of Ps: %s of their time is used, but up to %s for %s at a time", s.used, s.peak,
			fact.Name(fact.Seconds.Format(idlespinWindow.Seconds()))))
	case s.starts.Value < idlespinStarts && s.cores.Value < idlespinCores && s.profile.Value < idlespinShare:
		p.Fine(fact.Sentence("scheduler: threads take up a P only %s times a second and spend %s looking for "+
			"work", s.starts.Number(), s.cores))
	default:
		p.Report(surplusFinding(p, &s))
	}
}

// surplus reports whether there are Ps to spare.
func (s *spin) surplus() bool {
	return s.used.Value < idlespinUse && s.fewer.Value < s.ps.Value && s.ps.Value >= surplusPs
}

func measureSpin(p *diagnosis.Pass) spin {
	s := spin{
		ps: cpu.Procs(p), work: cpu.BusyPs(p).Named("cores of work"),
		peak: p.Statistic(fact.Timeline, "Ps running, 99th percentile", "Ps used in the busiest windows", peakUse(p), fact.Ratio),
		cores: fact.Quotient.Of("threads looking for work", fact.Cores,
			p.Processors("time of Ps held without a goroutine", "scheduler"), p.WindowLength()),
		starts: fact.Quotient.Of("Ps taken up", fact.PerSec, p.Processors("Ps taken up", "starts"), p.WindowLength()),
	}
	s.used = fact.Quotient.Of("Ps used", fact.Ratio, s.work, s.ps)
	s.busy = fact.Sum.Of("busy time of the Ps", fact.Cores, s.cores, s.work)
	s.share = fact.Quotient.Of("part of their busy time", fact.Ratio, s.cores, s.busy)
	s.fewer = fewerPs.Of("Ps that would do", fact.Count, s.work)
	s.futexes(p)
	const name = "scheduler's share of the samples"
	if _, all := diagnosis.CPUTime(p.Model); all >= diagnosis.ThinSamples {
		s.profile, s.source = p.SampleShare(name, "cpu", p.Frames(looksForWork)), "CPU profile"
	}
	if c, ok := cpu.UseOf(p); ok && c.Believed == model.KernelCPU {
		s.profile, s.source = p.CPUPart(name, model.Scheduling), c.Source
	}
	return s
}

// looksForWork reports whether a stack is of a thread without a goroutine.
func looksForWork(frames []model.Frame) bool {
	return code.ContainsFunc(frames, lookingForWork)
}

// lookingForWork returns the functions that a thread without a goroutine is in.
func lookingForWork(f string) bool {
	name, ok := strings.CutPrefix(f, "runtime.")
	return ok && slices.Contains([]string{
		"findRunnable", "findrunnable", "schedule", "futex", "futexsleep", "futexwakeup", "notesleep", "notewakeup",
		"stopm", "startm", "wakep", "resetspinning", "stealWork", "runqsteal", "sysmon",
	}, name)
}

// peakUse returns the use of the Ps in the busiest of a hundred windows of 100 ms.
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
		return statistics.Quotient(sum, width.Seconds()*float64(p.Procs()))
	}
	slices.Sort(use)
	return use[int(math.Ceil(0.99*float64(len(use))))-1]
}

// surplusFinding makes the finding of a trace.
func surplusFinding(p *diagnosis.Pass, s *spin) diagnosis.Finding {
	f := s.finding(p)
	f.Evidence = append([]fact.Fact{s.used, s.peak, s.cores, s.starts, s.fewer}, s.wakes(p)...)
	f.Cost = diagnosis.CostOf(s.cores, max(s.share.Value, s.profile.Value))
	switch {
	case s.profile.Value > s.share.Value: // waking threads is done by goroutines, which a trace takes for work
		saved := fact.Saving.Of("CPU in the scheduler", fact.Cores, s.profile, s.busy)
		f.Bound = diagnosis.Limit(saved, diagnosis.CPUGoal, s.profile.Value, fewerDoToo)
	case s.profile.Value > 0:
		f.Bound = diagnosis.Limit(s.cores, diagnosis.CPUGoal, s.share.Value, fewerDoToo)
	default:
		f.Bound = diagnosis.Direction(s.cores, diagnosis.CPUGoal, s.share.Value, fewerDoToo)
	}
	f.Confidence, f.Reasons = diagnosis.Medium, []string{"a P held without a goroutine may be a thread that the " +
		"operating system had put aside"}
	switch {
	case s.profile.Value >= idlespinShare:
		f.Confidence = diagnosis.High
		f.Reasons = []string{fact.Sentence("trace and %s agree: %s of the samples are in the scheduler's search "+
			"for work", fact.Name(s.source), s.profile)}
		f.Rest(s.profile)
	case s.rate.Value >= idlespinFutexes:
		f.Confidence = diagnosis.High
		f.Reasons = []string{fact.Sentence("trace and system calls agree: %s futex calls a second", s.rate.Number())}
	}
	f.Say("%s for %s of work: threads take up a P %s times a second and spend %s, %s of all their busy time, "+
		"looking for work.",
		s.ps.Things("P"), s.work, s.starts.Number(), s.cores, s.share)
	return f
}

const fewerDoToo = "an upper bound, since some of it is work that fewer Ps have to do as well"

// finding makes what it has whatever the evidence.
func (s *spin) finding(p *diagnosis.Pass) diagnosis.Finding {
	knob := cpu.ProcsKnob(int(s.fewer.Value))
	bearable := "if the 99th percentile of latency is not more than " + fact.Ratio.Format(idlespinWorse) + " worse."
	return diagnosis.Finding{
		RuledOut: []string{
			fact.Sentence("bursts that need all Ps: even the busiest windows use %s of them", s.peak),
			fact.Sentence("a program at rest: %s of work", s.work),
		},
		Remedy: diagnosis.Remedy{
			Text: "Try " + knob + ", half as many again as the cores of work. The collector gets fewer helpers by " +
				"it too, so keep it only " + bearable +
				" In a container set the CPU limit instead: from " + containerProcs.version() + " on GOMAXPROCS follows it.",
			Knob: knob,
		},
		Experiment: settingTrial(diagnosis.CPUPerOp, knob, cpu.ProcsKnob(int(s.ps.Value)),
			"Keep it only "+bearable+" If CPU time does not fall, this finding is refuted."),
	}
}

// futexes measures how often a second threads were put to sleep or woken, and
// how often for each operation.
func (s *spin) futexes(p *diagnosis.Pass) {
	if p.Model.Syscalls == nil {
		return
	}
	s.rate = cpu.FutexCalls(p)
	if ops, _ := operationRate(p); ops.Value > 0 {
		s.perOp = fact.Quotient.Of("futex calls for each operation", fact.Count, s.rate, ops)
	}
}

// wakes measures what the system says of threads that sleep and wake.
func (s *spin) wakes(p *diagnosis.Pass) []fact.Fact {
	sleeps := p.Process("threads that went to sleep", "voluntary", fact.Rate)
	return slices.DeleteFunc([]fact.Fact{s.rate, s.perOp, sleeps}, func(f fact.Fact) bool { return !(f.Value > 0) })
}

// checkWakeful looks for surplus Ps without a trace: by the share of the
// samples in the scheduler, or by threads that are woken for each operation.
func checkWakeful(p *diagnosis.Pass) {
	s, ok := measureWakeful(p)
	if !ok {
		p.Unchecked("surplus Ps", "that needs an execution trace, or GOMAXPROCS, the counters of the process and "+
			"samples of its CPU time",
			p.HowToGet(model.Trace))
		return
	}
	stormy := s.rate.Value >= idlespinFutexes && s.perOp.Value >= idlespinFutex
	switch {
	case s.share.Value < idlespinShare && !stormy || s.cores.Value < idlespinCost:
		p.Fine(fact.Sentence("scheduler: %s of the CPU goes into scheduling, %s", s.share, s.cores))
	case !s.surplus():
		p.Fine(fact.Sentence("number of Ps: %s of them are used", s.used))
	case math.IsInf(s.peak.Value, 1):
		p.Unchecked("surplus Ps", "the counters of the process were read too seldom to tell bursts that need "+
			"them", p.HowToGet(model.Trace))
	case s.peak.Value > idlespinPeak:
		p.Fine(fact.Sentence("number of Ps: %s of them are used, but up to %s at times", s.used, s.peak))
	default:
		p.Report(wakefulFinding(p, &s))
	}
}

func measureWakeful(p *diagnosis.Pass) (s spin, ok bool) {
	used, counted := cpu.ProcessCPU(p)
	c, sampled := cpu.UseOf(p)
	ps := cpu.KnownProcs(p)
	if !counted || !sampled || ps.Value == 0 || len(p.Model.Process.Samples) <= 2 {
		return s, false
	}
	s = spin{ps: ps, busy: used, source: c.Source}
	s.share = p.CPUPart("scheduler's share of the CPU", model.Scheduling)
	s.cores = fact.Product.Of("CPU in the scheduler", fact.Cores, s.share, used)
	s.work = fact.Difference.Of("cores of work", fact.Cores, used, s.cores)
	s.used = fact.Fraction.Of("Ps used", fact.Ratio, used, s.ps)
	s.fewer = fewerPs.Of("Ps that would do", fact.Count, s.work)
	s.peak = fact.Quotient.Of("Ps used at the busiest time", fact.Ratio,
		p.Statistic(fact.Process, "CPU, 99th percentile", "CPU of the process at the busiest time",
			peakCPU(p.Model.Process), fact.Cores).From(model.ProcFS), s.ps)
	s.futexes(p)
	return s, true
}

// peakCPU returns the most cores that the process used between two readings of its
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

// wakefulFinding makes the finding of samples and counters.
func wakefulFinding(p *diagnosis.Pass, s *spin) diagnosis.Finding {
	f := s.finding(p)
	f.Evidence = append([]fact.Fact{s.used, s.peak, s.share, s.cores, s.fewer}, s.wakes(p)...)
	f.Cost = diagnosis.CostOf(s.cores, s.share.Value)
	f.Bound = diagnosis.Limit(fact.Saving.Of(s.cores.Name, fact.Cores, s.share, s.busy), diagnosis.CPUGoal, s.share.Value, fewerDoToo)
	f.Confidence = diagnosis.Medium
	f.Reasons = []string{"one kind of evidence, the " + s.source + "; a trace would show how often Ps are taken up for nothing"}
	if s.rate.Value >= idlespinFutexes {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fact.Sentence("the %s and the system calls agree: %s futex calls a second", fact.Name(s.source), s.rate.Number())}
	}
	f.Say("%s for %s of work: the scheduler takes another %s, %s of the CPU in "+
		"use.", s.ps.Things("P"), s.work, s.cores, s.share)
	return f
}
