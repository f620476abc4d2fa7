package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed freshrand.md
var freshrandPage string

var freshrand = &diagnosis.Rule{
	Name:  "freshrand",
	Title: "A new source of random numbers is seeded again and again",
	Doc:   freshrandPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"allocchurn", "gccost", "tinyheap"}, // only where it makes most of the garbage
	Check:    checkFreshrand,
}

const (
	// freshShare is the share of the CPU in seeding from which it is an illness,
	// and freshSamples the fewest samples that show it: one source takes
	// 8.5 µs, so that a program that makes its few at the start is at 0. A DNS
	// server with one for each query spent 2.2 times the CPU, more than half of
	// it here.
	freshShare   = minShare
	freshSamples = 10
)

// seeding is what makes a source of random numbers: each fills 607 words.
var seeding = &remake{
	functions: []string{"math/rand.(*rngSource).Seed", "math/rand.seedrand", "math/rand.NewSource", "math/rand.newSource"},
	what:      "seeding random number sources",
	text:      "Use the functions of math/rand/v2: they need no source, no seed and no lock. Where a sequence must be repeatable, keep one *rand.Rand for each goroutine and make it with rand.New(rand.NewPCG(a, b)), which is two words. math/rand's own functions take no lock either as long as nothing seeds them.",
	code:      "import \"math/rand/v2\"\n\nn := rand.IntN(len(records)) // in the place of rand.New(rand.NewSource(time.Now().UnixNano())).Intn(…)",
}

func checkFreshrand(p *diagnosis.Pass) {
	s, ok := spentCPU(p)
	if !ok {
		return
	}
	sites := s.functions(p.Model, seeding.made)
	share, n := 0.0, int64(0)
	for _, site := range sites {
		share, n = share+site.share, n+site.samples
	}
	if share < freshShare || n < freshSamples {
		return
	}
	f := remakeFinding(p, &s, seeding, sites)
	f.Title = ""
	f.Summary = fmt.Sprintf("%s of the CPU in use goes into seeding new sources of random numbers, most of it for %s.", pct(share), short(sites[0].Function))
	f.Evidence = append(f.Evidence, sourcesMade(p.Model)...)
	f.Experiment.Note = "Allocations per operation are a count and show in one run whether sources are still made: each is an object of 5 KB."
	f.RuledOut = append(f.RuledOut,
		"drawing numbers: only the making and seeding of sources is counted",
		"the lock of math/rand's functions, which is what a source for each call is meant to avoid: "+unlockedRand.version()+" took it away, and a source costs more than the lock did")
	p.Report(f)
}

// sourcesMade is what an allocs profile says of them.
func sourcesMade(m *model.Model) []fact.Fact {
	if m.Heap == nil {
		return nil
	}
	objects, bytes := m.Heap.Column("alloc_objects"), m.Heap.Column("alloc_space")
	var made, allObjects, held, allBytes float64
	for i := range m.Heap.Samples {
		s := &m.Heap.Samples[i]
		allObjects, allBytes = allObjects+s.Value(objects), allBytes+s.Value(bytes)
		if slices.ContainsFunc(m.Stacks.Frames(s.Stack), func(f model.Frame) bool {
			return strings.HasPrefix(f.Func, "math/rand.NewSource") || strings.HasPrefix(f.Func, "math/rand.newSource") || f.Func == "math/rand.New"
		}) {
			made, held = made+s.Value(objects), held+s.Value(bytes)
		}
	}
	if made == 0 {
		return nil
	}
	return []fact.Fact{
		{Name: "share of objects that are such sources", Value: div(made, allObjects), Unit: fact.Ratio, Source: "allocs profile"},
		{Name: "share of bytes that are such sources", Value: div(held, allBytes), Unit: fact.Ratio, Source: "allocs profile"},
	}
}
