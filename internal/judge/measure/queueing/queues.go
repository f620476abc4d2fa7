// Package queueing finds what goroutines wait for that holds up work which is ready: the [Queue]
// before a lock, a channel or a pool, the [Stage] behind it, the [Pace] that the last of a row of
// full channels sets, and the [Hold] of a lock.
//
// It hides that a trace names neither locks nor channels: places whose wake-ups meet are taken for
// one queue, goroutines that do the same for one team, and what a holder does is inferred from
// where it waits, runs or stands. It hides the bounds of a closed system, what a window cuts off
// at its ends, and what handing over a lock costs beside the wait.
//
// queueing knows no rule: how many must wait for how long stands with each.
package queueing

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Most blocked goroutines are at leisure: a worker without work, a server
// without requests. Rules about waiting therefore begin with what somebody
// wants to do and cannot, a demand, and only the stack tells the two apart:
// the runtime's reason "sync" is the same for a mutex, a wait group and a
// first use.
//
// A trace does not name the lock or the channel either. What can be known is
// which code waits and which code ends the wait, so places that wake each
// other are taken for one lock or channel, a queue.

// Demand is a kind of wait that holds up work which is ready to be done.
type Demand uint8

const (
	None       Demand = iota
	Lock              // a mutex of package sync
	Descriptor        // the lock inside a file descriptor
	Send              // a channel that nobody takes from fast enough
	Slot              // a channel used as a semaphore
	Pool              // a connection pool or a semaphore
)

// String says what a demand waits for.
func (d Demand) String() string {
	return [...]string{"nothing", "a lock", "the lock of a file descriptor", "a receiver to take what they send", "a slot of a semaphore made of a channel", "a free slot of a pool"}[d]
}

// pools are functions of the standard library and its close kin that wait
// for a slot which the program itself limits. Rate limiters are left out:
// they wait on purpose.
var pools = []string{
	"database/sql.(*DB).conn",
	"net/http.(*Transport).getConn",
	"golang.org/x/sync/semaphore.(*Weighted).Acquire",
}

// Demands sorts waits into kinds. It needs the wake graph once, to tell a
// select that sends from one that receives.
type Demands struct {
	m *model.Model
	// sending holds stacks whose waits are mostly ended by a receiver.
	sending map[model.Stack]bool
}

// Kind tells what the goroutines of a wait want. Those of the runtime want
// nothing that a user could give.
func (d *Demands) Kind(w *model.Wait) Demand {
	if w.Kind != model.Sync {
		return None
	}
	frames := d.m.Stacks.Frames(w.Stack)
	switch w.Reason {
	case "chan send":
		return Send
	case "select":
		if inPool(frames) {
			return Pool
		}
		if d.sending[w.Stack] {
			return Send
		}
	case "sync":
		return syncKind(frames)
	}
	return None
}

// NewDemands looks through the wake graph of a model.
func NewDemands(m *model.Model) *Demands {
	d := &Demands{m: m, sending: map[model.Stack]bool{}}
	by, parks := map[model.Stack]int64{}, selectParks(m)
	for _, w := range m.Sched.Wakes {
		if receives(m, w.Waker, parks) {
			by[w.Woken] += w.Count
		} else {
			by[w.Woken] -= w.Count
		}
	}
	for s, n := range by {
		d.sending[s] = n > 0
	}
	return d
}

// receives reports whether code that ended a wait did so by receiving. A select
// that finds somebody waiting may have received from him or sent to him; the
// stack has only the line inside runtime.selectgo.
func receives(m *model.Model, waker model.Stack, parks int) bool {
	frames := m.Stacks.Frames(waker)
	switch {
	case len(frames) == 0:
		return false
	case frames[0].Func == "runtime.selectgo" && parks > 0:
		by := frames[0].Line - parks
		return by >= selectTakesFrom && by <= selectTakesTo
	}
	return strings.HasPrefix(frames[0].Func, "runtime.chanrecv")
}

// selectParks returns the line in runtime.selectgo where goroutines wait, 0 when
// none was seen to.
func selectParks(m *model.Model) int {
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Reason == "select" {
			if f := m.Stacks.Frames(w.Stack); len(f) > 0 && f[0].Func == "runtime.selectgo" {
				return f[0].Line
			}
		}
	}
	return 0
}

