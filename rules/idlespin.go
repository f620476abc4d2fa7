package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/model"
)

//go:embed idlespin.md
var idlespinPage string

var idlespin = &diagnosis.Rule{
	Name:  "idlespin",
	Title: "More Ps than work: threads spin and are woken for nothing",
	Doc:   idlespinPage,
	Needs: []model.Source{model.Trace},
	Check: checkIdlespin,
}

const (
	// idlespinUse is the share of the Ps below which some are surplus.
	idlespinUse = 0.5
	// idlespinShare is the part of the busy time that goes into looking for
	// work. The consumer that the rule was made after spent 25 to 30 % there
	// with 8 Ps and half of it with 4.
	idlespinShare = 0.20
	// idlespinStarts is how often a second threads take up a P. On work of
	// short waits 1 Ps made 38 futex calls, 2 made 7,630 and 8 made 17,599 for
	// the same throughput; an idle server stays in the hundreds.
	idlespinStarts = 5000
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
)

// A spin is what the rule measures.
type spin struct {
	used, share, starts, peak float64
	cores                     float64 // spent looking for work
	profile                   float64 // the same as a share of the CPU profile, 0 without one
	fewer                     int     // Ps that would do
}

func checkIdlespin(p *diagnosis.Pass) {
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
			s.profile = share
		}
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
	work := working(p)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%d Ps for %s cores of work: threads take up a P %s times a second and spend %s cores, %s of all their busy time, looking for work.",
			p.Procs(), num(work), num(math.Round(s.starts)), num(s.cores), pct(s.share)),
		Evidence: []diagnosis.Fact{
			{Name: "Ps used", Value: s.used, Unit: diagnosis.Ratio, Source: "trace: Ps, running, collecting or in a system call"},
			{Name: "Ps used in the busiest windows", Value: s.peak, Unit: diagnosis.Ratio, Source: "trace: timeline, 99th percentile over 100 ms"},
			{Name: "looking for work", Value: s.cores, Unit: diagnosis.Cores, Source: "trace: Ps held without a goroutine"},
			{Name: "Ps taken up", Value: s.starts, Unit: diagnosis.PerSec, Source: "trace: Ps"},
			{Name: "Ps that would do", Value: float64(s.fewer), Unit: diagnosis.Count, Source: "1.5 × cores of work, rounded up"},
		},
		Cost: diagnosis.Cost{Value: s.cores, Unit: diagnosis.Cores, Share: max(s.share, s.profile), What: "threads looking for work"},
		Bound: diagnosis.Bound{
			Value: s.cores, Unit: diagnosis.Cores, Goal: diagnosis.CPUGoal, Share: s.share,
			Method: "all of the time that Ps were held without a goroutine; it is an upper bound, since some of it is work that fewer Ps have to do as well",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"a P held without a goroutine may be a thread that the operating system had put aside"},
		RuledOut: []string{
			fmt.Sprintf("bursts that need all Ps: even the busiest windows use %s of them", pct(s.peak)),
			fmt.Sprintf("a program at rest: %s cores of work", num(work)),
		},
		Remedy: diagnosis.Remedy{
			Text: fmt.Sprintf("Try GOMAXPROCS=%d, 1.5 times the cores of work. The collector gets fewer helpers by it too, so keep it only if the 99th percentile of latency is not more than 5 %% worse. In a container set the CPU limit instead: from Go 1.25 on GOMAXPROCS follows it.", s.fewer),
			Knob: fmt.Sprintf("GOMAXPROCS=%d", s.fewer),
		},
		Prove: fmt.Sprintf("Record under the same load, in turns: `GOMAXPROCS=%d gowhy record -d 10s -o fewer.gowhy -- COMMAND` and `GOMAXPROCS=%d gowhy record -d 10s -o now.gowhy -- COMMAND`. Compare CPU seconds per operation, and the 99th percentile of latency as a guard. If CPU does not fall, this finding is refuted.", s.fewer, p.Procs()),
	}
	if s.profile >= idlespinShare {
		f.Confidence = diagnosis.High
		f.Reasons = []string{fmt.Sprintf("trace and CPU profile agree: %s of the samples are in the scheduler's search for work", pct(s.profile))}
		f.Evidence = append(f.Evidence, diagnosis.Fact{Name: "scheduler's share of the samples", Value: s.profile, Unit: diagnosis.Ratio, Source: "CPU profile"})
	}
	return f
}
