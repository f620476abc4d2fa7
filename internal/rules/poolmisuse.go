package rules

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed poolmisuse.md
var poolmisusePage string

var poolmisuse = &diagnosis.Rule{
	Name:     "poolmisuse",
	Title:    "A sync.Pool makes new objects instead of giving old ones",
	Doc:      poolmisusePage,
	Needs:    []model.Source{model.Heap},
	Untimed:  true,
	Explains: []string{"allocchurn", "gccost", "tinyheap"},
	Check:    checkPoolmisuse,
}

const (
	// poolmisuseShare is the part of all objects or bytes allocated that the
	// pool makes from which it matters. The catalogue's 5 % is what a site must have
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
	// poolmisuseNamed is how many places a finding names at most: where objects
	// are taken and where they are made.
	poolmisuseNamed = 4
)

func fromPool(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == "sync.(*Pool).Get" })
}

// poolMade is what pools made in the run.
type poolMade struct {
	objects, bytes           float64 // made by pools
	objectsShare, bytesShare float64 // of all that was allocated
	stacks                   []model.Stack
}

func checkPoolmisuse(p *diagnosis.Pass) {
	made := madeByPools(p.Model)
	_, cycles, source, ok := collections(p)
	if made.objects == 0 || !ok {
		return
	}
	each := made.objects / float64(max(1, cycles))
	most := max(poolmisuseLeast, poolmisuseEach*goroutinesAtOnce(p.Model))
	if each < most || max(made.objectsShare, made.bytesShare) < poolmisuseShare {
		p.Fine(fmt.Sprintf("pools: they make %s objects in a collection", num(each)))
		return
	}
	p.Report(poolmisuseFinding(p, &made, each, cycles, source))
}

func madeByPools(m *model.Model) (made poolMade) {
	objects, bytes := m.Heap.Column("alloc_objects"), m.Heap.Column("alloc_space")
	by, allObjects, allBytes := map[model.Stack]float64{}, 0.0, 0.0
	for i := range m.Heap.Samples {
		s := &m.Heap.Samples[i]
		n, b := s.Value(objects), s.Value(bytes)
		allObjects, allBytes = allObjects+n, allBytes+b
		if fromPool(m.Stacks.Frames(s.Stack)) {
			made.objects, made.bytes = made.objects+n, made.bytes+b
			by[s.Stack] += n
		}
	}
	made.objectsShare, made.bytesShare = div(made.objects, allObjects), div(made.bytes, allBytes)
	made.stacks = largest(by)
	return made
}

// goroutinesAtOnce is the most goroutines that the program can have had at
// once, as far as evidence tells.
func goroutinesAtOnce(m *model.Model) (n float64) {
	if m.Sched != nil {
		for i := range m.Sched.Groups {
			n += float64(m.Sched.Groups[i].Peak)
		}
	}
	return max(n, metricNow(m, metricGoroutines))
}

func poolmisuseFinding(p *diagnosis.Pass, made *poolMade, each float64, cycles int, source string) diagnosis.Finding {
	share, what := made.objectsShare, "objects"
	if made.bytesShare > share {
		share, what = made.bytesShare, "bytes"
	}
	var places []diagnosis.Place
	for _, s := range made.stacks {
		frames := p.Model.Stacks.Frames(s)
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == "sync.(*Pool).Get" })
		if get, ok := diagnosis.UserPlace(frames[i:]); ok {
			places = append(places, get)
		}
		if made, ok := diagnosis.UserPlace(frames[:i]); ok {
			places = append(places, made)
		}
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("A sync.Pool made %s new objects in each collection, %s of all %s allocated: nearly every Get finds it empty.", num(each), pct(share), what),
		Where:   where(places[:min(len(places), poolmisuseNamed)]...),
		Evidence: []fact.Fact{
			{Name: "objects that pools made in a collection", Value: each, Unit: fact.Count, Source: "allocs profile under sync.(*Pool).Get ÷ " + source},
			{Name: "goroutines at once, at most", Value: goroutinesAtOnce(p.Model), Unit: fact.Count, Source: "trace or metrics"},
			{Name: "part of all objects allocated", Value: made.objectsShare, Unit: fact.Ratio, Source: "allocs profile"},
			{Name: "part of all bytes allocated", Value: made.bytesShare, Unit: fact.Ratio, Source: "allocs profile"},
			{Name: "collections", Value: float64(cycles), Unit: fact.Count, Source: source},
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, the allocs profile; that objects are not put back is inferred from their number"},
		RuledOut: []string{
			"a pool emptied by the collector: each collection can cost no more than the objects in use at once, and there were never so many goroutines",
			"a rare pool: its objects are " + pct(max(made.objectsShare, made.bytesShare)) + " of all allocated",
		},
		Stacks: made.stacks,
		Groups: groupsOfStacks(p.Model, made.stacks),
		Remedy: diagnosis.Remedy{
			Text: "Put each object back when its user is done with it, on every way out, and not before. If it cannot be known when that is, or if the object is small, the pool costs more than it saves: take it out. Measure either: decoding into a variable on the stack beat a pool in the DNS server that the rule was made after.",
			Code: "b := pool.Get().(*bytes.Buffer)\ndefer func() { b.Reset(); pool.Put(b) }()",
		},
		Experiment: changed(diagnosis.AllocsOp, diagnosis.CPUPerOp, "Allocations per operation are a count. CPU time per operation tells whether the pool is worth having at all: try it without, too."),
	}
	f.Cost, f.Bound = poolmisuseCost(p, made)
	return f
}

// poolmisuseCost is the CPU that goes into making the objects and into
// collecting their part of the garbage, or the objects where no samples tell.
func poolmisuseCost(p *diagnosis.Pass, made *poolMade) (diagnosis.Cost, diagnosis.Bound) {
	s, ok := spentCPU(p)
	if !ok {
		return diagnosis.Cost{Value: made.objects, Unit: fact.Count, Share: made.objectsShare, What: "objects made by pools"},
			diagnosis.Bound{
				Value: made.bytes, Unit: fact.Bytes, Goal: diagnosis.CPUGoal, Share: poolmisuseShare, Partial: true,
				Method: "the bytes that need not be allocated; what that costs is not known without CPU samples",
			}
	}
	share := min(1, s.seen(p.Model, fromPool)+s.part(model.Collecting)*made.bytesShare)
	return diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU in sync.Pool's Get and in collecting what it made"},
		diagnosis.Bound{
			Value: share * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method: "Amdahl: as if Get cost nothing and its objects were not collected",
		}
}
