package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed stalled.md
var stalledPage string

// stalled needs a moment, which is part of several sources: a goroutine dump or profile,
// a trace, or a look from outside.
var stalled = &diagnosis.Rule{
	Name:     "stalled",
	Title:    "Goroutines with work make no step",
	Doc:      stalledPage,
	Explains: []string{"hotmutex", "goroutinegrowth", "idleprocs"},
	Check:    checkStalled,
}

const (
	// lookSure is from how many on that is a problem and not only worth a remark: workers
	// that one ticker starts come together, ten of them in a program of the lab that is well.
	lookSure = 16
)

// A lockQueue is who waits for a lock and who holds it.
type lockQueue struct {
	number  int // as [model.Standing.Wants]
	lock    *model.Lock
	waiters []*model.Standing
	holders []lockHolder
	behind  []*lockQueue // those whose holders wait for this one
}

// A lockHolder is who holds a lock.
type lockHolder struct {
	at *model.Standing
	model.Holding
}

func checkStalled(p *diagnosis.Pass) {
	m := p.Model.Moment
	if m == nil {
		return
	}
	queues := lockQueues(m)
	inCycle := map[*lockQueue]bool{}
	for _, c := range lockCycles(queues) {
		if advances(m, c) {
			continue
		}
		for _, q := range c {
			inCycle[q] = true
		}
		p.Report(deadlock(p, c))
	}
	said := len(inCycle) > 0
	for _, q := range lockChains(queues, inCycle) {
		if f, ok := heldLong(p, q); ok {
			p.Report(f)
			said = true
		}
	}
	reportQueues(p)
	reportAbsences(p)
	if m.Dead && !said && blockedCleaner(p) == nil {
		p.Report(allAsleep(p))
	}
}

// lockQueues returns the locks of a moment.
func lockQueues(m *model.Moment) []*lockQueue {
	qs := make([]*lockQueue, len(m.Locks))
	for i := range qs {
		qs[i] = &lockQueue{number: i + 1, lock: &m.Locks[i]}
	}
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		if s.Wants > 0 {
			qs[s.Wants-1].waiters = append(qs[s.Wants-1].waiters, s)
		}
		for _, h := range s.Holds {
			qs[h.Lock-1].holders = append(qs[h.Lock-1].holders, lockHolder{s, h})
		}
	}
	return qs
}

// nextLock returns the lock that a holder of this one waits for, and who that is.
func (q *lockQueue) nextLock() (number int, by *lockHolder) {
	for i := range q.holders {
		if h := &q.holders[i]; h.at.Wants > 0 {
			return h.at.Wants, h
		}
	}
	return 0, nil
}

// lockCycles returns the locks of which each is held by who waits for the next.
func lockCycles(qs []*lockQueue) (cycles [][]*lockQueue) {
	done := map[*lockQueue]bool{}
	for _, start := range qs {
		var path []*lockQueue
		for q := start; q != nil && !done[q]; {
			if i := slices.Index(path, q); i >= 0 {
				cycles = append(cycles, path[i:])
				break
			}
			path = append(path, q)
			n, by := q.nextLock()
			if by == nil {
				break
			}
			q = qs[n-1]
		}
		for _, q := range path {
			done[q] = true
		}
	}
	return cycles
}

// advances reports whether one of a cycle was seen to go on: then it is none, whatever the
// source shows. Who was watched for long and has stood for less than a second moved before.
func advances(m *model.Moment, cycle []*lockQueue) bool {
	if m.Watched < stuckWatched || m.Dead {
		return false
	}
	return slices.ContainsFunc(cycle, func(q *lockQueue) bool {
		_, h := q.nextLock()
		return h.at.Still == 0 && h.at.Waited < stuckWatched
	})
}

// lockChains returns the locks at whose end nobody waits for another, with those behind them;
// what stands behind a cycle is the cycle's.
func lockChains(qs []*lockQueue, inCycle map[*lockQueue]bool) (list []*lockQueue) {
	for _, start := range qs {
		q := start
		for range qs {
			n, by := q.nextLock()
			if by == nil || inCycle[q] {
				break
			}
			q = qs[n-1]
		}
		switch {
		case inCycle[q]:
		case q == start:
			list = append(list, q)
		default:
			q.behind = append(q.behind, start)
		}
	}
	return list
}

func (q *lockQueue) standing() (list []*model.Standing) {
	for _, h := range q.holders {
		if !slices.Contains(list, h.at) {
			list = append(list, h.at)
		}
	}
	return list
}

