package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Beside locks there are other things that goroutines queue for: a free connection, a place
// in a group with a limit, the answer that another asks for, a receiver. Well-known functions
// on the stack show who waits for which, and so is who has it, of most.

// stuckFew is how many must stand in such a queue for it to be said when they are stuck.
// A sender that nobody receives from may be a generator that is not asked, one of each
// kind: the queues of the lab that are stuck have four or more, those at rest none.
const stuckFew = 4

// A queueKind is something that goroutines queue for.
type queueKind struct {
	title string
	what  string // in a sentence behind "wait for"
	waits func(*model.Standing, []model.Frame) bool
	// has reports whether somebody has what others wait for; nil when no stack tells.
	has func([]model.Frame) bool
	// channel is set for what is a channel of the program's: source may show who receives.
	channel bool
	nobody  string // said when nobody on a stack has it
	stalls  bool   // that nobody moves means that nothing goes on
	// traced is set where no other rule tells of such a queue in a trace.
	traced bool
	text   string // of the remedy
}

// queueKinds are those that are known, the special ones before the general.
var queueKinds = []*queueKind{
	{
		title:  "Goroutines wait for one who asks for all",
		what:   "the call of another in singleflight",
		waits:  waitsIn("golang.org/x/sync/singleflight.(*Group).Do", "golang.org/x/sync/singleflight.(*Group).doCall"),
		has:    throughAny("golang.org/x/sync/singleflight.(*Group).doCall"),
		stalls: true,
		traced: true,
		text: "Give the call inside singleflight a deadline, or use DoChan and a select with the caller's context: " +
			"until the first caller has its answer, all others wait for it.",
	}, {
		title:  "Goroutines wait for a semaphore",
		what:   "a semaphore",
		waits:  waitsIn("golang.org/x/sync/semaphore.(*Weighted).Acquire", ""),
		nobody: "who acquired it may have returned without Release",
		stalls: true,
		text:   "Put defer Release right behind Acquire, so that every path gives it back, and do not hold it while you wait for others.",
	}, {
		title: "Tasks wait for room in a group with a limit",
		what:  "room in an errgroup with a limit",
		waits: func(s *model.Standing, frames []model.Frame) bool {
			return taskOfGroup(frames) && waitsIn("golang.org/x/sync/errgroup.(*Group).Go", "")(s, frames)
		},
		has:    taskOfGroup,
		stalls: true,
		text: "Use TryGo and do the work at once where it says no, or a group for each level: the tasks of a group with a " +
			"limit fill it with Go and wait for each other.",
	}, {
		title:  "Goroutines wait for a connection of a database pool",
		what:   "a free connection of the database pool",
		waits:  waitsIn("database/sql.(*DB).conn", ""),
		has:    throughDatabase,
		nobody: "rows that were not closed, a transaction without an end, or a query inside the rows of another keep connections",
		stalls: true,
		text: "Close rows on every path (defer rows.Close()), end each transaction, and read all rows before the " +
			"next query: a query inside the rows of another needs a second connection. More connections " +
			"(SetMaxOpenConns) help only where the database has room.",
	}, {
		title:   "Goroutines wait to send where nobody receives",
		what:    "somebody to receive from a channel",
		waits:   func(s *model.Standing, _ []model.Frame) bool { return s.State == "chan send" || s.Sends > 0 },
		channel: true,
		nobody:  "a receiver ended, is slower than they are, or waits itself",
		text: "Look at who receives from this channel: it has ended, waits itself, or is slower than its senders. " +
			"Send in a select with the context's Done, and let a receiver that gives up close what tells the " +
			"senders.",
	},
}

// waitsIn matches who waits in a function, and not below another.
func waitsIn(function, except string) func(*model.Standing, []model.Frame) bool {
	return func(s *model.Standing, frames []model.Frame) bool {
		if s.State == model.StateRunning || s.State == "runnable" {
			return false
		}
		for i, f := range frames {
			if f.Func == except || !model.IsStd(f.Func) && f.Func != function {
				return false
			}
			if f.Func == function {
				return i > 0
			}
		}
		return false
	}
}

