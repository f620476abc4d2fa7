package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed goroutinechurn.md
var goroutinechurnPage string

var goroutinechurn = &diagnosis.Rule{
	Name:  "goroutinechurn",
	Title: "CPU spent on starting and ending goroutines",
	Doc:   goroutinechurnPage,
	Needs: []model.Source{model.Trace},
	Check: checkGoroutinechurn,
}

const (
	// churnRate is how many goroutines a second are worth a look. A consumer
	// that started 45,000 a second lost nothing measurable by it, and gained
	// nothing from a pool, so the rate alone never makes a finding.
	churnRate = 10_000
	// churnShare is the share of CPU in starting and ending them from which
	// the cure can be seen at all: 5 % is what twenty interleaved rounds tell
	// from noise on an ordinary machine.
	churnShare = 0.05
)

// churnFunctions are the runtime's way in and out of a goroutine.
// runtime.goexit is not among them: it is at the root of every stack.
var churnFunctions = map[string]bool{
	"runtime.newproc": true, "runtime.newproc1": true, "runtime.newproc.func1": true, "runtime.malg": true,
	"runtime.gfget": true, "runtime.gfput": true, "runtime.goexit0": true, "runtime.goexit1": true, "runtime.gdestroy": true,
}

func checkGoroutinechurn(p *diagnosis.Pass) {
	groups := createdMost(p)
	var created int
	for _, g := range groups {
		created += g.Created
	}
	rate := div(float64(created), p.Seconds())
	if rate < churnRate {
		return
	}
	share, n := p.CPUShare(func(f string) bool { return churnFunctions[f] })
	all, samples := diagnosis.CPUTime(p.Model)
	if samples < diagnosis.ThinSamples {
		p.Unchecked("what "+num(rate)+" new goroutines a second cost",
			fmt.Sprintf("the rate alone says nothing, and there are %s CPU samples", num(samples)),
			diagnosis.HowToGet(model.CPU))
		return
	}
	if share < churnShare {
		p.Fine(fmt.Sprintf("goroutine churn: %s started a second cost %s of the CPU", num(rate), pct(share)))
		return
	}
	if own := ofLibrary(p, groups); 2*own >= created {
		p.Fine(fmt.Sprintf("goroutine churn: %s started a second cost %s of the CPU; most are the standard library's own, like %s", num(rate), pct(share), short(groupName(groups[0].Name))))
		return
	}
	cores := share * div(all.Seconds(), p.Model.CPU.Duration.Seconds())
	p.Report(churnFinding(p, groups, rate, share, cores, n))
}

// ofLibrary counts goroutines that the standard library starts and runs, as
// net/http's server does for each request: there is nothing to change in the
// program. A benchmark of net/http spends 6 % of its CPU so.
func ofLibrary(p *diagnosis.Pass, groups []*model.Group) (created int) {
	for _, g := range groups {
		_, start := p.GroupPlace(g)
		if _, creator := p.UserPlace(g.Creator); !start && !creator {
			created += g.Created
		}
	}
	return created
}

// createdMost is the groups with new goroutines, most first.
func createdMost(p *diagnosis.Pass) (gs []*model.Group) {
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; g.Created > 0 && !g.System {
			gs = append(gs, g)
		}
	}
	slices.SortStableFunc(gs, func(a, b *model.Group) int { return cmp.Compare(b.Created, a.Created) })
	return gs
}

func churnFinding(p *diagnosis.Pass, groups []*model.Group, rate, share, cores float64, samples int64) diagnosis.Finding {
	g := groups[0]
	creator, _ := p.UserPlace(g.Creator)
	start, _ := p.GroupPlace(g)
	mean := div(g.Times.Running.Seconds(), float64(g.Count))
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s goroutines a second are started and ended, most of them %s, and %s of the CPU goes into that.",
			num(rate), short(groupName(g.Name)), pct(share)),
		Where: where(creator, start),
		Evidence: []fact.Fact{
			{Name: "goroutines started", Value: rate, Unit: fact.PerSec, Source: "trace: goroutine groups"},
			{Name: "CPU in starting and ending goroutines", Value: share, Unit: fact.Ratio, Source: "CPU profile: newproc, malg, goexit0 and their callees"},
			{Name: "CPU samples in them", Value: float64(samples), Unit: fact.Count, Source: "CPU profile"},
			{Name: "work of one goroutine, mean", Value: mean, Unit: fact.Seconds, Source: "trace: goroutine groups"},
		},
		Cost: diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU in starting and ending goroutines"},
		Bound: diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method:  "Amdahl: 0 to this share of the CPU, if no goroutine had to be started. A pool puts a channel in its place, which costs as well; scheduling them comes on top",
			Partial: true,
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace counts the goroutines and the CPU profile shows their cost"},
		RuledOut:   []string{"a high rate that costs nothing: the CPU profile has the runtime's share"},
		Remedy: diagnosis.Remedy{
			Text: "Give each goroutine more to do: start one for a batch of items, or run the item where it is when it never blocks. A pool of workers is a hypothesis to be measured, not a cure: in the consumer that this rule was made after it changed nothing.",
			Code: "for batch := range slices.Chunk(items, 64) {\n\tgo func() {\n\t\tfor _, it := range batch {\n\t\t\thandle(it)\n\t\t}\n\t}()\n}",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Goroutines started per operation are a count and show whether the change did what it was meant to, but not that it helped: a pool starts none and may cost as much. If CPU time per operation stays the same, this finding is refuted."),
	}
	for _, g := range groups[:min(len(groups), 3)] {
		f.Groups = append(f.Groups, g.Name)
	}
	return f
}
