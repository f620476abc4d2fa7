package rules

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed slowstage.md
var slowstagePage string

var slowstage = &diagnosis.Rule{
	Name:     "slowstage",
	Title:    "One stage of a pipeline works, the others wait for it",
	Doc:      slowstagePage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "funnelchannel", "idlespin"},
	Check:    checkSlowstage,
}

const (
	// slowstageBusy is the part of its time that the stage is on a P or
	// waits for one. The catalogue's figure: a stage at 90 % with somebody always
	// before it does not wait for work.
	slowstageBusy = 0.9
	// slowstageRuns is the part that it is on a P. One that is ready and gets
	// none has neighbours, not too few goroutines.
	slowstageRuns = 0.6
	// slowstageStay is the part of their time that those behind it wait to be
	// given more.
	slowstageStay = 0.5
)

func checkSlowstage(p *diagnosis.Pass) {
	for _, s := range stages(p) {
		busy, runs := s.busy()
		factor, method := s.widened(p)
		if len(s.feeds) == 0 || s.feedStay < slowstageStay || busy < slowstageBusy || runs < slowstageRuns || s.count >= p.Procs() || factor < worthwhile {
			continue
		}
		p.Report(slowstageFinding(p, &s, busy, factor, method))
		return
	}
}

// busy is the part of the stage's time that it is on a P or ready for one, and
// the part that it is on one; 0 where the trace has that only together with what
// other goroutines do.
func (s *stage) busy() (busy, runs float64) {
	var on, ready time.Duration
	for _, c := range s.teams {
		if c.function != "" {
			return 0, 0
		}
		on += c.Times.Running + c.Syscall
		ready += c.Runnable
	}
	return div((on + ready).Seconds(), s.total.Seconds()), div(on.Seconds(), s.total.Seconds())
}

// widened is the most by which throughput can grow with more goroutines in the
// stage.
func (s *stage) widened(p *diagnosis.Pass) (factor float64, method string) {
	factor, byP, _ := fact.Closed{Cores: usableProcs(p), Busy: max(minBusy, working(p)), Serial: s.next}.Asymptotic()
	method = "asymptotic bound of a closed system: min(P ÷ busy Ps = " + times(byP)
	if s.next > 0 {
		method += ", 1 ÷ use of the busiest single goroutine beside the stage = " + times(1/s.next)
	}
	return factor, method + ")"
}

func slowstageFinding(p *diagnosis.Pass, s *stage, busy, factor float64, method string) diagnosis.Finding {
	place := s.queue.server(p)
	if start, ok := p.GroupPlace(s.teams[0].Group); ok && place == (diagnosis.Place{}) {
		place = start
	}
	idle := max(0, float64(p.Procs())-working(p))
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s works %s of its time while somebody stands before it with more (%s on average) and %s waits behind it %s of its time: %s of %d Ps are idle, and the stage has too few goroutines.",
			short(place.Function), pct(busy), num(s.queue.waiters(p)), short(s.feeds[0].does()), pct(s.feedStay), num(idle), p.Procs()),
		Where: where(place, s.queue.place(p)),
		Evidence: []fact.Fact{
			{Name: "stage at work", Value: busy, Unit: fact.Ratio, Source: "trace: on a P or ready for one ÷ time of its goroutines"},
			{Name: "goroutines of the stage", Value: float64(s.count), Unit: fact.Count, Source: "trace: wake-ups, goroutine groups"},
			{Name: "standing before it with work, on average", Value: s.queue.waiters(p), Unit: fact.Count, Source: "trace: waits to send ÷ window"},
			{Name: "goroutines behind it waiting to be given more", Value: s.feedStay, Unit: fact.Ratio, Source: "trace: waits to receive of " + short(s.feeds[0].does())},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: idle, Unit: fact.Cores, Share: div(idle, float64(p.Procs())), What: "Ps idle while the stage has more work than it can do"},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if the stage had as many goroutines as it can use: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: who waits before the stage, what it does, and who waits behind it",
			"the trace does not name channels: places that wake each other are taken for one",
		},
		RuledOut: []string{
			"no work: somebody stood before the stage with work in hand, " + num(s.queue.waiters(p)) + " on average",
			fmt.Sprintf("a full machine: %s of %d Ps are busy", num(working(p)), p.Procs()),
			"a stage that waits itself, for answers or a lock: it is at work",
			"an order that must be kept looks the same: then the stage's own work must become less",
		},
		Groups: append(s.names(), s.queue.groups...),
		Stacks: s.queue.stacks,
		Remedy: diagnosis.Remedy{
			Text: "Run more goroutines in this stage, and only in this one, up to one for each P that is idle. Where order matters, give each a key of its own, or put results back in order behind the stage. Larger channels change nothing: they are full before it and empty behind it.",
			Code: "var wg sync.WaitGroup\nfor range runtime.GOMAXPROCS(0) {\n\twg.Go(func() {\n\t\tfor x := range in {\n\t\t\tout <- work(x)\n\t\t}\n\t})\n}\ngo func() { wg.Wait(); close(out) }()",
		},
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "In a new recording the waits before and behind the stage shrink together. If throughput stays, another stage or the order of results sets the pace."),
	}
}
