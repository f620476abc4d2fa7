package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed poolmisuse.md
var poolmisusePage string

var poolmisuse = &diagnosis.Rule{
	Name:     "poolmisuse",
	Title:    "A sync.Pool makes new objects instead of giving old ones",
	Doc:      poolmisusePage,
	Needs:    []model.Source{model.Heap},
	Explains: []string{"allocchurn", "gccost", "tinyheap"},
	Check:    checkPoolmisuse,
}

const (
	// poolmisuseShare is the part of all objects or bytes allocated that the
	// pool makes from which it matters. The catalogue's 5% is what a site must have
	// to be named at all.
	poolmisuseShare = 0.05
	// poolmisuseEach is how many objects a pool may make in a collection for each
	// goroutine of the program. One that works makes at most one for each that
	// is in use at a time, in every second collection, for it is emptied by
	// two of them.
	poolmisuseEach = 4
	// poolmisuseLeast keeps programs with few goroutines from being judged by a
	// handful of objects. The programs of the lab that are well make 228 at most,
	// a name server whose pool is never given anything back 1,124 and more.
	poolmisuseLeast = 500
	// poolmisuseMost is the part of all bytes from which the pools are what collections
	// are for: large objects fill a heap by the dozen, and five hundred are not reached in
	// a collection.
	poolmisuseMost = 0.5
	// poolmisuseKept is how many times as many objects as are in use a pool must make
	// there in a collection. One that works makes half of them at most, for two
	// collections empty it; one of 64 KiB that is given nothing back made three times as
	// many, as marking takes for in use what is made meanwhile.
	poolmisuseKept = 1.5
	// poolmisuseBytes is how much the pools must have made in all: eight samples of a heap
	// profile at its usual rate, each of which stands for up to thousands of small objects,
	// and less is no cost.
	poolmisuseBytes = 8 * 512 << 10
	// poolmisuseNamed is how many places a finding names at most: where objects
	// are taken and where they are made.
	poolmisuseNamed = 4
)

// poolObjects is what pools made in the run.
type poolObjects struct {
	objects, bytes           fact.Fact
	objectsShare, bytesShare fact.Fact // of all that was allocated
	each                     fact.Fact // objects in a collection
	goroutines               fact.Fact // that the program can have had at once
	inUse                    fact.Fact // objects, at an end of the window
	weighed                  bool      // a profile says what is in use
}

// perCollection is for a run of one that never ended, too.
var perCollection = &fact.Formula{Name: "per collection", Words: "{0} ÷ {1}", Value: func(x []float64) float64 { return x[0] / max(1, x[1]) }}

func checkPoolmisuse(p *diagnosis.Pass) {
	checkPoolkept(p)
	_, cycles, ok := memory.Collections(p)
	pools := madeByPools(p, cycles)
	if !ok {
		p.Lacks("nothing counts the collections", p.HowToGet(model.MetricsLog))
		return
	}
	if pools.objects.Value == 0 {
		return
	}
	if pools.each.Value < pools.most() || pools.share().Value < poolmisuseShare || pools.bytes.Value < poolmisuseBytes {
		pools.sayFew(p)
		return
	}
	p.Report(poolmisuseFinding(p, &pools, cycles))
}

// sayFew is about pools that make few objects, or a small part of all. They are well, but for those whose
// few are most of all bytes, of which a collection can be the reason or that nothing is given back, and
// for those that make more than one that works, and not too little to count.
func (pools *poolObjects) sayFew(p *diagnosis.Pass) {
	if pools.bytesShare.Value >= poolmisuseMost && pools.bytes.Value >= poolmisuseBytes {
		p.Unchecked("whether pools get back what they give", fact.Sentence("they make %s objects in a collection, as few as one that works, "+
			"and these are %s of all bytes allocated", pools.each, pools.bytesShare), p.RecordAgain(60, "longer.gowhy"))
		return
	}
	if pools.each.Value >= pools.most() && pools.bytes.Value >= poolmisuseBytes {
		p.Unchecked("whether pools get back what they give", fact.Sentence("they make %s objects in a collection, more than one that works, "+
			"and these are only %s of all that is allocated", pools.each, pools.share()), p.RecordAgain(60, "longer.gowhy"))
		return
	}
	p.Fine(fact.Sentence("pools: they make %s objects in a collection", pools.each))
}

