package memory

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// StackGrowth returns by how much what is in use of each stack grew between the heap
// profiles of the ends of the run, nil without both.
func StackGrowth(m *model.Model, column string) map[model.Stack]float64 {
	if m.LiveHeap.Start == nil || m.LiveHeap.End == nil {
		return nil
	}
	sum := map[model.Stack]float64{}
	addSamples(sum, m.LiveHeap.Start, column, -1)
	addSamples(sum, m.LiveHeap.End, column, 1)
	return sum
}

func addSamples(sum map[model.Stack]float64, profile *model.Profile, column string, sign float64) {
	value := profile.Column(column)
	for i := range profile.Samples {
		sum[profile.Samples[i].Stack] += sign * profile.Samples[i].Value(value)
	}
}

// SurvivingStacks returns those most of whose objects of the window are still there
// at its end. Both numbers are of the same collection, so that what is garbage
// that nobody collected yet is in neither.
func SurvivingStacks(m *model.Model) map[model.Stack]bool {
	if m.Heap == nil {
		return nil
	}
	made, out := map[model.Stack]float64{}, map[model.Stack]bool{}
	addSamples(made, m.Heap, "alloc_objects", 1)
	for stack, objects := range StackGrowth(m, "inuse_objects") {
		out[stack] = objects > 0 && objects >= survivingPart*made[stack]
	}
	return out
}

// addRemade adds those that make a slice or a map anew as it grows: what is left of it are
// the last and largest pieces.
func addRemade(m *model.Model, surviving map[model.Stack]bool) {
	if m.Heap == nil {
		return
	}
	made, madeBytes := map[model.Stack]float64{}, map[model.Stack]float64{}
	addSamples(made, m.Heap, "alloc_objects", 1)
	addSamples(madeBytes, m.Heap, "alloc_space", 1)
	objects := StackGrowth(m, "inuse_objects")
	for stack, bytes := range StackGrowth(m, "inuse_space") {
		if bytes > 0 && bytes >= remadePart*madeBytes[stack] && bytes*made[stack] >= remadeLarger*madeBytes[stack]*objects[stack] {
			surviving[stack] = true
		}
	}
}

// ObjectGrowth returns by how many the objects in use of some stacks grew.
func ObjectGrowth(p *diagnosis.Pass, stacks []model.Stack) fact.Fact {
	return fact.Difference.Of("more objects in use", fact.Count, p.Samples("objects in use at the end", "inuse_objects", code.MatchStacks(stacks)),
		p.SamplesAtStart("objects in use at the start", "inuse_objects", code.MatchStacks(stacks)))
}

// survivingPart is the part of a stack's objects from which it keeps
// them: what only serves an operation has next to none left, what is kept
// all but those of the last moment.
const survivingPart = 0.5

// remadePart is the part of a stack's bytes from which it keeps what grows by being
// made anew: of a slice that grows by a quarter each time a fifth is the last one, of a
// map or a slice that doubles half. remadeLarger is how many times as large as those
// made what is left is then: of garbage that marking found alive, which is a half of all
// where others have the machine, it is as large.
const remadePart = 0.2

const remadeLarger = 1.25
