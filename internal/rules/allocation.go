package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

// allocation is what memory costs a program, however that was learned.
type allocation struct {
	malloc, collect float64 // shares of the CPU in use
	// touch is the most that first use of fresh pages adds, as page faults in
	// whatever writes to them first: often a system call, far from the allocator.
	touch     float64
	cores     float64 // CPU in use
	measured  bool    // by samples of CPU time; else derived from the trace
	costFrom  string  // which samples
	sites     []allocSite
	sitesFrom string
}

// paced is the share of the CPU in use that the bytes allocated in the
// window take at the pace of a core that does nothing else; 0 when neither
// metrics nor a trace tell how many those were.
func (a *allocation) paced(p *diagnosis.Pass) float64 {
	rate, ok := p.Model.Metrics.Rate(metricAllocBytes)
	switch {
	case ok:
	case p.Model.GC == nil:
		return 0
	default:
		rate = div(allocated(p.Model.GC), p.Seconds())
	}
	return div(rate/allocPace, a.cores)
}

// fromTrace derives the cost from what a trace holds: the collector's P time,
// and the bytes allocated at the pace of a core that does nothing else.
func (a *allocation) fromTrace(p *diagnosis.Pass) {
	cores, _, ok := diagnosis.Busy(p.Model)
	if !ok || cores == 0 || p.Model.GC == nil || p.Seconds() == 0 {
		return
	}
	var collect time.Duration
	for _, q := range p.Model.Sched.Procs {
		collect += q.GC
	}
	a.cores = cores
	collect += assisted(p.Model)
	a.collect = min(1, div(collect.Seconds()/p.Seconds(), cores))
	a.malloc = min(1-a.collect, a.paced(p))
}

// share is the part of the CPU in use that goes with a site: objects pay the
// allocator, bytes bring the next collection nearer. What was derived from
// bytes is shared out by bytes.
func (a *allocation) share(s allocSite) float64 {
	if !a.measured {
		return s.bytes * (a.malloc + a.collect)
	}
	return s.objects*a.malloc + s.bytes*(a.collect+a.touch)
}

// experiment counts what the named sites have most of. The count falls by no
// more than all of it, which an allocs profile knows.
func (a *allocation) experiment(named []allocSite) *diagnosis.Experiment {
	var objects, bytes float64
	for _, s := range named {
		objects, bytes = objects+s.objects, bytes+s.bytes
	}
	e := changed(diagnosis.AllocsOp, diagnosis.CPUPerOp, "`GOGC=400` in the environment parts collecting from allocating: what it saves is collecting. Fewer collections of a larger heap are no gain.")
	if bytes > objects {
		e.Primary = diagnosis.BytesOp
	}
	if a.sitesFrom == "allocs profile" {
		e.Promised = append(promised(diagnosis.AllocsOp, fact.Amdahl(objects), "all objects of the named lines"),
			promised(diagnosis.BytesOp, fact.Amdahl(bytes), "all bytes of the named lines")...)
	}
	return e
}

func (a *allocation) confidence() (diagnosis.Confidence, []string) {
	switch {
	case a.measured && a.malloc+a.collect < churnCPU:
		return diagnosis.Low, []string{fmt.Sprintf("the %s itself shows only %s; the rest of the cost is what first use of fresh memory may take at most", a.costFrom, pct(a.malloc+a.collect))}
	case a.measured && a.sitesFrom == "allocs profile":
		return diagnosis.High, []string{fmt.Sprintf("the %s shows the cost and the allocs profile the sites", a.costFrom)}
	case a.measured:
		return diagnosis.Medium, []string{fmt.Sprintf("one kind of evidence, the %s; an allocs profile would count the objects", a.costFrom)}
	}
	if a.sitesFrom == "CPU profile" {
		return diagnosis.Low, []string{"the CPU profile has too few samples: it shows sites, and the cost is derived from the trace"}
	}
	return diagnosis.Medium, []string{"the allocs profile counts at the sites; their cost is derived from the trace, a CPU profile would measure it"}
}

// allocSite is a line of the user's code that allocates.
type allocSite struct {
	place          diagnosis.Place
	stacks         []model.Stack
	objects, bytes float64 // shares of all; from a CPU profile both are the share of allocating time
	kept           float64 // share of its bytes in use at the end
}

func measureAllocation(p *diagnosis.Pass) (a allocation) {
	cpu, samples := diagnosis.CPUTime(p.Model)
	if samples >= diagnosis.ThinSamples {
		a.measured, a.costFrom = true, "CPU profile"
		a.malloc, a.collect = ownShare(p, isMalloc), ownShare(p, isCollect)
		a.cores = div(cpu.Seconds(), cpuWindow(p).Seconds())
		if largeObjects(p) {
			a.touch = max(0, min(touching(p), 1-a.malloc-a.collect, a.paced(p)-a.malloc))
		}
	} else if s, ok := spentCPU(p); ok && !p.Model.Has(model.CPU) {
		a.measured, a.costFrom = true, "kernel's samples"
		a.malloc, a.collect, a.cores = s.part(model.Allocating), s.part(model.Collecting), s.Cores()
		a.sites, a.sitesFrom = kernelAllocSites(p), "kernel's samples"
	} else {
		a.fromTrace(p)
	}
	_, seen := p.CPUShare(isMalloc)
	switch {
	case p.Model.Has(model.Heap):
		a.sites, a.sitesFrom = heapSites(p), "allocs profile"
	case a.sitesFrom != "":
	case a.measured || seen >= allocSamples:
		a.sites, a.sitesFrom = cpuSites(p), "CPU profile"
	}
	return a
}