func madeByPools(p *diagnosis.Pass, cycles fact.Fact) (pools poolObjects) {
	get := p.Frames(fromPool)
	pools.objects, pools.bytes = p.Samples("objects made by pools", "alloc_objects", get), p.Samples("bytes in objects made by pools", "alloc_space", get)
	pools.objectsShare = p.SampleShare("part of all objects allocated", "alloc_objects", get)
	pools.bytesShare = p.SampleShare("part of all bytes allocated", "alloc_space", get)
	pools.each = perCollection.Of("objects that pools made in a collection", fact.Count, pools.objects, cycles)
	pools.goroutines = goroutinesAtOnce(p)
	const inUse = "objects of pools in use"
	pools.inUse, pools.weighed = p.Samples(inUse, "inuse_objects", get), p.Model.InUse() != nil
	if p.Model.LiveHeap.Start != nil {
		pools.inUse = pools.inUse.Larger(p.SamplesAtStart(inUse, "inuse_objects", get))
	}
	return pools
}

// most returns how many pools that work may make in a collection.
func (pools *poolObjects) most() float64 {
	byGoroutines := poolmisuseEach * pools.goroutines.Value
	if pools.large() && pools.goroutines.Value > 0 {
		return max(byGoroutines, poolmisuseKept*pools.inUse.Value)
	}
	return max(poolmisuseLeast, byGoroutines)
}

// large reports whether large objects of pools are most of what is allocated, and known
// how many are in use.
func (pools *poolObjects) large() bool {
	return pools.weighed && pools.bytesShare.Value >= poolmisuseMost && pools.bytes.Value >= memory.LargeObject*pools.objects.Value
}

// share returns the larger part.
func (pools *poolObjects) share() fact.Fact { return pools.objectsShare.Larger(pools.bytesShare) }

// goroutinesAtOnce returns the most goroutines that the program can have had at
// once, as far as evidence tells.
func goroutinesAtOnce(p *diagnosis.Pass) fact.Fact {
	const name = "goroutines at once, at most"
	return p.Goroutines(name, code.AllGroups(p.Model), "peak").Larger(p.Metric(name, memory.MetricGoroutines, fact.Last))
}

// poolPlaces returns where objects are taken from pools and where they are made, those of
// most objects first.
func poolPlaces(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack) {
	objects, by := p.Model.Heap.Column("alloc_objects"), map[model.Stack]float64{}
	for i := range p.Model.Heap.Samples {
		if s := &p.Model.Heap.Samples[i]; fromPool(p.Model.Stacks.Frames(s.Stack)) {
			by[s.Stack] += s.Value(objects)
		}
	}
	stacks = statistics.Largest(by)
	for _, s := range stacks {
		places = append(places, getAndNew(p.Model.Stacks.Frames(s))...)
	}
	return code.Places(places[:min(len(places), poolmisuseNamed)]...), stacks
}

// getAndNew returns where a stack takes from a pool and where it makes the object.
func getAndNew(frames []model.Frame) (places []diagnosis.Place) {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == "sync.(*Pool).Get" })
	for _, part := range [][]model.Frame{frames[i:], frames[:i]} {
		if place, ok := diagnosis.UserPlace(part); ok {
			places = append(places, place)
		}
	}
	return places
}

// ownPool reports whether a stack takes from a pool in the program's own module, or makes
// the object there. It holds every pool for the program's own where no build is known.
func ownPool(p *diagnosis.Pass, s model.Stack) bool {
	if p.Model.Build == nil || p.Model.Build.Module == "" {
		return true
	}
	own := code.ProgramPackages(p.Model)
	return slices.ContainsFunc(getAndNew(p.Model.Stacks.Frames(s)), func(at diagnosis.Place) bool { return code.StartsWith(at.Function, own) })
}

