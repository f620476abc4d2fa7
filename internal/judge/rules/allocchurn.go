package rules

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// churnSite is the share of the cost that makes a call site worth naming.
	churnSite = 0.05
	// churnKept is the share of the bytes of a site, or of the program where nothing counts
	// those of a site, still in use from which it fills a cache rather than churns. A
	// program that reads a document into a tree keeps 80% of what it allocates.
	churnKept = 0.5
	// churnSeen is the share of CPU that a CPU profile must show in allocating
	// and collecting before first use of pages is added, which it cannot show.
	churnSeen = 0.05
	// churnCores is the least that the cost must be, in cores. Of three sleepers
	// the recording's own garbage is most; a consumer of 14,000 messages a second
	// that is well allocates contexts for 0.024 cores. The least of those that are
	// ill, a name server that decodes whole records, is at 0.1.
	churnCores = 0.05
	// churnNamed is how many sites a finding names.
	churnNamed = 3
	// churnReason is the share of CPU that a line's large objects must cost to accuse: of
	// what costs less a reason is cold.
	churnReason = 0.10
	// churnGone is the share of a line's bytes still in use up to which they die at once. Programs of
	// the field that make a buffer for each call are at 0.005 or less, one whose exemplars hold
	// letters at 0.10.
	churnGone = 0.05
	// churnGrown is the part of the time in the allocator at a line from which it is what grows
	// that is large, and no buffer: most.
	churnGrown = 0.5
)

// allocRepairs is what repairs saved, by the price of the lines: ten pairs of the field saved
// 1.2 to 5.7 times as much, the middle 1.9, and nine no more than four times; the lab's
// saved two thirds.
var allocRepairs = cpu.Repairs{Least: 0.5, Most: 4}

func checkAllocchurn(p *diagnosis.Pass) {
	a := memory.AllocationOf(p)
	if a.Cores.Value == 0 {
		if p.Model.Has(model.Heap) {
			p.Unchecked("what allocation costs", "a heap profile tells where memory is allocated, not what that costs", p.HowToGet(model.CPU))
		}
		return
	}
	cost, whole := a.Cost(), a.Whole()
	if whole.Value < churnCPU || cost.Value < churnSeen || whole.Value*a.Cores.Value < churnCores {
		if a.Measured && !wasteful(p) {
			p.Fine(fact.Sentence("allocation and garbage collection take %s of the CPU", cost))
		}
		return
	}
	if a.Tree == "" {
		p.Unchecked("which code allocates",
			fact.Sentence("allocating and collecting take up to %s of the CPU in use, and no CPU or allocs profile attributes it to code", cost),
			p.HowToGet(model.Heap))
		return
	}
	if part, ok := memory.RetainedShare(p); ok && a.Tree != memory.ObjectTree && part.Value >= churnKept {
		p.Unchecked("which code allocates what it soon throws away",
			fact.Sentence("the last collection found %s of what was allocated still in use, and no allocs profile tells which lines make the rest", part),
			p.HowToGet(model.Heap))
		return
	}
	named := slices.DeleteFunc(slices.Clone(a.Sites), func(s memory.Site) bool {
		return s.Share < churnSite*whole.Value || s.LiveShare >= churnKept
	})
	slices.SortStableFunc(named, func(x, y memory.Site) int { return cmp.Compare(y.Share, x.Share) })
	if len(named) == 0 {
		return // spread over a hundred places, or kept: no site to change
	}
	reason, at := freshBuffers(p, &a, named[:min(len(named), churnNamed)])
	if at > 0 { // what is accused comes first
		named = slices.Insert(slices.Delete(slices.Clone(named), at, at+1), 0, named[at])
	}
	f := allocFinding(p, &a, named[:min(len(named), churnNamed)])
	if at < 0 {
		f.Remark = true
		acquit(p, &a, &f, named[0])
		f.Reasons = append(f.Reasons, "nothing tells that what is allocated need not be: programs that are well spend as much on memory")
		accuseReleased(p, &f, func(what string, r *model.Release) releaseWork {
			objects, bytes := a.CountsIn(p, "in "+what, p.Frames(r.Of))
			share := a.Price("CPU in allocating and collecting in "+what, objects, bytes)
			return releaseWork{share, a.CostOf(share), allocationBound(&a, share)}
		})
	} else {
		f.Rest(reason...)
		if !madeForPool(p.Model, named[0].Stacks) {
			f.Remedy.Text = fact.Sentence("Keep the buffer: each call of %s makes objects of %s and drops them. ", code.Name(named[0].Place.Function), reason[0]) + f.Remedy.Text
		}
		f.Where = code.Places(slices.Insert(f.Where, 1, code.ProgramPlace(p, named[0].Stacks...))...)
		f.Reasons = append(f.Reasons, "objects so large get pages of their own, cleared for each, and none of them is kept: one that is kept would do")
	}
	p.Report(f)
}