// sure reports whether source shows a holder.
func (q *lockQueue) sure() bool {
	return slices.ContainsFunc(q.holders, func(h lockHolder) bool { return h.Sure })
}

// heldLong returns the finding of a lock that many wait for, with those that its holder's
// waiters hold; nothing where a look has too few to say it.
func heldLong(p *diagnosis.Pass, q *lockQueue) (f diagnosis.Finding, ok bool) {
	m := p.Model.Moment
	waiting := slices.Clone(q.waiters)
	for _, b := range q.behind {
		waiting = append(waiting, b.waiters...)
	}
	n := p.Standing("goroutines that wait for it", "goroutines", queueing.MatchStandings(waiting...))
	longest := p.Standing("longest wait", "waited", queueing.MatchStandings(q.waiters...))
	all := p.Standing("goroutines", "goroutines", nil)
	holders := q.standing()
	times := longest.Value >= stuckFor.Seconds() || stuck(m, q.waiters...) || stuck(m, holders...) && anyStuck(m, q.waiters)
	stalls := times && (len(holders) == 0 || stuck(m, holders...)) || m.Dead
	switch {
	case stalls:
	case times && m.Watched == 0: // they wait for minutes, while it moves
	case n.Value < lookWaiters || p.Model.Sched != nil: // a trace's queues are other rules'
		return f, false
	}
	f = diagnosis.Finding{
		Stalls:   stalls,
		Remark:   !times && !m.Dead && n.Value < lookSure,
		Where:    code.Places(q.places(p)...),
		Evidence: []fact.Fact{n, all},
		Cost:     diagnosis.CostOf(n, fact.Fraction.Of("part of all", fact.Ratio, n, all).Value),
		Bound:    goOn(),
		Groups:   queueing.RootsOf(p.Model, waiting),
		Stacks:   queueing.StacksOf(append(slices.Clone(waiting), holders...)),
		Remedy:   q.remedy(p),
		Prove: "Take such a dump again some seconds later, and one of the changed program under the same load: " +
			"the same goroutines at the same places, with longer waits, confirm it; a list without this lock " +
			"rejects it.",
	}
	if !stalls {
		f.Title = "Many goroutines wait for one lock at this moment"
	}
	f.Confidence, f.Reasons, f.RuledOut = q.doubt(p, times)
	verb := "wait"
	if n.Value == 1 {
		verb = "waits"
	}
	format, parts := "%s "+verb+" for %s", []fact.Part{n.Things("goroutine"), fact.Name(q.words())}
	if longest.Value > 0 {
		format, parts = format+", the longest for %s", append(parts, longest)
	}
	said, more := q.holder(p)
	f.Say(format+said, append(parts, more...)...)
	return f, true
}

// words returns the lock in a sentence.
func (q *lockQueue) words() string {
	switch q.lock.Naming {
	case model.BySource:
		return "the lock " + code.Short(q.lock.Name)
	case model.ByReceiver:
		return "the lock of " + code.Short(q.lock.Name)
	case model.ByOnce:
		return "the sync.Once in " + code.Short(q.lock.Name)
	}
	return "the lock in " + code.Short(q.lock.Name)
}

// holder says who holds it and what that does, after a sentence about who waits.
func (q *lockQueue) holder(p *diagnosis.Pass) (format string, parts []fact.Part) {
	computes, busy := q.computes(p)
	switch {
	case busy:
		return ". Whoever holds it computes in %s at %s, which is %s of the CPU in use.",
			[]fact.Part{code.Name(q.lock.Computes.Func), code.FileLine(code.PlaceOf(q.lock.Computes)), computes}
	case len(q.holders) == 0 && !slices.ContainsFunc(p.Model.Moment.Goroutines, func(s model.Standing) bool { return s.Wants != q.number }):
		return ". Who holds it is not in what was given.", nil
	case len(q.holders) == 0 && alikeUnread(p.Model.Moment):
		return ". Who holds it is not to be seen: of goroutines that wait alike only one stack was read.", nil
	case len(q.holders) == 0 && runsUnseen(p.Model):
		return ". Perhaps one holds it that runs: of that there is no stack.", nil
	case len(q.holders) == 0:
		return ". No goroutine shows on its stack that it holds it: who took it may have returned without unlocking it.", nil
	}
	h := &q.holders[0]
	since := p.Standing("how long its holder stands there", "waited", queueing.MatchStandings(h.at))
	format = "; %s holds it and %s"
	if !h.Sure {
		format = "; probably %s holds it, which %s"
	}
	does := queueing.Activity(p, h.at)
	if at := code.UserPlace(p, h.at.Stack); at.Function == h.Taken.Func {
		does = queueing.StateWords(h.at.State) + thereAt(at)
	}
	parts = []fact.Part{code.Name(h.Taken.Func), fact.Name(does)}
	if since.Value > 0 {
		format, parts = format+" for %s", append(parts, since)
	}
	if k := len(q.standing()); k > 1 {
		format, parts = format+" (one of %s places)", append(parts, fact.Name(figureOf(k)))
	}
	return format + ".", parts
}

