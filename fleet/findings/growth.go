package findings

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A level is a type that may grow without end.
type level struct {
	store.Type
	rule, what, remedy string
	unit               fact.Unit
	amount             fact.Unit // of the level itself
	least              float64   // growth in the window that can matter
}

var levels = []level{
	{store.InuseSpace, "heapgrowth", "memory in use",
		"Find who keeps it: maps and slices that only grow, caches without a bound, " +
			"entries kept for requests that are long over, timers that were never stopped. " +
			"If it is a cache, give it a bound.",
		// The profile has one object for each half MiB: eight MiB are sixteen of them.
		fact.BytesPerSec, fact.Bytes, 8 << 20},
	{store.Goroutines, "goroutinegrowth", "goroutines",
		"Find why they never end: a channel that nobody sends to or receives from any more, " +
			"a context that is never cancelled, a response body that is never closed.",
		// The connections of clients and pools of workers come and go by tens.
		fact.PerSec, fact.Count, 50},
}

// Grows tells whether a finding is a growth.
func Grows(rule string) bool {
	return slices.ContainsFunc(levels, func(l level) bool { return l.rule == rule })
}

// OfHeap tells whether a finding is a heap that grows.
func OfHeap(rule string) bool { return slices.Contains(vote.GrowingHeap, rule) }

// A question is whether a level of a version grows.
type question struct {
	level *level
	store.Selection
	growth
}

// growths returns the questions whether what a version keeps grows.
func (j *Judge) growths(ctx context.Context, s store.Selection, v *store.Service) (claims []claim, err error) {
	if v.Last.Sub(v.First) < leastBins*bin {
		return nil, nil
	}
	for k := range levels {
		l := &levels[k]
		if j.title(l.rule) == "" || !sent(v, l.Type) {
			continue
		}
		courses, err := j.courses(ctx, s, l.Type)
		if err != nil {
			return nil, err
		}
		q := question{l, s, together(courses, l.least)}
		q.Type = l.Type
		claims = append(claims, &q)
	}
	return claims, nil
}

func (q *question) chance() float64 { return q.p }

func (j *Judge) title(rule string) string {
	if i := slices.IndexFunc(j.Rules, func(r *diagnosis.Rule) bool { return r.Name == rule }); i >= 0 {
		return j.Rules[i].Title
	}
	return ""
}

// courses returns those of all processes of a version.
func (j *Judge) courses(ctx context.Context, s store.Selection, t store.Type) ([]course, error) {
	type sum struct{ value, n float64 }
	processes := map[string]*[bins]sum{}
	var names []string
	begin, end := s.From, s.Until
	s.Type = t
	// Levels have no sum over time: steps of a millisecond are single batches. An hour
	// at a time, so that those of a large service fit.
	for s.From = begin; s.From.Before(end); s.From = s.Until {
		s.Until = s.From.Add(time.Hour)
		sent, err := j.Keeper.Series(ctx, s, time.Millisecond, store.ByInstance)
		if err := lacks(sent.Missing, err); err != nil {
			return nil, err
		}
		for _, one := range sent.Series {
			process := processes[one.Key]
			if process == nil {
				process = new([bins]sum)
				processes[one.Key], names = process, append(names, one.Key)
			}
			for _, p := range one.Points {
				b := &process[p.At.Sub(begin)/bin]
				b.value, b.n = b.value+float64(p.Value), b.n+1
			}
		}
	}
	s.Type, s.From, s.Until = store.CPU, begin, end
	loads, err := j.Keeper.Series(ctx, s, bin, store.ByInstance)
	if err := lacks(loads.Missing, err); err != nil {
		return nil, err
	}
	load := map[string]model.Series{}
	for _, one := range loads.Series {
		for _, p := range one.Points {
			load[one.Key] = append(load[one.Key], model.Point{At: p.At.Sub(begin), Value: float64(p.Value)})
		}
	}
	slices.Sort(names)
	courses := make([]course, len(names))
	for i, name := range names {
		courses[i] = course{instance: name, load: load[name]}
		for b, x := range processes[name] {
			if x.n > 0 {
				courses[i].level = append(courses[i].level, model.Point{At: time.Duration(b) * bin, Value: x.value / x.n})
			}
		}
	}
	return courses, nil
}

