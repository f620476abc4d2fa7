package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// A question reads the sums of hours that it is about wholly, and the rows of others.

// whole reports whether all times from the first to the last are in the span.
func (s *selection) whole(least, most int64) bool { return s.in(least) && s.in(most) }

// touches reports whether a time from the first to the last may be in the span.
func (s *selection) touches(least, most int64) bool { return least < s.until && most >= s.from }

// What an answer takes: sumBytes the sum of a stack, with those of the segment it comes from
// and the row of the answer, stackFrames its frames in the maps of the answer and of who reads
// it, frameBytes a frame of a stack, and namedBytes one frame that stacks share, whose names
// have usualText bytes. What names have beyond that is there textCopies times: as it was read, as
// the answer has it, and twice while that is written. Of rows a group has rowBytes each while they
// are added, or totalRowBytes where they are totals.
const (
	sumBytes    = 100
	stackFrames = 300
	frameBytes  = 24
	namedBytes  = 300
	usualText   = 100
	textCopies  = 4
	rowBytes    = 24

	totalRowBytes = 60
)

// framesCost returns what a number of frames takes whose names have text bytes together.
func framesCost(frames, text int) int64 {
	return namedBytes*int64(frames) + textCopies*int64(max(0, text-usualText*frames))
}

// stacks returns the sums by stack of a selection's type.
func (v *view) stacks(ctx context.Context) (*sums, error) {
	v.count()
	values := newSums()
	paid := 0
	pay := func() error { // for sums that were added
		n := len(values.values) - paid
		paid += n
		return memory.More(ctx, int64(n)*sumBytes)
	}
	for _, b := range v.batches {
		for p := range b.each() {
			if string(p.kind) == string(v.selected.Type) {
				p.samples(values.add)
			}
		}
		if err := pay(); err != nil {
			return values, err
		}
	}
	var mu sync.Mutex
	err := v.eachSegment(ctx, func(ctx context.Context, g *segment) error {
		some, err := v.segmentStacks(ctx, g)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		values.addAll(some)
		return pay()
	})
	return values, err
}

func (v *view) segmentStacks(ctx context.Context, g *segment) (*sums, error) {
	values := newSums()
	path := v.store.segments.rollup(g.id)
	f, r, err := openRollup(path)
	if err != nil {
		return nil, err
	}
	rows, err := v.stacksOfHours(r, g.service, values)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("segment %s: %w", path, err)
	}
	if len(rows) == 0 {
		return values, nil
	}
	wanted := func(of groupOf) bool {
		return of.kind == string(v.selected.Type) && rows[hourOf(of.least)] && v.selected.touches(of.least, of.most)
	}
	samples, err := openColumns(v.store.segments.samples(g.id))
	if err != nil {
		return nil, err
	}
	err = samples.each(ctx, wanted, func(number int) error {
		if err := v.pay(ctx, samples.meta[number].NumRows*rowBytes); err != nil {
			return err
		}
		return v.sampleRows(samples, number, values)
	})
	return values, errors.Join(err, samples.Close())
}

