package rules

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// poolkeptLeast is the least that grown buffers must hold, and poolkeptPart the part of
	// all that is in use.
	poolkeptLeast = 32 << 20
	poolkeptPart  = 0.5
	// poolkeptLarge is the mean size from which one is large: 53 buffers of 3 MiB held 159 MiB
	// for requests of which 99 in 100 need 200 bytes.
	poolkeptLarge = 256 << 10
)

// bufferGrowth are functions that make a buffer larger.
var bufferGrowth = []string{"bytes.growSlice", "bytes.(*Buffer).", "strings.(*Builder).", "slices.Grow"}

// fromPool reports whether a pool makes something because it has none.
func fromPool(frames []model.Frame) bool {
	return code.ContainsAny(frames, []string{"sync.(*Pool).Get"})
}

// checkPoolkept looks for pools whose buffers grew and stay large: memory in use that a
// function made by growing a buffer, which takes it from a pool and gives it back.
func checkPoolkept(p *diagnosis.Pass) {
	users, surviving := poolUsers(p), memory.SurvivingStacks(p.Model)
	by, stacks := map[string]float64{}, map[string][]model.Stack{}
	for stack, bytes := range memory.StackGrowth(p.Model, "inuse_space") {
		frames := p.Model.Stacks.Frames(stack)
		place, ok := diagnosis.UserPlace(frames)
		if ok && surviving[stack] && users[place.Function] && code.ContainsPrefix(frames, bufferGrowth) && !fromPool(frames) {
			by[place.Function] += bytes
			stacks[place.Function] = append(stacks[place.Function], stack)
		}
	}
	order := statistics.Largest(by)
	if len(order) == 0 {
		return
	}
	grown := stacks[order[0]]
	slices.Sort(grown)
	held := p.Samples("held by buffers that grew", "inuse_space", code.MatchStacks(grown))
	part := fact.Fraction.Of("part of all that is in use", fact.Ratio, held, p.Samples("in use", "inuse_space", nil))
	each := fact.Quotient.Of("size of one, mean", fact.Bytes, held, p.Samples("buffers that grew", "inuse_objects", code.MatchStacks(grown)))
	if held.Value >= poolkeptLeast && part.Value >= poolkeptPart && each.Value >= poolkeptLarge {
		p.Report(poolkeptFinding(p, grown, held, part, each))
	}
}

// poolUsers returns the functions in which samples were taken while they took from a pool or gave
// back.
func poolUsers(p *diagnosis.Pass) map[string]bool {
	users := map[string]bool{}
	for _, profile := range []*model.Profile{p.Model.CPU, fact.ProfileOf(p.Model, "kernel"), p.Model.Heap} {
		if profile == nil {
			continue
		}
		for i := range profile.Samples {
			frames := p.Model.Stacks.Frames(profile.Samples[i].Stack)
			if j := slices.IndexFunc(frames, func(f model.Frame) bool { return strings.HasPrefix(f.Func, "sync.(*Pool).") }); j >= 0 {
				place, _ := diagnosis.UserPlace(frames[j:])
				users[place.Function] = place.Function != ""
			}
		}
	}
	return users
}

func poolkeptFinding(p *diagnosis.Pass, grown []model.Stack, held, part, each fact.Fact) diagnosis.Finding {
	place := code.UserPlace(p, grown...)
	f := diagnosis.Finding{
		Title:      "A sync.Pool keeps buffers that grew large",
		Where:      code.Places(place),
		Stacks:     grown,
		Evidence:   []fact.Fact{held, part, each},
		Cost:       diagnosis.CostOf(held, part.Value),
		Bound:      diagnosis.Limit(held, diagnosis.MemoryGoal, part.Value, "as if none of them were kept; those that are at work stay"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"two kinds of evidence agree: the heap profiles show buffers that grew and are still there, and samples that the " +
			"function uses a pool", "that it is the pool which keeps them is inferred"},
		RuledOut: []string{fact.Sentence("buffers that the pool's New makes: these grew later, to %s each", each)},
		Groups:   code.GroupsOfStacks(p.Model, grown),
		Explains: []string{"heapgrowth"},
		Remedy: diagnosis.Remedy{
			Text: "Give back only what is as small as most uses need, and leave the rest to the collector: one large answer makes a " +
				"buffer large for good, and in time each of the pool's is. Or keep pools for several sizes.",
			Code: "if b.Cap() <= 64<<10 {\n\tb.Reset()\n\tpool.Put(b)\n}",
		},
		Experiment: codeChange(diagnosis.LiveHeap, diagnosis.PeakRSS, "Allocations may rise a little: large buffers are made anew."),
	}
	f.Say("Buffers that grew in %s hold %s, %s of all that is in use, %s each: it takes them from a sync.Pool, "+
		"which keeps them as large as they ever were.",
		code.Name(place.Function), held, part, each)
	return f
}
