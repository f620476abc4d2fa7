package findings

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// CostStep is the rule of a version that costs more from a moment on at which it was not
// deployed: its requests, its configuration, its data or its machines changed.
const CostStep = "coststep"

const (
	costStepTitle = "It costs more from one moment on, without a deploy"
	// usualAfter is how long a step is shown: then it is what the service costs.
	usualAfter = 24 * time.Hour
	// restMoves is how much all other functions may have moved, beside the step, where no
	// operations are counted. More load moves all of them.
	restMoves = 0.25
	// around a step other deploys may be its cause.
	around, mostAround = 15 * time.Minute, 3
)

// A rise is a step up of what a version costs.
type rise struct {
	store.Selection // of the window
	step
	since      time.Time
	operation  bool // it is an operation's cost
	base, head part
	at         store.Frame // the function that it is in; "" where no one is
	share      float64     // of the step that is in it
	beside     []string    // what else began then
}

// A part is what a version cost over a span.
type part struct {
	store.Selection
	cpu, operations, seconds float64 // seconds are those that were profiled
	processes                int
	covered                  map[string]float64 // the part of the span that was profiled, by process
}

// by returns the divisor of the cost.
func (p *part) by(operation bool) float64 {
	if operation {
		return p.operations
	}
	return p.seconds
}

func (p *part) cost(operation bool) float64 { return p.cpu / p.by(operation) }

// cores returns the cores of all processes.
func (p *part) cores() float64 { return p.cpu / p.seconds * float64(p.processes) }

// steps returns the questions whether a version costs more since a moment, and what is known
// of such moments already and holds still.
func (j *Judge) steps(ctx context.Context, s store.Selection, all []store.Service, v *store.Service, known []store.Finding) (claims []claim, still []store.Finding, err error) {
	still, err = j.still(ctx, s, known)
	if err != nil || !sent(v, store.CPU) || v.Last.Sub(v.First) < 2*leastSide*bin {
		return nil, still, err
	}
	operation := sent(v, store.Operations)
	oneIn := v.Instances / mostStepped
	costs, err := j.costs(ctx, s, operation, oneIn)
	if err != nil {
		return nil, still, err
	}
	found, ok := stepOf(costs)
	if !ok {
		return nil, still, nil
	}
	day := s // whichever version it ran
	day.Version, day.From, day.Until = "", s.From.Add(-24*time.Hour), s.From
	if costs, err = j.costs(ctx, day, operation, oneIn); err != nil || !found.unusualInDay(costs) {
		return nil, still, err
	}
	r := &rise{Selection: s, step: found, operation: operation, since: s.From.Add(time.Duration(found.at) * bin)}
	if slices.ContainsFunc(still, func(f store.Finding) bool { return f.From.Sub(r.since).Abs() < leastSide*bin }) {
		return nil, still, nil
	}
	if ok, err = j.dearer(ctx, r); !ok || err != nil {
		return nil, still, err
	}
	r.beside = beside(all, v, s.From, r.since)
	return []claim{r}, still, nil
}

// still returns the steps of a version that were found at one of the looks before and are there now.
func (j *Judge) still(ctx context.Context, s store.Selection, known []store.Finding) (rows []store.Finding, err error) {
	for _, f := range slices.Backward(known) { // the newest row of each comes first
		ago := s.Until.Sub(f.Until)
		if f.Rule != CostStep || f.Service != s.Service || f.Version != s.Version || ago <= 0 || ago > vote.Voters*lookEvery ||
			s.Until.Sub(f.From) > usualAfter ||
			slices.ContainsFunc(rows, func(one store.Finding) bool { return one.From.Equal(f.From) && one.Function == f.Function }) {
			continue
		}
		d := detailOf(&f)
		if d.Step == nil {
			continue
		}
		base, head := s, s
		base.From, base.Until = f.From.Add(-mostSide*bin), f.From
		if head.From = s.Until.Add(-mostSide * bin); head.From.Before(f.From) {
			head.From = f.From
		}
		was, err := j.part(ctx, base)
		if err != nil {
			return nil, err
		}
		is, err := j.part(ctx, head)
		if err != nil {
			return nil, err
		}
		ratio := is.cost(d.Step.Operation) / was.cost(d.Step.Operation)
		if is.by(d.Step.Operation) > 0 && ratio >= 1+(d.Step.Ratio-1)/2 {
			f.Until, f.Instances, f.Cost = s.Until, int64(is.processes), costOf(&is, d.Step)
			rows = append(rows, f)
		}
	}
	return rows, nil
}

// costOf returns what a step costs all processes, in millionths of cores.
func costOf(now *part, s *Step) int64 { return millionths(now.cores() * (1 - 1/s.Ratio)) }

