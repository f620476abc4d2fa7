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

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// What an answer takes that is no stack: a source and what is looked up by it, a version or a
// process with its row, a type of these, a series, a point in its map and in the answer, and a
// value. `TestAnswersPay` holds them to what is allocated.
const (
	sourceBytes = 64
	partBytes   = 500
	totalBytes  = 64
	seriesBytes = 300
	pointBytes  = 140
	valueBytes  = 150
)

// A sum is what batches have together. Most are of one process and a few types.
type sum struct {
	first, last, covered int64
	totals               []store.Total
	instance             string
	others               map[string]bool // its other instances
}

func newSum(of *store.Source) *sum {
	return &sum{first: math.MaxInt64, last: math.MinInt64, instance: of.Instance}
}

// of notes who sent a part of it.
func (s *sum) of(instance string) {
	if instance == s.instance {
		return
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[instance] = true
}

// add adds a total, and reports whether its type is new.
func (s *sum) add(t *hourTotal) bool {
	s.first, s.last = min(s.first, t.first), max(s.last, t.most)
	if t.kind == "" {
		return false
	}
	kind := store.Type(t.kind)
	if kind == store.CPU {
		s.covered += t.covered
	}
	for i := range s.totals {
		if s.totals[i].Type == kind {
			s.totals[i].Value = store.Add(s.totals[i].Value, t.value)
			return false
		}
	}
	s.totals = append(s.totals, store.Total{Type: kind, Value: t.value})
	return true
}

func (s *sum) span() (first, last time.Time, covered time.Duration) {
	return time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC(), time.Duration(s.covered) * time.Millisecond
}

func (s *sum) byType() []store.Total {
	slices.SortFunc(s.totals, func(a, b store.Total) int { return cmp.Compare(a.Type, b.Type) })
	return s.totals
}

// A process is a key of sums; the name is empty in those of a version.
type process struct{ service, version, name string }

func (p process) compare(q process) int {
	return cmp.Or(strings.Compare(p.service, q.service), strings.Compare(p.version, q.version), strings.Compare(p.name, q.name))
}

// sums returns those of a selection by version, or by process.
func (s *Store) sums(ctx context.Context, selected store.Selection, key func(*store.Source) process) (map[process]*sum, error) {
	v := s.view(selected)
	sums := map[process]*sum{}
	bySource := map[*store.Source]*sum{}
	pays := memory.NewBill(ctx)
	err := v.totals(ctx, anyHour, func(source *store.Source, t *hourTotal) error {
		bytes := int64(0)
		to := bySource[source]
		if to == nil {
			k := key(source)
			if to = sums[k]; to == nil {
				to = newSum(source)
				sums[k] = to
				bytes += partBytes
			}
			to.of(source.Instance)
			bySource[source] = to
			bytes += sourceBytes
		}
		if to.add(t) {
			bytes += totalBytes
		}
		return pays.Add(bytes)
	})
	return sums, errors.Join(err, v.close())
}

// Services returns a [store.Reader]'s.
func (s *Store) Services(ctx context.Context, selected store.Selection) (store.Services, error) {
	sums, err := s.sums(ctx, selected, func(s *store.Source) process { return process{service: s.Service, version: s.Version} })
	if err != nil {
		return store.Services{}, fmt.Errorf("services: %w", err)
	}
	answer := store.Services{Services: make([]store.Service, 0, len(sums))}
	for _, p := range slices.SortedFunc(maps.Keys(sums), process.compare) {
		first, last, covered := sums[p].span()
		answer.Services = append(answer.Services, store.Service{
			Name: p.service, Version: p.version, Instances: 1 + len(sums[p].others),
			First: first, Last: last, Covered: covered, Totals: sums[p].byType(),
		})
	}
	return answer, nil
}

// Instances returns a [store.Reader]'s.
func (s *Store) Instances(ctx context.Context, selected store.Selection) (store.Instances, error) {
	sums, err := s.sums(ctx, selected, func(s *store.Source) process { return process{s.Service, s.Version, s.Instance} })
	if err != nil {
		return store.Instances{}, fmt.Errorf("instances: %w", err)
	}
	answer := store.Instances{Instances: make([]store.Instance, 0, len(sums))}
	for _, p := range slices.SortedFunc(maps.Keys(sums), process.compare) {
		first, last, covered := sums[p].span()
		answer.Instances = append(answer.Instances, store.Instance{
			Service: p.service, Version: p.version, Name: p.name,
			First: first, Last: last, Covered: covered, Totals: sums[p].byType(),
		})
	}
	return answer, nil
}

// Stacks returns a [store.Reader]'s.
func (s *Store) Stacks(ctx context.Context, selected store.Selection) (store.Stacks, error) {
	if selected.Type == "" {
		return store.Stacks{}, errors.New("stacks: the selection has no type")
	}
	v := s.view(selected)
	values, err := v.stacks(ctx)
	answer := store.Stacks{Frames: map[store.StackID][]*store.Frame{}}
	for i, id := range values.stacks.values {
		answer.Samples = append(answer.Samples, store.Sample{Stack: store.StackID(id), Value: values.values[i]})
		answer.Total = store.Add(answer.Total, values.values[i])
	}
	slices.SortFunc(answer.Samples, func(a, b store.Sample) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Stack, b.Stack))
	})
	if err == nil {
		err = v.frames(ctx, answer.Samples, answer.Frames)
	}
	if err := errors.Join(err, v.close()); err != nil {
		return store.Stacks{}, fmt.Errorf("stacks: %w", err)
	}
	return answer, nil
}

