package queueing

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Hold is who holds the lock of a queue and what that does meanwhile.
type Hold struct {
	Words  string // a sentence
	Facts  []fact.Fact
	Places []diagnosis.Place
	Reader bool // a reader of a reader-writer lock, so that more locks would not help
}

const (
	// HolderPart is the share of the window in which whoever holds a lock must wait
	// at one line for that line to be named. A lock that is slow because its holder waits
	// is held so nearly all of the time; below a tenth something else makes it slow.
	HolderPart = 0.1
	// preemptedAfter is how long the runtime lets a goroutine run before it takes its P.
	preemptedAfter = 10 * time.Millisecond
)

// Holder finds who holds the lock of a queue, by the evidence that shows most: writers that
// wait for readers to leave, what goroutines wait for between Lock and Unlock, where they are
// preempted there, and what a moment knows of its holder.
func (q *Queue) Holder(p *diagnosis.Pass) (h Hold, ok bool) {
	byReader, reads := q.heldByReader(p)
	byWait, waits := q.heldWaiting(p)
	switch {
	case reads && (!waits || byReader.Facts[0].Value+byWait.Facts[0].Value > p.Model.Run.Duration.Seconds() || byReader.Facts[0].Value >= byWait.Facts[0].Value):
		return byReader, true
	case waits:
		return byWait, true
	}
	if h, ok = q.heldComputing(p); ok {
		return h, true
	}
	return q.heldAtMoment(p)
}

// heldByReader returns the reader for which writers wait, and all other readers behind them.
// Only one writer at a time waits for readers, the others for that one: what these waits
// take is time in which nobody gets on but who is inside.
func (q *Queue) heldByReader(p *diagnosis.Pass) (h Hold, ok bool) {
	m := p.Model
	pends := func(w *model.Wait) bool { return q.Has(w) && awaitsReaders(m.Stacks.Frames(w.Stack)) }
	time := p.Waits("time in which a writer waits for readers to leave", model.Sync, pends)
	if time.Value < HolderPart*m.Run.Duration.Seconds() {
		return h, false
	}
	h = Hold{Facts: []fact.Fact{time}, Reader: true}
	holder, at := q.holderAtMoment(m, func(h model.Holding) bool { return h.Shared })
	if at != nil {
		stands := code.UserPlace(p, at.Stack)
		h.Places = []diagnosis.Place{stands, code.PlaceOf(holder.Taken)}
		h.Words = fact.Sentence("A reader holds it long: %s %s at %s. Writers wait %s for readers to leave, and the other "+
			"readers wait behind them.",
			code.Name(holder.Taken.Func), fact.Name(StateWords(at.State)), code.FileLine(stands), time)
		return h, true
	}
	reader := code.UserPlace(p, q.leaving(m)...)
	if reader == (diagnosis.Place{}) {
		return h, false
	}
	h.Places = []diagnosis.Place{reader}
	h.Words = fact.Sentence("A reader holds it long: %s gives it back to writers, which wait %s for readers to leave, and the other "+
		"readers wait behind them.",
		code.Name(reader.Function), time)
	return h, true
}

// leaving returns where readers give the lock back to a writer that waits for them, the one
// first for which they waited longest: by the mutex profile, which knows that of each, else
// by what the writers woken there waited on average. How often says nothing of how long.
func (q *Queue) leaving(m *model.Model) []model.Stack {
	mean := map[model.Stack]time.Duration{}
	for w := range q.entries {
		if awaitsReaders(m.Stacks.Frames(w.Stack)) {
			mean[w.Stack] += w.Total / time.Duration(max(1, w.Count+w.Open))
		}
	}
	by := map[model.Stack]time.Duration{}
	for _, w := range m.Sched.Wakes {
		if d := mean[w.Woken]; d > 0 && code.ContainsFunc(m.Stacks.Frames(w.Waker), leavesAsReader) {
			by[w.Waker] += d * time.Duration(w.Count)
		}
	}
	if delays := delaysBehind(m, by); len(delays) > 0 {
		return statistics.Largest(delays)
	}
	return statistics.Largest(by)
}