// ownShare is the share of the CPU under matching functions, what recording
// does in the program left out.
func ownShare(p *diagnosis.Pass, match func(string) bool) float64 {
	m := p.Model
	nanos := m.CPU.Column("cpu")
	var all, some float64
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		all += s.Value(nanos)
		if slices.ContainsFunc(frames, func(f model.Frame) bool { return match(f.Func) }) && !model.OfRecording(frames) {
			some += s.Value(nanos)
		}
	}
	return div(some, all)
}

// touching is the share of the CPU outside the allocator and the collector
// where memory may be used for the first time: in Go code, in copying and
// clearing, and in system calls that read into it. The scheduler never does,
// nor do calls that write out what is there, open, close and delete.
func touching(p *diagnosis.Pass) float64 {
	m := p.Model
	nanos := m.CPU.Column("cpu")
	var all, some float64
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		all += s.Value(nanos)
		if touches(m.Stacks.Frames(s.Stack)) {
			some += s.Value(nanos)
		}
	}
	return div(some, all)
}

func touches(frames []model.Frame) bool {
	has := func(f func(string) bool) bool {
		return slices.ContainsFunc(frames, func(frame model.Frame) bool { return f(frame.Func) })
	}
	if len(frames) == 0 || has(func(f string) bool { return isMalloc(f) || isCollect(f) }) {
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

// largeObjects reports whether most of what is allocated gets pages of its own.
func largeObjects(p *diagnosis.Pass) bool {
	if h := p.Model.Heap; h != nil {
		objects, bytes := h.Column("alloc_objects"), h.Column("alloc_space")
		var large, all float64
		for i := range h.Samples {
			b := h.Samples[i].Value(bytes)
			all += b
			if b >= largeObject*h.Samples[i].Value(objects) {
				large += b
			}
		}
		return large > all/2
	}
	large, _ := p.CPUShare(func(f string) bool {
		return strings.HasPrefix(f, "runtime.mallocgcLarge") || f == "runtime.(*mcache).allocLarge"
	})
	all, _ := p.CPUShare(isMalloc)
	return large > all*largeTime
}

func cpuWindow(p *diagnosis.Pass) time.Duration {
	if d := p.Model.CPU.Duration; d > 0 {
		return d
	}
	return p.Model.Run.Duration
}

// isMalloc holds for the entrance of the allocator, which since Go 1.24 has
// variants by size ("mallocgcSmallNoscan"). Assists are part of it.
func isMalloc(f string) bool { return strings.HasPrefix(f, "runtime.mallocgc") }

func isCollect(f string) bool {
	switch f {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	}
	return false
}

// assisted is the P time that goroutines spent marking and sweeping for
// their allocations. The ranges of the groups would not do: they go on while
// the goroutine waits.
func assisted(m *model.Model) time.Duration {
	return m.GC.LoadTime(model.CountAssist|model.CountSweep, m.Run.Procs, 0, m.Run.Duration)
}

// allocated is the bytes allocated in the window, as far as the heap's size
// tells. The samples of a model are a selection: where collections follow
// each other faster, most rises fall between two samples. Each collection
// then stands for the way from a low sample to a high one.
func allocated(gc *model.GC) float64 {
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
	begun := 0
	for _, c := range gc.Cycles {
		if c.Begin >= 0 {
			begun++
		}
	}
	return max(rises, float64(begun)*float64(high-low))
}

// heapSites is the user's allocating lines by share of objects.
func heapSites(p *diagnosis.Pass) []allocSite {
	objects, bytes, live := p.Model.Heap.Column("alloc_objects"), p.Model.Heap.Column("alloc_space"), p.Model.Heap.Column("inuse_space")
	return collectSites(p, p.Model.Heap.Samples, func(s *model.Sample) (o, b, l float64) {
		return s.Value(objects), s.Value(bytes), s.Value(live)
	})
}

// cpuSites is the user's lines under which the allocator was seen at work.
func cpuSites(p *diagnosis.Pass) []allocSite { return sampledSites(p, p.Model.CPU) }

func kernelAllocSites(p *diagnosis.Pass) []allocSite { return sampledSites(p, p.Model.Kernel.CPU) }

func sampledSites(p *diagnosis.Pass, cpu *model.Profile) []allocSite {
	nanos := cpu.Column("cpu")
	return collectSites(p, cpu.Samples, func(s *model.Sample) (o, b, l float64) {
		if !slices.ContainsFunc(p.Model.Stacks.Frames(s.Stack), func(f model.Frame) bool { return isMalloc(f.Func) }) {
			return 0, 0, 0
		}
		t := s.Value(nanos)
		return t, t, 0
	})
}

func collectSites(p *diagnosis.Pass, samples []model.Sample, values func(*model.Sample) (objects, bytes, live float64)) []allocSite {
	var sites []allocSite
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
			sites = append(sites, allocSite{place: place})
		}
		s := &sites[j]
		s.objects, s.bytes, s.kept = s.objects+o, s.bytes+b, s.kept+l
		s.stacks = append(s.stacks, samples[i].Stack)
	}
	for i := range sites {
		s := &sites[i]
		s.kept = div(s.kept, s.bytes)
		s.objects, s.bytes = div(s.objects, objects), div(s.bytes, bytes)
	}
	slices.SortStableFunc(sites, func(a, b allocSite) int {
		return cmp.Or(cmp.Compare(b.objects+b.bytes, a.objects+a.bytes), cmp.Compare(a.place.Function, b.place.Function), cmp.Compare(a.place.Line, b.place.Line))
	})
	return sites
}