func throughAny(functions ...string) func([]model.Frame) bool {
	return func(frames []model.Frame) bool { return code.ContainsAny(frames, functions) }
}

// taskOfGroup reports whether a stack is that of a task of an errgroup.
func taskOfGroup(frames []model.Frame) bool {
	return code.ContainsFunc(frames, func(f string) bool {
		return strings.HasPrefix(f, "golang.org/x/sync/errgroup.(*Group).") && strings.HasSuffix(f, ".func1")
	})
}

// throughDatabase reports whether a stack has a connection: it is in package
// database/sql, and neither waits for one nor keeps the pool.
func throughDatabase(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, []string{"database/sql."}) &&
		!code.ContainsAny(frames, []string{"database/sql.(*DB).conn", "database/sql.(*DB).connectionOpener", "database/sql.(*DB).connectionCleaner", "database/sql.(*Tx).awaitDone", "database/sql.(*Rows).awaitDone"})
}

// A waitQueue is who waits for one thing, and who has it.
type waitQueue struct {
	kind    *queueKind
	asker   string // function of the program that asks
	channel int    // that they send to, as [model.Standing.Sends]
	waiters []*model.Standing
	holders []*model.Standing // of a channel, those whose loop receives from it
	circle  bool              // all who have it wait for it themselves
	// behind are those who wait to send to who waits here: one queue through several
	// channels.
	behind []*model.Standing
}

// reportQueues reports what is waited for and is no lock. What waits to send to who waits to
// send further is of that queue, where it is reported.
func reportQueues(p *diagnosis.Pass) {
	list := waitQueues(p)
	ends := chainEnds(list)
	reported := map[*waitQueue]bool{}
	for _, isEnd := range []bool{true, false} {
		for _, q := range list {
			if (ends[q] == nil) != isEnd || reported[ends[q]] {
				continue
			}
			if still, ok := q.worthIt(p); ok {
				p.Report(q.finding(p, still))
				reported[q] = true
			}
		}
	}
}

// worthIt reports whether a queue is worth a report, and whether those who wait are stuck.
func (q *waitQueue) worthIt(p *diagnosis.Pass) (still, ok bool) {
	n := int64(0)
	for _, s := range q.waiters {
		n += s.Count
	}
	m, traced := p.Model.Moment, p.Model.Sched != nil
	still = stuck(m, q.waiters...)
	switch {
	case q.circle && n > 1 && (still || !traced): // it needs no time
		return still, true
	case len(q.behind) > 0 && (q.deserted(m) && (still || m.Watched == 0) || q.slowReceiver(p)):
		return still, true
	case traced && q.kind.traced && n >= lookWaiters && len(q.holders) > 0 && heldAll(p.Model, q.waiters):
		return still, true
	case n < stuckFew || !still && (n < lookWaiters || traced): // a trace's queues are other rules'
		return still, false
	}
	return still, still || !q.limited(p)
}

// limited reports whether what they send to is a semaphore, whose slots others have and give back. The source says so, or,
// where it tells nothing of the channel, others are at work behind the line that sends, or run, and nobody could read where.
func (q *waitQueue) limited(p *diagnosis.Pass) bool {
	switch {
	case !q.kind.channel:
		return false
	case q.channel > 0:
		return p.Model.Moment.Channels[q.channel-1].Slots
	}
	var sends []model.Frame
	for _, w := range q.waiters {
		if at, ok := p.UserPlace(w.Stack); ok {
			sends = append(sends, model.Frame{Func: at.Function, Line: at.Line})
		}
	}
	behind := func(f model.Frame) bool {
		return slices.ContainsFunc(sends, func(at model.Frame) bool { return f.Func == at.Func && f.Line > at.Line })
	}
	return slices.ContainsFunc(p.Model.Moment.Goroutines, func(s model.Standing) bool {
		frames := p.Model.Stacks.Frames(s.Stack)
		runs := s.State == model.StateRunning || s.State == "runnable"
		return s.State == model.StateRunning && len(frames) < 2 || (runs || takesTime(s.State)) && slices.ContainsFunc(frames, behind)
	})
}

