// Package rules is the suite of problems that gowhy recognises, one file
// with its page and its cases each.
//
// It hides what separates a program with a problem from a busy one: the figures, the
// look-alikes that are innocent, and what the fix of each problem can bring
// at most. [All] is the suite; what several rules measure is below them, in internal/judge/measure.
//
// A rule is a pure function of the model. None of them reads files, the
// clock, the environment or the network.
package rules

import "github.com/gowhy/gowhy/internal/judge/diagnosis"

// All is every rule. Rules about the evidence come first, since they say how
// far the others can be trusted; then causes from outside the program, then
// those inside, roughly from cause to symptom. The order only decides between
// findings of equal benefit.
//
// To add a rule: NAME.go, NAME.md, testdata/NAME.txt and a line here.
var All = []*diagnosis.Rule{
	thinevidence,
	notloaded,
	unsampled,
	lostdata,
	failures,
	exhausted,
	generatorbound,
	wrongbuild,
	neighbour,
	overquota,
	throttled,
	starved,
	fewprocs,
	memorylimit,
	noheadroom,
	stalled,
	blockedfinalizer,
	unclosed,
	leakedtimers,
	oldtimers,
	leakedgoroutines,
	goroutinegrowth,
	descriptorgrowth,
	retainedslice,
	emptymap,
	heldmemory,
	heapgrowth,
	nativememory,
	fragmentation,
	needlesswork,
	boxedargs,
	sparsemap,
	stringbuilding,
	freshrand,
	tinyheap,
	poolmisuse,
	allocchurn,
	growingslices,
	unboundedspawn,
	overload,
	runqueue,
	superlinear,
	risingcost,
	oversubscribed,
	packetgoroutine,
	loggerlock,
	fsyncbound,
	lockedio,
	serialwait,
	timeouts,
	serialcalls,
	waitchain,
	slowstage,
	poolwait,
	readlocks,
	timerstorm,
	singlesocket,
	lockedrand,
	hotmutex,
	funnelchannel,
	broadcastclose,
	herdwakeup,
	cgocalls,
	threadgrowth,
	connectionchurn,
	spinloop,
	hotretry,
	smallio,
	reopen,
	syscallbound,
	goroutinechurn,
	stackgrowth,
	forcedgc,
	gccost,
	gcassist,
	slowstop,
	idlespin,
	futexstorm,
	slowstart,
	deeprecursion,
	memoryprofiler,
	hotfunction,
	runtimetax,
	idleprocs,
	schedlatency,
	oldgo,
	nopgo,
	printedprofile,
}