// frames adds those of stacks: the catalog's, else those that are only in memory.
func (v *view) frames(ctx context.Context, samples []store.Sample, frames map[store.StackID][]*store.Frame) error {
	ids := make([]store.StackID, len(samples))
	for i, s := range samples {
		ids[i] = s.Stack
	}
	if err := v.store.catalog.stacks(ctx, v.selected.Tenant, ids, frames); err != nil {
		return err
	}
	decoded := frameLists{}
	for _, id := range ids {
		if frames[id] != nil {
			continue
		}
		in, is := v.inTables(id)
		if !is {
			continue
		}
		needs := stackFrames + frameBytes*int64(len(in.numbers))
		if _, has := decoded[in.list]; !has {
			needs += framesCost(in.list.frames(), len(*in.list))
		}
		err := memory.More(ctx, needs)
		if err == nil {
			frames[id], err = decoded.stack(in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inTables returns a stack that is in memory.
func (v *view) inTables(id store.StackID) (in numberedStack, is bool) {
	v.store.mu.RLock()
	defer v.store.mu.RUnlock()
	for _, t := range v.tables {
		if in, is = t.stacks[stackKey{v.selected.Tenant, id}]; is {
			return in, true
		}
	}
	return in, false
}

// Series returns a [store.Reader]'s.
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
	number := func(at int64) int64 { return (at - v.selected.from) / step.Milliseconds() }
	inOneStep := func(least, most int64) bool { return number(least) == number(most) }
	pays := memory.NewBill(ctx)
	err = v.totals(ctx, inOneStep, func(source *store.Source, t *hourTotal) error {
		if t.kind == "" || selected.Type != "" && store.Type(t.kind) != selected.Type {
			return nil
		}
		k, bytes := key(source, t.kind), int64(0)
		of := points[k]
		if of == nil {
			of = map[int64]int64{}
			points[k] = of
			bytes += seriesBytes
		}
		value, has := of[number(t.least)]
		if !has {
			bytes += pointBytes
		}
		of[number(t.least)] = store.Add(value, t.value)
		return pays.Add(bytes)
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

// Values returns a [store.Reader]'s.
func (s *Store) Values(ctx context.Context, selected store.Selection, by store.By) (store.Values, error) {
	key, err := keyOf(by)
	if err != nil && by != store.ByLabels {
		return store.Values{}, fmt.Errorf("values: %w", err)
	}
	v := s.view(selected)
	values := map[string]bool{}
	pays := memory.NewBill(ctx)
	note := func(value string) error {
		if values[value] {
			return nil
		}
		values[value] = true
		return pays.Add(valueBytes)
	}
	err = v.totals(ctx, anyHour, func(source *store.Source, t *hourTotal) error {
		switch {
		case by == store.ByLabels:
			for _, l := range source.Labels {
				if err := note(l.Name); err != nil {
					return err
				}
			}
		case by != store.ByType || t.kind != "":
			return note(key(source, t.kind))
		}
		return nil
	})
	if err := errors.Join(err, v.close()); err != nil {
		return store.Values{}, fmt.Errorf("values: %w", err)
	}
	return store.Values{Values: slices.Sorted(maps.Keys(values))}, nil
}

// keyOf returns what tells batches apart by a key.
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
