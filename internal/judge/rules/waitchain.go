package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed waitchain.md
var waitchainPage string

var waitchain = &diagnosis.Rule{
	Name:     "waitchain",
	Title:    "Who answers an operation waits itself",
	Doc:      waitchainPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs"},
	Check:    checkWaitchain,
}

const (
	// chainPart is the part of an operation's time that must go by while whoever answers it waits
	// at one place: at half, the operation is twice as fast without.
	chainPart = 0.5
	// chainMean is the shortest mean wait at that place, in all, that is worth a change:
	// a hundred times what it takes to hand something over.
	chainMean = 1e-3
	// chainLinger is the part of the wait from which one that gathers is much longer than the
	// work that it is spared: at two thirds, it waits for twice as long as it works. A journal that
	// waits 2 ms to sync several entries together, 5 ms each, is at a quarter.
	chainLinger = 2. / 3
	// chainLost is the part of the waits that may lead to what was not seen.
	chainLost = 0.2
	// chainOne is how many operations one answer may end, on average, to be the answer to one of
	// them: what ends the waits of many is news, which none of them asked for.
	chainOne = 1.5
	// chainTurns is for how many waits of others an operation waits from which it stands in a
	// queue: its own is one of them.
	chainTurns = 1.5
)

// A followedWait is what operations of one kind wait for, through others, as facts.
type followedWait struct {
	*model.Chain
	link                          *model.ChainLink
	done, took, wait, part, share fact.Fact
	each, turns, gathered         fact.Fact
}

func checkWaitchain(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		return
	}
	seen := false
	for i := range p.Model.Sched.Chains {
		c := &p.Model.Sched.Chains[i]
		if c.Done < serialCallsDone || c.PeersTime > c.Waited/2 { // of what others keep [poolwait] judges
			continue
		}
		known := (c.LinkTime(model.LinkOther) + c.LinkTime(model.LinkPeer)).Seconds() <= chainLost*c.LinkTime("").Seconds()
		for j := range c.Links {
			l := &c.Links[j]
			if l.Kind != model.LinkClock && l.Kind != model.LinkAnswer || l.Stack == 0 && l.Goroutine.Func == "" {
				continue
			}
			switch w := measureFollowed(p, c, l); {
			case !w.slow():
			case !w.asked():
				known = false
			default:
				p.Report(w.finding(p))
				return
			}
		}
		seen = seen || known
	}
	if seen {
		p.Fine("waits for other goroutines: whoever answers an operation hardly waits for the clock meanwhile, or for answers to others")
	}
}

func measureFollowed(p *diagnosis.Pass, c *model.Chain, l *model.ChainLink) followedWait {
	of := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "waits of "+c.Operation.Func+", operation by operation", name, v, u)
	}
	w := followedWait{Chain: c, link: l, done: of("operations seen from begin to end", float64(c.Done), fact.Count)}
	took, waited := of("time that the operations lasted", c.Took.Seconds(), fact.Seconds), of("time waited for another goroutine", c.Waited.Seconds(), fact.Seconds)
	waits, times := of("waits for another goroutine", float64(c.Followed), fact.Count), of("waits of that goroutine", float64(l.Count), fact.Count)
	w.took = fact.Quotient.Of("time of an operation, mean", fact.Seconds, took, w.done)
	w.wait = fact.Fraction.Of("part of the operation's time in waits for the other goroutine", fact.Ratio, waited, took)
	w.part = fact.Fraction.Of("part of these waits in which that one waits there itself", fact.Ratio,
		of("time in which it waits there", l.Time.Seconds(), fact.Seconds), of("time followed", c.LinkTime("").Seconds(), fact.Seconds))
	w.share = fact.Product.Of("part of the operation's time in which it waits there", fact.Ratio, w.wait, w.part)
	w.turns = fact.Quotient.Of("waits of that goroutine in one of the operation, mean", fact.Count, of("waits of that goroutine, for each of the operations", float64(l.For), fact.Count), waits)
	w.gathered = fact.Quotient.Of("operations that end with one of its waits, mean", fact.Count, waits, times)
	w.each = fact.Quotient.Of("time in which it waits there, mean", fact.Seconds, of("time in which it waits there", l.Time.Seconds(), fact.Seconds), waits)
	return w
}

// slow reports whether the operation would be twice as fast without, or nearly.
func (w *followedWait) slow() bool {
	if w.share.Value < chainPart || w.each.Value < chainMean {
		return false
	}
	// One answer for one operation is the operation's own call, made by somebody else.
	return w.link.Kind == model.LinkClock || w.turns.Value >= serialCallsEach && w.gathered.Value < chainOne
}

// asked reports whether operations have asked for what they wait for: they wait for what they made themselves,
// or somebody called whoever answers, or set its timer. What waits in a loop otherwise waits for work, or news.
func (w *followedWait) asked() bool {
	return w.Own || !w.Loops && (w.link.Asked > 0 || w.link.Stack == 0)
}

// accuses reports whether nobody can have wanted it so: a wait that is long beside the work
// that it spares, or one for others' pieces.
func (w *followedWait) accuses(p *diagnosis.Pass) bool {
	switch {
	case w.link.Kind == model.LinkAnswer:
		return true
	case code.ContainsFunc(p.Model.Stacks.Frames(w.link.Stack), isLimiter):
		return false
	case w.link.Gathers || w.link.Stack == 0:
		return w.part.Value >= chainLinger && (w.link.Timer || w.link.Stack == 0)
	}
	return w.turns.Value >= chainTurns && w.gathered.Value < chainOne
}

