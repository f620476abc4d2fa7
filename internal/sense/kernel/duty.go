package kernel

import (
	"time"

	"github.com/gowhy/gowhy/internal/ground/beat"
)

// A duty decides which share of the time a source watches, so that what its
// events cost the program stays within a budget, and where in the time.
type duty struct {
	event time.Duration // what one event costs the program
	stack time.Duration // what its stacks cost beside; 0 where none are taken
	all   bool          // everything is watched, whatever it costs
	// sparse is for who watches without an end: cycles are longer, and the budget is
	// smaller.
	sparse bool
	// random returns a number from 0 up to 1.
	random func() float64
}

// What events cost, in calls of the kernel that do nothing, by TestCosts: on two
// virtual machines, one three times as fast as the other, the same. See pace.
const (
	callCost  = 1.25
	waitCost  = 1.8 // a switch, its thread's return included
	stackCost = 12  // with both parts of the stack, rarely seen ones
)

const (
	// dutyBudget is the share of the program's CPU time that each source may
	// cost: all evidence but the execution trace together is to stay below 3%.
	// dutyFloor is what it may always cost, in seconds a second: a program that
	// does little is watched whole. The least is 1,400 calls a second.
	dutyBudget = 0.005
	dutyFloor  = 0.0005
	// leastShare and leastStacks bound how little is watched: with less, what
	// is seen would be chance.
	leastShare  = 0.01
	leastStacks = 0.1
	// firstLook is how long everything is watched until the rate is known, and
	// looks how often it is looked at while everything is watched.
	firstLook = 10 * time.Millisecond
	looks     = 200 * time.Millisecond
	// sparseLooks is for who watches without an end: with 200 ms these looks were a
	// tenth of what watching a program that waits cost.
	sparseLooks = 500 * time.Millisecond
	// meanCycle is the mean length of a cycle, which has one slice. To begin and to end one
	// takes the program's CPUs 0.1 ms for each tracepoint: code of the kernel is changed and
	// all CPUs are notified. In a cycle of this length that is 0.03% of their time for each.
	meanCycle = 300 * time.Millisecond
	// sparseCycle is for who watches without an end: a quarter of what recording ten
	// seconds cost was to begin and end slices.
	sparseCycle = time.Second
	// sparseBudget leaves, beside 0.3% for the samples of the CPU, a program that is
	// watched all the time below half a percent.
	sparseBudget = 0.001
)

func (d *duty) budget() float64 {
	if d.sparse {
		return sparseBudget
	}
	return dutyBudget
}

func (d *duty) meanCycle() time.Duration {
	if d.sparse {
		return sparseCycle
	}
	return meanCycle
}

// look returns how long it is until the next look while everything is watched.
func (d *duty) look() time.Duration {
	if d.sparse {
		return beat.UntilNext(sparseLooks)
	}
	return looks
}

// plan answers a rate of events a second, of a program that uses a number of seconds of CPU a
// second: the share of the time that is watched, and the share of the events whose stacks are
// taken then.
func (d *duty) plan(rate, cpu float64) (share, stacks float64) {
	event, stack := d.event.Seconds(), d.stack.Seconds()
	allowed := max(d.budget()*cpu, dutyFloor)
	if d.all || rate*(event+stack) <= allowed {
		return 1, 1
	}
	if stack > 0 {
		stacks = max(leastStacks, (allowed/rate-event)/stack)
	}
	return min(1, max(leastShare, allowed/(rate*(event+stacks*stack)))), stacks
}

// A span is a stretch of time, in nanoseconds of CLOCK_MONOTONIC, in which events count, each
// as a number of units of its weight.
type span struct{ from, until, weight uint64 }

// weightUnit is the weight of an event when everything is watched.
const weightUnit = 1 << 8

// forever is the end of a span that has none yet.
const forever = 1<<63 - 1

// cycle places a slice at random in a stretch of random length that begins
// now, so that nothing the program does periodically is met or missed each
// time. The slice's weight is exactly the stretch's length by its own.
func (d *duty) cycle(now uint64, share float64, mean time.Duration) (slice span, end uint64) {
	length := (0.5 + d.random()) * float64(mean)
	weight := max(weightUnit, uint64(weightUnit/share+0.5))
	watched := length * weightUnit / float64(weight)
	from := now + uint64(d.random()*(length-watched))
	return span{from, from + uint64(watched), weight}, now + uint64(length)
}

// An episode is a time of slices. What is seen in slices is scaled up from them
// to the whole: times by the clock, but numbers of events by the program's CPU
// time without what the watching costs it. For a busy program gets less done in
// a slice than outside, and one that waits for others as much.
type episode struct {
	event time.Duration // see duty
	// wall, cpu and events are of the slices, times their weights, in seconds; cost
	// and length without.
	wall, cpu, events, cost, length float64
}

// add adds a slice with its events, the CPU time used in it, and the mean cost
// of an event's stacks in seconds.
func (e *episode) add(s span, events uint64, cpu time.Duration, stacks float64) {
	weight := float64(s.weight) / weightUnit
	length := float64(s.until-s.from) / 1e9
	cost := float64(events) * (e.event.Seconds() + stacks)
	e.wall += weight * length
	e.events += weight * float64(events)
	e.cpu += weight * (cpu.Seconds() - cost)
	e.cost += cost
	e.length += length
}

// factors returns the factors for numbers and times, for an episode of a length in seconds
// and in seconds of CPU: 1 but for chance and what the watching costs. The latter cannot hold
// up a program longer than it takes, which bounds the imprecision of the CPU clock. Where the
// kernel counts the events itself, the number of all of them is known: all, else 0.
func (e *episode) factors(elapsed, cpu float64, all uint64) (count, wall float64) {
	if e.wall <= 0 {
		return 1, 1
	}
	wall = elapsed / e.wall
	if all > 0 && e.events > 0 {
		return float64(all) / e.events, wall
	}
	held := min(0.8, e.cost/e.length)
	count = wall / (1 - held)
	if e.cpu > 0 {
		count = min(count, max(wall, (cpu-e.cost)/e.cpu))
	}
	return count, wall
}