// deserted reports whether nobody is there who could receive from the channel.
func (q *waitQueue) deserted(m *model.Moment) bool {
	return q.channel > 0 && m.Channels[q.channel-1].Deserted
}

// heldBack is the part of the window for which senders and who should receive must have
// waited where a trace shows that: the pipeline of the lab that is slow does for more than
// 0.95 of it, the one that is well not at all.
const heldBack = 0.8

// slowReceiver reports whether all who should receive from a channel first of all do
// something else that takes time, for all of a window that was traced.
func (q *waitQueue) slowReceiver(p *diagnosis.Pass) bool {
	for _, s := range q.holders {
		r := q.receives(s)
		if r == nil || !r.First || r.Waits || !takesTime(s.State) || p.Model.Sched != nil && !heldFor(p.Model, s) {
			return false
		}
	}
	return len(q.holders) > 0 && (p.Model.Sched == nil || heldAll(p.Model, slices.Concat(q.waiters, q.behind)))
}

// takesTime reports whether a state is a wait of who is at work, and not for more work.
func takesTime(state string) bool {
	return state == "sleep" || state == "IO wait" || state == "syscall" || model.WantsLock(state)
}

func heldAll(m *model.Model, list []*model.Standing) bool {
	return !slices.ContainsFunc(list, func(s *model.Standing) bool { return !heldFor(m, s) })
}

// heldFor reports whether goroutines waited for most of the window where they stand now.
func heldFor(m *model.Model, s *model.Standing) bool {
	var total time.Duration
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Stack == s.Stack && w.Kind != model.SchedWait {
			total += w.Total
		}
	}
	return total.Seconds() >= heldBack*m.Run.Duration.Seconds()*float64(s.Count)
}

// waitedFor returns the part of a trace for which some waited where they stand now.
func waitedFor(p *diagnosis.Pass, list []*model.Standing) fact.Fact {
	time := p.Waits("time in which they wait there", model.Sync, func(w *model.Wait) bool {
		return slices.ContainsFunc(list, func(s *model.Standing) bool { return s.Stack == w.Stack })
	})
	whole := fact.Product.Of("time that they had", fact.Seconds, p.Standing("goroutines there", "goroutines", queueing.MatchStandings(list...)), p.WindowLength())
	return fact.Fraction.Of("part of the trace in which each waits there", fact.Ratio, time, whole)
}

// chainEnds finds the last queue for each whose receivers all wait to send to another, and
// puts who waits to those behind that one.
func chainEnds(list []*waitQueue) (ends map[*waitQueue]*waitQueue) {
	next := map[*waitQueue]*waitQueue{}
	for _, q := range list {
		if !q.known() || q.circle {
			continue
		}
		to := q.holders[0].Sends
		if to == 0 || to == q.channel || slices.ContainsFunc(q.holders, func(s *model.Standing) bool { return s.Sends != to }) {
			continue
		}
		if at := slices.IndexFunc(list, func(o *waitQueue) bool { return o.channel == to }); at >= 0 {
			next[q] = list[at]
		}
	}
	ends = map[*waitQueue]*waitQueue{}
	for q := range next {
		end := q
		for range list { // a circle has no end
			if next[end] == nil {
				break
			}
			end = next[end]
		}
		if next[end] == nil {
			ends[q] = end
		}
	}
	for _, q := range list {
		if end := ends[q]; end != nil {
			end.behind = append(end.behind, q.waiters...)
		}
	}
	return ends
}