func inPool(frames []model.Frame) bool {
	return code.ContainsAny(frames, pools)
}

// syncKind reads the frames of package sync and of the poller at the leaf. A
// mutex inside sync.Once is a wait for something to be made, not for a turn.
func syncKind(frames []model.Frame) (kind Demand) {
	for _, f := range frames {
		switch {
		case f.Func == "internal/poll.(*fdMutex).rwlock":
			return Descriptor
		case strings.HasPrefix(f.Func, "sync.(*Once)."):
			return None
		case code.IsMutex(f.Func):
			kind = Lock
		case !code.IsMachinery(f.Func):
			return kind
		}
	}
	return kind
}

// In runtime.selectgo the line that receives from a waiting sender comes 130 to
// 146 lines after the one that parks, and the line that sends to a waiting
// receiver 157 to 176: the source of Go 1.13 to 1.26 has these distances,
// whatever its absolute lines. What lies outside is not known.
const (
	selectTakesFrom = 120
	selectTakesTo   = 151
)

// queueServed is how many waits of a queue must have ended in the window for
// it to be one where nobody waits at its end: a few that are over are an anecdote. Where
// somebody does wait, one is enough: a lock held for long serves few. What nobody ever
// serves is not slow, it stands still, and no fix of a queue would make it faster.
const queueServed = 10

// A Queue is code where goroutines wait for one thing: as far as the wake
// graph tells, for one lock or channel.
type Queue struct {
	Kind    Demand
	Stacks  []model.Stack // where they wait, the longest total first
	Groups  []string      // who waits, the longest total first
	Total   time.Duration
	entries map[*model.Wait]bool  // of the trace that were joined
	Served  int64                 // waits that somebody ended
	Servers map[model.Stack]int64 // code that ended them
	open    int64                 // waits that go on when the window ends
}

// Place returns the user's line where a queue's goroutines wait longest, or the
// place of their group when only the library's code is on the stack.
func (q *Queue) Place(p *diagnosis.Pass) diagnosis.Place {
	if place := code.UserPlace(p, q.Stacks...); place != (diagnosis.Place{}) {
		return place
	}
	for _, name := range q.Groups {
		if g := code.Group(p.Model, name); g != nil {
			if place, ok := p.GroupPlace(g); ok {
				return place
			}
		}
	}
	return diagnosis.Place{}
}

// Server returns the user's line that most often ended a wait, and of a lock the one that holds
// up others longest: who gives it back often need not hold it long.
func (q *Queue) Server(p *diagnosis.Pass) diagnosis.Place {
	if q.Kind == Lock {
		return q.longestHolder(p)
	}
	return code.UserPlace(p, statistics.Largest(q.Servers)...)
}

// longestHolder returns the line that gives the lock back after the longest delays, by the
// mutex profile. Without one it is known only where there is but one such line.
func (q *Queue) longestHolder(p *diagnosis.Pass) (longest diagnosis.Place) {
	delays := map[diagnosis.Place]float64{} // of the lines that give it back
	for s := range q.Servers {
		if place, ok := p.UserPlace(s); ok {
			delays[place] = 0
		}
	}
	if len(delays) == 1 {
		return code.UserPlace(p, statistics.Largest(q.Servers)...)
	}
	if p.Model.Mutex == nil {
		return longest
	}
	column := p.Model.Mutex.Column("delay")
	for i := range p.Model.Mutex.Samples {
		s := &p.Model.Mutex.Samples[i]
		place, ok := p.UserPlace(s.Stack)
		if _, gives := delays[place]; !ok || !gives {
			continue
		}
		if delays[place] += float64(s.Value(column)); delays[place] > delays[longest] {
			longest = place
		}
	}
	return longest
}

// minUntold is how many goroutines may wait for what nothing tells, on average, where it
// is said that nobody waits for a thing: one is main, and one alone queues for nothing.
const minUntold = 2

// minStuck is how many must wait, on average, for something that lets nobody on for that
// to be said in its place.
const minStuck = 1

