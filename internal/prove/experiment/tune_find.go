package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

const (
	defaultRepeats = 3
	// maxPoints bounds a list of values; a grid over the whole of uint64 has 65.
	maxPoints = 200
	// goldenSteps and kneeSteps bound the search between grid points: each step
	// of the first leaves 62% of a bracket, each of the second half of it.
	goldenSteps = 5
	kneeSteps   = 3
	// closeEnough is the ratio of neighbours between which nobody looks further.
	closeEnough = 1.2
	// wholeMiB is the size from which sizes are tried in whole MiB.
	wholeMiB = 16 << 20
	// extraRepeats is how many times Repeats a point may be run beyond that
	// where the choice hangs on it.
	extraRepeats = 3
	// givenUp is how many settings may fail in a row at the start before the
	// command is taken to be wrong.
	givenUp = 3
	// maxWarnings bounds how many different warnings of runs are kept.
	maxWarnings = 20
)

// A finder is a search under way.
type finder struct {
	Search
	progress func(done, of int, what string)
	random   *rand.Rand
	out      *Tuned
	done, of int
	rounds   int
	failed   int   // settings in a row, while none has worked
	last     error // of a setting that failed
	checked  bool  // the metrics are there
	busy     bool  // nothing is dropped any more
}

func newFinder(s Search, progress func(done, of int, what string)) (*finder, error) {
	if progress == nil {
		progress = func(int, int, string) {}
	}
	if s.Repeats <= 0 {
		s.Repeats = defaultRepeats
	}
	if s.Busy == (Gate{}) {
		s.Busy = DefaultGate
	}
	if len(s.Knobs) == 0 {
		return nil, errors.New("there is no knob to turn")
	}
	f := &finder{Search: s, progress: progress, random: rand.New(rand.NewPCG(s.Seed, 0x70b5)), out: &Tuned{
		Schema: TunedSchema, Goal: s.Goal, Keep: s.Keep, Seed: s.Seed, Start: Setting{}, Chosen: Setting{}}}
	for _, k := range s.Knobs {
		grid, err := k.grid()
		if err != nil {
			return nil, err
		}
		if _, twice := f.out.Start[k.Name]; twice {
			return nil, fmt.Errorf("the knob %s is there twice", k.Name)
		}
		f.out.Start[k.Name], f.out.Chosen[k.Name] = k.Start, k.Start
		f.of += s.Repeats * len(grid)
	}
	return f, nil
}

// grid returns the knob's values to begin with: each twice the one before, and both
// ends.
func (k Knob) grid() ([]float64, error) {
	if len(k.Values) > 0 {
		list := slices.Clone(k.Values)
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > maxPoints {
			return nil, fmt.Errorf("%s has %d values; at most %d can be tried", k.Name, len(list), maxPoints)
		}
		return list, nil
	}
	low, high := k.Low, k.High
	if !(low >= 0 && low < high) || math.IsInf(high, 0) {
		return nil, fmt.Errorf("%s: %v..%v is no range of values", k.Name, low, high)
	}
	var list []float64
	if low == 0 {
		if !k.Integer {
			return nil, fmt.Errorf("%s: a range of fractions must begin above 0", k.Name)
		}
		list, low = append(list, 0), 1
	}
	if high/low > 0x1p64 {
		return nil, fmt.Errorf("%s: the range %v..%v is too wide", k.Name, low, high)
	}
	// A last step of less than a quarter would tell nothing of its own.
	for v := low; v <= high/1.25; v *= 2 {
		list = append(list, v)
	}
	return append(list, high), nil
}

// all searches the knobs in turn and checks the whole.
func (f *finder) all(ctx context.Context) error {
	for _, k := range f.Knobs {
		c := Curve{Knob: k, Goal: f.Goal, Others: f.others(k)}
		err := f.search(ctx, &c)
		f.out.Curves = append(f.out.Curves, c)
		if err != nil {
			return err
		}
		if c.Chosen >= 0 {
			f.out.Chosen[k.Name] = c.Points[c.Chosen].Value
		}
	}
	return f.together(ctx)
}

// others returns what the knobs but k have now, nil for a single knob.
func (f *finder) others(k Knob) Setting {
	if len(f.Knobs) == 1 {
		return nil
	}
	s := maps.Clone(f.out.Chosen)
	delete(s, k.Name)
	return s
}