// freshBuffers finds the first of some lines whose large objects die at once and cost enough, with
// the facts that say so; -1 for none. How much is allocated is no reason, what is allocated may be: of
// the field's programs that have only small objects, eight of which are ill and six well, neither sizes
// nor shares tell one from the other.
func freshBuffers(p *diagnosis.Pass, a *memory.Allocation, named []memory.Site) (facts []fact.Fact, at int) {
	if a.Tree != memory.ObjectTree {
		return nil, -1 // nothing tells how large they are, nor whether they are kept
	}
	for i, s := range named {
		here := largeAt(p, s)
		objects, bytes := "large objects allocated at "+s.Line(), "bytes in large objects at "+s.Line()
		n, size := p.Samples(objects, memory.ObjectTree, here), p.Samples(bytes, "alloc_space", here)
		if n.Value == 0 || s.LiveShare > churnGone || growsAt(p, s) {
			continue
		}
		all := p.Frames(func(frames []model.Frame) bool { return !model.OfRecording(frames) })
		price := a.Price("CPU in allocating and collecting "+bytes, fact.Quotient.Of(objects, fact.Ratio, n, p.Samples("all objects", memory.ObjectTree, all)),
			fact.Quotient.Of(bytes, fact.Ratio, size, p.Samples("all bytes", "alloc_space", all)))
		if price.Value >= churnReason {
			kept := fact.Quotient.Of("part of them still in use", fact.Ratio, p.Samples("bytes of them in use", "inuse_space", here), size)
			return []fact.Fact{fact.Quotient.Of("bytes in each large object at "+s.Line(), fact.Bytes, size, n), price, kept}, i
		}
	}
	return nil, -1
}

// largeAt matches the samples of the allocs profile of a line's large objects.
func largeAt(p *diagnosis.Pass, site memory.Site) fact.Where {
	objects, bytes := p.Model.Heap.Column(memory.ObjectTree), p.Model.Heap.Column("alloc_space")
	return func(s *model.Sample) bool {
		n := s.Value(objects)
		return n > 0 && slices.Contains(site.Stacks, s.Stack) && s.Value(bytes) >= memory.LargeObject*n
	}
}

// makingMaps are the runtime's functions that a map is made by, which is mostly a result: it is no
// buffer that the next call could have.
var makingMaps = []string{"runtime.makemap", "internal/runtime/maps.NewMap"}

// growsAt reports whether a line's time in the allocator goes into making slices and maps larger, which
// is of growingslices, or into maps.
func growsAt(p *diagnosis.Pass, site memory.Site) bool {
	s, ok := cpu.UseOf(p)
	if !ok {
		return false
	}
	here := func(frames []model.Frame) bool {
		place, _ := diagnosis.UserPlace(frames)
		return place.Line == site.Place.Line && model.WithoutTypes(place.Function) == model.WithoutTypes(site.Place.Function) && cpu.Allocates(frames)
	}
	grows := s.ShareIn("CPU in growing at "+site.Line(), func(frames []model.Frame) bool {
		return here(frames) && (growsData(frames) || code.ContainsPrefix(frames, makingMaps))
	})
	return grows.Value > 0 && grows.Value >= churnGrown*s.ShareIn("CPU in the allocator at "+site.Line(), here).Value
}

// garbageRules find a problem in allocating or collecting. Beside one of them all is
// not well with allocation, however little it takes in all.
func garbageRules() []*diagnosis.Rule {
	return []*diagnosis.Rule{memorylimit, boxedargs, stringbuilding, tinyheap, poolmisuse, growingslices, forcedgc, gccost}
}

// wasteful reports whether one of them has a finding or a remark.
func wasteful(p *diagnosis.Pass) bool {
	return slices.ContainsFunc(garbageRules(), func(r *diagnosis.Rule) bool { return speaks(p, r) })
}

