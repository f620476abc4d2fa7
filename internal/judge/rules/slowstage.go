package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed slowstage.md
var slowstagePage string

var slowstage = &diagnosis.Rule{
	Name:     "slowstage",
	Title:    "One pipeline stage is the bottleneck, the others wait for it",
	Doc:      slowstagePage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "funnelchannel", "idlespin", "serialcalls"},
	Check:    checkSlowstage,
}

const (
	// slowstageBusy is the part of its time that the stage is on a P or
	// waits for one. The catalogue's figure: a stage at 90% with somebody always
	// before it does not wait for work.
	slowstageBusy = 0.9
	// slowstageRuns is the part that it is on a P. One that is ready and gets
	// none has neighbours, not too few goroutines.
	slowstageRuns = 0.6
	// slowstageStay is the part of their time that those behind it wait to be
	// given more.
	slowstageStay = 0.5
	// slowstageGivers is how many goroutines that do the same stand before a stage with none behind it for the
	// work to have been meant for several. One that fetches for one that computes is a reader that
	// keeps a buffer full, as a consumer of Kafka has it, and nobody waits for either.
	slowstageGivers = 2
)

func checkSlowstage(p *diagnosis.Pass) {
	if checkUneven(p) {
		return
	}
	for _, s := range queueing.Stages(p) {
		busy, runs := stageAtWork(p, &s)
		throughput := gainWider(p, &s)
		if !s.Pressed || !starves(p, &s) || busy.Value < slowstageBusy || runs.Value < slowstageRuns ||
			s.Count.Value >= float64(p.Procs()) || throughput.Value < worthwhile {
			continue
		}
		p.Report(slowstageFinding(p, &s, busy, throughput))
		return
	}
}

// starves reports whether goroutines wait for a stage that is slow: those behind it for more, or, where
// there are none, several of the program's own before it that work as well.
func starves(p *diagnosis.Pass, s *queueing.Stage) bool {
	if len(s.Feeds) > 0 {
		return s.FeedStay.Value >= slowstageStay
	}
	if len(s.Starts) > 0 {
		return false
	}
	for _, stack := range s.Queue.Stacks {
		if code.ProgramPlace(p, stack) == (diagnosis.Place{}) {
			return false
		}
	}
	return slices.ContainsFunc(code.Groups(p.Model, s.Queue.Groups), func(g *model.Group) bool { return g.Peak >= slowstageGivers && g.Running > 0 })
}

// stageAtWork returns the part of the stage's time that it is on a P or ready for one, and
// the part that it is on one; nothing where the trace has that only together with
// what other goroutines do.
func stageAtWork(p *diagnosis.Pass, s *queueing.Stage) (busy, runs fact.Fact) {
	if slices.ContainsFunc(s.Teams, func(c queueing.Team) bool { return c.Function != "" }) {
		return busy, runs
	}
	on := p.Goroutines("time of the stage on a P", s.Names(), "running", "syscall")
	ready := p.Goroutines("time of the stage on a P or ready for one", s.Names(), "running", "syscall", "runnable")
	return fact.Quotient.Of("stage at work", fact.Ratio, ready, s.Time), fact.Quotient.Of("stage on a P", fact.Ratio, on, s.Time)
}

// gainWider returns by how much at most throughput can grow with more goroutines in the
// stage.
func gainWider(p *diagnosis.Pass, s *queueing.Stage) fact.Fact {
	if s.Next.Value == 0 {
		return byCores.Of("throughput", fact.Factor, cpu.UsableCores(p), cpu.BusyWithout(p))
	}
	return byCoresAndNext.Of("throughput", fact.Factor, cpu.UsableCores(p), cpu.BusyWithout(p), s.Next)
}

// What bounds a closed system when one stage no longer does.
var (
	byCores        = &fact.Formula{Name: "asymptotic", Words: "asymptotic bound of a closed system: {0} ÷ {1}", Value: stageBound}
	byCoresAndNext = &fact.Formula{Name: "asymptotic", Words: "asymptotic bound of a closed system: min({0} ÷ {1}, 1 ÷ {2})", Value: stageBound}
)

func stageBound(x []float64) float64 {
	c := fact.ClosedSystem{Cores: x[0], Busy: x[1]}
	if len(x) > 2 {
		c.Serial = x[2]
	}
	factor, _, _ := c.Asymptotic()
	return factor
}

func slowstageFinding(p *diagnosis.Pass, s *queueing.Stage, busy, throughput fact.Fact) diagnosis.Finding {
	place := s.Queue.Server(p)
	if start, ok := p.GroupPlace(s.Teams[0].Group); ok && place == (diagnosis.Place{}) {
		place = start
	}
	idle := cpu.IdlePs(p)
	f := diagnosis.Finding{
		Where:    code.Places(place, s.Queue.Place(p)),
		Evidence: []fact.Fact{busy, s.Count, s.Length, cpu.BusyPs(p)},
		Cost: diagnosis.CostOf(idle.Named("Ps idle while the stage has more work than it can do"),
			fact.Fraction.Of("share of the Ps", fact.Ratio, idle, cpu.Procs(p)).Value),
		Bound:      queueing.TurnsLimit(throughput, s.Queue.Turns(p), "if the stage had as many goroutines as it can use"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: who waits before the stage, what it does, and who waits behind it",
			"the trace does not name channels: places that wake each other are taken for one",
		},
		RuledOut: []string{
			fact.Sentence("no work: somebody stood before the stage with work in hand, %s on average", s.Length),
			cpu.FullMachine(p),
			"a stage that waits itself, for answers or a lock: it is at work",
			"an order that must be kept looks the same: then the stage's own work must become less",
		},
		Groups: append(s.Names(), s.Queue.Groups...),
		Stacks: s.Queue.Stacks,
		Remedy: diagnosis.Remedy{
			Text: "Run more goroutines in this stage, and only in this one, up to one for each P that is idle. Where order matters, " +
				"give each a key of its own, or put results back in order behind the stage. " +
				"Larger channels change nothing: they are full before it and empty behind it.",
			Code: "var wg sync.WaitGroup\nfor range runtime.GOMAXPROCS(0) {\n\twg.Go(func() {\n\t\tfor x := range in {\n\t\t\tout <- work(x)\n\t\t}\n\t})\n}\ngo func() { wg.Wait(); close(out) }()",
		},
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "In a new recording the waits before and behind the stage shrink together. "+
			"If throughput stays, another stage or the order of results sets the pace."),
	}
	if len(s.Feeds) == 0 {
		givers := p.Goroutines("goroutines before it", s.Queue.Groups, "peak")
		f.Evidence = append(f.Evidence, givers)
		f.Say("%s works %s of its time while %s goroutines bring it more than it can do (%s stand before it on average): "+
			"%s of %s Ps are idle. What it does for each piece could be done by those who bring it.",
			code.Name(place.Function), busy, givers, s.Length, idle.Number(), cpu.Procs(p))
		return f
	}
	f.Evidence = append(f.Evidence, s.FeedStay)
	f.Say("%s works %s of its time while somebody stands before it with more (%s on average) and %s waits behind it %s of "+
		"its time: "+
		"%s of %s Ps are idle, and the stage has too few goroutines.",
		code.Name(place.Function), busy, s.Length, code.Name(s.Feeds[0].FunctionName()), s.FeedStay, idle.Number(), cpu.Procs(p))
	return f
}
