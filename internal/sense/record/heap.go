package record

import (
	"math"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

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
	c.r.keep(member, memoryProfile(h, c.heap.Frames), nil)
}

// memoryProfile is in the form of runtime/pprof's profile of the heap.
func memoryProfile(h *goroutines.Heap, frames func(*goroutines.Site) []symbols.Place) *profile.Profile {
	p := &profile.Profile{
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: h.Rate, TimeNanos: h.Time.UnixNano(),
		DefaultSampleType: "inuse_space", Comments: []string{heapComment},
	}
	for _, kind := range []string{"alloc", "inuse"} {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: kind + "_objects", Unit: "count"}, &profile.ValueType{Type: kind + "_space", Unit: "bytes"})
	}
	in := placesOf(p)
	for i := range h.Sites {
		s := &h.Sites[i]
		if s.Allocs == 0 {
			continue
		}
		sample := &profile.Sample{Location: in.stack(frames(s)), NumLabel: map[string][]int64{"bytes": {s.Size}}}
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

// places are the functions and lines that a profile has, each once.
type places struct {
	p         *profile.Profile
	functions map[symbols.Place]*profile.Function
	locations map[symbols.Place]*profile.Location
}

func placesOf(p *profile.Profile) *places {
	return &places{p, map[symbols.Place]*profile.Function{}, map[symbols.Place]*profile.Location{}}
}

func (in *places) stack(of []symbols.Place) (stack []*profile.Location) {
	for _, at := range of {
		if at.Func != "" && at.Func != "runtime.goexit" {
			stack = append(stack, in.location(at))
		}
	}
	return stack
}

func (in *places) location(at symbols.Place) *profile.Location {
	if l := in.locations[at]; l != nil {
		return l
	}
	of := symbols.Place{Func: at.Func, File: at.File}
	f := in.functions[of]
	if f == nil {
		f = &profile.Function{ID: uint64(len(in.p.Function) + 1), Name: at.Func, SystemName: at.Func, Filename: at.File}
		in.functions[of], in.p.Function = f, append(in.p.Function, f)
	}
	l := &profile.Location{ID: uint64(len(in.p.Location) + 1), Line: []profile.Line{{Function: f, Line: int64(at.Line)}}}
	in.locations[at], in.p.Location = l, append(in.p.Location, l)
	return l
}
