package queueing

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

// A Stage is goroutines that take work from a channel before which somebody stands with more.
type Stage struct {
	Queue    *Queue
	Before   []Queue        // in which those wait who bring work to those who stand in the queue, and so on
	Pressed  bool           // somebody stands before it nearly all of the window
	Length   fact.Fact      // in the queue, on average
	Teams    []Team         // who takes the work
	Count    fact.Fact      // of them alive at once, at most
	Time     fact.Fact      // that they lived
	Feeds    []Team         // to whom they hand it on through a channel
	FeedStay fact.Fact      // share of their time that those wait to be given more
	Starts   []*model.Group // whom they start for it
	// Next is the part of its time, 0 to 1, that the busiest single goroutine
	// before or behind the stage works: the pace that the program has once
	// the stage no longer sets it.
	Next fact.Fact
}

// A Team is goroutines that do the same: a group, or of a group that only starts
// what it is given, those that were given one function.
type Team struct {
	*model.Group
	Function string // "" for all of the group
}

// starters are start functions that say nothing of what their goroutines do:
// that is the function which they call.
var starters = []string{"sync.(*WaitGroup).Go.func1", "golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup.(*Group).add.func1"}

// teamOf returns the team that a stack's goroutine belongs to; its group is nil where
// that is not known.
func teamOf(m *model.Model, s model.Stack) Team {
	c := Team{Group: code.Group(m, code.Root(m, s))}
	if f := m.Stacks.Frames(s); c.Group != nil && len(f) > 1 && slices.Contains(starters, c.Name) {
		c.Function = f[len(f)-2].Func
	}
	return c
}

// FunctionName returns the function that the team runs.
func (c Team) FunctionName() string {
	if c.Function != "" {
		return c.Function
	}
	return code.GroupName(c.Name)
}

// has reports whether a stack is of one of the team.
func (c Team) has(m *model.Model, s model.Stack) bool { return teamOf(m, s) == c }

// size returns how many of the team lived at once and their time. Of a part of a group the
// trace has only the waits: that makes at least this number of goroutines, each taken to have
// lived through the window.
func (c Team) size(p *diagnosis.Pass) (count, time fact.Fact) {
	if c.Function == "" {
		one := []string{c.Name}
		return p.Goroutines("goroutines of "+c.FunctionName(), one, "peak"), p.Goroutines("time of "+c.FunctionName(), one, "total")
	}
	var waited []fact.Fact
	for _, kind := range []model.WaitKind{model.Sync, model.Net, model.SyscallWait, model.OtherWait} {
		waited = append(waited, p.Waits("waits of "+c.FunctionName()+" ("+string(kind)+")", kind,
			func(w *model.Wait) bool { return c.has(p.Model, w.Stack) }))
	}
	count = headcount.Of("goroutines of "+c.FunctionName(), fact.Count, fact.SumOf("waits of "+c.FunctionName(), fact.Seconds, waited...), p.WindowLength())
	return count, fact.Product.Of("time of "+c.FunctionName(), fact.Seconds, count, p.WindowLength())
}

// headcount is the least number of goroutines that can have waited for so long.
var headcount = &fact.Formula{Name: "headcount", Words: "{0} ÷ {1}, rounded up",
	Value: func(x []float64) float64 { return max(1, math.Ceil(statistics.Quotient(x[0], x[1])-teamSlack)) }}

// teamSlack is by how much of a window the waits of n goroutines may exceed n:
// what was cut at the window's ends is in the traces of some waits.
const teamSlack = 0.05

// Stages finds those that somebody always waits for.
func Stages(p *diagnosis.Pass) (out []Stage) {
	qs := AllQueues(p)
	for _, q := range qs {
		stood := pressure(p, &q)
		if q.Kind != Send || stood < stagePart {
			continue
		}
		s := stageOf(p, &q)
		s.Before, s.Pressed = upstream(p.Model, qs, &q), stood >= stagePressed && q.Busy()
		if s.Time.Value == 0 || !s.Pressed && s.StarvedShare(p).Value > stageShort {
			continue
		}
		s.findFeeds(p)
		s.findNext(p)
		out = append(out, s)
	}
	return out
}

// stageOf returns those who take from a queue; their time is 0 when they are not known.
func stageOf(p *diagnosis.Pass, q *Queue) Stage {
	s := Stage{Queue: q, Length: q.Waiting(p, "standing before it with work, on average")}
	var counts, times []fact.Fact
	for _, waker := range statistics.Largest(q.Servers) {
		if c := teamOf(p.Model, waker); c.Group != nil && !c.System && !slices.Contains(s.Teams, c) {
			n, time := c.size(p)
			s.Teams, counts, times = append(s.Teams, c), append(counts, n), append(times, time)
		}
	}
	s.Count, s.Time = fact.SumOf("goroutines of the stage", fact.Count, counts...), fact.SumOf("time of the stage", fact.Seconds, times...)
	return s
}

