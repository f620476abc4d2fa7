package rules

import (
	_ "embed"
	"math"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed fragmentation.md
var fragmentationPage string

var fragmentation = &diagnosis.Rule{
	Name:     "fragmentation",
	Title:    "Few objects keep many pages of the heap",
	Doc:      fragmentationPage,
	Needs:    []model.Source{model.MetricsLog},
	Whole:    true, // where no heap profile and no look at the heap says whose they are
	Explains: []string{"noheadroom"},
	Check:    checkFragmentation,
}

const (
	metricUnused  = "/memory/classes/heap/unused:bytes"
	metricObjects = "/memory/classes/heap/objects:bytes"

	// fragmentedPart is the part of the pages in use that must be unused all the time. What a
	// collection frees is filled until the next: of nine programs that are well at most 14% are left
	// then, of two whose bursts left one object in a page 87 and 95%.
	fragmentedPart = 0.5
	// fragmentedBytes is the least worth a word.
	fragmentedBytes = 16 << 20
	// fragmentedCycles is how many collections there must be, in the second half of the window, for
	// the least to be of the end of one. Without them what is unused may be what the last one freed, which is GOGC's
	// part of what it left: fragmentedIdle times that is more than any rest of it.
	fragmentedCycles = 2
	fragmentedIdle   = 2
)

func checkFragmentation(p *diagnosis.Pass) {
	if len(p.Model.Metrics.Series[metricUnused]) == 0 || len(p.Model.Metrics.Series[metricObjects]) == 0 {
		p.Lacks("the runtime's count of unused parts of its pages was not read", p.HowToGet(model.MetricsLog))
		return
	}
	late := func(name, metric string, of func(model.Series) float64) fact.Fact {
		s := p.Model.Metrics.Series[metric]
		return p.Statistic(fact.Metric, metric, name+" in the second half of the window", of(s[len(s)/2:]), fact.Bytes).From(model.MetricsLog)
	}
	unused := late("unused parts of pages in use, at least", metricUnused, model.Series.Min)
	objects := late("objects on the heap, at most", metricObjects, model.Series.Max)
	pages := fact.Sum.Of("pages in use", fact.Bytes, unused, objects)
	part := fact.Fraction.Of("part of the pages in use that nothing uses, at least", fact.Ratio, unused, pages)
	counted := p.Model.Metrics.Series[memory.MetricCycles]
	more, _, _ := counted[len(counted)/2:].Delta()
	cycles := p.Statistic(fact.Metric, memory.MetricCycles, "collections in the second half of the window", math.Floor(more), fact.Count).From(model.MetricsLog)
	const question = "whether few objects keep many pages of the heap"
	switch {
	case cycles.Value < fragmentedCycles && (unused.Value < fragmentedBytes || part.Value < fragmentedPart):
		// what a collection leaves is not seen
	case unused.Value < fragmentedBytes:
		p.Fine(fact.Sentence("fragmentation of the heap: no more than %s of its pages in use", unused))
	case part.Value < fragmentedPart:
		p.Fine(fact.Sentence("fragmentation of the heap: %s of the pages in use at least are unused, %s", part, unused))
	case cycles.Value < fragmentedCycles && unused.Value < fragmentedIdle*max(1, p.Metric("GOGC", memory.MetricGOGC, fact.Last).Value/100)*objects.Value:
		p.Unchecked(question, fact.Sentence("%s of the pages in use are unused, %s, and with %s in the window that may be what the last one freed",
			part, unused, cycles.Things("collection")), p.RecordAgain(60, "longer.gowhy"))
	default:
		p.Report(fragmentationFinding(p, unused, objects, part, cycles))
	}
}

func fragmentationFinding(p *diagnosis.Pass, unused, objects, part, cycles fact.Fact) diagnosis.Finding {
	share := part
	if rss := p.Process("resident memory", "rss", fact.Last); rss.Value > 0 {
		share = fact.Fraction.Of("part of the resident memory", fact.Ratio, unused, rss)
	}
	moment := fact.Sentence("what a collection freed a moment ago: the least is taken, over %s", cycles.Things("collection"))
	if cycles.Value < fragmentedCycles {
		moment = "what the last collection freed: GOGC lets it be less than half of this"
	}
	f := diagnosis.Finding{
		Evidence: []fact.Fact{unused, objects, part, cycles},
		Cost:     diagnosis.CostOf(unused, share.Value),
		Bound: diagnosis.Limit(unused, diagnosis.MemoryGoal, share.Value, "what is unused in pages that are in use, at least; "+
			"objects that lie together leave a rest, too"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime's own counts, the least of the window's second half; how the objects lie in the pages is not shown"},
		RuledOut: []string{
			"garbage, which counts as objects until it is swept",
			"pages that are free: they are counted apart, and the runtime gives them back",
			moment,
		},
		Remedy: diagnosis.Remedy{
			Text: "Keep what lives long apart from what does not. An object keeps its page of 8 KiB, and the rest of that " +
				"is only for objects of the same size. Allocate those that stay in one piece (a slice of structures " +
				"instead of pointers to them), copy what stays once the burst is over, so that it lies together and the " +
				"old pages become free, and do a large load in parts. No GOGC, no GOMEMLIMIT and no debug.FreeOSMemory " +
				"moves an object.",
			Code: "kept := make([]Entry, 0, n) // one piece, filled behind the burst\nfor _, e := range found {\n\tkept = append(kept, *e)\n}",
		},
		Experiment: codeChange(diagnosis.PeakRSS, "", "Each run must go through the burst. In a recording of the changed program "+
			"`gowhy memory` has less fragmentation in spans in use."),
	}
	format, parts := "Of the heap's pages in use %s are unused at least, %s beside %s of objects: "+
		"few objects keep the pages of many that are gone.",
		[]fact.Part{part, unused, objects}
	if places, stacks, kept := smallKept(p); len(places) > 0 {
		f.Where, f.Stacks = places, stacks
		f.Rest(kept)
		format, parts = format+" Most small objects that are left come from %s.", append(parts, code.Name(places[0].Function))
	}
	if look := lastLook(p.Model); look != nil && len(look.Free) > 0 && look.Free[0].Free >= fragmentedBytes {
		free, objects := p.Look("free between objects of one size", "free"), p.Look("objects of that size", "free_objects")
		f.Evidence = append(f.Evidence, free, objects)
		format, parts = format+" %s are free between %s of %s.", append(parts, free, objects.Things("object"), p.Look("their size", "free_size"))
	}
	if who := holderOf(p); who != "" {
		f.Reasons = append(f.Reasons, "of the heap that was looked at, "+who)
	} else {
		f.Remedy.Text += " Who holds them: " + p.HowToGet(model.Holders) + " says."
	}
	f.Say(format, parts...)
	return f
}

// smallKept finds the line of which most of the small objects are that are still in use.
func smallKept(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, part fact.Fact) {
	heap := p.Model.LiveHeap.End
	if heap == nil {
		return nil, nil, part
	}
	objects, bytes := heap.Column("inuse_objects"), heap.Column("inuse_space")
	return mostKept(p, "small objects", code.Line, func(s *model.Sample) bool {
		n := s.Value(objects)
		return n > 0 && s.Value(bytes) < memory.LargeObject*n
	})
}