// alikeUnread reports whether a moment has one stack for all goroutines that began at one
// place and wait for the same: those that were watched from outside.
func alikeUnread(m *model.Moment) bool { return m.Source == model.GoroutineProfile && m.Watched > 0 }

// computes returns the part of the CPU in use that goes into the line at which whoever holds
// the lock computes; not ok where it is less than makes a lock slow.
func (q *lockQueue) computes(p *diagnosis.Pass) (share fact.Fact, ok bool) {
	at := q.lock.Computes
	if len(q.holders) > 0 || at.Func == "" {
		return share, false
	}
	tree := "cpu"
	if p.Model.CPU == nil {
		tree = "kernel"
	}
	share = p.SampleShare("samples under the lock", tree, p.Frames(func(frames []model.Frame) bool {
		return slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == at.Func && f.File == at.File && f.Line == at.Line })
	}))
	return share, share.Value >= queueing.HolderPart
}

// runsUnseen reports whether somebody runs of whom no stack is known, as in a dump those
// of other threads.
func runsUnseen(m *model.Model) bool {
	return slices.ContainsFunc(m.Moment.Goroutines, func(s model.Standing) bool {
		return s.State == model.StateRunning && len(m.Stacks.Frames(s.Stack)) == 0
	})
}

// places returns where they wait, where it was taken, and where its holder stands.
func (q *lockQueue) places(p *diagnosis.Pass) (list []diagnosis.Place) {
	for i := range q.holders[:min(1, len(q.holders))] {
		h := &q.holders[i]
		list = append(list, diagnosis.Place{Function: h.Taken.Func, File: h.Taken.File, Line: h.Taken.Line}, code.UserPlace(p, h.at.Stack))
	}
	list = append(list, code.UserPlace(p, queueing.StacksOf(q.waiters)...))
	if _, busy := q.computes(p); busy {
		list = append(list, code.PlaceOf(q.lock.Computes))
	}
	return list
}

// doubt returns how sure it is, why, and what else it cannot be.
func (q *lockQueue) doubt(p *diagnosis.Pass, times bool) (c diagnosis.Confidence, reasons, ruledOut []string) {
	c = diagnosis.Low
	_, busy := q.computes(p)
	switch {
	case q.sure():
		c, reasons = diagnosis.Medium, []string{"the source shows that the holder stands between Lock and Unlock"}
		if times {
			c = diagnosis.High
		}
	case len(q.holders) > 0 && q.lock.Naming == model.BySource:
		reasons = []string{"the source shows that the holder stands between Lock and Unlock of a lock of that name, and not " +
			"of which value"}
	case len(q.holders) > 0:
		reasons = []string{"the holder is the goroutine that is in code of the same value or function, beyond those that " +
			"wait; its source was not found here"}
	case busy:
		reasons = []string{"which goroutine holds the lock is not to be seen; the source shows that these samples of the CPU are " +
			"between Lock and Unlock of a lock of that name"}
	default:
		reasons = []string{"which goroutine holds the lock is not to be seen"}
	}
	if !times {
		return c, append(reasons, "one look shows a queue and not how long it has stood: a second one would tell"),
			[]string{"a lock that is free most of the time: so many would seldom meet there"}
	}
	if c == diagnosis.Low {
		c = diagnosis.Medium
	}
	return c, append(reasons, "they have stood there too long for a queue that moves"),
		[]string{"workers at rest: those wait for a channel or a condition, and these for a lock", "a short queue: nobody waits that long for a lock that is given back"}
}

const (
	// longReader is what helps where a reader holds a lock so long that others pend.
	longReader = "Copy what the reader needs under RLock, unlock, then go on: " +
		"a reader holds it so long that a writer waits, and every reader behind him. " +
		"More locks, one for each part, would not help: it is one holder and not many."
	readFirst = "mu.RLock()\nv := s.value // what is needed, copied\nmu.RUnlock()\ncall(v)"
	// lessUnderLock is what helps where whoever holds a lock computes.
	lessUnderLock = "Do less under the lock: compute before Lock, and keep only the change of what is shared between " +
		"Lock and Unlock."
	unlockFirst = "mu.Lock()\nv := s.value // what is needed, copied\nmu.Unlock()\ncall(v)"
)