// putBack is what a pool lacks that makes object after object.
var putBack = diagnosis.Remedy{
	Text: "Put each object back when its user is done with it, on every way out, and not before. " +
		"If it cannot be known when that is, or if the object is small, the pool costs more than it saves: take it out. " +
		"Measure either: decoding into a variable on the stack beat a pool in the DNS server that the rule was made after.",
	Code: "b := pool.Get().(*bytes.Buffer)\ndefer func() { b.Reset(); pool.Put(b) }()",
}

// callLess is what a program can do about the pool of a library.
var callLess = diagnosis.Remedy{
	Text: "Keep what the library makes and use it again, or call what gives it back, like Close or Release: " +
		"one made anew for each operation takes another object from the library's pool. " +
		"If it is used so already, the library does not put back what it takes: a newer version may.",
}

func poolmisuseFinding(p *diagnosis.Pass, pools *poolObjects, cycles fact.Fact) diagnosis.Finding {
	what := fact.Name("objects")
	if pools.bytesShare.Value > pools.objectsShare.Value {
		what = "bytes"
	}
	places, stacks := poolPlaces(p)
	f := diagnosis.Finding{
		Where:      places,
		Evidence:   []fact.Fact{pools.each, pools.goroutines, pools.objectsShare, pools.bytesShare, cycles},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, the allocs profile; that objects are not put back is inferred from their number"},
		RuledOut: []string{
			"a pool emptied by the collector: each collection can cost no more than the objects in use at once, " +
				"and there were never so many goroutines",
			fact.Sentence("a rare pool: its objects are %s of all allocated", pools.share()),
		},
		Stacks: stacks,
		Groups: code.GroupsOfStacks(p.Model, stacks),
		Remedy: putBack,
		Experiment: codeChange(diagnosis.AllocsOp, diagnosis.CPUPerOp, "Allocations per operation are a count. "+
			"CPU time per operation tells whether the pool is worth having at all: try it without, too."),
	}
	if pools.large() {
		f.Evidence = append(f.Evidence, pools.inUse)
	}
	f.Cost, f.Bound = poolmisuseCost(p, pools)
	if used := p.CPUInUse(); used.Value > 0 && used.Value < leastCores {
		f.Remark, f.Confidence = true, diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("a remark: the program uses %s, and a busy one takes from a pool what an idle one makes", used))
	}
	if !ownPool(p, stacks[0]) {
		f.Where = code.Places(append([]diagnosis.Place{code.ProgramPlace(p, stacks...)}, places...)...)
		f.Remedy = callLess
		if pools.share().Value < poolmisuseMost {
			f.Remark, f.Explains = true, []string{} // no accusation hangs under a remark
		}
		f.Reasons = append(f.Reasons, "the pool is a library's: only how often and for what it is called is yours to tell")
	}
	f.Say("A sync.Pool made %s new objects in each collection, %s of all %s allocated: nearly every Get finds it empty.", pools.each, pools.share(), what)
	return f
}

// poolPrice is what making objects takes, and collecting their part of the garbage.
var poolPrice = &fact.Formula{Name: "made and collected", Words: "Amdahl: {0} + {1} × {2}", Value: func(x []float64) float64 { return x[0] + x[1]*x[2] }}

// poolmisuseCost returns the CPU that goes into making the objects and into
// collecting their part of the garbage, or the objects where no samples tell.
func poolmisuseCost(p *diagnosis.Pass, pools *poolObjects) (diagnosis.Cost, diagnosis.Bound) {
	s, ok := cpu.UseOf(p)
	if !ok {
		return diagnosis.CostOf(pools.objects, pools.objectsShare.Value),
			diagnosis.Direction(pools.bytes, diagnosis.CPUGoal, poolmisuseShare, "they need not be allocated; what that costs is not known without CPU samples")
	}
	share := poolPrice.Of("CPU in sync.Pool's Get and in collecting what it made", fact.Ratio,
		s.ShareIn("CPU in sync.Pool's Get", fromPool), p.CPUPart(memory.InCollector, model.Collecting), pools.bytesShare)
	return s.Cost(share), s.LimitWithout("sync.Pool's Get", fromPool, "")
}
