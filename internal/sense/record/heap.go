package record

import (
	"math"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// laterComment tells one that has what was allocated since the last collection, too.
const laterComment = "with what was allocated since the last collection, garbage included"

// heapComment tells such a profile from the one that runtime/pprof gives.
const heapComment = "gowhy memory profile read from memory"

// keepHeap writes the memory profile of now.
func (c *countedProgram) keepHeap(member string) {
	if c.heap == nil {
		return
	}
	h, err := c.heap.Read()
	if err != nil {
		return // it has ended, or keeps none
	}
	comments := []string{heapComment}
	if c.r.box != nil { // the memory is full of what was not yet collected, too
		h.Sites, comments = h.Later, append(comments, laterComment)
	}
	p := memoryProfile(h, c.heap.Frames)
	p.Comments = comments
	c.r.keep(member, p, nil)
}

// memoryProfile is in the form of runtime/pprof's profile of the heap.
func memoryProfile(h *goroutines.Heap, frames func(*goroutines.Site) []symbols.Place) *profile.Profile {
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: h.Rate, TimeNanos: h.Time.UnixNano(),
		DefaultSampleType: "inuse_space",
	}
	for _, kind := range []string{"alloc", "inuse"} {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: kind + "_objects", Unit: "count"}, &profile.ValueType{Type: kind + "_space", Unit: "bytes"})
	}
	w := stacks.NewWriter(p)
	for i := range h.Sites {
		s := &h.Sites[i]
		if s.Allocs == 0 {
			continue
		}
		sample := &profile.Sample{Location: locationsOf(w, frames(s)), NumLabel: map[string][]int64{"bytes": {s.Size}}}
		for _, n := range []int64{s.Allocs, s.Allocs - s.Frees} {
			by := unsampled(s.Size, h.Rate)
			sample.Value = append(sample.Value, int64(float64(n)*by), int64(float64(n*s.Size)*by))
		}
		if len(sample.Location) > 0 {
			p.Sample = append(p.Sample, sample)
		}
	}
	return p
}

// unsampled is for how many objects of a size one stands that was sampled: each was with
// the probability 1 - exp(-size/rate), as runtime/pprof has it.
func unsampled(size, rate int64) float64 {
	if size == 0 || rate <= 1 {
		return 1
	}
	return 1 / (1 - math.Exp(-float64(size)/float64(rate)))
}

// locationsOf returns the places of a stack in a profile, but for what all goroutines end in.
func locationsOf(w *stacks.Writer, of []symbols.Place) (stack []*profile.Location) {
	for _, at := range of {
		if at.Func != "" && at.Func != "runtime.goexit" {
			stack = append(stack, w.Location(stacks.Frame{Func: at.Func, File: at.File, Line: at.Line}))
		}
	}
	return stack
}