// delaysBehind returns by the mutex profile for how long others waited for readers that give a
// lock back at the lines of some stacks.
func delaysBehind(m *model.Model, stacks map[model.Stack]time.Duration) map[model.Stack]int64 {
	if m.Mutex == nil {
		return nil
	}
	lines, delays := map[model.Frame]bool{}, map[model.Stack]int64{}
	for s := range stacks {
		if f, ok := model.UserFrame(m.Stacks.Frames(s)); ok {
			lines[f] = true
		}
	}
	_, delay := m.Mutex.Columns()
	for i := range m.Mutex.Samples {
		s := &m.Mutex.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		if f, ok := model.UserFrame(frames); ok && lines[f] && code.ContainsFunc(frames, leavesAsReader) {
			delays[s.Stack] += int64(s.Value(delay))
		}
	}
	return delays
}

func leavesAsReader(function string) bool {
	return function == "sync.(*RWMutex).RUnlock" || function == "sync.(*RWMutex).rUnlockSlow"
}

// awaitsReaders reports whether a stack is that of the writer which is next, and waits
// for the readers inside: those behind it wait in the mutex between writers.
func awaitsReaders(frames []model.Frame) bool {
	for _, f := range frames {
		switch {
		case f.Func == "sync.(*RWMutex).Lock":
			return true
		case code.IsMutex(f.Func) || !code.IsMachinery(f.Func):
			return false
		}
	}
	return false
}

// lockedLines are the lines of functions between which a queue's lock is held.
type lockedLines struct {
	m                *model.Model
	locked, unlocked map[string][]int // by function
}

func (q *Queue) lockedLines(m *model.Model) *lockedLines {
	l := &lockedLines{m: m, locked: map[string][]int{}, unlocked: map[string][]int{}}
	for _, s := range q.Stacks {
		if f, ok := model.UserFrame(m.Stacks.Frames(s)); ok {
			l.locked[f.Func] = append(l.locked[f.Func], f.Line)
		}
	}
	for s := range q.Servers {
		if f, ok := model.UserFrame(m.Stacks.Frames(s)); ok {
			l.unlocked[f.Func] = append(l.unlocked[f.Func], f.Line)
		}
	}
	return l
}

// frame returns the one of a stack that holds the lock: by the source, which knows of early returns, or because its
// line is between one that takes the lock and one that gives it back, in one function.
func (l *lockedLines) frame(s model.Stack) (model.Frame, bool) {
	for _, h := range l.m.Sched.Holding[s] {
		if slices.Contains(l.locked[h.Taken.Func], h.Taken.Line) {
			return h.At, true
		}
	}
	frames := l.m.Stacks.Frames(s)
	i := slices.IndexFunc(frames, func(f model.Frame) bool {
		from := 0
		for _, line := range l.locked[f.Func] {
			if line < f.Line {
				from = max(from, line)
			}
		}
		back := l.unlocked[f.Func]
		return from > 0 && slices.ContainsFunc(back, func(line int) bool { return line >= f.Line }) &&
			!slices.ContainsFunc(back, func(line int) bool { return line > from && line < f.Line })
	})
	if i < 0 {
		return model.Frame{}, false
	}
	return frames[i], true
}

// A HolderWait is what goroutines wait for at a line between one that takes a lock and one that gives it back.
type HolderWait struct {
	Wait *model.Wait // the longest of them
	Line diagnosis.Place
	Time fact.Fact
}

// HolderWait finds what goroutines that hold the lock wait for longest, and where.
func (q *Queue) HolderWait(p *diagnosis.Pass) (h HolderWait, ok bool) {
	m, lines := p.Model, q.lockedLines(p.Model)
	inside := func(w *model.Wait) (model.Frame, bool) {
		f, ok := lines.frame(w.Stack)
		return f, ok && w.Kind != model.SchedWait && !q.Has(w)
	}
	for i := range m.Sched.Waits { // the longest first
		if _, ok := inside(&m.Sched.Waits[i]); ok {
			h.Wait = &m.Sched.Waits[i]
			break
		}
	}
	if h.Wait == nil {
		return h, false
	}
	line, _ := inside(h.Wait)
	h.Line = code.PlaceOf(line)
	h.Time = p.Waits("time in which whoever holds the lock waits there", h.Wait.Kind, func(w *model.Wait) bool {
		f, ok := inside(w)
		return ok && f.Func == line.Func && f.Line == line.Line
	})
	return h, q.longEnough(p, h.Time)
}

