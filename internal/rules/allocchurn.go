package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed allocchurn.md
var allocchurnPage string

var allocchurn = &diagnosis.Rule{
	Name:  "allocchurn",
	Title: "Short-lived memory costs much of the CPU",
	Doc:   allocchurnPage,
	// No Needs: a CPU profile alone will do, and so will a trace with an allocs
	// profile. Check sorts that out.
	Explains: []string{"gccost", "tinyheap", "gcassist", "slowstop"}, // the last only where stops are short and many; see gcSymptoms
	Check:    checkAllocchurn,
}

const (
	// churnCPU is the share of CPU in allocating and collecting from which
	// it is worth an engineer's day: a peer's default for the same question.
	// The lab's file pool is at a few percent when it keeps its buffers.
	churnCPU = 0.15
	// churnSite is the share of the cost that makes a call site worth naming.
	churnSite = 0.05
	// churnKept is the share of a site's bytes still in use from which it
	// fills a cache rather than churns.
	churnKept = 0.5
	// churnSeen is the share of CPU that a CPU profile must show in allocating
	// and collecting before first use of pages is added, which it cannot show.
	churnSeen = 0.05
	// allocPace is how many bytes a core allocates in a second when it does
	// nothing else. Two measurements (2-core machine, Go 1.26) meet there:
	// 64-byte objects at 2.0 to 3.1 GB/s, and first use of fresh pages at 1.7
	// to 2.1 GB/s. Large objects whose pages are still mapped are cheaper, so
	// that a cost derived from it is an upper one.
	allocPace = 2 << 30
	// largeObject is the size from which the runtime gives an object pages of its own.
	largeObject = 32 << 10
	// largeTime is the share of the allocator's time from which large objects
	// are most of the bytes: a page of one costs it far less than a page of small ones.
	largeTime = 0.25
	// allocSamples is how many samples in the allocator show where it is
	// called from, when there are too few in all to show what it costs.
	allocSamples = 10
	// churnCores is the least that the cost must be, in cores. Of three sleepers
	// the recording's own garbage is most; a consumer of 14,000 messages a second
	// that is well allocates contexts for 0.024 cores. The least of those that are
	// ill, a name server that decodes whole records, is at 0.1.
	churnCores = 0.05
	// churnNamed is how many sites a finding names.
	churnNamed = 3
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

// allocSite is a line of the user's code that allocates.
type allocSite struct {
	place          diagnosis.Place
	stacks         []model.Stack
	objects, bytes float64 // shares of all; from a CPU profile both are the share of allocating time
	kept           float64 // share of its bytes in use at the end
}

func checkAllocchurn(p *diagnosis.Pass) {
	a := measureAllocation(p)
	cost := a.malloc + a.collect
	if a.cores == 0 {
		if p.Model.Has(model.Heap) {
			p.Unchecked("what allocation costs", "a heap profile tells where memory is allocated, not what that costs", diagnosis.HowToGet(model.CPU))
		}
		return
	}
	if cost+a.touch < churnCPU || cost < churnSeen || (cost+a.touch)*a.cores < churnCores {
		if a.measured {
			p.Fine(fmt.Sprintf("allocation and garbage collection take %s of the CPU", pct(cost)))
		}
		return
	}
	if a.sitesFrom == "" {
		p.Unchecked("which code allocates",
			fmt.Sprintf("allocating and collecting take up to %s of the CPU in use, and neither a CPU nor an allocs profile says for whom", pct(cost)),
			diagnosis.HowToGet(model.Heap))
		return
	}
	named := slices.DeleteFunc(slices.Clone(a.sites), func(s allocSite) bool {
		return a.share(s) < churnSite*(cost+a.touch) || s.kept >= churnKept
	})
	slices.SortStableFunc(named, func(x, y allocSite) int { return cmp.Compare(a.share(y), a.share(x)) })
	if len(named) == 0 {
		return // spread over a hundred places, or kept: no site to change
	}
	p.Report(allocFinding(p, a, named[:min(len(named), churnNamed)]))
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
	} else if s, ok := spentCPU(p.Model); ok && !p.Model.Has(model.CPU) {
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
	nanos := column(m.CPU, "cpu")
	var all, some float64
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		all += at(s, nanos)
		if slices.ContainsFunc(frames, func(f model.Frame) bool { return match(f.Func) }) && !model.OfRecording(frames) {
			some += at(s, nanos)
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
	nanos := column(m.CPU, "cpu")
	var all, some float64
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		all += at(s, nanos)
		if touches(m.Stacks.Frames(s.Stack)) {
			some += at(s, nanos)
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

// largeObjects reports whether most of what is allocated gets pages of its own.
func largeObjects(p *diagnosis.Pass) bool {
	if h := p.Model.Heap; h != nil {
		objects, bytes := column(h, "alloc_objects"), column(h, "alloc_space")
		var large, all float64
		for i := range h.Samples {
			b := at(&h.Samples[i], bytes)
			all += b
			if b >= largeObject*at(&h.Samples[i], objects) {
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
	objects, bytes, live := column(p.Model.Heap, "alloc_objects"), column(p.Model.Heap, "alloc_space"), column(p.Model.Heap, "inuse_space")
	return collectSites(p, p.Model.Heap.Samples, func(s *model.Sample) (o, b, l float64) {
		return at(s, objects), at(s, bytes), at(s, live)
	})
}

// cpuSites is the user's lines under which the allocator was seen at work.
func cpuSites(p *diagnosis.Pass) []allocSite { return sampledSites(p, p.Model.CPU) }

func kernelAllocSites(p *diagnosis.Pass) []allocSite { return sampledSites(p, p.Model.Kernel.CPU) }

func sampledSites(p *diagnosis.Pass, cpu *model.Profile) []allocSite {
	nanos := column(cpu, "cpu")
	return collectSites(p, cpu.Samples, func(s *model.Sample) (o, b, l float64) {
		if !slices.ContainsFunc(p.Model.Stacks.Frames(s.Stack), func(f model.Frame) bool { return isMalloc(f.Func) }) {
			return 0, 0, 0
		}
		t := at(s, nanos)
		return t, t, 0
	})
}

func column(p *model.Profile, name string) int {
	return slices.IndexFunc(p.Types, func(t model.ValueType) bool { return t.Name == name })
}

func at(s *model.Sample, column int) float64 {
	if column < 0 || column >= len(s.Values) {
		return 0
	}
	return float64(s.Values[column])
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

// share is the part of the CPU in use that goes with a site: objects pay the
// allocator, bytes bring the next collection nearer. What was derived from
// bytes is shared out by bytes.
func (a *allocation) share(s allocSite) float64 {
	if !a.measured {
		return s.bytes * (a.malloc + a.collect)
	}
	return s.objects*a.malloc + s.bytes*(a.collect+a.touch)
}

func allocFinding(p *diagnosis.Pass, a allocation, named []allocSite) diagnosis.Finding {
	cost, top := a.malloc+a.collect, named[0]
	source, upTo := a.costFrom, ""
	method := "Amdahl: 0 to each named site's share of the objects × the allocator's share of the CPU, plus its share of the bytes × the collector's"
	pages := ""
	if a.touch > 0 {
		method += fmt.Sprintf(". First use of fresh pages, which the profile books on whatever writes to them first, is added as what the bytes cost at %s a second and core, or all that the profile shows where that can happen, if it is less", size(allocPace))
		pages = ", page faults of fresh memory up to " + pct(a.touch) + " more"
	}
	if !a.measured {
		source, upTo = "trace: heap growth and collector", "up to "
		method = fmt.Sprintf("Amdahl: 0 to each named site's share of the bytes × the CPU in allocating and collecting. The allocator's part of it is derived, not measured: bytes allocated ÷ the %s a second that a core allocates in 64-byte objects, and in which it uses fresh pages for the first time; large ones in pages still mapped cost less", size(allocPace))
	}
	share := 0.0
	f := diagnosis.Finding{
		Evidence: []fact.Fact{
			{Name: "CPU in the allocator", Value: a.malloc, Unit: fact.Ratio, Source: source},
			{Name: "CPU in the garbage collector", Value: a.collect, Unit: fact.Ratio, Source: source},
			{Name: "CPU in use", Value: a.cores, Unit: fact.Cores, Source: source},
		},
		Cost: diagnosis.Cost{
			Value: cost * a.cores, Unit: fact.Cores, Share: min(1, cost), What: "CPU in allocating and collecting",
		},
		RuledOut: []string{
			"memory that is kept: sites with half of their bytes still in use are not counted",
			"many small sites: each one named causes at least " + pct(churnSite) + " of the cost",
		},
		Remedy: diagnosis.Remedy{
			Text: "Let " + short(top.place.Function) + " reuse what it allocates: a buffer owned by the worker and reset for each item, a slice made with its final capacity, a value instead of a pointer, no string built only to be looked up. " + askCompiler + " Try the knob to see what collecting alone costs: it trades memory for CPU.",
			Code: "buf := make([]byte, size) // once per worker, outside the loop\nfor task := range tasks {\n\tn := fill(buf, task)\n\tuse(buf[:n])\n}",
			Knob: "GOGC=400",
		},
	}
	if a.touch > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in page faults of fresh memory, at most", Value: a.touch, Unit: fact.Ratio, Source: "trace: heap growth"})
	}
	for _, s := range named {
		share += a.share(s)
		f.Where = append(f.Where, s.place)
		f.Stacks = append(f.Stacks, s.stacks...)
		f.Groups = append(f.Groups, groupsAllocating(p.Model, s)...)
		f.Evidence = append(f.Evidence, siteFacts(s, a.sitesFrom)...)
	}
	slices.Sort(f.Groups)
	f.Groups = slices.Compact(f.Groups)
	f.Explains = gcSymptoms(p)
	if said := escapeWords(p.Model, f.Where); said != "" {
		f.Remedy.Text = strings.Replace(f.Remedy.Text, askCompiler, said, 1)
	}
	f.Evidence = append(f.Evidence, garbageFacts(p.Model)...)
	share = min(share, cost+a.touch, 1)
	f.Summary = fmt.Sprintf("Allocating and collecting take %s%s of the CPU in use%s; one line of %s causes %s of that.",
		upTo, pct(cost), pages, short(top.place.Function), pct(div(a.share(top), cost+a.touch)))
	f.Bound = diagnosis.Bound{Value: share * a.cores, Unit: fact.Cores, Share: share, Goal: diagnosis.CPUGoal, Method: method}
	f.Experiment = a.experiment(named)
	f.Confidence, f.Reasons = a.confidence()
	return f
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

// askCompiler stands where the compiler's own words are not at hand.
const askCompiler = "`go build -gcflags=-m` says why something escapes to the heap."

// garbageFacts is what the runtime counted: exact, and by operation the figure
// that hardly varies from run to run.
func garbageFacts(m *model.Model) (out []fact.Fact) {
	objects, over, ok := m.Metrics.Delta(metricAllocObjects)
	bytes, _, also := m.Metrics.Delta(metricAllocBytes)
	if !ok || !also {
		return nil
	}
	out = append(out,
		fact.Fact{Name: "objects allocated", Value: objects / over.Seconds(), Unit: fact.PerSec, Source: "metrics: " + metricAllocObjects},
		fact.Fact{Name: "bytes allocated a second", Value: bytes / over.Seconds(), Unit: fact.Bytes, Source: "metrics: " + metricAllocBytes})
	if ops := m.Operations(); ops != nil && ops.Count > 0 && m.Run.Duration > 0 {
		perSecond := ops.Count / m.Run.Duration.Seconds()
		out = append(out, fact.Fact{Name: "objects allocated for each of the " + ops.Name, Value: objects / over.Seconds() / perSecond, Unit: fact.Count, Source: "metrics ÷ " + ops.From})
	}
	return out
}

// groupsAllocating is the groups whose goroutines come by a site; none without
// a trace to know groups from.
func groupsAllocating(m *model.Model, s allocSite) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for _, stack := range s.stacks {
		if name := root(m, stack); group(m, name) != nil {
			names = append(names, name)
		}
	}
	return names
}

func siteFacts(s allocSite, source string) []fact.Fact {
	at := fmt.Sprintf("%s:%d", short(s.place.Function), s.place.Line)
	if source != "allocs profile" {
		return []fact.Fact{{Name: "allocating time under " + at, Value: s.objects, Unit: fact.Ratio, Source: source}}
	}
	return []fact.Fact{
		{Name: "objects allocated by " + at, Value: s.objects, Unit: fact.Ratio, Source: source},
		{Name: "bytes allocated by " + at, Value: s.bytes, Unit: fact.Ratio, Source: source},
	}
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
