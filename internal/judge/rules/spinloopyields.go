package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A loop that gives the P away each time has its CPU in the scheduler, whose stacks do not say
// for whom it works. A trace counts who does it.

const (
	// yieldsPart is the part of the CPU that giving the P away may take: one yield takes a
	// fraction of a microsecond, so that who works for some µs between two of them is below a
	// tenth. Tills that tried a flag again and again had 75 %.
	yieldsPart = 0.2
	// yieldsBy is the part of them that one function must make to be named.
	yieldsBy = 0.8
)

// checkYields looks for a function that gives the P away instead of waiting, and goes back to work
// when it has what it tried for, as a lock of one's own does.
func checkYields(p *diagnosis.Pass, s *cpu.Use) bool {
	share := s.ShareIn("CPU in giving the P away", givesAway)
	if p.Model.Sched == nil || share.Value < yieldsPart || share.Value*wantedCPU(s).Value < spinCores {
		return false
	}
	all, by, stacks := 0.0, map[diagnosis.Place]float64{}, map[diagnosis.Place][]model.Stack{}
	var most diagnosis.Place
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		if !yields(p.Model, w) {
			continue
		}
		all += float64(w.Count)
		if place, ok := p.UserPlace(w.Stack); ok {
			by[place], stacks[place] = by[place]+float64(w.Count), append(stacks[place], w.Stack)
			if by[place] > by[most] {
				most = place
			}
		}
	}
	if by[most] == 0 || by[most] < yieldsBy*all {
		return false
	}
	p.Report(yieldFinding(s, most, stacks[most], share))
	return true
}

// yields reports whether goroutines give the P away there and stay ready.
func yields(m *model.Model, w *model.Wait) bool {
	frames := m.Stacks.Frames(w.Stack)
	return w.Kind == model.SchedWait && len(frames) > 0 && frames[0].Func == "runtime.Gosched"
}

func yieldFinding(s *cpu.Use, place diagnosis.Place, stacks []model.Stack, share fact.Fact) diagnosis.Finding {
	p, of := s.Pass, code.MatchStacks(stacks)
	times := p.WaitCount("times that it gives the P away", model.SchedWait, func(w *model.Wait) bool { return yields(p.Model, w) && of(&model.Sample{Stack: w.Stack}) })
	rate := fact.Quotient.Of("times a second", fact.PerSec, times, p.WindowLength())
	cost := s.Cost(share)
	f := diagnosis.Finding{
		Where:      append(code.Places(place), leadingTo(p, stacks[0])...),
		Evidence:   []fact.Fact{cost.Fact(), rate},
		Cost:       cost,
		Bound:      s.LimitWithout("giving the P away", givesAway, "a goroutine that waits costs nothing"),
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace counts who gives the P away, and the " + s.Source + " shows the price"},
		RuledOut:   []string{fact.Sentence("code that lets others run between two pieces of work: giving the P away takes %s of the CPU", share)},
		Stacks:     stacks,
		Remedy: diagnosis.Remedy{
			Text: "Let who has to wait wait: sync.Mutex spins for a moment itself and then sleeps until it is woken, and a channel or a " +
				"sync.Cond does so for a condition. A loop over CompareAndSwap and runtime.Gosched takes the CPU from " +
				"whoever holds what it tries for. Keep input, output and waits out of the locked section.",
			Code: "var mu sync.Mutex // not an atomic flag\n\nmu.Lock()\ndefer mu.Unlock()",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The times that the P is given away in a new recording show that the change was made."),
	}
	f.Say("%s tries again %s times a second and gives the P away in between, which takes %s: %s of the CPU in use.", code.Name(place.Function), rate.Number(), cost.Fact(), share)
	return f
}