func allocFinding(p *diagnosis.Pass, a *memory.Allocation, named []memory.Site) diagnosis.Finding {
	cost, top := a.Cost(), code.Name(named[0].Place.Function)
	objects, bytes := a.Counts(p, "at the named lines", named...)
	f := diagnosis.Finding{
		Evidence: a.Facts(),
		Cost:     a.CostOf(cost),
		Bound:    allocationBound(a, a.Price("CPU in allocating at the named lines", objects, bytes)),
		RuledOut: []string{
			"memory that is kept: sites with half of their bytes still in use are not counted",
			fact.Sentence("many small sites: each one named causes at least %s of the cost", fact.Name(fact.Ratio.Format(churnSite))),
		},
		Remedy: diagnosis.Remedy{
			Code: "buf := make([]byte, size) // once per worker, outside the loop\nfor task := range tasks {\n\tn := fill(buf, task)\n" +
				"\tuse(buf[:n])\n}",
			Knob: "GOGC=400",
		},
		Explains: gcSymptoms(p),
	}
	for _, s := range named {
		f.Where = append(f.Where, s.Place)
		f.Stacks = append(f.Stacks, s.Stacks...)
		f.Rest(a.SiteFacts(p, s)...)
	}
	f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	f.Experiment = allocationExperiment(p, a, f.Stacks, bytes.Value > objects.Value)
	f.Rest(garbageFacts(p)...)
	f.Remedy.Text = fact.Sentence("Let %s reuse what it allocates: a buffer owned by the worker and reset for each item, "+
		"a slice made with its final capacity, a value instead of a pointer, no string built only to be looked up. %s",
		top, fact.Name(cmp.Or(code.EscapeWords(p.Model, f.Where), "`go build -gcflags=-m` says why something escapes to the heap.")))
	if madeForPool(p.Model, named[0].Stacks) {
		f.Remedy.Text = putBack.Text + fact.Sentence(" %s makes what a sync.Pool has not: that is its purpose, and what is made has to come back.", top)
		f.Remedy.Code = putBack.Code
	}
	if memory.LimitBinds(p) {
		f.Remedy.Knob = "" // a higher GOGC changes nothing there
	} else {
		f.Remedy.Text += " Try the knob to see what collecting alone costs: it trades memory for CPU."
	}
	if use, ok := cpu.UseOf(p); ok {
		f.Bound = use.ExtendBound(f.Bound, named[0].Place.Function)
	}
	sayAllocation(p, a, &f, named[0])
	f.Confidence, f.Reasons = allocationConfidence(a)
	if _, told := memory.RetainedShare(p); !told && a.Tree != memory.ObjectTree {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "nothing tells whether what is allocated is kept: a program that only reads what it works on looks the same")
	}
	return f
}

// madeForPool reports whether all of a site is what a pool's New makes.
func madeForPool(m *model.Model, stacks []model.Stack) bool {
	return !slices.ContainsFunc(stacks, func(s model.Stack) bool { return !fromPool(m.Stacks.Frames(s)) })
}

// allocationBound returns what repairs of lines of some price saved, and no more than all allocating
// and collecting takes.
func allocationBound(a *memory.Allocation, price fact.Fact) diagnosis.Bound {
	b := cpu.EstimateOf(price, a.Cores, allocRepairs, allocationNote(a))
	most := a.Whole().Value * a.Cores.Value
	b.Low, b.High = min(b.Low, most), min(b.High, most)
	return b
}

// acquit says of a remark that no line of the program is to blame. How much
// of its CPU a program spends on memory tells nothing: of the field's programs those that
// are well are at 0.15 to 0.55, and those that have a problem at 0.17 to 0.64.
func acquit(p *diagnosis.Pass, a *memory.Allocation, f *diagnosis.Finding, top memory.Site) {
	var own []memory.Site
	packages, known := code.ProgramPackages(p.Model), p.Model.Build != nil && p.Model.Build.Module != ""
	for _, s := range a.Sites {
		if s.LiveShare < churnKept && code.StartsWith(s.Place.Function, packages) {
			own = append(own, s)
		}
	}
	objects, bytes := a.Counts(p, "at lines of the program", own...)
	share := a.Price("CPU in allocating at lines of the program", objects, bytes)
	switch {
	case cpu.Benchmarks(p):
		f.Reasons = append(f.Reasons, "what the operation of a benchmark allocates is an account of it; whether it has to is yours to tell")
	case known && share.Value < churnCPU:
		f.Rest(share)
		f.Reasons = append(f.Reasons, "libraries allocate when they are called: you can change how often and for what")
	default:
		return
	}
	f.Where = code.Places(slices.Insert(f.Where, 1, code.ProgramPlace(p, top.Stacks...))...)
}

