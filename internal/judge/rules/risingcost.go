package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed risingcost.md
var risingcostPage string

var risingcost = &diagnosis.Rule{
	Name:     "risingcost",
	Title:    "The same operation takes more CPU the longer the program runs",
	Doc:      risingcostPage,
	Needs:    []model.Source{model.KernelCPU},
	Explains: []string{"hotfunction"},
	Check:    checkRisingcost,
}

const (
	// risingFactor is by how much the CPU of an operation must rise from the first third to
	// the last, by the low end of its interval. A list that begins empty takes 5 times as
	// much, one that doubles 1.6 times. A tree of 10,000 that grows as fast takes 1.2 times
	// as much, and a busy neighbour in the same core 1.3. Forty servers of the field, whose
	// problems are others if they have any, are between 0.65 and 1.1.
	risingFactor = 1.5
	// risingShare is the part of the last third's CPU that must have been added. It grows
	// on, so that less than the usual tenth is worth a word.
	risingShare = 0.05
	// risingChance is how often the rule may be wrong by chance alone, in all of the functions
	// that it looks at together: once in a hundred runs, since nearly all runs are well.
	risingChance = 0.01
	// risingSamples is how many samples a function must have to be looked at: fewer than
	// 20 have no interval above risingFactor, even when all are in the last third.
	risingSamples = 20
	// risingRate is by how much the rate may differ between thirds: at another rate an
	// operation takes another time, for what is done by the clock and in batches.
	risingRate = 1.25
	// risingLength is the shortest course: a load is counted by the second, and each third
	// must have its own.
	risingLength = 4 * time.Second
)

// A rise is the functions whose CPU by operation rises.
type rise struct {
	course *model.Course
	places []cpu.Line // that with most samples first
	growth statistics.Growth
	rest   statistics.Growth // of all other samples
	others float64           // how many these are
	looked int               // functions
	cpu    []float64         // samples in the functions, by piece
	all    []float64         // in the program
}

func checkRisingcost(p *diagnosis.Pass) {
	s, ok := cpu.UseOf(p)
	c := p.Model.Course()
	if !ok || c == nil || s.Believed != model.KernelCPU || c.To-c.From < risingLength || slices.Min(c.Operations) <= 0 {
		p.Lacks("no operations were counted beside the kernel's samples in each third of four seconds or more",
			p.SteadyLoad("60s"))
		return
	}
	if rate := rateChange(c); rate > risingRate && !slowsItself(p.Model, c) {
		p.Unchecked("whether an operation takes more CPU as time goes on",
			fact.Sentence("a third of the recording has %s times as many operations as another, and their CPU depends on the rate",
				coursePart(p, c, "operations by third", "rate of a third by that of another", rate, fact.Factor).Number()),
			p.SteadyLoad("10s")+"   # the same rate all the time that is recorded")
		return
	}
	r := findRise(p, &s, c)
	if len(r.places) > 0 {
		p.Report(risingFinding(p, &s, &r))
	} else if whole := statistics.PoissonGrowth(r.all, c.Operations, 1-risingChance); whole.High < risingFactor {
		p.Fine(fact.Sentence("CPU of an operation: in the last third of the recording %s times that in the first", rateFact(p, "growth", whole.Ratio).Number()))
	}
}

// thirds returns the sums of the first, the second and the last third of some pieces.
func thirds(pieces []float64) (sum [3]float64) {
	for i, v := range pieces {
		sum[i*len(sum)/len(pieces)] += v
	}
	return sum
}

// rateChange returns the largest rate of a third by the smallest.
func rateChange(c *model.Course) float64 {
	t := thirds(c.Operations)
	return statistics.Quotient(slices.Max(t[:]), slices.Min(t[:]))
}

// slowsItself reports whether a rate that falls is the program's doing: a closed loop
// asks less often when each operation takes longer.
func slowsItself(m *model.Model, c *model.Course) bool {
	t := thirds(c.Operations)
	return m.Load != nil && m.Load.Closed && t[0] >= t[1] && t[1] >= t[2]
}

// findRise finds the functions of the program whose CPU by operation rises, and by more
// than the rest of the program's: what a slower machine does to all is no growth. Without
// a rest nobody knows.
func findRise(p *diagnosis.Pass, s *cpu.Use, c *model.Course) rise {
	samples := s.Profile.Samples
	count := func(pieces []float64) float64 { t := thirds(pieces); return t[0] + t[1] + t[2] }
	at := func(places ...cpu.Line) []float64 {
		in := cpu.MatchLines(places)
		return c.Samples(func(i int) bool { return in(&samples[i]) })
	}
	seen := s.Functions(p.Model, func(frames []model.Frame) bool { return !cpu.Collects(frames) })
	seen = slices.DeleteFunc(seen, func(f cpu.Line) bool { return count(at(f)) < risingSamples })
	r := rise{course: c, looked: len(seen), all: c.Samples(nil)}
	level := 1 - risingChance/float64(max(1, r.looked))
	times := slices.Repeat([]float64{1}, len(r.all))
	remain := func(least float64) { // those that rise by so much are left
		seen = slices.DeleteFunc(seen, func(f cpu.Line) bool {
			n := at(f)
			g := statistics.PoissonGrowth(n, c.Operations, level)
			// A loop that slows itself leaves more time to whatever runs beside it: that
			// alone is by operation more, and by second the same.
			return !g.Steady || g.Low < least || rateChange(c) > risingRate && statistics.PoissonGrowth(n, times, level).Low < 1
		})
		r.places, r.cpu = seen, at(seen...)
		r.growth = statistics.PoissonGrowth(r.cpu, c.Operations, level)
		others := slices.Clone(r.all)
		for i, n := range r.cpu {
			others[i] -= n
		}
		r.others = count(others)
		r.rest = statistics.PoissonGrowth(others, c.Operations, level)
	}
	remain(risingFactor)
	remain(risingFactor * max(1, r.rest.Ratio))
	if all, spent := thirds(r.all), thirds(r.cpu); r.others < risingSamples || spent[2]*(1-statistics.Quotient(1, r.growth.Ratio)) < risingShare*all[2] {
		r.places = nil
	}
	return r
}