func (q *Queue) heldWaiting(p *diagnosis.Pass) (h Hold, ok bool) {
	held, ok := q.HolderWait(p)
	if !ok {
		return h, false
	}
	return Hold{
		Words: fact.Sentence("Whoever holds it %s at %s, %s in all.", waitingVerb(held.Wait), code.FileLine(held.Line), held.Time),
		Facts: []fact.Fact{held.Time},
	}, true
}

// longEnough reports whether a wait of who holds the lock makes it slow: one at a time
// holds it, for a good part of the window.
func (q *Queue) longEnough(p *diagnosis.Pass, time fact.Fact) bool {
	window := p.Model.Run.Duration.Seconds()
	return time.Value <= OneAtATime*window && time.Value >= HolderPart*window
}

// heldComputing returns where goroutines that hold the lock compute most, by samples of the
// CPU and, where there are none, by where they are preempted.
func (q *Queue) heldComputing(p *diagnosis.Pass) (h Hold, ok bool) {
	m, lines := p.Model, q.lockedLines(p.Model)
	if m.CPU == nil || len(m.CPU.Samples) == 0 {
		return q.heldPreempted(p)
	}
	times, at := map[int]int64{}, map[int]model.Frame{}
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		if f, ok := lines.frame(s.Stack); ok {
			times[f.Line] += int64(s.Value(0))
			at[f.Line] = f
		}
	}
	if len(times) == 0 {
		return h, false
	}
	line := at[statistics.Largest(times)[0]]
	time := p.Samples("CPU time of whoever holds the lock there", "cpu", func(s *model.Sample) bool {
		f, ok := lines.frame(s.Stack)
		return ok && f.Func == line.Func && f.Line == line.Line
	})
	if !q.longEnough(p, time) {
		return h, false
	}
	place := code.PlaceOf(line)
	return Hold{
		Words:  fact.Sentence("Whoever holds it computes at %s, %s in all.", code.FileLine(place), time),
		Facts:  []fact.Fact{time},
		Places: []diagnosis.Place{place},
	}, true
}

// heldPreempted returns where goroutines that hold the lock are preempted most: a goroutine
// loses its P so when it has computed for long. The stack of who was made ready is that of
// who did it, which says nothing of this.
func (q *Queue) heldPreempted(p *diagnosis.Pass) (h Hold, ok bool) {
	m, lines := p.Model, q.lockedLines(p.Model)
	wakers := map[model.Stack]bool{}
	for _, w := range m.Sched.Wakes {
		wakers[w.Waker] = true
	}
	inside := func(w *model.Wait) (model.Frame, bool) {
		frames := m.Stacks.Frames(w.Stack)
		f, ok := lines.frame(w.Stack)
		// Who gives a lock back yields to the next.
		return f, ok && w.Kind == model.SchedWait && !wakers[w.Stack] && slices.Contains(q.Groups, w.Group) && !code.ContainsFunc(frames, code.IsMutex)
	}
	times, at := map[int]int64{}, map[int]model.Frame{}
	for i := range m.Sched.Waits {
		if f, ok := inside(&m.Sched.Waits[i]); ok {
			times[f.Line] += m.Sched.Waits[i].Count
			at[f.Line] = f
		}
	}
	if len(times) == 0 {
		return h, false
	}
	line := at[statistics.Largest(times)[0]]
	n := p.WaitCount("times that whoever holds the lock was preempted there", model.SchedWait, func(w *model.Wait) bool {
		f, ok := inside(w)
		return ok && f == line
	})
	if n.Value*preemptedAfter.Seconds() < HolderPart*m.Run.Duration.Seconds() {
		return h, false
	}
	place := code.PlaceOf(line)
	return Hold{
		Words:  fact.Sentence("Whoever holds it computes at %s. It was preempted there %s times.", code.FileLine(place), n.Number()),
		Facts:  []fact.Fact{n},
		Places: []diagnosis.Place{place},
	}, true
}