// waitQueues returns the queues of a moment, by what they are for and who asks.
func waitQueues(p *diagnosis.Pass) (list []*waitQueue) {
	m := p.Model.Moment
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		frames := p.Model.Stacks.Frames(s.Stack)
		if code.Foreign(frames) {
			continue
		}
		k := slices.IndexFunc(queueKinds, func(k *queueKind) bool { return k.waits(s, frames) })
		if k < 0 {
			continue
		}
		asker, channel := code.ProgramPlace(p, s.Stack).Function, 0
		if queueKinds[k].channel {
			channel = s.Sends
		}
		if queueKinds[k].has != nil || channel > 0 { // all of them wait for what the same goroutines have
			asker = ""
		}
		at := slices.IndexFunc(list, func(q *waitQueue) bool { return q.kind == queueKinds[k] && q.asker == asker && q.channel == channel })
		if at < 0 {
			at = len(list)
			list = append(list, &waitQueue{kind: queueKinds[k], asker: asker, channel: channel})
		}
		list[at].waiters = append(list[at].waiters, s)
	}
	for _, q := range list {
		q.find(p)
	}
	return list
}

// find finds who has what they wait for.
func (q *waitQueue) find(p *diagnosis.Pass) {
	if q.channel > 0 && q.findReceivers(p.Model.Moment) {
		return
	}
	m, inside := p.Model.Moment, false
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		frames := p.Model.Stacks.Frames(s.Stack)
		switch {
		case slices.Contains(q.waiters, s):
			inside = inside || q.kind.has != nil && q.kind.has(frames)
		case q.kind.has != nil && q.kind.has(frames), q.kind.has == nil && q.isFurther(p, s):
			q.holders = append(q.holders, s)
		}
	}
	q.circle = inside && len(q.holders) == 0
}

// findReceivers finds who comes back to receive from the channel, as source shows it. It
// is a circle where nobody else can, and all of them wait to send to it.
func (q *waitQueue) findReceivers(m *model.Moment) (found bool) {
	var senders []*model.Standing
	q.circle = m.Channels[q.channel-1].All
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		r := q.receives(s)
		switch {
		case r == nil:
		case r.Waits: // of another value, or it is just given something
			q.circle = false
		case s.Sends == q.channel:
			senders = append(senders, s)
		default:
			q.holders = append(q.holders, s) // most stand there first
			q.circle = false
		}
	}
	q.holders = append(q.holders, senders...)
	q.circle = q.circle && len(q.holders) > 0
	return len(q.holders) > 0
}

// known reports whether source shows who should receive from the channel.
func (q *waitQueue) known() bool { return q.channel > 0 && len(q.holders) > 0 }

// receives returns how somebody comes back to receive from the channel; nil when it does not.
func (q *waitQueue) receives(s *model.Standing) *model.Serving {
	for i := range s.Serves {
		if s.Serves[i].Channel == q.channel {
			return &s.Serves[i]
		}
	}
	return nil
}

// isFurther reports whether somebody is further on in the function that asks.
func (q *waitQueue) isFurther(p *diagnosis.Pass, s *model.Standing) bool {
	at, asks := code.ProgramPlace(p, s.Stack), code.ProgramPlace(p, q.waiters[0].Stack)
	return at.Function == asks.Function && at.Line > asks.Line // without a place both lines are 0
}