// Unseen says why it cannot be said that nobody waits for things of a kind, "" where it
// can: somebody does, and nobody was let on in the window, so that it is no queue, or
// what goroutines of the program wait for is not known.
func Unseen(p *diagnosis.Pass, kind Demand) string {
	d := NewDemands(p.Model)
	stuck := p.Waits("time waiting for "+kind.String()+" without an end", model.Sync, func(w *model.Wait) bool {
		return w.Open > 0 && d.Kind(w) == kind && code.IsUserWait(p.Model, w)
	})
	if n := fact.Quotient.Of("goroutines waiting for "+kind.String()+", on average", fact.Count, stuck, p.WindowLength()); n.Value >= minStuck {
		return fact.Sentence("%s goroutines wait for "+kind.String()+" on average, and too few were let on to tell why", n)
	}
	var names []string
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; !g.System {
			names = append(names, g.Name)
		}
	}
	untold := fact.Quotient.Of("goroutines waiting for what nothing tells, on average", fact.Count,
		p.Goroutines("their time in waits of which nothing tells for what", names, "blocked:", "unknown"), p.WindowLength())
	if untold.Value >= minUntold {
		return fact.Sentence("what %s goroutines wait for is not in the trace", untold)
	}
	return ""
}

// Queues returns what goroutines of the program wait for that holds up their
// work, the longest total first.
func Queues(p *diagnosis.Pass) []Queue {
	return slices.DeleteFunc(AllQueues(p), func(q Queue) bool { return !q.Busy() })
}

// Busy reports whether enough waits ended in it to say how it is served.
func (q *Queue) Busy() bool { return q.Served >= queueServed || q.open > 0 }

// forsakenAge is how many times as long as those that ended the waits to send must have
// lasted that go on, for them to be of other channels. A channel lets on who came first:
// those in it at the end have waited half as long as the others on average.
const forsakenAge = 10

// forsaken reports whether those who wait to send are let on at once or never, as where
// somebody makes a channel for several answers and takes the first.
func (q *Queue) forsaken() bool {
	var ended, open time.Duration
	var count int64
	for w := range q.entries {
		ended, open, count = ended+w.Ended(), open+w.OpenTotal, count+w.Count
	}
	return q.Kind == Send && q.open > 0 && count > 0 && open/time.Duration(q.open) > forsakenAge*ended/time.Duration(count)
}

// AllQueues also has those of which few waits ended.
func AllQueues(p *diagnosis.Pass) []Queue {
	d := NewDemands(p.Model)
	j := joiner{m: p.Model, ids: map[string]int{}, names: map[model.Stack]string{}, sums: map[int]*queueSums{}}
	kinds := map[model.Stack]Demand{}
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		if kind := d.Kind(w); kind != None && code.IsUserWait(p.Model, w) {
			kinds[w.Stack] = kind
			j.waits = append(j.waits, w)
		}
	}
	j.joinWakes(kinds)
	j.joinReaders(kinds)
	for _, w := range j.waits {
		j.sum(w, kinds[w.Stack])
	}
	for _, w := range p.Model.Sched.Wakes {
		if kind := kinds[w.Woken]; kind != None {
			q := j.sums[j.find(j.waiting(kind, w.Woken))]
			q.Servers[w.Waker] += w.Count
			q.Served += w.Count
		}
	}
	return slices.DeleteFunc(j.queues(), func(q Queue) bool { return q.forsaken() })
}

// A joiner finds the queues among waits: a union-find over the places that
// wait and the places that wake.
type joiner struct {
	m      *model.Model
	waits  []*model.Wait
	ids    map[string]int
	parent []int
	names  map[model.Stack]string // sites by stack
	sums   map[int]*queueSums
}

func (j *joiner) joinWakes(kinds map[model.Stack]Demand) {
	for _, w := range j.m.Sched.Wakes {
		if kind := kinds[w.Woken]; kind != None && w.Waker != 0 {
			a, b := j.find(j.waiting(kind, w.Woken)), j.find(j.node("wake "+kind.String()+j.site(w.Waker)))
			j.parent[a] = b
		}
	}
}

// joinReaders makes one queue of the two of a reader-writer lock: its readers wake who
// writes, and its writers who reads, so that no wake-up leads from the one to the other.
// A function that takes such a lock and gives one back is taken to do that with the same.
func (j *joiner) joinReaders(kinds map[model.Stack]Demand) {
	first := map[string]int{}
	join := func(s model.Stack, node int) {
		frames := j.m.Stacks.Frames(s)
		f, ok := model.UserFrame(frames)
		if !ok || !code.ContainsFunc(frames, isReadWrite) {
			return
		}
		if of, ok := first[f.Func]; ok {
			j.parent[j.find(node)] = j.find(of)
		} else {
			first[f.Func] = node
		}
	}
	for _, w := range j.waits {
		if kinds[w.Stack] == Lock {
			join(w.Stack, j.waiting(Lock, w.Stack))
		}
	}
	for _, w := range j.m.Sched.Wakes {
		if kinds[w.Woken] == Lock && w.Waker != 0 {
			join(w.Waker, j.node("wake "+Lock.String()+j.site(w.Waker)))
		}
	}
}