// heldAtMoment returns the holder that a moment knows: with the time of its wait where the
// trace has that, and for that one moment where it runs.
func (q *Queue) heldAtMoment(p *diagnosis.Pass) (h Hold, ok bool) {
	holder, at := q.holderAtMoment(p.Model, func(model.Holding) bool { return true })
	if at == nil {
		return h, false
	}
	stands := code.UserPlace(p, at.Stack)
	h = Hold{Reader: holder.Shared, Places: []diagnosis.Place{stands, code.PlaceOf(holder.Taken)}}
	probably := fact.Name("")
	if !holder.Sure {
		probably = "probably "
	}
	if slices.Contains(AtWork, at.State) {
		does := fact.Name("computes")
		if at.State == "syscall" {
			does = fact.Name(StateWords(at.State))
		}
		h.Words = fact.Sentence("At the moment that is known its holder is %s%s, which %s at %s.", probably, code.Name(holder.Taken.Func), does, code.FileLine(stands))
		return h, true
	}
	m := p.Model
	there := func(w *model.Wait) bool {
		return !q.Has(w) && code.UserPlace(p, w.Stack) == stands
	}
	i := slices.IndexFunc(m.Sched.Waits, func(w model.Wait) bool { return w.Kind != model.SchedWait && there(&w) })
	if i < 0 {
		return h, false
	}
	time := p.Waits("time in which its holder waits there", m.Sched.Waits[i].Kind, there)
	if !q.longEnough(p, time) {
		return h, false
	}
	h.Facts = []fact.Fact{time}
	h.Words = fact.Sentence("Its holder is %s%s, which %s at %s, %s in all.", probably, code.Name(holder.Taken.Func), fact.Name(StateWords(at.State)), code.FileLine(stands), time)
	return h, true
}

// holderAtMoment returns a matching holder of the lock at the moment that is known, and where
// it stands. The lock is the one for which goroutines wait there at the queue's lines; a
// holder that waits for it as well is none to name.
func (q *Queue) holderAtMoment(m *model.Model, match func(model.Holding) bool) (model.Holding, *model.Standing) {
	if m.Moment == nil {
		return model.Holding{}, nil
	}
	lines := map[model.Frame]bool{}
	for _, s := range q.Stacks {
		if f, ok := model.UserFrame(m.Stacks.Frames(s)); ok {
			lines[f] = true
		}
	}
	wanted := map[int]bool{}
	for i := range m.Moment.Goroutines {
		s := &m.Moment.Goroutines[i]
		if f, ok := model.UserFrame(m.Stacks.Frames(s.Stack)); ok && s.Wants > 0 && lines[f] {
			wanted[s.Wants] = true
		}
	}
	for i := range m.Moment.Goroutines {
		s := &m.Moment.Goroutines[i]
		for _, h := range s.Holds {
			if _, user := model.UserFrame(m.Stacks.Frames(s.Stack)); user && wanted[h.Lock] && s.Wants != h.Lock && match(h) {
				return h, s
			}
		}
	}
	return model.Holding{}, nil
}

// waitingVerb says what a goroutine in a wait does, as a verb.
func waitingVerb(w *model.Wait) fact.Name {
	switch {
	case w.Reason == "sleep":
		return "sleeps"
	case w.Kind == model.Net:
		return "waits for the network"
	case w.Kind == model.SyscallWait:
		return "is in a system call"
	case w.Reason != "":
		return fact.Name("waits (" + w.Reason + ")")
	}
	return "waits"
}

// OneAtATime is how many of them are in that wait on average. Under
// one lock it is one at a time; rounding and the window's ends leave a little more.
const OneAtATime = 1.1

// AtWork are the states of who gets on.
var AtWork = []string{model.StateRunning, model.StateRunnable, "syscall"}