// isLimiter reports whether a function waits so that no more than so much is done in a second.
func isLimiter(function string) bool {
	return slices.ContainsFunc([]string{"golang.org/x/time/rate.", "go.uber.org/ratelimit.", "github.com/juju/ratelimit."}, func(pkg string) bool {
		return code.StartsWith(function, []string{pkg})
	})
}

func (w *followedWait) finding(p *diagnosis.Pass) diagnosis.Finding {
	asks, own := code.ProgramPlace(p, w.Stack), code.ProgramPlace(p, w.link.Stack)
	root := diagnosis.Place{Function: w.link.Goroutine.Func, File: w.link.Goroutine.File, Line: w.link.Goroutine.Line}
	at := code.UserPlace(p, w.link.Stack)
	if at == (diagnosis.Place{}) {
		at = root
	}
	where := code.Places(own, at, root, asks)
	if own == (diagnosis.Place{}) && w.link.Stack != 0 { // a library's goroutine
		where = code.Places(asks, at, root)
	}
	stacks := []model.Stack{w.Stack}
	if w.link.Stack != 0 {
		stacks = append(stacks, w.link.Stack)
	}
	f := diagnosis.Finding{
		Where:      where,
		Stacks:     stacks,
		Groups:     code.GroupsOfStacks(p.Model, stacks),
		Remark:     !w.accuses(p),
		Evidence:   []fact.Fact{w.share, w.each, w.took, w.done},
		Cost:       diagnosis.CostOf(fact.Product.Of("time of an operation in which it waits there", fact.Seconds, w.took, w.share), w.share.Value),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: who ended each wait of the operations, and what that one did until then",
			"whether the wait is wanted is not in the trace",
		},
		RuledOut: []string{
			"a goroutine that works, is ready or waits for a lock meanwhile: that time is not counted",
			fact.Sentence("waits now and then: %s in all of the operation's time", w.share),
		},
		Experiment: codeChange(diagnosis.P50, "", ""),
	}
	saved := w.share
	note := "if it did not wait there"
	op, by := code.Name(w.Operation.Func), code.Name(at.Function)
	switch {
	case w.link.Kind == model.LinkAnswer:
		f.Evidence = append(f.Evidence, w.turns)
		saved = sideBySide.Of("part of the operation's time that goes when nobody stands before it", fact.Ratio, w.share, w.turns)
		note = "if it waited for its own answer alone; more goroutines than the other side can serve bring less"
		f.Title = "Operations queue for a goroutine that waits for one answer after the other"
		f.Remedy = inTurnRemedy
		f.Say("%s waits for %s, which waits for %s answers one after the other until then: %s of its time, %s.", op, by, w.turns, w.share, w.each)
	case w.link.Gathers || w.link.Stack == 0:
		f.Evidence = append(f.Evidence, w.gathered)
		f.Title = "Operations wait until a time is over in which others may come"
		f.Remedy = lingerRemedy
		f.Say("%s waits for %s, which waits for the clock before it answers: "+
			"%s of its time, %s; it answers %s at once then.", op, by, w.share, w.each, w.gathered.Things("operation"))
	default:
		f.Evidence = append(f.Evidence, w.turns)
		f.Title = "Operations wait for a goroutine that rests"
		f.Remedy = pauseRemedy
		f.Say("%s waits for %s, which waits for the clock meanwhile, %s: %s of its time, %s.", op, by, w.turns.Things("time"), w.share, w.each)
	}
	f.Bound = diagnosis.Direction(fact.Product.Of("time of one operation", fact.Seconds, w.took, saved), diagnosis.Latency, saved.Value, note)
	return f
}

// inTurnRemedy, lingerRemedy and pauseRemedy are for the three things that whoever answers waits for.
var (
	inTurnRemedy = diagnosis.Remedy{
		Text: "Let several goroutines take from the channel, as many as the other side serves at once, by key where the order " +
			"counts; or take all that is there and ask for it with one request.",
		Code: "for range 8 {\n\tgo func() {\n\t\tfor r := range requests {\n\t\t\tr.done <- ask(r)\n\t\t}\n\t}()\n}",
	}
	lingerRemedy = diagnosis.Remedy{
		Text: "Take what is there at once, and let what comes while that is done be the next batch: batches grow by " +
			"themselves under load, and nobody waits without it. Where a time must be, let it be short beside what one batch costs.",
		Code: "for first := range requests {\n\tbatch := append(batch[:0], first)\n\tfor more := true; more && len(batch) < limit; {\n\t\tselect {\n\t\tcase r := <-requests:\n\t\t\tbatch = append(batch, r)\n\t\tdefault:\n\t\t\tmore = false\n\t\t}\n\t}\n\tflush(batch)\n}",
	}
	pauseRemedy = diagnosis.Remedy{
		Text: "Do not rest while somebody waits: take the next piece at once, and rest only when there is none, by waiting for it " +
			"at the channel. Where the other side bears no more than so much in a second, a limiter that lets a burst through " +
			"(golang.org/x/time/rate) makes the first ones quick; a pause between attempts is for those that failed.",
		Code: "limit := rate.NewLimiter(rate.Limit(perSecond), burst)\nfor r := range requests {\n\tif err := limit.Wait(ctx); err != nil {\n\t\treturn err\n\t}\n\tr.done <- handle(r)\n}",
	}
)