func isReadWrite(function string) bool { return strings.HasPrefix(function, "sync.(*RWMutex).") }

func (j *joiner) waiting(kind Demand, s model.Stack) int {
	return j.node("wait " + kind.String() + j.site(s))
}

func (j *joiner) site(s model.Stack) string {
	name, ok := j.names[s]
	if !ok {
		name = code.Site(j.m, s)
		j.names[s] = name
	}
	return name
}

func (j *joiner) node(name string) int {
	id, ok := j.ids[name]
	if !ok {
		id = len(j.parent)
		j.ids[name] = id
		j.parent = append(j.parent, id)
	}
	return id
}

func (j *joiner) find(id int) int {
	for j.parent[id] != id {
		j.parent[id] = j.parent[j.parent[id]]
		id = j.parent[id]
	}
	return id
}

func (j *joiner) sum(w *model.Wait, kind Demand) {
	id := j.find(j.waiting(kind, w.Stack))
	q := j.sums[id]
	if q == nil {
		q = &queueSums{
			Queue:   Queue{Kind: kind, entries: map[*model.Wait]bool{}, Servers: map[model.Stack]int64{}},
			byStack: map[model.Stack]time.Duration{},
			byGroup: map[string]time.Duration{},
		}
		j.sums[id] = q
	}
	q.entries[w] = true
	q.Total += w.Total
	q.open += w.Open
	q.byStack[w.Stack] += w.Total
	q.byGroup[w.Group] += w.Total
}

func (j *joiner) queues() (out []Queue) {
	for _, id := range slices.Sorted(maps.Keys(j.sums)) {
		q := j.sums[id]
		if q.Served == 0 {
			continue
		}
		q.Stacks, q.Groups = statistics.Largest(q.byStack), statistics.Largest(q.byGroup)
		if q.Kind == Send && j.ownServers(&q.Queue) {
			q.Kind = Slot
		}
		out = append(out, q.Queue)
	}
	slices.SortStableFunc(out, func(a, b Queue) int { return cmp.Compare(b.Total, a.Total) })
	return out
}

// ownServers reports whether those who wait to send are also those who
// receive, as with a channel that counts who may go on. Who gives a slot back never
// waits for it: the stages of a pipeline do.
func (j *joiner) ownServers(q *Queue) bool {
	for s := range q.Servers {
		if s != 0 && slices.ContainsFunc(q.Stacks, func(of model.Stack) bool { return teamOf(j.m, of) == teamOf(j.m, s) }) && !j.waitsToReceive(s) {
			return true
		}
	}
	return false
}

// waitsToReceive reports whether goroutines wait at the line of the program that a stack
// receives at.
func (j *joiner) waitsToReceive(s model.Stack) bool {
	line, ok := model.UserFrame(j.m.Stacks.Frames(s))
	return ok && slices.ContainsFunc(j.m.Sched.Waits, func(w model.Wait) bool {
		at, user := model.UserFrame(j.m.Stacks.Frames(w.Stack))
		return w.Reason == "chan receive" && user && at == line
	})
}

type queueSums struct {
	Queue
	byStack map[model.Stack]time.Duration
	byGroup map[string]time.Duration
}

// Merge makes one queue of two, where one lock is known to be behind both.
func (q *Queue) Merge(o Queue) {
	if q.entries == nil {
		q.entries = map[*model.Wait]bool{}
	}
	maps.Copy(q.entries, o.entries)
	q.Kind, q.Stacks, q.Total, q.open = o.Kind, append(q.Stacks, o.Stacks...), q.Total+o.Total, q.open+o.open
	if q.Servers == nil {
		q.Servers = map[model.Stack]int64{}
	}
	for s, n := range o.Servers {
		q.Servers[s] += n
	}
	for _, g := range o.Groups {
		if !slices.Contains(q.Groups, g) {
			q.Groups = append(q.Groups, g)
		}
	}
}

