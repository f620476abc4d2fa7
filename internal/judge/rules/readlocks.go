package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed readlocks.md
var readlocksPage string

var readlocks = &diagnosis.Rule{
	Name:     "readlocks",
	Title:    "Read locks cost more than what they protect",
	Doc:      readlocksPage,
	Explains: []string{"hotfunction"},
	// No Needs: either kind of CPU samples will do.
	Check: checkReadlocks,
}

const (
	// readlockShare is the share of the CPU in taking and giving read locks:
	// the catalogue's figure. Four goroutines that read a small map under one
	// are at 87%; a lock of 20 ns around 2 µs of work is at 1%.
	readlockShare = 0.05
	// readlockNamed is how many places a finding names.
	readlockNamed = 3
)

var readLockFunctions = []string{"sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).rUnlockSlow", "sync.(*RWMutex).TryRLock"}

// readLocks reports whether a sample is inside the lock itself, waiting left
// out: who waits there for a writer uses no CPU.
func readLocks(frames []model.Frame) bool {
	return code.ContainsAny(frames, readLockFunctions)
}

// lockAndLines is what goes with read locks at most: who waits for the lock's cache line is
// as often found at the instructions behind the one that asks for it, in what the lock
// protects. Four goroutines that took one for each of the articles of an order were at 60% in
// the lock, and 81% went when they took it once.
var lockAndLines = &fact.Formula{Name: "a lock and its lines", Words: "Amdahl: as if the least of CPU in {0} and twice that in {1} cost nothing",
	Value: func(x []float64) float64 { return min(x[0], 2*x[1]) }}

// readLocksSaved returns that, by the functions that take them.
func readLocksSaved(s *cpu.Use, sites []cpu.Line) fact.Fact {
	var takers []string
	for i := range sites {
		takers = append(takers, sites[i].Function)
	}
	return lockAndLines.Of("CPU in read locks and waiting for their cache lines", fact.Ratio,
		s.MaxSaving("functions that take read locks", func(frames []model.Frame) bool { return code.ContainsAny(frames, takers) }),
		s.MaxSaving("read locks", readLocks))
}

func checkReadlocks(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	share := s.ShareIn("CPU in taking and giving read locks", readLocks)
	sites := s.Places(p.Model, readLocks)
	if share.Value < readlockShare || len(sites) == 0 {
		if share.Value > 0 {
			p.Fine(fact.Sentence("read locks: %s of the CPU", share))
		}
		return
	}
	most := s.ShareIn("of that in "+code.Short(sites[0].Function), func(frames []model.Frame) bool {
		place, _ := diagnosis.UserPlace(frames)
		return readLocks(frames) && place == sites[0].Place
	})
	stacks := cpu.Stacks(sites, readlockNamed)
	f := diagnosis.Finding{
		Where:      cpu.Places(sites, readlockNamed),
		Evidence:   []fact.Fact{share, s.InUse(), most},
		Cost:       s.Cost(share),
		Bound:      s.Limit(readLocksSaved(&s, sites), "an atomic pointer to a copy comes near it, another lock does not"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			s.Witness(),
			"where a sample falls between two instructions that wait for the same cache line is not exact",
		},
		RuledOut: []string{
			"readers waiting for a writer: waiting uses no CPU and is not counted",
			"what is done under the lock: only the lock's own functions are counted",
		},
		Stacks: stacks,
		Groups: code.GroupsOfStacks(p.Model, stacks),
		Remedy: diagnosis.Remedy{
			Text: "Make a changed copy and swap it in, so that readers load one pointer, where the data changes seldom. " +
				"Every reader writes to the lock's counter: readers on several cores take its cache line from each other, " +
				"and a section of a few nanoseconds is smaller than the lock around it. Where it changes often and the section is short, " +
				"a plain Mutex costs half as many atomic operations. Or read once for many operations. " +
				"sync.Map suits keys that are written once.",
			Code: "var table atomic.Pointer[map[string]Zone]\n\nzone, ok := (*table.Load())[name] // readers\n\nnext := maps.Clone(*table.Load()) // the writer, under a mutex of its own\nnext[name] = zone\ntable.Store(&next)",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "On one or two cores it may bring little, and more allocations where every change copies; "+
			"if CPU time per operation stays, this finding is refuted here. Measure with as many cores as in production."),
	}
	f.Say("Taking and giving read locks takes %s of the CPU in use, most of it for those of %s.", share, code.Name(sites[0].Function))
	p.Report(f)
}