// coursePart returns a number of the operations as they went along.
func coursePart(p *diagnosis.Pass, c *model.Course, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.LoadResults, c.Counted.From+": "+what, name, v, u).From(c.Counted.Source)
}

// timedFact returns a number of the kernel's samples by their times.
func timedFact(p *diagnosis.Pass, what, name string, v float64, u fact.Unit) fact.Fact {
	return p.Statistic(fact.Account, "samples by their times: "+what, name, v, u).From(model.KernelCPU)
}

func rateFact(p *diagnosis.Pass, name string, v float64) fact.Fact {
	return timedFact(p, "by operation, last third by first", name, v, fact.Factor)
}

func risingFinding(p *diagnosis.Pass, s *cpu.Use, r *rise) diagnosis.Finding {
	count, nanos := s.Profile.Columns()
	var n, ns float64
	for i := range s.Profile.Samples {
		n, ns = n+s.Profile.Samples[i].Value(count), ns+s.Profile.Samples[i].Value(nanos)
	}
	ops, spent, all := thirds(r.course.Operations), thirds(r.cpu), thirds(r.all)
	time := func(name string, samples float64) fact.Fact {
		return timedFact(p, "time", name, samples*statistics.Quotient(ns/1e9, n), fact.Seconds)
	}
	firstOps := coursePart(p, r.course, "first third", "operations in the first third", ops[0], fact.Count)
	lastOps := coursePart(p, r.course, "last third", "operations in the last third", ops[2], fact.Count)
	cpuLast := time("its CPU time in the last third", spent[2])
	first := fact.Quotient.Of("CPU time of an operation in it, first third", fact.Seconds, time("its CPU time in the first third", spent[0]), firstOps)
	last := fact.Quotient.Of("CPU time of an operation in it, last third", fact.Seconds, cpuLast, lastOps)
	low, high := rateFact(p, "interval of the growth, from", r.growth.Low), rateFact(p, "interval of the growth, to", r.growth.High)
	third := timedFact(p, "length", "a third", (r.course.To-r.course.From).Seconds()/3, fact.Seconds)
	even := fact.Product.Of("CPU time of these if each took what it took in the first", fact.Seconds, first, lastOps)
	added := fact.Difference.Of("CPU time added in the last third", fact.Seconds, cpuLast, even)
	cores := fact.Quotient.Of("CPU in use beyond what operations took in the first third", fact.Cores, added, third)
	share := fact.Quotient.Of("part of all CPU in the last third", fact.Ratio, added, time("CPU time in the last third", all[2])).Value
	whole := fact.Quotient.Of("CPU in it in the last third", fact.Cores, cpuLast, third)
	looked := timedFact(p, "functions with enough", "functions compared", float64(r.looked), fact.Count)
	f := diagnosis.Finding{
		Where:    cpu.Places(r.places, cpu.MostNamed),
		Stacks:   cpu.Stacks(r.places, len(r.places)),
		Evidence: []fact.Fact{first, last, low, high, firstOps, lastOps, whole},
		Cost:     diagnosis.CostOf(cores, share),
		Bound: diagnosis.Estimate(cores, whole.Value*(1-1/r.growth.Low), whole.Value, diagnosis.CPUGoal, share,
			"what was added during the recording at the least, all of the function's CPU at the most; it goes on growing"),
		Confidence: diagnosis.Medium,
		Reasons: []string{fact.Sentence("one kind of evidence, the "+s.Source+" with %s in it; the interval allows for the %s compared",
			timedFact(p, "in it", "samples in it", spent[0]+spent[1]+spent[2], fact.Count).Things("sample"), looked.Things("function"))},
		RuledOut: []string{
			"warming up: caches that fill make an operation take less, not more",
			fact.Sentence("more load: the first third had %s operations and the last %s", firstOps, lastOps),
			"another phase of the program: its CPU would begin at once, and this rises all the time",
			fact.Sentence("a slower machine: an operation takes %s times the CPU in the rest of the program", rateFact(p, "growth of the rest", r.rest.Ratio).Number()),
		},
		Remedy: diagnosis.Remedy{
			Text: "Find what has one more entry after each operation and is walked through or copied by the next: " +
				"a slice that is searched, sorted or compacted each time, a map that is copied to be handed out, " +
				"a list of subscribers, handlers or history that nobody leaves. " +
				"Look entries up by a key, remove what is done with, bound what is kept.",
			Code: "index map[Key]*Item // in the place of items []*Item and a search through them\n" +
				"for len(history) > limit {\n\thistory = history[1:]\n}",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Let it run as long as the recording, or longer: what grows is cheap when it begins."),
	}
	f.Say("An operation took %s in %s in the first third of the recording and %s in the last, at least %s times as much: "+
		"its cost grows with what the program has done before.",
		first, code.Name(r.places[0].Function), last, low.Number())
	return f
}