// What a queue costs, as facts.

// Has reports whether a wait is one of the queue's.
func (q *Queue) Has(w *model.Wait) bool { return q.entries[w] }

// WaitTime returns the time that its goroutines waited.
func (q *Queue) WaitTime(p *diagnosis.Pass) fact.Fact {
	return p.Waits("time waiting for "+q.Kind.String(), model.Sync, q.Has)
}

// Waiting returns how many goroutines stood in it on average (Little's law).
func (q *Queue) Waiting(p *diagnosis.Pass, name string) fact.Fact {
	return fact.Quotient.Of(name, fact.Count, q.WaitTime(p), p.WindowLength())
}

// LateLength returns how many goroutines stood in it on average after the first tenth of the window,
// in which a program that starts may have had all its goroutines queue at once.
func (q *Queue) LateLength(p *diagnosis.Pass, name string) fact.Fact {
	early := 0.0
	for w := range q.entries {
		early += w.Early.Seconds()
	}
	start := p.Statistic(fact.Timeline, "waits at the beginning", "of it in the first tenth of the window", early, fact.Seconds)
	return fact.Quotient.Of(name, fact.Count, fact.Difference.Of("time waited later", fact.Seconds, q.WaitTime(p), start),
		fact.Product.Of("nine tenths of the window", fact.Seconds, p.WindowLength(), fact.Figure("part", 0.9, fact.Ratio, "of the window")))
}

// MeanWait returns the average wait in it, at least: of those that go on at the window's end, or
// had begun before it, only a part is seen.
func (q *Queue) MeanWait(p *diagnosis.Pass, name string) fact.Fact {
	waits := p.WaitCount("waits", model.Sync, q.Has)
	if q.open > 0 {
		name += ", at least"
		waits = fact.Sum.Of("waits, with those that go on", fact.Count, waits,
			p.Statistic(fact.Timeline, "waits without an end", "waits that go on", float64(q.open), fact.Count))
	}
	return fact.Quotient.Of(name, fact.Seconds, q.WaitTime(p), waits)
}

// WaitWords returns that wait in words.
func (q *Queue) WaitWords(wait fact.Fact) fact.Name {
	if q.open > 0 {
		return fact.Name(fact.Sentence("%s or more", wait))
	}
	return fact.Name(fact.Sentence("%s", wait))
}

// Faster returns by how much throughput can grow when nobody waits in it, with the CPUs that
// the program has: see [FasterBy]. A P whose thread waits for a CPU that others have is busy
// then: a short lock whose holder lost its CPU holds up all, and is no fault of the program.
// Where several groups stand in it, it is that of the one that has most of it, for the
// others may do something else nearly all the time.
func (q *Queue) Faster(p *diagnosis.Pass, freed ...fact.Fact) fact.Fact {
	return q.fasterBeside(p, cpu.BusyWithout(p, q.Frees(p, freed)...))
}

// Limit returns the bound that goes with it, as if others gave back the CPUs that they took.
// Goroutines that have nothing to do with those who wait do no more when these do, so that
// what they take of the Ps is no limit.
func (q *Queue) Limit(p *diagnosis.Pass, when string, freed ...fact.Fact) diagnosis.Bound {
	freed = append(q.Frees(p, freed), StolenPs(p)...)
	if apart := unrelatedPs(p, append(statistics.Largest(code.CountRoots(p.Model, q.Servers)), q.Groups...)); apart.Value > 0 {
		freed = append(freed, apart)
	}
	return TurnsLimit(q.fasterBeside(p, cpu.BusyWithout(p, freed...)), q.Turns(p), when)
}

// Turns counts those who were let on, whether or not it is known for what they had waited.
// Where several are served at a time it counts those of each, who may all begin at once.
func (q *Queue) Turns(p *diagnosis.Pass) fact.Fact {
	ended := p.Statistic(fact.Wakes, "wake-ups that ended such waits", "turns", float64(statistics.Total(q.Servers)), fact.Count)
	turns := ended.Larger(p.WaitCount("turns", model.SchedWait, q.letsOn))
	var served fact.Fact
	switch q.Kind {
	case Slot, Pool:
		served = fact.Quotient.Of("goroutines of them that do not wait, on average", fact.Count, fact.Difference.Of("time of those goroutines beside it", fact.Seconds,
			p.Goroutines("time of those goroutines", q.Groups, "total"), q.WaitTime(p)), p.WindowLength())
	case Send:
		served = p.Goroutines("receivers", statistics.Largest(code.CountRoots(p.Model, q.Servers)), "peak")
	}
	if served.Value <= 1 {
		return turns
	}
	return fact.Quotient.Of("turns of each", fact.Count, turns, served)
}

