package rules

import (
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A stage is goroutines that take work from a channel before which somebody
// always stands with more: they set the pace of all before and behind them.
// What they do with their time says which fix there is: one that computes
// needs more of them, one that waits for answers need not wait for each.

// stagePressed is how many goroutines must stand before a stage on average, or
// the part of their time that those who bring its work must stand there: one,
// nearly all the time. Less, and the stage waits for work at times, so that it
// is not what limits the program.
const stagePressed = 0.8

// Who brings work also begins, ends and is held up elsewhere, and a buffer takes what comes
// in bursts, so that a stage that always has work may have nobody before it for a good
// part of a window. Its own time tells: stageShort is the part in which it waits for work at
// most, stagePart the part in which somebody stands before it with more at least.
// Consumers that commit each message, over 2 to 20 s with all messages there before
// and with more than they can take, waited for work 1 to 9% of their time with somebody
// before them for 0.16 to 0.81; one that kept up with what came, 45 to 70% and 0 to 0.23.
const (
	stageShort = 0.2
	stagePart  = 0.1
)

type stage struct {
	queue    *queue
	before   []queue        // in which those wait who bring work to those who stand in the queue, and so on
	pressed  bool           // somebody stands before it nearly all of the window
	length   fact.Fact      // in the queue, on average
	teams    []team         // who takes the work
	count    fact.Fact      // of them alive at once, at most
	time     fact.Fact      // that they lived
	feeds    []team         // to whom they hand it on through a channel
	feedStay fact.Fact      // share of their time that those wait to be given more
	starts   []*model.Group // whom they start for it
	// next is the part of its time, 0 to 1, that the busiest single goroutine
	// before or behind the stage works: the pace that the program has once
	// the stage no longer sets it.
	next fact.Fact
}

// A team is goroutines that do the same: a group, or of a group that only starts
// what it is given, those that were given one function.
type team struct {
	*model.Group
	function string // "" for all of the group
}

// starters are start functions that say nothing of what their goroutines do:
// that is the function which they call.
var starters = []string{"sync.(*WaitGroup).Go.func1", "golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup.(*Group).add.func1"}

// teamOf is the team that a stack's goroutine belongs to; its group is nil where
// that is not known.
func teamOf(m *model.Model, s model.Stack) team {
	c := team{Group: code.Group(m, code.Root(m, s))}
	if f := m.Stacks.Frames(s); c.Group != nil && len(f) > 1 && slices.Contains(starters, c.Name) {
		c.function = f[len(f)-2].Func
	}
	return c
}

// does is the function that the team runs.
func (c team) does() string {
	if c.function != "" {
		return c.function
	}
	return code.GroupName(c.Name)
}

// has reports whether a stack is of one of the team.
func (c team) has(m *model.Model, s model.Stack) bool { return teamOf(m, s) == c }

// size returns how many of the team lived at once and their time. Of a part of a group the
// trace has only the waits: that makes at least this number of goroutines, each taken to have
// lived through the window.
func (c team) size(p *diagnosis.Pass) (count, time fact.Fact) {
	if c.function == "" {
		one := []string{c.Name}
		return p.Goroutines("goroutines of "+c.does(), one, "peak"), p.Goroutines("time of "+c.does(), one, "total")
	}
	var waited []fact.Fact
	for _, kind := range []model.WaitKind{model.Sync, model.Net, model.SyscallWait, model.OtherWait} {
		waited = append(waited, p.Waits("waits of "+c.does()+" ("+string(kind)+")", kind,
			func(w *model.Wait) bool { return c.has(p.Model, w.Stack) }))
	}
	count = headcount.Of("goroutines of "+c.does(), fact.Count, fact.SumOf("waits of "+c.does(), fact.Seconds, waited...), p.WindowLength())
	return count, fact.Product.Of("time of "+c.does(), fact.Seconds, count, p.WindowLength())
}

// headcount is the least number of goroutines that can have waited for so long.
var headcount = &fact.Formula{Name: "headcount", Words: "{0} ÷ {1}, rounded up",
	Value: func(x []float64) float64 { return max(1, math.Ceil(statistics.Quotient(x[0], x[1])-teamSlack)) }}

// teamSlack is by how much of a window the waits of n goroutines may exceed n:
// what was cut at the window's ends is in the traces of some waits.
const teamSlack = 0.05

// stages finds those that somebody always waits for.
func stages(p *diagnosis.Pass) (out []stage) {
	qs := allQueues(p)
	for _, q := range qs {
		stood := pressure(p, &q)
		if q.kind != sendDemand || stood < stagePart {
			continue
		}
		s := stageOf(p, &q)
		s.before, s.pressed = upstream(p.Model, qs, &q), stood >= stagePressed && q.busy()
		if s.time.Value == 0 || !s.pressed && s.short(p).Value > stageShort {
			continue
		}
		s.findFeeds(p)
		s.findNext(p)
		out = append(out, s)
	}
	return out
}

// stageOf is those who take from a queue; their time is 0 when they are not known.
func stageOf(p *diagnosis.Pass, q *queue) stage {
	s := stage{queue: q, length: q.waiting(p, "standing before it with work, on average")}
	var counts, times []fact.Fact
	for _, waker := range statistics.Largest(q.servers) {
		if c := teamOf(p.Model, waker); c.Group != nil && !c.System && !slices.Contains(s.teams, c) {
			n, time := c.size(p)
			s.teams, counts, times = append(s.teams, c), append(counts, n), append(times, time)
		}
	}
	s.count, s.time = fact.SumOf("goroutines of the stage", fact.Count, counts...), fact.SumOf("time of the stage", fact.Seconds, times...)
	return s
}

// pressure is the goroutines that stand in a queue on average or, if that is
// more, the part of their time that they do. One that was called and waits for a
// P still has its work in hand.
func pressure(p *diagnosis.Pass, q *queue) float64 {
	stood := fact.Sum.Of("time with work in hand", fact.Seconds, q.waited(p), p.Goroutines("time waiting for a P", q.groups, "runnable"))
	share := fact.Fraction.Of("share of their time", fact.Ratio, stood, p.Goroutines("their time", q.groups, "total"))
	return q.waiting(p, "standing, on average").Larger(share).Value
}

// upstream is the channels behind which others wait because one is full: those who stand
// in it take from them.
func upstream(m *model.Model, qs []queue, q *queue) (out []queue) {
	seen := map[model.Stack]bool{q.stacks[0]: true}
	for todo := []*queue{q}; len(todo) > 0; todo = todo[1:] {
		for i := range qs {
			if before := &qs[i]; before.kind == sendDemand && !seen[before.stacks[0]] && before.feeds(m, todo[0]) {
				seen[before.stacks[0]] = true
				out, todo = append(out, *before), append(todo, before)
			}
		}
	}
	return out
}

// feeds reports whether those who take from a queue stand in the next.
func (q *queue) feeds(m *model.Model, next *queue) bool {
	for s := range q.servers {
		if s != 0 && slices.ContainsFunc(next.stacks, func(of model.Stack) bool { return teamOf(m, of) == teamOf(m, s) }) {
			return true
		}
	}
	return false
}

// short is the part of the stage's time in which it waits to be given work.
func (s *stage) short(p *diagnosis.Pass) fact.Fact {
	wait := p.Waits("time waiting for work", model.Sync, func(w *model.Wait) bool { return s.queue.isTakenAt(p.Model, w.Stack) && s.has(p.Model, w.Stack) })
	return fact.Fraction.Of("time of the stage waiting for work", fact.Ratio, wait, s.time)
}

// isTakenAt reports whether a stack waits to receive at a line that takes from the queue.
func (q *queue) isTakenAt(m *model.Model, waiting model.Stack) bool {
	line, ok := model.UserFrame(m.Stacks.Frames(waiting))
	if !ok || !receives(m, waiting) {
		return false
	}
	for s := range q.servers {
		if at, ok := model.UserFrame(m.Stacks.Frames(s)); ok && at == line {
			return true
		}
	}
	return false
}

// has reports whether a stack is of one of the stage's goroutines.
func (s *stage) has(m *model.Model, stack model.Stack) bool {
	return slices.Contains(s.teams, teamOf(m, stack))
}

func (s *stage) names() (out []string) {
	for _, c := range s.teams {
		out = append(out, c.Name)
	}
	return out
}

// findFeeds finds who gets work from the stage: those that it starts, and
// those whose wait to receive it ends and who do not wake it in turn, other than
// by receiving, as somebody does who answers.
func (s *stage) findFeeds(p *diagnosis.Pass) {
	m := p.Model
	answers, fed, parks := map[team]bool{}, map[team]bool{}, selectParks(m)
	for _, w := range m.Sched.Wakes {
		if s.has(m, w.Woken) && !takes(m, w.Waker, parks) {
			answers[teamOf(m, w.Waker)] = true
		}
	}
	for _, w := range m.Sched.Wakes {
		to := teamOf(m, w.Woken)
		if to.Group != nil && !to.System && s.has(m, w.Waker) && receives(m, w.Woken) && !s.has(m, w.Woken) && !answers[to] && !fed[to] {
			fed[to] = true
			s.feeds = append(s.feeds, to)
		}
	}
	var times []fact.Fact
	for _, c := range s.feeds {
		_, time := c.size(p)
		times = append(times, time)
	}
	stay := p.Waits("time waiting to be given more", model.Sync, func(w *model.Wait) bool { return receives(m, w.Stack) && fed[teamOf(m, w.Stack)] })
	s.feedStay = fact.Fraction.Of("goroutines behind it waiting to be given more", fact.Ratio, stay, fact.SumOf("time of the goroutines behind it", fact.Seconds, times...))
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.Created > 1 && !g.System && s.has(m, g.Creator) && !answers[team{Group: g}] && !fed[team{Group: g}] {
			s.starts = append(s.starts, g)
		}
	}
}

// receives reports whether a stack waits to be handed something.
func receives(m *model.Model, s model.Stack) bool {
	name := code.Leaf(m, s)
	return strings.HasPrefix(name, "runtime.chanrecv") || name == "runtime.selectgo"
}

// findNext looks at single goroutines beside the stage. Where several do the
// same, more of them can be had as easily as of the stage.
func (s *stage) findNext(p *diagnosis.Pass) {
	beside := code.Groups(p.Model, s.queue.groups)
	for _, c := range s.feeds {
		beside = append(beside, c.Group)
	}
	for _, g := range beside {
		if g.Count == 1 {
			one := []string{g.Name}
			s.next = s.next.Larger(fact.Quotient.Of("use of the busiest single goroutine beside the stage", fact.Ratio,
				p.Goroutines("time at work of "+code.GroupName(g.Name), one, "running", "syscall", "syscall_blocked", "blocked:network"),
				p.Goroutines("time of "+code.GroupName(g.Name), one, "total")))
		}
	}
}