// remedy says what to change, by what the holder does.
func (q *lockQueue) remedy(p *diagnosis.Pass) diagnosis.Remedy {
	_, busy := q.computes(p)
	switch {
	case busy:
		return diagnosis.Remedy{Text: lessUnderLock, Code: unlockFirst}
	case len(q.holders) == 0 && alikeUnread(p.Model.Moment):
		return diagnosis.Remedy{Text: "Take a goroutine dump, which has the stack of each (kill -QUIT ends the program with one), and " +
			"give it to gowhy diagnose: one of them may hold this lock and wait for another, or have returned without " +
			"Unlock."}
	case len(q.holders) == 0 && runsUnseen(p.Model):
		return diagnosis.Remedy{Text: "Take a CPU profile: who computes between Lock and Unlock of this lock holds it. If nobody does, " +
			"look for a path that returns, or panics, there, and put defer mu.Unlock() right behind Lock.",
			Code: "mu.Lock()\ndefer mu.Unlock()"}
	case len(q.holders) == 0:
		return diagnosis.Remedy{Text: "Look for a path that returns, or panics, between Lock and Unlock, and put defer mu.Unlock() " +
			"right behind Lock.",
			Code: "mu.Lock()\ndefer mu.Unlock()"}
	}
	h := &q.holders[0]
	text := "Do not hold the lock there: copy what the call needs, unlock, then call."
	switch {
	case q.lock.Naming == model.ByOnce:
		return diagnosis.Remedy{Text: "Give what is made once a deadline, or make it before anybody needs it: all who come wait until " +
			"the first is ready."}
	case h.Shared:
		return diagnosis.Remedy{Text: longReader, Code: readFirst}
	case h.at.State == model.StateRunning || h.at.State == "runnable":
		return diagnosis.Remedy{Text: lessUnderLock, Code: unlockFirst}
	case throughNetwork(p.Model.Stacks.Frames(h.at.Stack)) || h.at.State == "IO wait":
		text += " And give the call a deadline: without one, a peer that is silent holds everybody."
	}
	return diagnosis.Remedy{Text: text, Code: unlockFirst}
}

// throughNetwork reports whether a stack waits for a peer.
func throughNetwork(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, []string{"net.", "net/http.", "crypto/tls.", "internal/poll.", "google.golang.org/grpc", "database/sql.", "golang.org/x/net/", "github.com/hashicorp/yamux."})
}

// thereAt returns a place in a function that was just named.
func thereAt(at diagnosis.Place) string {
	if at.Line <= 0 {
		return " there"
	}
	return " at " + string(code.FileLine(at))
}