// letsOn reports whether a wait for a P began when one of the queue's was let on.
func (q *Queue) letsOn(w *model.Wait) bool {
	return q.Servers[w.Stack] > 0 && slices.Contains(q.Groups, w.Group)
}

func (q *Queue) fasterBeside(p *diagnosis.Pass, busy fact.Fact) fact.Fact {
	best := q.fasterOf(p, busy, q.Groups)
	if len(q.Groups) == 1 {
		return best
	}
	times := map[string]time.Duration{}
	for w := range q.entries {
		times[w.Group] += w.Total
	}
	for _, g := range q.Groups {
		if times[g] >= time.Duration(queueOwner*float64(statistics.Total(times))) {
			best = best.Larger(q.fasterOf(p, busy, []string{g}))
		}
	}
	return best
}

// queueOwner is the part of the wait from which a group's own gain counts. It is taken and
// not surveyed: who has less of a queue than that hardly notices when it goes.
const queueOwner = 0.2

// fasterOf returns by what factor the work of some groups can grow. Who was made ready by one who
// left the queue would not have to be, so that the time until they ran goes as well.
func (q *Queue) fasterOf(p *diagnosis.Pass, busy fact.Fact, groups []string) fact.Fact {
	here := func(w *model.Wait) bool { return q.Has(w) && slices.Contains(groups, w.Group) }
	wait := p.Waits("time waiting for "+q.Kind.String(), model.Sync, here)
	ready := p.Waits("time until those ran who were let on", model.SchedWait, func(w *model.Wait) bool {
		return q.letsOn(w) && slices.Contains(groups, w.Group)
	})
	if ready.Value > 0 {
		wait = fact.Sum.Of(wait.Name+", until they ran", fact.Seconds, wait, ready)
	}
	if q.Kind == Lock {
		wait = fact.Sum.Of(wait.Name+", with taking it", fact.Seconds, wait, q.taking(p, groups, wait))
	}
	return fasterBeside(p, busy, groups, wait, here)
}

// Frees adds to what a change frees of the Ps, in cores, what goes with any lock.
func (q *Queue) Frees(p *diagnosis.Pass, freed []fact.Fact) []fact.Fact {
	if q.Kind == Lock || q.Kind == Descriptor {
		freed = append(freed, q.handedOver(p))
	}
	return freed
}

// StolenPs returns the Ps that are busy without a CPU, if there are any: one whose thread waits for
// a CPU that others have does nothing for its operation.
func StolenPs(p *diagnosis.Pass) []fact.Fact {
	s, ok := cpu.UseOf(p)
	if !ok || s.InUse().Value >= cpu.BusyPs(p).Value {
		return nil
	}
	return []fact.Fact{fact.Difference.Of("busy Ps beyond the CPU in use", fact.Cores, cpu.BusyPs(p), s.InUse())}
}

// lockTaking is the part of what those who wait for a lock do beside that which may be
// spinning before it, and handing it over: these go with the wait, and no trace tells
// them from work. It is room and no measurement: in a few traces with holds of 25 to
// 250 ms it was 0.02 to 0.4%, most of it threads that waited for a CPU. Shorter holds are
// handed over more often, and a bound must not be below the true gain.
const lockTaking = 0.05

// taking returns the time in that, at most.
func (q *Queue) taking(p *diagnosis.Pass, groups []string, wait fact.Fact) fact.Fact {
	rest := fact.Difference.Of("time of those goroutines beside it", fact.Seconds, p.Goroutines("time of those goroutines", groups, "total"), wait)
	return fact.Smallest.Of("time in taking the lock and handing it over, at most", fact.Seconds,
		p.Goroutines("time that they run", groups, "running"),
		fact.Product.Of("a twentieth of the rest", fact.Seconds, rest, fact.Figure("part", lockTaking, fact.Ratio, "room for spinning and handing over, of which 0.02 to 0.4% was seen in a few traces")))
}