// pressure returns the goroutines that stand in a queue on average or, if that is
// more, the part of their time that they do. One that was called and waits for a
// P still has its work in hand.
func pressure(p *diagnosis.Pass, q *Queue) float64 {
	stood := fact.Sum.Of("time with work in hand", fact.Seconds, q.WaitTime(p), p.Goroutines("time waiting for a P", q.Groups, "runnable"))
	share := fact.Fraction.Of("share of their time", fact.Ratio, stood, p.Goroutines("their time", q.Groups, "total"))
	return q.Waiting(p, "standing, on average").Larger(share).Value
}

// upstream returns the channels behind which others wait because one is full: those who stand
// in it take from them.
func upstream(m *model.Model, qs []Queue, q *Queue) (out []Queue) {
	seen := map[model.Stack]bool{q.Stacks[0]: true}
	for todo := []*Queue{q}; len(todo) > 0; todo = todo[1:] {
		for i := range qs {
			if before := &qs[i]; before.Kind == Send && !seen[before.Stacks[0]] && before.feeds(m, todo[0]) {
				seen[before.Stacks[0]] = true
				out, todo = append(out, *before), append(todo, before)
			}
		}
	}
	return out
}

// feeds reports whether those who take from a queue stand in the next.
func (q *Queue) feeds(m *model.Model, next *Queue) bool {
	for s := range q.Servers {
		if s != 0 && slices.ContainsFunc(next.Stacks, func(of model.Stack) bool { return teamOf(m, of) == teamOf(m, s) }) {
			return true
		}
	}
	return false
}

// StarvedShare returns the part of the stage's time in which it waits to be given work.
func (s *Stage) StarvedShare(p *diagnosis.Pass) fact.Fact {
	wait := p.Waits("time waiting for work", model.Sync, func(w *model.Wait) bool { return s.Queue.isTakenAt(p.Model, w.Stack) && s.has(p.Model, w.Stack) })
	return fact.Fraction.Of("time of the stage waiting for work", fact.Ratio, wait, s.Time)
}

// isTakenAt reports whether a stack waits to receive at a line that takes from the queue.
func (q *Queue) isTakenAt(m *model.Model, waiting model.Stack) bool {
	line, ok := model.UserFrame(m.Stacks.Frames(waiting))
	if !ok || !Receives(m, waiting) {
		return false
	}
	for s := range q.Servers {
		if at, ok := model.UserFrame(m.Stacks.Frames(s)); ok && at == line {
			return true
		}
	}
	return false
}

// has reports whether a stack is of one of the stage's goroutines.
func (s *Stage) has(m *model.Model, stack model.Stack) bool {
	return slices.Contains(s.Teams, teamOf(m, stack))
}

// Names returns the groups of its teams.
func (s *Stage) Names() (out []string) {
	for _, c := range s.Teams {
		out = append(out, c.Name)
	}
	return out
}

// findFeeds finds who gets work from the stage: those that it starts, and
// those whose wait to receive it ends and who do not wake it in turn, other than
// by receiving, as somebody does who answers.
func (s *Stage) findFeeds(p *diagnosis.Pass) {
	m := p.Model
	answers, fed, parks := map[Team]bool{}, map[Team]bool{}, selectParks(m)
	for _, w := range m.Sched.Wakes {
		if s.has(m, w.Woken) && !receives(m, w.Waker, parks) {
			answers[teamOf(m, w.Waker)] = true
		}
	}
	for _, w := range m.Sched.Wakes {
		to := teamOf(m, w.Woken)
		if to.Group != nil && !to.System && s.has(m, w.Waker) && Receives(m, w.Woken) && !s.has(m, w.Woken) && !answers[to] && !fed[to] {
			fed[to] = true
			s.Feeds = append(s.Feeds, to)
		}
	}
	var times []fact.Fact
	for _, c := range s.Feeds {
		_, time := c.size(p)
		times = append(times, time)
	}
	stay := p.Waits("time waiting to be given more", model.Sync, func(w *model.Wait) bool { return Receives(m, w.Stack) && fed[teamOf(m, w.Stack)] })
	s.FeedStay = fact.Fraction.Of("goroutines behind it waiting to be given more", fact.Ratio, stay, fact.SumOf("time of the goroutines behind it", fact.Seconds, times...))
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if g.Created > 1 && !g.System && s.has(m, g.Creator) && !answers[Team{Group: g}] && !fed[Team{Group: g}] {
			s.Starts = append(s.Starts, g)
		}
	}
}

// Receives reports whether a stack waits to be handed something.
func Receives(m *model.Model, s model.Stack) bool {
	name := code.Leaf(m, s)
	return strings.HasPrefix(name, "runtime.chanrecv") || name == "runtime.selectgo"
}

// findNext looks at single goroutines beside the stage. Where several do the
// same, more of them can be had as easily as of the stage.
func (s *Stage) findNext(p *diagnosis.Pass) {
	beside := code.Groups(p.Model, s.Queue.Groups)
	for _, c := range s.Feeds {
		beside = append(beside, c.Group)
	}
	for _, g := range beside {
		if g.Count == 1 {
			one := []string{g.Name}
			s.Next = s.Next.Larger(fact.Quotient.Of("use of the busiest single goroutine beside the stage", fact.Ratio,
				p.Goroutines("time at work of "+code.GroupName(g.Name), one, "running", "syscall", "syscall_blocked", "blocked:network"),
				p.Goroutines("time of "+code.GroupName(g.Name), one, "total")))
		}
	}
}
