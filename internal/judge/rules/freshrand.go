package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed freshrand.md
var freshrandPage string

var freshrand = &diagnosis.Rule{
	Name:  "freshrand",
	Title: "A random source is seeded for every use",
	Doc:   freshrandPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"allocchurn", "gccost", "tinyheap"}, // only where it makes most of the garbage
	Check:    checkFreshrand,
}

const (
	// freshShare is the share of the CPU in seeding from which it is a problem,
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
	what:      "seeding new sources of random numbers",
	text: "Use the functions of math/rand/v2: they need no source, no seed and no lock. Where a sequence must be repeatable, " +
		"keep one *rand.Rand for each goroutine and make it with rand.New(rand.NewPCG(a, b)), which is two words. " +
		"math/rand's own functions take no lock either as long as nothing seeds them.",
	code: "import \"math/rand/v2\"\n\nn := rand.IntN(len(records)) // in the place of rand.New(rand.NewSource(time.Now().UnixNano())).Intn(…)",
}

func checkFreshrand(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	sites := s.Functions(p.Model, seeding.matches)
	share := s.ShareAt("CPU in "+seeding.what, sites...)
	if share.Value < freshShare || s.SamplesAt(sites).Value < freshSamples {
		return
	}
	f := remakeFinding(p, &s, seeding, sites, share)
	f.Title = ""
	f.Rest(sourcesMade(p)...)
	f.Experiment.Note = "Allocations per operation are a count and show in one run whether sources are still made: each is an object of 5 KB."
	f.RuledOut = append(f.RuledOut,
		"drawing numbers: only the making and seeding of sources is counted",
		"the lock of math/rand's functions, which is what a source for each call is meant to avoid: "+
			unlockedRand.version()+" took it away, and a source costs more than the lock did")
	p.Report(f)
}

// sourcesMade measures what an allocs profile says of them.
func sourcesMade(p *diagnosis.Pass) []fact.Fact {
	source := p.Frames(func(frames []model.Frame) bool {
		return code.ContainsPrefix(frames, []string{"math/rand.New", "math/rand.newSource"})
	})
	objects := p.SampleShare("share of objects that are such sources", "alloc_objects", source)
	if objects.Value == 0 {
		return nil
	}
	return []fact.Fact{objects, p.SampleShare("share of bytes that are such sources", "alloc_space", source)}
}