// costs returns those of the processes of a version; of more than are compared, of one in oneIn.
func (j *Judge) costs(ctx context.Context, s store.Selection, operation bool, oneIn int) ([]cost, error) {
	n := int(s.Until.Sub(s.From) / bin)
	done := map[string]cost{} // by process
	cpu := map[string]cost{}
	begin, end := s.From, s.Until
	// A few hours at a time, so that those of a large service fit.
	for s.From = begin; s.From.Before(end); s.From = s.Until {
		s.Until = s.From.Add(window)
		for _, kind := range []struct {
			store.Type
			sums map[string]cost
		}{{store.CPU, cpu}, {store.Operations, done}} {
			if s.Type = kind.Type; s.Type == store.Operations && !operation {
				continue
			}
			a, err := j.Keeper.Series(ctx, s, bin, store.ByInstance)
			if err := lacks(a.Missing, err); err != nil {
				return nil, err
			}
			for _, one := range a.Series {
				if !drawn(one.Key, oneIn) {
					continue
				}
				sums := kind.sums[one.Key]
				if sums == nil {
					sums = make(cost, n)
					kind.sums[one.Key] = sums
				}
				for _, p := range one.Points {
					sums[p.At.Sub(begin)/bin] = float64(p.Value)
				}
			}
		}
	}
	var costs []cost
	for _, name := range slices.Sorted(maps.Keys(cpu)) {
		c, by := cpu[name], done[name]
		for b, value := range c {
			c[b] = math.NaN()
			switch {
			case value <= 0:
			case !operation:
				c[b] = math.Log(value)
			case by != nil && by[b] > 0:
				c[b] = math.Log(value / by[b])
			}
		}
		costs = append(costs, c)
	}
	return costs, nil
}

// drawn tells whether a process is the one in so many that is looked at: always the same.
func drawn(name string, oneIn int) bool {
	h := fnv.New32a()
	io.WriteString(h, name)
	return h.Sum32()%uint32(max(1, oneIn)) == 0
}

// dearer tells whether a step is one of what the version costs: not of how much of it was
// profiled, nor of its load.
func (j *Judge) dearer(ctx context.Context, r *rise) (ok bool, err error) {
	before, after := sides(r.step.at, bins)
	span := func(side [2]int) store.Selection {
		s := r.Selection
		s.From, s.Until = r.From.Add(time.Duration(side[0])*bin), r.From.Add(time.Duration(side[1])*bin)
		return s
	}
	if r.base, err = j.part(ctx, span(before)); err != nil {
		return false, err
	}
	if r.head, err = j.part(ctx, span(after)); err != nil {
		return false, err
	}
	if r.base.by(r.operation) == 0 || r.head.by(r.operation) == 0 || r.base.seconds == 0 || r.head.seconds == 0 {
		return false, nil
	}
	// An operation costs more where there are fewer of them, too: what a service does
	// besides is shared by these. Then the cores hardly rise.
	if math.Log(r.head.cores()/r.base.cores()) < r.size/2 || math.Abs(profiledMore(&r.base, &r.head)) > r.size/2 {
		return false, nil
	}
	return j.where(ctx, r)
}

// profiledMore returns how much more of their time processes were profiled after, as a
// logarithm.
func profiledMore(base, head *part) float64 {
	var more []float64
	for name, was := range base.covered {
		if is, ok := head.covered[name]; ok {
			more = append(more, math.Log(is/was))
		}
	}
	return statistics.Median(more)
}

func (j *Judge) part(ctx context.Context, s store.Selection) (part, error) {
	a, err := j.Keeper.Instances(ctx, s)
	p := part{Selection: s, processes: len(a.Instances), covered: map[string]float64{}}
	for i := range a.Instances {
		one := &a.Instances[i]
		p.cpu += float64(total(one.Totals, store.CPU)) / 1e9
		p.operations += float64(total(one.Totals, store.Operations))
		p.seconds += one.Covered.Seconds()
		if there := one.Last.Sub(one.First); one.Covered > 0 && there > 0 {
			p.covered[one.Name] = float64(one.Covered) / float64(there)
		}
	}
	return p, lacks(a.Missing, err)
}

// where finds the function of a step. Without counted operations it is none where all
// else moved as well, or no function has most of it.
func (j *Judge) where(ctx context.Context, r *rise) (bool, error) {
	stacks := func(s store.Selection) (store.Stacks, error) {
		s.Type = store.CPU
		return j.stacks(ctx, s)
	}
	was, err := stacks(r.base.Selection)
	if err != nil {
		return false, err
	}
	is, err := stacks(r.head.Selection)
	if err != nil {
		return false, err
	}
	byWas, byIs := 1e9*r.base.by(r.operation), 1e9*r.head.by(r.operation)
	at, f := grown(&was, &is, byWas, byIs)
	if f == nil {
		return r.operation, nil
	}
	wasAll, isAll := float64(was.Total)/byWas, float64(is.Total)/byIs
	r.at, r.share = at, (f.TotalIs-f.TotalWas)/(isAll-wasAll)
	rest := math.Log((isAll - f.TotalIs) / (wasAll - f.TotalWas))
	return r.operation || math.Abs(rest) <= restMoves*r.size, nil
}

