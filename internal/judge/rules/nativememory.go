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

//go:embed nativememory.md
var nativememoryPage string

var nativememory = &diagnosis.Rule{
	Name:     "nativememory",
	Title:    "Memory outside of the Go heap keeps growing",
	Doc:      nativememoryPage,
	Needs:    []model.Source{model.ProcFS},
	Whole:    true, // where no sample shows who touches it
	Explains: []string{"noheadroom"},
	Check:    checkNativememory,
}

const (
	// nativeWindow is the time behind the warm-up, in seconds, from which a steady growth is more
	// likely a leak than a library that loads; nativeLong is as of a heap.
	nativeWindow = 7
	nativeLong   = 30
	// nativeMapped is the part of the growth that must be native memory when the mappings are
	// read: else files that are mapped grew, or a heap that is touched for the first time.
	nativeMapped = 0.8
	// nativeTouched is the part of the first uses of pages that a function must have to be named,
	// and nativeFaults how many samples of them there must be.
	nativeTouched = 0.5
	nativeFaults  = 5
	// mappedLeast is how many more mappings the program must make than it gives back, and mappedPart
	// the part of those made, for their number to say that they pile up: what is made at the start and
	// stays, and a cache that is full, leave fewer.
	mappedLeast = 20
	mappedPart  = 0.1
)

func checkNativememory(p *diagnosis.Pass) {
	const grows = "whether memory outside of the Go heap grows"
	longer := p.RecordAgain(60, "longer.gowhy")
	s := untilMost(p.Model.OutsideRuntime())
	g, ok := swellingOf("native memory", s, func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Process, "resident memory beyond what the runtime counts", name, v, u).From(model.ProcFS)
	})
	if !ok {
		p.Lacks("resident memory and what the runtime has of it were not read together often enough", p.HowToGet(model.MetricsLog))
		doubtResident(p)
		return
	}
	ask := func(by func(what, why, how string), why string) { by(grows, why, longer) }
	level, course := g.low.Value <= 0 || g.bytes.Value < heapgrowthBytes, courseOf(s)
	own := countMappings(p)
	switch mapped, known := mappedOutside(p); {
	case level && !course.rose():
		p.Fine(fact.Sentence("memory outside of the Go heap: no growth in %s", g.over))
	case level:
		ask(p.Unchecked, fact.Sentence("it was %s after the warm-up and %s at most, and not at one pace", g.from, mostOutside(p, s)))
	case known && mapped.Value < nativeMapped*g.bytes.Value && !own.pileUp():
		p.Fine(fact.Sentence("memory outside of the Go heap: %s when the mappings were read, beside files and the program itself", mapped))
	case g.bytes.Value < model.LeastGrowth*g.from.Value:
		ask(p.Unchecked, fact.Sentence("it grew by %s in %s: beside the %s that it has that is too little to tell a leak from what is used later", g.bytes, g.over, g.from))
	case g.late.Value < model.SteadyGrowth*g.slope.Value || hasStep(s):
		ask(p.Unchecked, fact.Sentence("it grew by %s, and not at one pace: so does a library that loads what it needs, and a cache that fills", g.bytes))
	case own.pileUp() && g.over.Value >= growthShort.Seconds():
		p.Report(mappingsFinding(p, &g, &own))
	case !known:
		ask(p.Doubt, fact.Sentence("it grew by %s in %s, and the mappings, which tell native memory from files and from the heap, were not read", g.bytes, g.over))
	case g.over.Value < nativeWindow:
		ask(p.Doubt, fact.Sentence("it grew by %s in %s, and so does that of a program that starts", g.bytes, g.over))
	case fires(p, threadgrowth):
		ask(p.Unchecked, fact.Sentence("it grew by %s, and so did the number of threads, whose finding comes first", g.bytes))
	default:
		p.Report(nativeFinding(p, &g, mapped))
	}
}

// ownMappings are the mappings that the program makes by calls of its own, not by its runtime or by C
// code, as a trace has each of these calls.
type ownMappings struct {
	made, back, kept fact.Fact
	stacks           []model.Stack // of the calls that make them, the most frequent first
}

// The calls of package syscall and of golang.org/x/sys/unix that map memory, and give it back.
var (
	mapsMemory   = []string{"syscall.mmap", "golang.org/x/sys/unix.mmap"}
	unmapsMemory = []string{"syscall.munmap", "golang.org/x/sys/unix.munmap"}
)