// together verifies the choice of several knobs: each was found with the
// others as they were then, and settings can undo each other.
func (f *finder) together(ctx context.Context) error {
	if len(f.Knobs) < 2 || maps.Equal(f.out.Start, f.out.Chosen) {
		return nil
	}
	f.progress(f.done, f.of, "start against all chosen")
	var err error
	f.out.Together, err = Verify(ctx, Plan{
		A: f.At(f.out.Start), B: f.At(f.out.Chosen), Primary: f.Goal.Metric, Margin: NearBest, Busy: f.Busy, Seed: f.Seed,
	}, func(pairs, of int, _ Interval) {
		f.progress(f.done+2*pairs, f.done+2*of, "start against all chosen")
	})
	return err
}

// search measures one knob's curve. An interrupt leaves what there is.
func (f *finder) search(ctx context.Context, c *Curve) error {
	grid, err := c.Knob.grid()
	if err != nil {
		return err
	}
	c.Best, c.Chosen = -1, -1
	err = f.measure(ctx, c, grid, f.Repeats)
	for _, step := range []func(context.Context, *Curve) error{f.golden, f.knee, f.decide} {
		if err == nil {
			err = step(ctx, c)
		}
	}
	if err != nil && f.out.Runs == 0 && f.out.Dropped > 0 {
		f.takeAll(c) // interrupted: runs on a busy machine are better than none
	}
	c.finish(f.Keep, f.Seed)
	if err != nil {
		return err
	}
	c.fitUSL(f.Seed)
	return f.formulas(ctx, c)
}

// golden narrows the bracket around the best point by golden section on the
// log scale, until neither neighbour is worse by more than the margin.
func (f *finder) golden(ctx context.Context, c *Curve) error {
	for range goldenSteps {
		c.settle(f.Keep)
		at, ok := c.goldenProbe()
		if !ok {
			return nil
		}
		if err := f.between(ctx, c, at, c.Best); err != nil {
			return err
		}
	}
	return nil
}

// knee halves, on the log scale, the gap below the smallest point that does as
// well as the best.
func (f *finder) knee(ctx context.Context, c *Curve) error {
	for range kneeSteps {
		c.settle(f.Keep)
		at, ok := c.kneeProbe()
		if !ok {
			return nil
		}
		if err := f.between(ctx, c, at, c.Chosen); err != nil {
			return err
		}
	}
	return nil
}

// decide runs the points again on which the choice hangs.
func (f *finder) decide(ctx context.Context, c *Curve) error {
	for range extraRepeats * f.Repeats {
		c.settle(f.Keep)
		list := c.hangs()
		if len(list) == 0 {
			return nil
		}
		values := make([]float64, len(list))
		for i, p := range list {
			values[i] = c.Points[p].Value
		}
		if err := f.measure(ctx, c, values, 1); err != nil {
			return err
		}
	}
	return nil
}

// between measures a new value in rounds with three that are known already:
// what a round has in common cannot be seen in one run.
func (f *finder) between(ctx context.Context, c *Curve, at float64, near int) error {
	values := []float64{at}
	for _, i := range []int{c.Best, near, near - 1, near + 1, c.Chosen} {
		if i >= 0 && i < len(c.Points) && c.Points[i].Failed == "" && len(values) < 4 && !slices.Contains(values, c.Points[i].Value) {
			values = append(values, c.Points[i].Value)
		}
	}
	return f.measure(ctx, c, values, f.Repeats)
}

const goldenRatio = 0.381966 // 2 - φ: the smaller part

// goldenProbe returns the next value to try around the best point, in the wider of
// the two gaps beside it.
func (c *Curve) goldenProbe() (float64, bool) {
	b := c.Best
	if b < 0 || len(c.Knob.Values) > 0 {
		return 0, false
	}
	best, worth := c.Points[b].Value, false
	type gap struct{ to, width float64 }
	var gaps []gap
	for _, i := range []int{b - 1, b + 1} {
		if i < 0 || i >= len(c.Points) {
			continue
		}
		p := &c.Points[i]
		worth = worth || !p.measured() || p.Ratio > 1+NearBest
		if p.Value > 0 && best > 0 {
			gaps = append(gaps, gap{p.Value, math.Abs(math.Log(p.Value / best))})
		}
	}
	if !worth {
		return 0, false
	}
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(b.width, a.width) })
	for _, g := range gaps {
		if at, ok := c.Knob.inside(best, g.to, goldenRatio); ok {
			return at, true
		}
	}
	return 0, false
}

// kneeProbe returns the next value to try below the chosen point.
func (c *Curve) kneeProbe() (float64, bool) {
	if c.Chosen < 1 || len(c.Knob.Values) > 0 {
		return 0, false
	}
	below, chosen := c.Points[c.Chosen-1].Value, c.Points[c.Chosen].Value
	return c.Knob.inside(below, chosen, 0.5)
}