// beside names the versions that began at the time of a step, of whichever service.
func beside(all []store.Service, v *store.Service, begin, since time.Time) (names []string) {
	for i := range all {
		other := &all[i]
		// What begins with the window is older.
		if (other.Name == v.Name && other.Version == v.Version) || other.First.Sub(since).Abs() > around || other.First.Sub(begin) < bin {
			continue
		}
		name := other.Name
		if other.Version != "" {
			name += " " + other.Version
		}
		names = append(names, name+" ("+other.First.UTC().Format("15:04")+")")
	}
	return names[:min(len(names), mostAround)]
}

func (r *rise) chance() float64 { return r.p }

func (r *rise) stands(chance float64) bool { return chance < alpha }

// row encodes a rise for the store. Its span begins with the step.
func (r *rise) row(_ context.Context, _ *Judge, chance float64) (store.Finding, error) {
	d := Detail{Finding: r.finding(chance), Whole: true, Step: &Step{Ratio: r.ratio(), Operation: r.operation}}
	return d.row(store.Finding{Tenant: r.Tenant, Service: r.Service, Version: r.Version, From: r.since, Until: r.Until, Instances: int64(r.head.processes)})
}

// dearerBy is what of a cost is more than before, by how many times what it was it is.
var dearerBy = &fact.Formula{Name: "dearer", Words: "{0} × (1 − 1 ÷ {1})", Value: func(x []float64) float64 { return x[0] * (1 - 1/x[1]) }}

// finding says since when what costs more, in which processes and by how much.
func (r *rise) finding(chance float64) diagnosis.Finding {
	over := func(name string, n int, x float64, u fact.Unit) fact.Fact {
		return fact.OverSeries(name, string(store.CPU), n, x, u)
	}
	what, unit := "a process", fact.Cores
	if r.operation {
		what, unit = "an operation", fact.Seconds
	}
	all := len(r.each)
	times := over("CPU of "+what+", beside what it was, in the median process", all, r.ratio(), fact.Factor)
	cores := over("cores of all", r.head.processes, r.head.cores(), fact.Cores)
	f := diagnosis.Finding{
		Rule: CostStep, Title: costStepTitle, Where: place(r.at), Confidence: diagnosis.Medium,
		Cost: diagnosis.CostOf(dearerBy.Of("more than before "+r.since.UTC().Format("15:04 MST"), fact.Cores, cores, times), 0),
		Remedy: diagnosis.Remedy{Text: "Find what changed at that time besides the program: its configuration, a feature flag, its requests, " +
			"data that outgrew a cache, a service that it calls, its machines."},
		Prove: "Undo what changed then: within an hour this is gone.",
	}
	f.Say("Since %s %s of %s takes %s the CPU that it took, in %s of %s processes, and no other version was deployed to them then.",
		fact.Name(r.since.UTC().Format("2006-01-02 15:04 MST")), fact.Name(what), fact.Name(r.Service), times,
		over("processes that it rose in", all, float64(r.dearer()), fact.Count), over("processes compared", all, float64(all), fact.Count))
	f.Rest(over("CPU of "+what, r.head.processes, r.head.cost(r.operation), unit), over("CPU of "+what+" before", r.base.processes, r.base.cost(r.operation), unit),
		cores, over("cores of all before", r.base.processes, r.base.cores(), fact.Cores),
		over("probability without a step, for all services and moments together", all, chance, fact.Ratio))
	if r.at.Function != "" {
		share := over("part of that in "+r.at.Function, r.head.processes, max(0, min(1, r.share)), fact.Ratio)
		f.Rest(share)
		f.Summary += fact.Sentence(" %s of that is in %s.", share, fact.Name(r.at.Function))
	}
	if len(r.beside) > 0 {
		names := strings.Join(r.beside, ", ")
		f.Summary += " Deployed at about that time: " + names + "."
		f.Remedy.Text = "Look first at what was deployed at about that time: " + names + ". " + f.Remedy.Text
	}
	if all < manyProcesses {
		f.Confidence = diagnosis.Low
		f.Reasons = []string{fmt.Sprintf("fewer than %d processes: their times had to decide", manyProcesses)}
	}
	return f
}