func countMappings(p *diagnosis.Pass) (own ownMappings) {
	if p.Model.Sched == nil {
		return own
	}
	calls := func(name string, of []string) fact.Fact {
		return p.WaitCount(name, model.SyscallWait, func(w *model.Wait) bool { return code.ContainsAny(p.Model.Stacks.Frames(w.Stack), of) })
	}
	own.made = calls("mappings that the program made", mapsMemory)
	own.back = calls("mappings given back", unmapsMemory)
	own.kept = fact.Difference.Of("mappings that stayed", fact.Count, own.made, own.back)
	by := map[model.Stack]int64{}
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.SyscallWait && code.ContainsAny(p.Model.Stacks.Frames(w.Stack), mapsMemory) {
			by[w.Stack] += w.Count
		}
	}
	own.stacks = statistics.Largest(by)
	return own
}

// pileUp reports whether mappings become more and more.
func (o *ownMappings) pileUp() bool {
	return o.kept.Value >= mappedLeast && o.kept.Value >= mappedPart*o.made.Value
}

// mappingsFinding is about memory whose mappings were counted, so that neither what is mapped nor a
// longer window is needed to tell it from a library that loads.
func mappingsFinding(p *diagnosis.Pass, g *swelling, own *ownMappings) diagnosis.Finding {
	share := fact.Fraction.Of("part of the resident memory", fact.Ratio, g.bytes, p.Process("resident memory", "rss", fact.Most))
	f := diagnosis.Finding{
		Grows:      true,
		Where:      code.Places(code.ProgramPlace(p, own.stacks...), code.UserPlace(p, own.stacks...)),
		Stacks:     own.stacks,
		Evidence:   []fact.Fact{own.made, own.back, own.kept, g.slope, g.low, g.high, g.late},
		Cost:       diagnosis.CostOf(g.bytes, share.Value),
		Bound:      diagnosis.Direction(g.bytes, diagnosis.MemoryGoal, share.Value, "what came since the warm-up; the rate goes on until something ends it"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"two kinds of evidence: the trace has each call that maps memory or gives it back, and the kernel counts what is resident",
			"which mapping it is whose end is missing is not known: those that are given back are made at the same line",
		},
		RuledOut: []string{
			"the Go heap, stacks and the runtime's tables, garbage included: they are subtracted",
			fact.Sentence("a cache that is full: it gives back as many as it makes, and here %s more stayed", own.kept),
			fact.Sentence("what is mapped once, at the start: the second half grows by %s, the whole by %s", g.late, g.slope),
		},
		Remedy: diagnosis.Remedy{
			Text: "Give each back where it leaves the program's tables: where the cache drops it, the file is replaced, the last reader " +
				"is done, and on every path that fails. A count of the mappings that there are, as a metric, shows the next one.",
			Code: "data, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ, syscall.MAP_SHARED)\nif err != nil {\n\treturn err\n}\ndefer syscall.Munmap(data)",
		},
		Experiment: codeChange(diagnosis.PeakRSS, "", fact.Sentence("Let each run last %s at least, for what grows must have the time to. "+
			"In a recording of the changed program as many are given back as made.", g.over)),
	}
	f.Say("The program made %s mappings and gave %s back: memory that is not the Go runtime's grows by %s, by %s in %s.",
		own.made, own.back, g.slope, g.bytes, g.over)
	return f
}

// doubtResident leaves the question open of resident memory that grows where nothing says what the heap
// has of it: a program that takes six megabytes more each second is not idle, whoever takes them.
func doubtResident(p *diagnosis.Pass) {
	live := memory.LiveHeap(p.Model)
	g, ok := swellingOf("resident memory", untilMost(p.Model.Process.Resident()),
		func(name string, v float64, u fact.Unit) fact.Fact {
			return p.Statistic(fact.Process, "resident memory", name, v, u).From(model.ProcFS)
		})
	if ok && len(live.Series) == 0 && g.low.Value > 0 && g.bytes.Value >= heapgrowthBytes && g.bytes.Value >= model.LeastGrowth*g.from.Value &&
		g.late.Value >= model.SteadyGrowth*g.slope.Value {
		p.Doubt("whether memory keeps growing", fact.Sentence("it grew from %s by %s in %s, and nothing says what of that is the heap's", g.from, g.bytes, g.over),
			p.HowToGet(model.MetricsLog))
	}
}

// mostOutside returns the largest memory outside of the runtime's.
func mostOutside(p *diagnosis.Pass, s model.Series) fact.Fact {
	return p.Statistic(fact.Process, "resident memory beyond what the runtime counts", "native memory, at most", s.Max(), fact.Bytes).From(model.ProcFS)
}