// inside returns the value at a share of the way from a to b on the log scale,
// false when they are so close that it would tell nothing.
func (k Knob) inside(a, b, share float64) (float64, bool) {
	low, high := min(a, b), max(a, b)
	if low <= 0 || high/low <= closeEnough {
		return 0, false
	}
	at := a * math.Pow(b/a, share)
	switch {
	case k.Bytes && low >= wholeMiB:
		at = math.Round(at/(1<<20)) * (1 << 20)
	case k.Integer:
		at = min(max(math.Round(at), low+1), high-1)
	}
	return at, at > low && at < high
}

// measure visits values in a number of rounds, each in a new order.
func (f *finder) measure(ctx context.Context, c *Curve, values []float64, rounds int) error {
	f.of = max(f.of, f.done+rounds*len(values))
	for range rounds {
		f.rounds++
		order := slices.Clone(values)
		f.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, v := range order {
			if err := f.visit(ctx, c, c.at(v)); err != nil {
				return err
			}
		}
	}
	if !slices.ContainsFunc(c.Points, func(p Point) bool { return len(p.Visits) > 0 }) {
		return fmt.Errorf("the program failed with every setting: %w", f.last)
	}
	return nil
}

// at returns the index of the point with a value, which is made when there is none.
func (c *Curve) at(v float64) int {
	i, ok := slices.BinarySearchFunc(c.Points, v, func(p Point, v float64) int {
		switch {
		case p.Value < v:
			return -1
		case p.Value > v:
			return 1
		}
		return 0
	})
	if !ok {
		c.Points = slices.Insert(c.Points, i, Point{Value: v})
	}
	return i
}

// visit runs a point once, again while the machine is busy with something
// else. A setting that fails is left alone from then on.
func (f *finder) visit(ctx context.Context, c *Curve, i int) error {
	p := &c.Points[i]
	setting := Setting{c.Knob.Name: p.Value}
	maps.Copy(setting, c.Others)
	for p.Failed == "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.progress(f.done, f.of, c.Knob.Name+"="+c.Knob.Format(p.Value))
		s, err := f.At(setting)(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p.Failed = err.Error()
			return f.wrong(err)
		}
		if err := f.accept(&s); err != nil {
			return err
		}
		v := Visit{Round: f.rounds, Dropped: f.drop(c, s.Conditions), Sample: s}
		p.Visits = append(p.Visits, v)
		if v.Dropped == "" {
			f.out.Runs++
			break
		}
	}
	f.done++
	return nil
}

// wrong gives up when nothing has worked yet and setting after setting fails.
func (f *finder) wrong(err error) error {
	f.done++
	f.last = err
	if f.failed++; !f.checked && f.failed >= givenUp {
		return err
	}
	return nil
}

// accept looks at what a run measured: in the first one, whether what the
// search is about is there at all.
func (f *finder) accept(s *Sample) error {
	for _, w := range s.Warnings {
		if len(f.out.Warnings) < maxWarnings && !slices.Contains(f.out.Warnings, w) {
			f.out.Warnings = append(f.out.Warnings, w)
		}
	}
	if f.checked {
		return nil
	}
	f.checked = true
	wanted := []diagnosis.Metric{f.Goal.Metric}
	for _, k := range f.Keep {
		wanted = append(wanted, k.Metric)
	}
	for _, m := range wanted {
		if _, ok := s.value(m); !ok {
			all := medians([]Visit{{Sample: *s}})
			return &MissingMetricError{m, slices.Sorted(maps.Keys(all))}
		}
	}
	return nil
}

// patience is how many runs may be dropped before as many were counted.
const patience = 5

// drop says why a run does not count; empty when it does. When the machine is
// busy all the time, waiting does not help: then all count, and the result
// says so.
func (f *finder) drop(c *Curve, now Conditions) string {
	why := f.Busy.busy(now)
	if why == "" || f.busy {
		return ""
	}
	if f.out.Dropped < max(patience, f.out.Runs) {
		f.out.Dropped++
		return why
	}
	f.takeAll(c)
	return ""
}

// takeAll counts all runs of a curve, those that were dropped and those to come.
func (f *finder) takeAll(c *Curve) {
	f.busy = true
	f.out.Warnings = append(f.out.Warnings, "the machine was busy with other programs all the time: every run counts, and the curve is as noisy as that made it")
	for i := range c.Points {
		for j := range c.Points[i].Visits {
			if v := &c.Points[i].Visits[j]; v.Dropped != "" {
				v.Dropped = ""
				f.out.Runs, f.out.Dropped = f.out.Runs+1, f.out.Dropped-1
			}
		}
	}
}