// handedOver returns the CPU that goes with the hand-over of a lock, at most, in cores: nobody
// does it where nobody waits. It is the lock's own slow paths, with the threads that they
// wake, and of what the scheduler does elsewhere (parking, finding work, putting threads to
// sleep and waking them up) the part that this lock's waits are of all. What the recording
// does goes as well, for nobody records the repaired program, and chance may have kept some
// of all this from the samples: a demo whose limit was 2.12× without these got 2.15× faster.
func (q *Queue) handedOver(p *diagnosis.Pass) fact.Fact {
	const name = "cores in handing the lock over and in recording it, at most"
	s, ok := cpu.UseOf(p)
	if !ok {
		return fact.Product.Of(name, fact.Cores, cpu.BusyPs(p), fact.Figure("part", lockTaking, fact.Ratio, "room for handing over: too few samples of the CPU tell"))
	}
	beside := func(match func([]model.Frame) bool) func([]model.Frame) bool {
		return func(frames []model.Frame) bool { return !PassesLock(frames) && match(frames) }
	}
	parks := fact.Sum.Of("waits of all goroutines", fact.Count, p.WaitCount("waits for others", model.Sync, nil), p.WaitCount("waits for the network", model.Net, nil))
	return s.CoresOf(handedOverShare.Of(name, fact.Ratio,
		s.ShareIn("CPU in waiting for and handing over locks", PassesLock),
		s.ShareIn("CPU in the scheduler elsewhere", beside(func(frames []model.Frame) bool {
			return model.CPUPartOf(frames) == model.Scheduling && !recordsItself(frames)
		})),
		fact.Fraction.Of("this lock's part of all waits", fact.Ratio, p.WaitCount("its waits", model.Sync, q.Has), parks),
		s.ShareIn("CPU in recording", beside(recordsItself)), s.SampleCount()))
}

var handedOverShare = &fact.Formula{Name: "handed over", Words: "{0} + {1} × {2} + {3}, with what chance may have kept from the samples",
	Value: func(x []float64) float64 { return fact.LargestShare(x[0]+x[1]*x[2]+x[3], int64(x[4])) }}

// recordsItself reports whether a stack is of recording: the recorder's own, or the
// runtime's where it writes or reads the trace.
func recordsItself(frames []model.Frame) bool {
	return model.OfRecording(frames) || code.ContainsFunc(frames, func(f string) bool {
		return strings.HasPrefix(f, "runtime.trace") || strings.HasPrefix(f, "runtime.(*trace")
	})
}

// Rate returns how many waits it had a second.
func (q *Queue) Rate(p *diagnosis.Pass, name string) fact.Fact {
	return fact.Quotient.Of(name, fact.PerSec, p.WaitCount("waits", model.Sync, q.Has), p.WindowLength())
}

// Share returns the part of its goroutines' time that it takes.
func (q *Queue) Share(p *diagnosis.Pass, name string) fact.Fact {
	return fact.Fraction.Of(name, fact.Ratio, q.WaitTime(p), p.Goroutines("time of those goroutines", q.Groups, "total"))
}

// PartOf returns the part that it is of all the time spent in queues.
func (q *Queue) PartOf(p *diagnosis.Pass, qs []Queue, name string) fact.Fact {
	var all Queue
	for _, o := range qs {
		all.Merge(o)
	}
	return fact.Fraction.Of(name, fact.Ratio, q.WaitTime(p), p.Waits("time blocked on something that holds up work", model.Sync, all.Has))
}

// LockInUse is the utilization of a single server at which this number wait, the one that is
// served left out: L = ρ² ÷ (1 − ρ).
var LockInUse = &fact.Formula{Name: "m/m/1", Words: "M/M/1 utilization at this queue length: {0}",
	Value: func(x []float64) float64 { return (math.Sqrt(x[0]*x[0]+4*x[0]) - x[0]) / 2 }}

// PassesLock reports whether a stack is in a lock's slow path, as waiter or as owner.
func PassesLock(frames []model.Frame) bool {
	return code.ContainsFunc(frames, func(f string) bool {
		return code.IsMutex(f) && strings.HasSuffix(f, "Slow") || f == "runtime.semacquire1" || f == "runtime.semrelease1"
	})
}