// mappedOutside returns the native memory when the mappings were read; false where they were not.
func mappedOutside(p *diagnosis.Pass) (native fact.Fact, known bool) {
	a := p.Model.MemoryAccount()
	if a == nil || p.Model.Process == nil || p.Model.Process.Maps == nil {
		return native, false
	}
	for _, part := range a.Parts {
		if part.Name == model.NativePart {
			return p.Statistic(fact.Process, "part of the memory", "native memory", float64(part.Bytes), fact.Bytes).From(model.ProcFS), part.Told
		}
	}
	return native, false
}

func nativeFinding(p *diagnosis.Pass, g *swelling, mapped fact.Fact) diagnosis.Finding {
	share := fact.Fraction.Of("part of the resident memory", fact.Ratio, g.bytes, p.Process("resident memory", "rss", fact.Most))
	f := diagnosis.Finding{
		Grows:      true,
		Evidence:   []fact.Fact{g.slope, g.low, g.high, g.late, mapped},
		Cost:       diagnosis.CostOf(g.bytes, share.Value),
		Bound:      diagnosis.Direction(g.bytes, diagnosis.MemoryGoal, share.Value, "what came since the warm-up; the rate goes on until something ends it"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"the kernel's count of what is resident less the runtime's own count of what it took: heap profiles show nothing of it, " +
			"and GOMEMLIMIT does not bound it"},
		RuledOut: []string{
			"the Go heap, stacks and the runtime's tables, garbage included: they are subtracted",
			"mapped files and the program's own text: the mappings have them apart",
			fact.Sentence("a library that has loaded what it needs: the second half grows by %s, the whole by %s", g.late, g.slope),
		},
		Remedy: diagnosis.Remedy{Text: nativeText},
		Experiment: codeChange(diagnosis.PeakRSS, "", fact.Sentence("Let each run last %s at least, for what grows must have the time to. "+
			"In a recording of the changed program native memory is level in `gowhy memory`.", g.over)),
	}
	format, parts := "Resident memory that is not the Go runtime's grows by %s: by %s in %s, and it is %s.", []fact.Part{g.slope, g.bytes, g.over, mapped}
	if places, stacks, touched := touchers(p); len(places) > 0 {
		f.Where, f.Stacks = places, stacks
		f.Rest(touched)
		format, parts = format+" Most of it is touched first in %s.", append(parts, code.Name(places[0].Function))
		f.Reasons = append(f.Reasons, "samples of first uses of pages tell who touches memory first; "+
			"that it is this memory which stays follows from the numbers alone")
	} else if g.over.Value < nativeLong {
		f.Confidence = diagnosis.Low
	}
	if largest := p.Model.Process.Maps.Largest; len(largest) > 0 {
		f.Reasons = append(f.Reasons, fact.Sentence("the largest of it is %s", fact.Name(largest[0].Words())))
	}
	if left, ok := timeLeft(p, g.slope); ok {
		f.Rest(left)
	}
	if g.over.Value < nativeLong {
		f.Reasons = append(f.Reasons, fact.Sentence("in %s a cache of C code that fills looks the same: record longer", g.over))
	}
	f.Say(format, parts...)
	return f
}

// touchers finds the functions that touch most pages first, outside of the runtime's allocator, by
// the kernel's samples of what that takes: one who maps memory or has C code do it, and who writes
// to it.
func touchers(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, touched fact.Fact) {
	function := func(s *model.Sample) string {
		if place, ok := p.UserPlace(s.Stack); ok && touchesFirst(p.Model, s) {
			return place.Function
		}
		return ""
	}
	most := slices.DeleteFunc(p.Largest("kernel", function), func(f string) bool { return f == "" })
	if len(most) == 0 {
		return nil, nil, touched
	}
	for i := range p.Model.Kernel.CPU.Samples {
		if s := &p.Model.Kernel.CPU.Samples[i]; function(s) == most[0] {
			place, _ := p.UserPlace(s.Stack)
			places, stacks = append(places, place), append(stacks, s.Stack)
		}
	}
	here := p.SampleCount("first uses of pages in "+code.Short(most[0]), "kernel", func(s *model.Sample) bool { return function(s) == most[0] })
	all := p.SampleCount("first uses of pages", "kernel", func(s *model.Sample) bool { return touchesFirst(p.Model, s) })
	if here.Value < nativeFaults || here.Value < nativeTouched*all.Value {
		return nil, nil, touched
	}
	return code.Places(places...), stacks, fact.Quotient.Of("part of the first uses of pages", fact.Ratio, here, all)
}

// touchesFirst reports whether a sample is of a page that is used for the first time, not in memory
// that the runtime allocates.
func touchesFirst(m *model.Model, s *model.Sample) bool {
	frames := m.Stacks.Frames(s.Stack)
	call, ok := model.KernelCallOf(frames, s.Labels)
	return ok && call == "page fault" && !cpu.Allocates(frames)
}