func (q *waitQueue) finding(p *diagnosis.Pass, still bool) diagnosis.Finding {
	waiting := slices.Concat(q.waiters, q.behind)
	n := p.Standing("goroutines that wait for it", "goroutines", queueing.MatchStandings(waiting...))
	all := p.Standing("goroutines", "goroutines", nil)
	longest := p.Standing("longest wait", "waited", queueing.MatchStandings(q.waiters...))
	f := diagnosis.Finding{
		Title:    q.kind.title,
		Stalls:   still && q.stalls(p.Model.Moment),
		Where:    code.Places(q.places(p)...),
		Evidence: []fact.Fact{n, all},
		Cost:     diagnosis.CostOf(n, fact.Fraction.Of("part of all", fact.Ratio, n, all).Value),
		Bound:    goOn(),
		Groups:   queueing.RootsOf(p.Model, waiting),
		Stacks:   queueing.StacksOf(append(waiting, q.holders...)),
		Remedy:   diagnosis.Remedy{Text: q.kind.text},
		Prove: "Take such a dump again some seconds later, and one of the changed program under the same load: " +
			"the same goroutines at the same places confirm it; a list without them rejects it.",
	}
	f.Confidence, f.Reasons, f.RuledOut = diagnosis.Low, []string{"one look shows a queue and not how long it has stood: a second one would tell"},
		[]string{"workers at rest: those wait to receive, or for a condition"}
	traced := p.Model.Sched != nil
	switch {
	case still:
		f.Confidence, f.Reasons = diagnosis.Medium, []string{"none of them has made a step for long"}
	case traced:
		f.Confidence, f.Reasons = diagnosis.Medium, []string{"they stood there for most of the trace, again and again"}
	}
	q.showReceivers(&f, p.Model.Moment)
	asks := q.askers(p)
	format, parts := "%s wait for %s in %s", []fact.Part{n.Things("goroutine"), fact.Name(q.kind.what), asks}
	switch {
	case len(q.behind) > 0:
		format, parts = "%s wait to send in a chain whose last one, %s, sends to %s", []fact.Part{parts[0], asks, fact.Name(code.Short(p.Model.Moment.Channels[q.channel-1].Name))}
	case q.known():
		format, parts = "%s wait in %s to send to %s", []fact.Part{parts[0], asks, fact.Name(code.Short(p.Model.Moment.Channels[q.channel-1].Name))}
	}
	switch {
	case traced && !still:
		format, parts = format+", for %s of the trace", append(parts, waitedFor(p, q.waiters))
	case longest.Value > 0:
		format, parts = format+", the longest for %s", append(parts, longest)
	}
	said, more := q.holderSentence(p)
	f.Say(format+said, append(parts, more...)...)
	return f
}

// askers names the function in which most wait, and another one.
func (q *waitQueue) askers(p *diagnosis.Pass) fact.Name {
	first := standsAt(p, q.waiters[0]).Function
	for _, s := range q.waiters[1:] {
		if at := standsAt(p, s); at.Function != first && at.Function != "" {
			return fact.Name(code.Short(first) + " and " + code.Short(at.Function))
		}
	}
	return code.Name(first)
}

// stalls reports whether nothing goes on where none of those who wait has moved. Senders
// may be missed by nobody, unless their receiver waits for another goroutine itself.
func (q *waitQueue) stalls(m *model.Moment) bool {
	switch {
	case q.circle, q.deserted(m):
		return true
	case q.known():
		return stuck(m, q.holders...) && !slices.ContainsFunc(q.holders, func(s *model.Standing) bool { return !forOthers(s.State) })
	}
	return q.kind.stalls && (len(q.holders) == 0 || stuck(m, q.holders...))
}

// forOthers reports whether a state is a wait that only another goroutine can end.
func forOthers(state string) bool {
	return model.WantsLock(state) || slices.Contains([]string{"chan send", "chan receive", "select (no cases)", "sync.Cond.Wait", "sync.WaitGroup.Wait", "semacquire"}, state)
}

// showReceivers says what it means that source shows who should receive.
func (q *waitQueue) showReceivers(f *diagnosis.Finding, m *model.Moment) {
	if q.deserted(m) {
		f.Reasons = append(f.Reasons, "the source shows all code that receives from a channel of that name and what calls it, and "+
			"no goroutine is in any of that")
	}
	if !q.known() {
		return
	}
	f.Title = "Senders wait for a receiver that does something else"
	f.Reasons = append(f.Reasons, "the source shows that the receiver stands in the loop that receives from a channel of that name")
	f.Remedy.Text = "Let the receiver only receive, and do what takes long elsewhere, or by more goroutines. Where it waits for an " +
		"answer, give it a deadline. Send in a select with the context's Done."
	if q.circle {
		f.Title = "Workers wait for room in the queue that they alone empty"
		f.Remedy.Text = "Do the job at once where the queue is full (select with default), or keep new jobs in a list of the worker's own: " +
			"when all who take jobs from a queue wait for room in it, nobody takes one."
	}
}