// deadlock returns the finding of locks whose holders wait for each other.
func deadlock(p *diagnosis.Pass, cycle []*lockQueue) diagnosis.Finding {
	m := p.Model.Moment
	var holders, waiting []*model.Standing
	var places []diagnosis.Place
	sure := true
	for _, q := range cycle {
		_, h := q.nextLock()
		holders = append(holders, h.at)
		waiting = append(waiting, q.waiters...)
		sure = sure && h.Sure
		places = append(places, diagnosis.Place{Function: h.Taken.Func, File: h.Taken.File, Line: h.Taken.Line})
	}
	for _, h := range holders {
		places = append(places, code.UserPlace(p, h.Stack))
	}
	n := p.Standing("goroutines that wait for these locks", "goroutines", queueing.MatchStandings(waiting...))
	longest := p.Standing("longest wait", "waited", queueing.MatchStandings(waiting...))
	all := p.Standing("goroutines", "goroutines", nil)
	still := stuck(m, holders...) || m.Dead
	f := diagnosis.Finding{
		Title:    "Deadlock of locks",
		Stalls:   sure || still,
		Where:    code.Places(places...),
		Evidence: []fact.Fact{n, all},
		Cost:     diagnosis.CostOf(n, fact.Fraction.Of("part of all", fact.Ratio, n, all).Value),
		Bound:    goOn(),
		Groups:   queueing.RootsOf(p.Model, waiting),
		Stacks:   queueing.StacksOf(waiting),
		RuledOut: []string{"a queue that moves: each of them holds what another waits for"},
		Remedy: diagnosis.Remedy{Text: "Take these locks in one order everywhere, or unlock the first before calling into what takes the second.",
			Code: "a.mu.Lock()\nv := a.value\na.mu.Unlock()\nb.use(v) // takes b.mu"},
		Prove: "Take a dump again some seconds later: goroutines of a deadlock are at the same lines for ever. " +
			"One of the changed program under the same load must not have them.",
	}
	f.Confidence, f.Reasons = diagnosis.Low, []string{"who holds each lock follows from the functions on the stacks, not from which value it is of, " +
		"and nothing tells how long they have stood"}
	switch {
	case sure:
		f.Confidence, f.Reasons = diagnosis.High, []string{"the source shows that each stands between Lock and Unlock of what the other waits for"}
	case still:
		f.Confidence, f.Reasons = diagnosis.Medium, []string{"who holds each lock follows from the functions and values on the stacks, and none of them has moved"}
	}
	lead := "A deadlock: "
	if !sure {
		lead = "Probably a deadlock: "
	}
	if len(cycle) == 1 {
		h := holders[0]
		f.Title = "A goroutine waits for a lock that it holds"
		f.Remedy = diagnosis.Remedy{Text: "Split the function that locks: one that locks and calls the other, and one that expects the " +
			"lock held. Call the second where it is held already.",
			Code: "func (s *S) Get() int { s.mu.Lock(); defer s.mu.Unlock(); return s.get() }\nfunc (s *S) get() int { return s.n } // s.mu is held"}
		if _, by := cycle[0].nextLock(); by.Shared {
			f.Remedy.Text += " RLock must not be taken again by who holds it: a writer that comes between waits for the first, " +
				"and the second waits for the writer."
		}
		f.Say(lead+"%s waits in %s for %s, which it holds%s.", fact.Name(goroutineName(h)), code.Name(code.UserPlace(p, h.Stack).Function), fact.Name(cycle[0].words()), behindWords(n))
		return f
	}
	var words []string
	for _, q := range cycle {
		n, h := q.nextLock()
		then := cycle[slices.IndexFunc(cycle, func(o *lockQueue) bool { return o.number == n })]
		words = append(words, code.Short(h.Taken.Func)+" holds "+q.words()+" and waits for "+then.words())
	}
	f.Say(lead+"%s%s.", fact.Name(strings.Join(words, "; ")), behindWords(n))
	if longest.Value > 0 {
		f.Rest(longest)
	}
	return f
}

// goroutineName returns one of some, by its number where that is known.
func goroutineName(s *model.Standing) string {
	if s.Goroutine > 0 {
		return "goroutine " + figureOf(int(s.Goroutine))
	}
	return "a goroutine"
}

// behindWords says how many wait in all, where it is more than the ones named.
func behindWords(n fact.Fact) fact.Part {
	if n.Value <= 2 {
		return fact.Name("")
	}
	return fact.Name(fact.Sentence("; %s wait in all", n.Things("goroutine")))
}

// allAsleep returns the finding of the runtime's own: no goroutine can go on.
func allAsleep(p *diagnosis.Pass) diagnosis.Finding {
	m := p.Model.Moment
	all := p.Standing("goroutines", "goroutines", nil)
	var places []diagnosis.Place
	var words []string
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		if at := code.UserPlace(p, s.Stack); at.Function != "" && len(words) < asleepNamed {
			places = append(places, at)
			words = append(words, queueing.Activity(p, s))
		}
	}
	f := diagnosis.Finding{
		Title:      "Deadlock: no goroutine can go on",
		Stalls:     true,
		Where:      code.Places(places...),
		Evidence:   []fact.Fact{all},
		Cost:       diagnosis.CostOf(all, 1),
		Bound:      goOn(),
		Confidence: diagnosis.High,
		Reasons:    []string{"the runtime itself found that all goroutines are asleep and nothing can wake one"},
		RuledOut:   []string{"a slow program: the runtime looks for timers, network and threads first"},
		Stacks:     []model.Stack{m.Goroutines[0].Stack},
		Remedy: diagnosis.Remedy{Text: "Look at the other side of what each waits for. Close a channel where its last sender ends, on " +
			"every path; receive as often as is sent; " +
			"call Done for each Add, with defer; unlock on every path."},
		Prove: "The changed program must end, or serve, where it died of this.",
	}
	if all.Value == 1 && len(words) == 1 {
		f.Say("The only goroutine %s, and nothing is left that could wake it.", fact.Name(words[0]))
		return f
	}
	f.Say("All %s wait for each other: one %s.", all.Things("goroutine"), fact.Name(strings.Join(words, "; one ")))
	return f
}

// asleepNamed is how many places a deadlock of everybody names.
const asleepNamed = 3