// stacksOfHours adds the sums of hours of which the selection has all or nothing of each
// version, and is the others, of which the rows are needed.
func (v *view) stacksOfHours(r *rollup, service string, to *sums) (rows map[int64]bool, err error) {
	rows = map[int64]bool{}
	versions := v.versions[service]
	var whole []*section
	for i := range r.sections {
		s := &r.sections[i]
		version := versions[s.version]
		if s.kind != string(v.selected.Type) || !version.some || !v.selected.touches(s.least, s.most) {
			continue
		}
		if version.all && v.selected.whole(s.least, s.most) {
			whole = append(whole, s)
		} else {
			rows[s.hour] = true
		}
	}
	for _, s := range whole {
		if rows[s.hour] {
			continue
		}
		if err := r.stacks(s, to); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// pay takes memory for what each of the workers reads at once, unless they have it from
// something larger before.
func (v *view) pay(ctx context.Context, bytes int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	need := bytes * int64(v.workers())
	if need <= v.paid {
		return nil
	}
	err := memory.More(ctx, need-v.paid)
	if err == nil {
		v.paid = need
	}
	return err
}

// sampleRows adds the selected rows of a row group.
func (v *view) sampleRows(f *columnFile, number int, to *sums) error {
	c, err := f.integers(number, "source", "time", "stack", "value")
	if err != nil {
		return err
	}
	defer release(c)
	sources, times, stacks, values := &c[0], &c[1], &c[2], &c[3]
	if sources.indices == nil || times.indices == nil || stacks.indices == nil {
		return errors.New("a column has no dictionary")
	}
	source, time := make([]bool, len(sources.values)), make([]bool, len(times.values))
	for i, id := range sources.values {
		source[i] = v.named(id) != nil
	}
	for i, at := range times.values {
		time[i] = v.selected.in(at)
	}
	// Sums by number are a tenth of the work of sums by stack.
	byNumber, seen := make([]int64, len(stacks.values)), make([]bool, len(stacks.values))
	for row, stack := range stacks.indices {
		if source[sources.indices[row]] && time[times.indices[row]] {
			byNumber[stack] = store.Add(byNumber[stack], values.at(row))
			seen[stack] = true
		}
	}
	for i, is := range seen {
		if is {
			to.add(stacks.values[i], byNumber[i])
		}
	}
	return nil
}

// anyHour takes an hour as one, whatever its times are.
func anyHour(_, _ int64) bool { return true }

// totals gives what batches of the selection have of each type, those of an hour as one
// where together says so of its times.
func (v *view) totals(ctx context.Context, together func(least, most int64) bool, each func(*store.Source, *hourTotal) error) error {
	for _, b := range v.batches {
		for _, t := range b.totals() {
			if err := each(b.source, &t); err != nil {
				return err
			}
		}
	}
	var mu sync.Mutex
	return v.eachSegment(ctx, func(ctx context.Context, g *segment) error {
		some := gathered{v: v, each: each, mu: &mu}
		return errors.Join(v.segmentTotals(ctx, g, together, some.add), some.flush())
	})
}

// gathered totals are given some at a time, so that workers do not wait for each other: an
// hour of a thousand processes has a million.
type gathered struct {
	v      *view
	each   func(*store.Source, *hourTotal) error
	mu     *sync.Mutex
	some   []hourTotal
	failed error
}

// mostGathered is how many wait to be given.
const mostGathered = 512

func (g *gathered) add(t hourTotal) {
	if g.v.named(t.source) == nil || !g.v.selected.in(t.least) || g.failed != nil {
		return
	}
	if g.some = append(g.some, t); len(g.some) == mostGathered {
		g.failed = g.flush()
	}
}

func (g *gathered) flush() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.some {
		if g.failed == nil {
			g.failed = g.each(g.v.named(g.some[i].source), &g.some[i])
		}
	}
	g.some = g.some[:0]
	return g.failed
}

// totals returns a batch's by type.
func (b *batch) totals() []hourTotal {
	var all []hourTotal
	byKind := texts{}
	for p := range b.each() {
		n := int(byKind.number(string(p.kind)))
		if n == len(all) {
			all = append(all, hourTotal{kind: string(p.kind), first: b.from, least: b.until, most: b.until, covered: b.until - b.from})
		}
		p.samples(func(_, value int64) { all[n].value = store.Add(all[n].value, value) })
	}
	if len(all) == 0 {
		return []hourTotal{{first: b.from, least: b.until, most: b.until}}
	}
	return all
}

// segmentTotals gives those of a segment, also of sources that are not selected.
func (v *view) segmentTotals(ctx context.Context, g *segment, together func(least, most int64) bool, each func(hourTotal)) error {
	path := v.store.segments.rollup(g.id)
	f, r, err := openRollup(path)
	if err != nil {
		return err
	}
	rows := map[int64]bool{}
	for i := range r.sections {
		s := &r.sections[i]
		if s.kind != "" || !v.selected.touches(s.least, s.most) {
			continue
		}
		if v.selected.whole(s.least, s.most) && together(s.least, s.most) {
			if err = v.pay(ctx, s.len); err == nil {
				err = r.totals(s, each)
			}
			if err != nil {
				break
			}
			continue
		}
		rows[s.hour] = true
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("segment %s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil
	}
	wanted := func(of groupOf) bool { return rows[hourOf(of.least)] && v.selected.touches(of.least, of.most) }
	totals, err := openColumns(v.store.segments.totals(g.id))
	if err != nil {
		return err
	}
	err = totals.each(ctx, wanted, func(number int) error {
		if err := v.pay(ctx, totals.meta[number].NumRows*totalRowBytes); err != nil {
			return err
		}
		return totals.totals(number, func(r totalRow) { each(r.hourTotal()) })
	})
	return errors.Join(err, totals.Close())
}