// row encodes a growth for the store.
func (q *question) row(ctx context.Context, j *Judge, p float64) (store.Finding, error) {
	row := store.Finding{Tenant: q.Tenant, Service: q.Service, Version: q.Version, From: q.From, Until: q.Until, Instances: int64(len(q.rising))}
	at, err := j.grower(ctx, q, q.usual())
	if err != nil {
		return row, err
	}
	d := Detail{Finding: q.finding(at, p), Whole: true}
	d.Title = j.title(d.Rule)
	return d.row(row)
}

// usual returns the median one of the processes that rise.
func (q *question) usual() trend { return q.rising[len(q.rising)/2] }

// finding says what grows, in which processes and by how much.
func (q *question) finding(at store.Frame, p float64) diagnosis.Finding {
	over := func(name string, x float64, u fact.Unit) fact.Fact {
		return fact.OverSeries(name, string(q.Type), len(q.trends), x, u)
	}
	total, usual := 0.0, q.usual()
	for _, t := range q.rising {
		total += t.slope
	}
	hourly := over("growth of the median one in an hour", usual.slope*3600, q.level.amount)
	f := diagnosis.Finding{
		Rule: q.level.rule, Where: place(at), Confidence: diagnosis.Low,
		Cost:   diagnosis.CostOf(over("growth of "+q.level.what+", "+hourly.Text+" an hour in a process", total, q.level.unit), 0),
		Remedy: diagnosis.Remedy{Text: q.level.remedy},
		Prove:  fmt.Sprintf("Run the change for %s: this is gone then.", window),
	}
	f.Say("In %s of %s processes %s grew all the time up to %s, by %s an hour in the median one: to %s what it was.",
		over("processes that rise", float64(len(q.rising)), fact.Count), over("processes compared", float64(len(q.trends)), fact.Count),
		fact.Name(q.level.what), fact.Name(q.Until.UTC().Format("2006-01-02 15:04 MST")), hourly,
		over("level of the median one, beside what it was", 1+usual.by, fact.Factor))
	f.Rest(fact.OverSeries("its CPU, beside what it was", string(store.CPU), len(q.trends), 1+usual.load, fact.Factor),
		over("probability without a growth, for all services and levels together", p, fact.Ratio))
	if at.Function != "" {
		f.Summary += " Most of it is in " + at.Function + "."
	}
	f.Reasons = []string{fmt.Sprintf("fewer than %d processes: their times had to decide", manyProcesses)}
	if len(q.trends) >= manyProcesses {
		f.Confidence = diagnosis.Medium
		f.Reasons = []string{"hours of levels cannot tell a leak from a cache that takes longer to fill"}
	}
	return f
}

// grower returns the function that grew most between the first quarter and the last of a
// process.
func (j *Judge) grower(ctx context.Context, q *question, t trend) (at store.Frame, err error) {
	n := len(t.level)
	part := func(bins model.Series) (store.Stacks, error) {
		s := q.Selection
		s.Instance = t.instance
		s.From, s.Until = q.From.Add(bins[0].At), q.From.Add(bins[len(bins)-1].At+bin)
		return j.stacks(ctx, s)
	}
	first, last := t.level[:n/4], t.level[n-n/4:]
	was, err := part(first)
	if err != nil {
		return at, err
	}
	is, err := part(last)
	if err != nil {
		return at, err
	}
	at, _ = grown(&was, &is, perLevel(was, first), perLevel(is, last))
	return at, nil
}

// perLevel returns how many levels are in a sum: what their mean, over the bins, is in it.
func perLevel(sum store.Stacks, bins model.Series) float64 {
	mean := 0.0
	for _, p := range bins {
		mean += p.Value / float64(len(bins))
	}
	return max(1, float64(sum.Total)/mean)
}