// holderSentence tells who has what they wait for, after a sentence about who waits.
func (q *waitQueue) holderSentence(p *diagnosis.Pass) (format string, parts []fact.Part) {
	switch {
	case q.circle && q.channel > 0:
		r := q.receives(q.holders[0])
		return ", and all who receive from it, in %s, wait to send to it themselves.", []fact.Part{code.Name(r.From.Func)}
	case q.circle:
		return ", and no other task is left that could end.", nil
	case q.known():
		return q.receiver(p)
	case q.deserted(p.Model.Moment):
		by := p.Model.Moment.Channels[q.channel-1].From
		if len(by) == 0 {
			return ", and nothing in the program receives from it.", nil
		}
		return "; no goroutine that is left could receive from it, as %s does at %s.", []fact.Part{code.Name(by[0].Func), code.FileLine(code.PlaceOf(by[0]))}
	case len(q.holders) == 0 && q.kind.nobody == "":
		return ".", nil
	case len(q.holders) == 0:
		return "; no goroutine is seen to have it: " + q.kind.nobody + ".", nil
	}
	h := q.holders[0]
	format = "; who has it %s"
	if q.kind.has == nil {
		format = "; who probably has it %s"
	}
	does := queueing.StateWords(h.State)
	switch at := standsAt(p, h); at.Function {
	case "":
	case standsAt(p, q.waiters[0]).Function:
		does += thereAt(at)
	default:
		does += " in " + code.Short(at.Function)
	}
	parts = []fact.Part{fact.Name(does)}
	if h.Waited >= time.Second {
		format, parts = format+" for %s", append(parts, p.Standing("how long its holder stands there", "waited", queueing.MatchStandings(h)))
	}
	return format + ".", parts
}

// receiver says who should receive, and what that does instead.
func (q *waitQueue) receiver(p *diagnosis.Pass) (format string, parts []fact.Part) {
	h := q.holders[0]
	r := q.receives(h)
	does := queueing.Activity(p, h)
	if at := code.UserPlace(p, h.Stack); at.Function == r.From.Func {
		does = queueing.StateWords(h.State) + thereAt(at)
	}
	format, parts = "; probably %s should receive from it, which %s", []fact.Part{code.Name(r.From.Func), fact.Name(does)}
	if h.Waited >= time.Second {
		format, parts = format+" for %s", append(parts, p.Standing("how long its receiver stands there", "waited", queueing.MatchStandings(h)))
	}
	if k := len(q.holders); k > 1 {
		format, parts = format+" (one of %s places)", append(parts, fact.Name(figureOf(k)))
	}
	return format + ".", parts
}

// standsAt returns the program's line where a goroutine stands, or the library's where that started it.
func standsAt(p *diagnosis.Pass, s *model.Standing) diagnosis.Place {
	if at := code.ProgramPlace(p, s.Stack); at.Function != "" {
		return at
	}
	at, _ := p.UserPlace(s.Stack)
	return at
}

// places returns where they wait, and where one stands who has it.
func (q *waitQueue) places(p *diagnosis.Pass) (list []diagnosis.Place) {
	for _, s := range q.waiters[:min(2, len(q.waiters))] {
		if at := standsAt(p, s); !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	if len(q.holders) > 0 {
		list = append(list, standsAt(p, q.holders[0]))
		if r := q.receives(q.holders[0]); r != nil {
			list = append(list, diagnosis.Place{Function: r.From.Func, File: r.From.File, Line: r.From.Line})
		}
	}
	return list
}