// sayAllocation makes the sentence.
func sayAllocation(p *diagnosis.Pass, a *memory.Allocation, f *diagnosis.Finding, top memory.Site) {
	what := code.Name(top.Place.Function)
	objects, bytes := a.Counts(p, "at "+top.Line(), top)
	part := fact.Quotient.Of("part of the cost at "+top.Line(), fact.Ratio, a.Price("CPU in allocating at "+top.Line(), objects, bytes), a.Whole())
	switch cost := a.Cost(); {
	case !a.Measured:
		f.Say("Allocating and collecting take up to %s of the CPU in use; one line of %s causes %s of that.", cost, what, part)
	case a.Touch.Value > 0:
		f.Say("Allocating and collecting take %s of the CPU in use, page faults of fresh memory up to %s more; "+
			"one line of %s causes %s of that.", cost, a.Touch, what, part)
	default:
		f.Say("Allocating and collecting take %s of the CPU in use; one line of %s causes %s of that.", cost, what, part)
	}
}

// allocationNote says what else is to be known of how the saving was derived.
func allocationNote(a *memory.Allocation) string {
	switch {
	case !a.Measured:
		return "the allocator's part is derived from the bytes allocated and the pace of a core that allocates small objects or " +
			"uses fresh pages for the first time: large ones in pages still mapped cost less"
	case a.Touch.Value > 0:
		return "first use of fresh pages, which the profile books on whatever writes to them first, " +
			"is added as what the bytes cost at the pace of a core that only allocates, " +
			"or as all that the profile shows where that can happen, if it is less"
	}
	return ""
}

// garbageFacts measures what the runtime counted: exact, and by operation the figure that
// hardly varies from run to run.
func garbageFacts(p *diagnosis.Pass) (out []fact.Fact) {
	objects, bytes := p.Metric("objects allocated", memory.MetricAllocObjects, fact.Rate), p.Metric("bytes allocated", memory.MetricAllocBytes, fact.Rate)
	if !(objects.Value > 0 && bytes.Value > 0) {
		return nil
	}
	out = append(out, objects, bytes)
	if ops, name := operationRate(p); ops.Value > 0 {
		out = append(out, fact.Quotient.Of("objects allocated for each of the "+string(name), fact.Count, objects, ops))
	}
	return out
}

// allocationExperiment counts objects, or bytes where stacks have more of them. The count
// falls by no more than all that they make, which an allocs profile knows.
func allocationExperiment(p *diagnosis.Pass, a *memory.Allocation, stacks []model.Stack, byBytes bool) *diagnosis.Experiment {
	e := codeChange(diagnosis.AllocsOp, diagnosis.CPUPerOp, "`GOGC=400` in the environment parts collecting from allocating: what it saves is collecting. "+
		"Fewer collections of a larger heap are no gain.")
	if byBytes {
		e.Primary = diagnosis.BytesOp
	}
	if a.Tree == memory.ObjectTree {
		objects, bytes := memory.LargestParts(p, stacks)
		e.Promised = append(metricPromise(diagnosis.AllocsOp, fact.Amdahl(objects.Value), "all objects of the named lines"),
			metricPromise(diagnosis.BytesOp, fact.Amdahl(bytes.Value), "all bytes of the named lines")...)
	}
	return e
}

func allocationConfidence(a *memory.Allocation) (diagnosis.Confidence, []string) {
	switch cost := a.Cost(); {
	case a.Measured && cost.Value < churnCPU:
		return diagnosis.Low, []string{fact.Sentence("the %s itself shows only %s; the rest of the cost is what first use of fresh memory may take at most", fact.Name(a.CostFrom), cost)}
	case a.Measured && a.Tree == memory.ObjectTree:
		return diagnosis.High, []string{"the " + a.CostFrom + " shows the cost and the allocs profile the sites"}
	case a.Measured:
		return diagnosis.Medium, []string{"one kind of evidence, the " + a.CostFrom + "; an allocs profile would count the objects"}
	case a.Tree == "cpu":
		return diagnosis.Low, []string{"the CPU profile has too few samples: it shows sites, and the cost is derived from the trace"}
	}
	return diagnosis.Medium, []string{"the allocs profile counts at the sites; their cost is derived from the trace, a CPU profile would measure it"}
}

// churnCPU is the share of CPU in allocating and collecting from which
// it is worth an engineer's day: a peer's default for the same question.
// The lab's file pool is at a few percent when it keeps its buffers.
// It is a remark unless there is a reason.
const churnCPU = 0.15
