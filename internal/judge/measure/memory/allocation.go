package memory

import (
	"cmp"
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

// Allocation is what memory costs a program, however that was learned.
type Allocation struct {
	malloc, Collect fact.Fact // shares of the CPU in use
	// Touch is an upper bound on what first use of fresh pages adds, as page faults in
	// whatever writes to them first: often a system call, far from the allocator.
	Touch    fact.Fact
	Cores    fact.Fact // CPU in use
	Measured bool      // by samples of CPU time; else derived from the trace
	CostFrom string    // which samples
	// byNumber is the part of the allocator's time that goes with the number of objects;
	// the rest goes with their bytes. It is 0 where they are not counted.
	byNumber fact.Fact
	Sites    []Site
	Tree     string // the stacks that the sites are from; "" when nothing shows any
}

// ObjectTree is that of sites which are counted and not sampled.
const ObjectTree = "alloc_objects"

// pacingShare returns the share of the CPU in use that the bytes allocated in the window
// take at the pace of a core that does nothing else; ok is false when neither
// metrics nor a trace tell how many those were.
func (a *Allocation) pacingShare(p *diagnosis.Pass) (share fact.Fact, ok bool) {
	const name = "bytes allocated"
	rate := p.Metric(name, MetricAllocBytes, fact.Rate)
	if _, ok := p.Model.Metrics.Rate(MetricAllocBytes); !ok {
		if p.Model.GC == nil {
			return share, false
		}
		bytes := p.Statistic(fact.Collector, "rises of the heap", name, AllocatedBytes(p.Model.GC), fact.Bytes)
		rate = fact.Quotient.Of(name, fact.BytesPerSec, bytes, p.WindowLength())
	}
	pace := fact.Figure("pace of a core that only allocates", allocPace, fact.BytesPerSec, "two measurements on a machine with two cores")
	return pacedShare.Of("CPU in allocating at that pace", fact.Ratio, rate, pace, a.Cores), true
}

// The formulas of what allocating costs.
var (
	pacedShare = &fact.Formula{Name: "paced", Words: "{0} ÷ {1} ÷ {2}", Value: func(x []float64) float64 { return statistics.Quotient(x[0]/x[1], x[2]) }}
	// firstUse is what is at that pace beyond what samples show in the allocator,
	// or all that they show where first use can be.
	firstUse = &fact.Formula{Name: "first use", Words: "the lesser of {0} and {2} − {1}",
		Value: func(x []float64) float64 { return max(0, min(x[0], x[2]-x[1])) }}
	// derivedShare is that pace as far as the collector leaves CPU for it.
	derivedShare = &fact.Formula{Name: "derived", Words: "{0}, derived and not measured, or 1 − {1} if that is less",
		Value: func(x []float64) float64 { return min(x[0], 1-x[1]) }}
	sitePrice = &fact.Formula{Name: "site", Words: "Amdahl: {0} × {1} + {2} × {3}",
		Value: func(x []float64) float64 { return min(1, x[0]*x[1]+x[2]*x[3]) }}
	// numberPart is of the allocator's time: a small object is had in about 25 ns, and
	// memory is cleared at about 10 GB/s, as measured on two machines. Without it a
	// buffer of 2 MiB, worth 8,000 small objects, would count as one.
	numberPart = &fact.Formula{Name: "part by number", Words: "{0} × 25 ns ÷ ({0} × 25 ns + {1} ÷ 10 GB/s)",
		Value: func(x []float64) float64 { return statistics.Quotient(x[0]*25e-9, x[0]*25e-9+x[1]/10e9) }}
	mixedShare = &fact.Formula{Name: "mixed share", Words: "{0} × {2} + {1} × (1 − {2})",
		Value: func(x []float64) float64 { return x[0]*x[2] + x[1]*(1-x[2]) }}
	// AddedShares are parts of one whole.
	AddedShares = &fact.Formula{Name: "added shares", Words: "{0} + {1}", Value: func(x []float64) float64 { return min(1, x[0]+x[1]) }}
)

// FromTrace derives the cost from what a trace holds: the collector's P time,
// and the bytes allocated at the pace of a core that does nothing else.
func (a *Allocation) FromTrace(p *diagnosis.Pass) {
	busy := p.Processors("time of busy Ps", "user", "gc", "syscall", "scheduler")
	if busy.Value == 0 || p.Model.GC == nil || p.Seconds() == 0 {
		return
	}
	a.Cores = fact.Quotient.Of("CPU in use", fact.Cores, busy, p.WindowLength())
	if p.Model.CPUAccount() != nil { // a busy P may wait for a CPU that others have
		if used := p.CPUInUse(); used.Value > 0 && used.Value < a.Cores.Value {
			a.Cores = used
		}
	}
	collect := fact.Sum.Of("collector's time on the Ps", fact.Seconds, p.Processors("its workers' time", "gc"),
		p.Statistic(fact.Collector, "load", "goroutines' time in marking and sweeping", assistTime(p.Model).Seconds(), fact.Seconds))
	a.Collect = fact.Fraction.Of(InCollector, fact.Ratio, collect, busy)
	paced, _ := a.pacingShare(p)
	a.malloc = derivedShare.Of(InAllocator, fact.Ratio, paced, a.Collect)
}

// Cost returns the CPU in allocating and collecting, as a share of that in use, and
// whole the same with first use of pages.
func (a *Allocation) Cost() fact.Fact {
	return fact.Sum.Of("CPU in allocating and collecting", fact.Ratio, a.malloc, a.Collect)
}

// Whole returns the cost with first use of fresh pages.
func (a *Allocation) Whole() fact.Fact {
	return a.addFirstUse("CPU in allocating, collecting and first use of memory", a.Cost())
}

// addFirstUse adds first use of pages, where there is any.
func (a *Allocation) addFirstUse(name string, share fact.Fact) fact.Fact {
	if a.Touch.Value == 0 {
		return share
	}
	return AddedShares.Of(name, fact.Ratio, share, a.Touch)
}

// Price returns the part of the CPU in use that goes with sites whose shares of objects
// and bytes are known: both pay the allocator, bytes bring the next collection
// nearer. What was derived from bytes is shared out by bytes.
func (a *Allocation) Price(name string, objects, bytes fact.Fact) fact.Fact {
	if !a.Measured {
		return fact.Product.Of(name, fact.Ratio, bytes, a.Cost())
	}
	if a.byNumber.Value > 0 {
		objects = mixedShare.Of("part of the allocator's time there", fact.Ratio, objects, bytes, a.byNumber)
	}
	return sitePrice.Of(name, fact.Ratio, objects, a.malloc, bytes, a.addFirstUse("CPU in collecting and in first use of memory", a.Collect))
}

// weigh gives all sites their price.
func (a *Allocation) weigh() {
	perObject, perByte := a.malloc.Value, a.Collect.Value+a.Touch.Value
	if n := a.byNumber.Value; n > 0 {
		perObject, perByte = perObject*n, perByte+perObject*(1-n)
	}
	if !a.Measured {
		perObject, perByte = 0, a.malloc.Value+a.Collect.Value
	}
	for i := range a.Sites {
		s := &a.Sites[i]
		s.Share = s.Objects*perObject + s.Bytes*perByte
	}
}

// Counts returns the part of all objects and bytes that sites make; of the time in the
// allocator where neither is counted.
func (a *Allocation) Counts(p *diagnosis.Pass, where string, sites ...Site) (objects, bytes fact.Fact) {
	var stacks []model.Stack
	for _, s := range sites {
		stacks = append(stacks, s.Stacks...)
	}
	return a.CountsIn(p, where, code.MatchStacks(stacks))
}

// CountsIn returns the same of the samples that match.
func (a *Allocation) CountsIn(p *diagnosis.Pass, where string, here fact.Where) (objects, bytes fact.Fact) {
	share := func(what, tree string, counts func([]model.Frame) bool) fact.Fact {
		name, all := what+" "+where, p.Frames(func(frames []model.Frame) bool { return counts(frames) && !model.OfRecording(frames) })
		part := p.Samples(name, tree, func(s *model.Sample) bool { return here(s) && all(s) })
		return fact.Quotient.Of(name, fact.Ratio, part, p.Samples("all "+what, tree, all))
	}
	if a.Tree != ObjectTree {
		objects = share("allocating time", a.Tree, cpu.Allocates)
		return objects, objects
	}
	any := func([]model.Frame) bool { return true }
	return share("objects allocated", ObjectTree, any), share("bytes allocated", "alloc_space", any)
}

// LargestParts returns the largest part of the objects and bytes of an operation that stacks make: of
// what goroutines that come by them allocate. The rest of the profile, which is of the whole
// run, may be how the program started.
func LargestParts(p *diagnosis.Pass, stacks []model.Stack) (objects, bytes fact.Fact) {
	roots := map[string]bool{}
	for _, s := range stacks {
		roots[code.Root(p.Model, s)] = true
	}
	there := func(s *model.Sample) bool {
		return roots[code.Root(p.Model, s.Stack)] && !model.OfRecording(p.Model.Stacks.Frames(s.Stack))
	}
	share := func(what, tree string) fact.Fact {
		return fact.Quotient.Of(what+" of such goroutines", fact.Ratio,
			p.Samples(what+" there", tree, code.MatchStacks(stacks)), p.Samples(what+" of such goroutines", tree, there))
	}
	return share("objects allocated", ObjectTree), share("bytes allocated", "alloc_space")
}

// Facts returns the facts of a finding about what is allocated.
func (a *Allocation) Facts() []fact.Fact { return []fact.Fact{a.malloc, a.Collect, a.Cores} }

// SiteFacts returns those of one site.
func (a *Allocation) SiteFacts(p *diagnosis.Pass, s Site) []fact.Fact {
	objects, bytes := a.Counts(p, "at "+s.Line(), s)
	return []fact.Fact{objects, bytes} // of samples both are the same
}

// CostOf returns a share of the CPU in use as a cost.
func (a *Allocation) CostOf(share fact.Fact) diagnosis.Cost {
	return diagnosis.CostOf(fact.Product.Of(share.Name, fact.Cores, share, a.Cores), share.Value)
}

// Site is a line of the user's code that allocates.
type Site struct {
	Place          diagnosis.Place
	Stacks         []model.Stack
	Objects, Bytes float64 // shares of all, to compare many; see [Allocation.Counts]
	Share          float64 // of the CPU in use, likewise; see [Allocation.Price]
	LiveShare      float64 // share of its bytes in use at the end
}

// Line returns a site in a sentence.
func (s *Site) Line() string { return code.Line(s.Place) }

// AllocationOf measures what allocating costs by the best evidence there is: samples of the CPU, else the trace.
func AllocationOf(p *diagnosis.Pass) (a Allocation) {
	if s, ok := cpu.UseOf(p); ok {
		a.Measured, a.CostFrom = true, s.Source
		a.malloc, a.Collect, a.Cores = s.PartOf(InAllocator, model.Allocating), s.PartOf(InCollector, model.Collecting), s.InUse()
		if paced, ok := a.pacingShare(p); ok && largeObjects(p) {
			a.Touch = firstUse.Of("CPU in page faults of fresh memory, at most", fact.Ratio, s.ShareIn("CPU where memory may be used for the first time", touches), a.malloc, paced)
		}
		a.Tree, a.Sites = s.Tree, sampledSites(p, s.Profile)
	} else {
		a.FromTrace(p)
	}
	_, seen := p.CPUShare(cpu.IsMalloc)
	switch {
	case p.Model.Has(model.Heap):
		a.Sites, a.Tree = HeapSites(p), ObjectTree
		all := p.Frames(func(frames []model.Frame) bool { return !model.OfRecording(frames) })
		a.byNumber = numberPart.Of("part of the allocator's time that goes with the number of objects", fact.Ratio,
			p.Samples("all objects", ObjectTree, all), p.Samples("all bytes", "alloc_space", all))
	case a.Tree != "":
	case seen >= allocSamples:
		a.Sites, a.Tree = sampledSites(p, p.Model.CPU), "cpu"
	}
	a.weigh()
	return a
}

// touches reports whether a stack is where memory may be used for the first
// time outside the allocator and the collector: in Go code, in copying and
// clearing, and in system calls that read into it. The scheduler never does, nor
// do calls that write out what is there, open, close and delete.
func touches(frames []model.Frame) bool {
	has := func(f func(string) bool) bool {
		return code.ContainsFunc(frames, f)
	}
	frames = frames[model.KernelDepth(frames):]
	if len(frames) == 0 || cpu.Allocates(frames) || cpu.Collects(frames) {
		return false
	}
	switch leaf := frames[0].Func; {
	case strings.HasPrefix(leaf, "internal/runtime/syscall"), strings.HasPrefix(leaf, "syscall."):
		return has(func(f string) bool { return strings.HasPrefix(f[strings.LastIndexByte(f, '.')+1:], "Read") })
	case strings.HasPrefix(leaf, "runtime."):
		return strings.HasPrefix(leaf, "runtime.mem") || leaf == "runtime.cgocall"
	}
	return true
}

// LargeObject is the size from which the runtime gives an object pages of its own.
const LargeObject = 32 << 10

// largeObjects reports whether most of what is allocated gets pages of its own.
func largeObjects(p *diagnosis.Pass) bool {
	if h := p.Model.Heap; h != nil {
		objects, bytes := h.Column("alloc_objects"), h.Column("alloc_space")
		var large, all float64
		for i := range h.Samples {
			b := h.Samples[i].Value(bytes)
			all += b
			if b >= LargeObject*h.Samples[i].Value(objects) {
				large += b
			}
		}
		return large > all/2
	}
	large, _ := p.CPUShare(func(f string) bool {
		return strings.HasPrefix(f, "runtime.mallocgcLarge") || f == "runtime.(*mcache).allocLarge"
	})
	all, _ := p.CPUShare(cpu.IsMalloc)
	return large > all*largeTime
}

// assistTime returns the P time that goroutines spent marking and sweeping for
// their allocations. The ranges of the groups would not do: they go on while
// the goroutine waits.
func assistTime(m *model.Model) time.Duration {
	return m.GC.LoadTime(model.CountAssist|model.CountSweep, m.Run.Procs, 0, m.Run.Duration)
}

// AllocatedBytes returns the bytes allocated in the window, as far as the heap's size
// tells. The samples of a model are a selection: where collections follow
// each other faster, most rises fall between two samples. Each collection
// then stands for the way from a low sample to a high one.
func AllocatedBytes(gc *model.GC) float64 {
	var rises float64
	var sizes []uint64
	for i, h := range gc.Heap {
		if i > 0 && gc.Heap[i-1].Alloc > 0 && h.Alloc > gc.Heap[i-1].Alloc {
			rises += float64(h.Alloc - gc.Heap[i-1].Alloc)
		}
		if h.Alloc > 0 {
			sizes = append(sizes, h.Alloc)
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	low, high := sizes[len(sizes)/10], sizes[len(sizes)-1-len(sizes)/10]
	return max(rises, float64(countCollections(gc))*float64(high-low))
}

// HeapSites returns the user's allocating lines by share of objects.
func HeapSites(p *diagnosis.Pass) []Site {
	objects, bytes, live := p.Model.Heap.Column("alloc_objects"), p.Model.Heap.Column("alloc_space"), p.Model.Heap.Column("inuse_space")
	return collectSites(p, p.Model.Heap.Samples, func(s *model.Sample) (o, b, l float64) {
		return s.Value(objects), s.Value(bytes), s.Value(live)
	})
}

// sampledSites returns the user's lines under which the allocator was seen at work.
func sampledSites(p *diagnosis.Pass, profile *model.Profile) []Site {
	nanos := profile.Column("cpu")
	return collectSites(p, profile.Samples, func(s *model.Sample) (o, b, l float64) {
		if !cpu.Allocates(p.Model.Stacks.Frames(s.Stack)) {
			return 0, 0, 0
		}
		t := s.Value(nanos)
		return t, t, 0
	})
}

func collectSites(p *diagnosis.Pass, samples []model.Sample, values func(*model.Sample) (objects, bytes, live float64)) []Site {
	var sites []Site
	index := map[diagnosis.Place]int{}
	var objects, bytes float64
	for i := range samples {
		if model.OfRecording(p.Model.Stacks.Frames(samples[i].Stack)) {
			continue
		}
		o, b, l := values(&samples[i])
		objects, bytes = objects+o, bytes+b
		place, ok := p.UserPlace(samples[i].Stack)
		if !ok || o == 0 && b == 0 {
			continue
		}
		j, ok := index[place]
		if !ok {
			j = len(sites)
			index[place] = j
			sites = append(sites, Site{Place: place})
		}
		s := &sites[j]
		s.Objects, s.Bytes, s.LiveShare = s.Objects+o, s.Bytes+b, s.LiveShare+l
		s.Stacks = append(s.Stacks, samples[i].Stack)
	}
	for i := range sites {
		s := &sites[i]
		s.LiveShare = statistics.Quotient(s.LiveShare, s.Bytes)
		s.Objects, s.Bytes = statistics.Quotient(s.Objects, objects), statistics.Quotient(s.Bytes, bytes)
	}
	slices.SortStableFunc(sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Objects+b.Bytes, a.Objects+a.Bytes), cmp.Compare(a.Place.Function, b.Place.Function), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return sites
}

// AllocatingStacks returns the stacks of the allocs profile that match: they end at the
// allocation, so that those of CPU samples are none of them.
func AllocatingStacks(m *model.Model, match func([]model.Frame) bool) (stacks []model.Stack) {
	if !m.Has(model.Heap) {
		return nil
	}
	for i := range m.Heap.Samples {
		if s := m.Heap.Samples[i].Stack; match(m.Stacks.Frames(s)) {
			stacks = append(stacks, s)
		}
	}
	return stacks
}

// allocPace is how many bytes a core allocates in a second when it does
// nothing else. Two measurements (2-core machine, Go 1.26) meet there:
// 64-byte objects at 2.0 to 3.1 GB/s, and first use of fresh pages at 1.7
// to 2.1 GB/s. Large objects whose pages are still mapped are cheaper, so
// that a cost derived from it is an upper one.
const allocPace = 2 << 30

// allocSamples is how many samples in the allocator show where it is
// called from, when there are too few in all to show what it costs.
const allocSamples = 10

// largeTime is the share of the allocator's time from which large objects
// are most of the bytes: a page of one costs it far less than a page of small ones.
const largeTime = 0.25
