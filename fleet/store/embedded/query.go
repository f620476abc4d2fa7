package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A view is what a query sees: segments and batches of one moment.
type view struct {
	store    *Store
	selected selection
	segments []*segment
	batches  []*batch
	tables   []*table
	sources  []*store.Source // of the segments, by ID; nil for those not selected
}

// A selection is a [store.Selection] with times as the store has them and sources seen
// once.
type selection struct {
	store.Selection
	from, until int64
}

func (s *selection) has(b *store.Source) bool {
	if s.Tenant != b.Tenant || s.Service != "" && s.Service != b.Service ||
		s.Version != "" && s.Version != b.Version || s.Instance != "" && s.Instance != b.Instance {
		return false
	}
	for _, l := range s.Labels {
		if labelOf(b, l.Name) != l.Value {
			return false
		}
	}
	return true
}

func (s *selection) in(at int64) bool { return s.from <= at && at < s.until }

func labelOf(s *store.Source, name string) string {
	i := slices.IndexFunc(s.Labels, func(l store.Label) bool { return l.Name == name })
	if i < 0 {
		return ""
	}
	return s.Labels[i].Value
}

// view takes what a selection may need. The caller closes it.
func (s *Store) view(selected store.Selection) *view {
	v := &view{store: s, selected: selection{selected, selected.From.UnixMilli(), math.MaxInt64}}
	if !selected.Until.IsZero() {
		v.selected.until = selected.Until.UnixMilli()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.tables = s.tables()
	for _, t := range v.tables {
		v.batches = append(v.batches, t.batches...)
	}
	for _, g := range s.listed {
		if g.tenant == selected.Tenant && (selected.Service == "" || selected.Service == g.service) &&
			g.min < v.selected.until && g.max >= v.selected.from {
			g.readers++
			v.segments = append(v.segments, g)
		}
	}
	v.sources = make([]*store.Source, len(s.sources)+1)
	for id, source := range s.sources {
		if v.selected.has(source) {
			v.sources[id] = source
		}
	}
	return v
}

// close lets go of the segments and removes those that were dropped meanwhile.
func (v *view) close() error {
	v.store.mu.Lock()
	defer v.store.mu.Unlock()
	var err error
	for _, g := range v.segments {
		g.readers--
		if g.dropped && g.readers == 0 {
			err = errors.Join(err, v.store.segments.remove(g.id))
		}
	}
	return err
}

// totals gives what batches of the selection have of each type.
func (v *view) totals(ctx context.Context, each func(*store.Source, totalColumns)) error {
	for _, b := range v.batches {
		if !v.selected.in(b.until) || !v.selected.has(b.source) {
			continue
		}
		for t := range b.totals() {
			each(b.source, totalColumns{Type: string(t.kind), Time: b.until, From: b.from, Total: t.value, Samples: t.samples})
		}
	}
	for _, g := range v.segments {
		err := readTotals(ctx, v.store.segments.totals(g.id), func(rows []totalColumns) {
			for _, r := range rows {
				if source := v.source(r.Source); source != nil && v.selected.in(r.Time) {
					each(source, r)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// source is a selected one of the segments, nil if it is not.
func (v *view) source(id int64) *store.Source {
	if id < 0 || id >= int64(len(v.sources)) {
		return nil
	}
	return v.sources[id]
}

// A sum is what batches have together.
type sum struct {
	first, last, covered int64
	totals               map[store.Type]int64
	instances            map[string]bool
}

func newSum() *sum {
	return &sum{first: math.MaxInt64, last: math.MinInt64, totals: map[store.Type]int64{}, instances: map[string]bool{}}
}

func (s *sum) add(r totalColumns) {
	s.first, s.last = min(s.first, r.From), max(s.last, r.Time)
	if r.Samples == noProfiles {
		return
	}
	kind := store.Type(r.Type)
	s.totals[kind] += r.Total
	if kind == store.CPU {
		s.covered += r.Time - r.From
	}
}

func (s *sum) span() (first, last time.Time, covered time.Duration) {
	return time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC(), time.Duration(s.covered) * time.Millisecond
}

func (s *sum) byType() []store.Total {
	var totals []store.Total
	for _, t := range slices.Sorted(maps.Keys(s.totals)) {
		totals = append(totals, store.Total{Type: t, Value: s.totals[t]})
	}
	return totals
}

// A process is a key of sums; the name is empty in those of a version.
type process struct{ service, version, name string }

func (p process) compare(q process) int {
	return cmp.Or(strings.Compare(p.service, q.service), strings.Compare(p.version, q.version), strings.Compare(p.name, q.name))
}

// sums are those of a selection by version, or by process.
func (s *Store) sums(ctx context.Context, selected store.Selection, key func(*store.Source) process) (map[process]*sum, error) {
	v := s.view(selected)
	sums := map[process]*sum{}
	bySource := map[*store.Source]*sum{}
	err := v.totals(ctx, func(source *store.Source, r totalColumns) {
		if bySource[source] == nil {
			k := key(source)
			if sums[k] == nil {
				sums[k] = newSum()
			}
			sums[k].instances[source.Instance] = true
			bySource[source] = sums[k]
		}
		bySource[source].add(r)
	})
	return sums, errors.Join(err, v.close())
}

// Services is a [store.Reader]'s.
func (s *Store) Services(ctx context.Context, selected store.Selection) (store.Services, error) {
	sums, err := s.sums(ctx, selected, func(s *store.Source) process { return process{service: s.Service, version: s.Version} })
	if err != nil {
		return store.Services{}, fmt.Errorf("services: %w", err)
	}
	var answer store.Services
	for _, p := range slices.SortedFunc(maps.Keys(sums), process.compare) {
		first, last, covered := sums[p].span()
		answer.Services = append(answer.Services, store.Service{
			Name: p.service, Version: p.version, Instances: len(sums[p].instances),
			First: first, Last: last, Covered: covered, Totals: sums[p].byType(),
		})
	}
	return answer, nil
}

// Instances is a [store.Reader]'s.
func (s *Store) Instances(ctx context.Context, selected store.Selection) (store.Instances, error) {
	sums, err := s.sums(ctx, selected, func(s *store.Source) process { return process{s.Service, s.Version, s.Instance} })
	if err != nil {
		return store.Instances{}, fmt.Errorf("instances: %w", err)
	}
	var answer store.Instances
	for _, p := range slices.SortedFunc(maps.Keys(sums), process.compare) {
		first, last, covered := sums[p].span()
		answer.Instances = append(answer.Instances, store.Instance{
			Service: p.service, Version: p.version, Name: p.name,
			First: first, Last: last, Covered: covered, Totals: sums[p].byType(),
		})
	}
	return answer, nil
}

// Stacks is a [store.Reader]'s.
func (s *Store) Stacks(ctx context.Context, selected store.Selection) (store.Stacks, error) {
	if selected.Type == "" {
		return store.Stacks{}, errors.New("stacks: the selection has no type")
	}
	v := s.view(selected)
	values, err := v.stacks(ctx)
	answer := store.Stacks{Frames: map[store.StackID][]store.Frame{}}
	for id, value := range values {
		answer.Samples = append(answer.Samples, store.Sample{Stack: id, Value: value})
		answer.Total += value
	}
	slices.SortFunc(answer.Samples, func(a, b store.Sample) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Stack, b.Stack))
	})
	if err == nil {
		err = v.frames(answer.Samples, answer.Frames)
	}
	if err := errors.Join(err, v.close()); err != nil {
		return store.Stacks{}, fmt.Errorf("stacks: %w", err)
	}
	return answer, nil
}

func (v *view) stacks(ctx context.Context) (map[store.StackID]int64, error) {
	values := map[store.StackID]int64{}
	for _, b := range v.batches {
		if !v.selected.in(b.until) || !v.selected.has(b.source) {
			continue
		}
		for _, p := range b.profiles {
			if p.Type != v.selected.Type {
				continue
			}
			for _, s := range p.Samples {
				values[s.Stack] += s.Value
			}
		}
	}
	for _, g := range v.segments {
		wanted := func(i int) bool { return i < len(g.parts) && g.parts[i] == v.selected.Type }
		if !slices.Contains(g.parts, v.selected.Type) {
			continue
		}
		err := readSamples(ctx, v.store.segments.samples(g.id), wanted, func(_ int, rows []sampleColumns) {
			for _, r := range rows {
				if v.source(r.Source) != nil && v.selected.in(r.Time) {
					values[store.StackID(r.Stack)] += r.Value
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// frames adds those of stacks: the catalog's, else those that are only in memory.
func (v *view) frames(samples []store.Sample, frames map[store.StackID][]store.Frame) error {
	ids := make([]store.StackID, len(samples))
	for i, s := range samples {
		ids[i] = s.Stack
	}
	if err := v.store.catalog.stacks(v.selected.Tenant, ids, frames); err != nil {
		return err
	}
	v.store.mu.RLock()
	defer v.store.mu.RUnlock()
	for _, id := range ids {
		for _, t := range v.tables {
			if in, is := t.stacks[stackKey{v.selected.Tenant, id}]; is && frames[id] == nil {
				frames[id] = slices.Clone(in)
			}
		}
	}
	return nil
}

// Series is a [store.Reader]'s.
func (s *Store) Series(ctx context.Context, selected store.Selection, step time.Duration, by store.By) (store.SeriesSet, error) {
	key, err := keyOf(by)
	if err == nil && selected.Type == "" && by != store.ByType {
		err = errors.New("the selection has no type")
	}
	if err == nil && step < time.Millisecond {
		err = fmt.Errorf("a step of %v is shorter than a millisecond", step)
	}
	if err != nil {
		return store.SeriesSet{}, fmt.Errorf("series: %w", err)
	}
	v := s.view(selected)
	points := map[string]map[int64]int64{}
	err = v.totals(ctx, func(source *store.Source, r totalColumns) {
		if r.Samples == noProfiles || selected.Type != "" && store.Type(r.Type) != selected.Type {
			return
		}
		k := key(source, r.Type)
		if points[k] == nil {
			points[k] = map[int64]int64{}
		}
		points[k][(r.Time-v.selected.from)/step.Milliseconds()] += r.Total
	})
	if err := errors.Join(err, v.close()); err != nil {
		return store.SeriesSet{}, fmt.Errorf("series: %w", err)
	}
	var answer store.SeriesSet
	for _, k := range slices.Sorted(maps.Keys(points)) {
		answer.Series = append(answer.Series, series(k, points[k], v.selected.from, step))
	}
	return answer, nil
}

func series(key string, points map[int64]int64, from int64, step time.Duration) store.Series {
	made := store.Series{Key: key}
	for _, number := range slices.Sorted(maps.Keys(points)) {
		at := time.UnixMilli(from + number*step.Milliseconds()).UTC()
		made.Points = append(made.Points, store.Point{At: at, Value: points[number]})
	}
	return made
}

// Values is a [store.Reader]'s.
func (s *Store) Values(ctx context.Context, selected store.Selection, by store.By) (store.Values, error) {
	key, err := keyOf(by)
	if err != nil && by != store.ByLabels {
		return store.Values{}, fmt.Errorf("values: %w", err)
	}
	v := s.view(selected)
	values := map[string]bool{}
	err = v.totals(ctx, func(source *store.Source, r totalColumns) {
		if by == store.ByLabels {
			for _, l := range source.Labels {
				values[l.Name] = true
			}
			return
		}
		if by != store.ByType || r.Samples != noProfiles {
			values[key(source, r.Type)] = true
		}
	})
	if err := errors.Join(err, v.close()); err != nil {
		return store.Values{}, fmt.Errorf("values: %w", err)
	}
	return store.Values{Values: slices.Sorted(maps.Keys(values))}, nil
}

// keyOf is what tells batches apart by a key.
func keyOf(by store.By) (func(s *store.Source, kind string) string, error) {
	switch by {
	case store.ByNothing:
		return func(*store.Source, string) string { return "" }, nil
	case store.ByService:
		return func(s *store.Source, _ string) string { return s.Service }, nil
	case store.ByVersion:
		return func(s *store.Source, _ string) string { return s.Version }, nil
	case store.ByInstance:
		return func(s *store.Source, _ string) string { return s.Instance }, nil
	case store.ByType:
		return func(_ *store.Source, kind string) string { return kind }, nil
	}
	name, ok := strings.CutPrefix(string(by), "label:")
	if !ok {
		return nil, fmt.Errorf("there is no key %q", string(by))
	}
	return func(s *store.Source, _ string) string { return labelOf(s, name) }, nil
}
