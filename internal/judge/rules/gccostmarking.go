package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	metricScannable   = "/gc/scan/heap:bytes"
	metricFinalizers  = "/gc/finalizers/queued:finalizers"
	metricFinalized   = "/gc/finalizers/executed:finalizers"
	markingScannable  = 0.5  // of the live heap: from half on pointers in what is kept are most of what a collection looks at
	markingFinalizers = 1000 // a second: files and connections that a server forgets to close are tens of them
)

// sayMarking adds what the runtime counts of the price of one collection: the part of the
// live heap that it must look through, and objects that live for one collection more
// because they have a finalizer.
func sayMarking(p *diagnosis.Pass, f *diagnosis.Finding, h *memory.Collector) {
	if p.Model.Metrics == nil {
		return
	}
	if scannable := p.Metric("heap that collections look through", metricScannable, fact.Last); scannable.Value > 0 && h.Live.Value > 0 {
		part := fact.Fraction.Of("part of the live heap that has pointers", fact.Ratio, scannable, h.Live)
		f.Rest(part)
		if part.Value >= markingScannable {
			f.Reasons = append(f.Reasons, fact.Sentence("%s of the live heap is looked through for pointers: what is kept without them costs a collection nothing", part))
			sayKept(p, f)
		}
	}
	if _, counted := p.Model.Metrics.Rate(metricFinalizers); !counted {
		return
	}
	rate := p.Metric("objects queued for finalizers", metricFinalizers, fact.Rate)
	if rate.Value < markingFinalizers {
		return
	}
	waiting := fact.Difference.Of("finalizers that wait for their goroutine", fact.Count,
		p.Metric("queued", metricFinalizers, fact.Last), p.Metric("executed", metricFinalized, fact.Last))
	f.Rest(rate, waiting)
	words := fact.Sentence("%s objects a second are queued for finalizers, and %s of them wait for the one goroutine that calls them: "+
		"each lives for one collection more", rate.Number(), waiting)
	if places := finalizerPlaces(p); len(places) > 0 {
		f.Where = append(f.Where, cpu.Places(places, cpu.MostNamed)...)
		words += fact.Sentence("; %s sets most of them", code.Name(places[0].Function))
	}
	f.Reasons = append(f.Reasons, words)
	f.Remedy.Text = "Close each object where its work is over, and set no finalizer for what is made per operation. " + f.Remedy.Text
}

// sayKept names the line of which most of what is kept is, and what to do about the pointers in it, where
// it is what a collection costs and not how many there are.
func sayKept(p *diagnosis.Pass, f *diagnosis.Finding) {
	places, stacks, part := smallKept(p)
	if len(places) == 0 || !keepsPointers(p) {
		return
	}
	f.Where, f.Stacks = append(f.Where, code.WithProgram(p, places[0], stacks...)...), stacks
	f.Rest(part)
	f.Remedy.Text = fact.Sentence("Keep fewer pointers in what %s makes: values in a slice instead of a pointer each, indices instead of "+
		"pointers, texts in one array of bytes with their offsets. A collection does not look into what has none. ", code.Name(places[0].Function)) + f.Remedy.Text
	if s, ok := cpu.UseOf(p); ok {
		// Fewer and larger objects are also made and followed in less time.
		keeps := cpu.MatchFunctions(places[0])
		f.Bound = s.Direction(s.MaxSaving("the garbage collector and in "+code.Short(places[0].Function),
			func(frames []model.Frame) bool { return cpu.Collects(frames) || keeps(frames) }), "what fewer pointers can bring, and more where others follow them; a larger heap alone saves less")
	}
}

// keepsPointers reports whether the price of each collection, of pointers in what is kept, is most of what
// allocating costs, rather than what is allocated: where collections come one after the other, it is their
// number.
func keepsPointers(p *diagnosis.Pass) bool {
	h, ok := memory.CollectorOf(p)
	if !ok || p.Model.Metrics == nil || h.Rate.Value >= gcOften || !collecting(p, gcMostly) {
		return false
	}
	scannable := p.Metric("heap that collections look through", metricScannable, fact.Last)
	return h.Live.Value > 0 && scannable.Value >= markingScannable*h.Live.Value
}

// finalizerPlaces returns the code that sets finalizers, by samples of the CPU.
func finalizerPlaces(p *diagnosis.Pass) []cpu.Line {
	s, ok := cpu.UseOf(p)
	if !ok {
		return nil
	}
	return s.Functions(p.Model, func(frames []model.Frame) bool { return code.ContainsPrefix(frames, []string{"runtime.SetFinalizer"}) })
}
