package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A Reference is a store that keeps batches in a list and goes through all of them for
// each answer. What it answers is right by being plain.
type Reference struct {
	mu      sync.Mutex
	batches []*store.Batch
	known   map[batchKey]bool
	frames  map[stackKey][]*store.Frame
	found   []store.Finding
	closed  bool
}

type batchKey struct {
	tenant string
	id     [16]byte
}

type stackKey struct {
	tenant string
	id     store.StackID
}

// Write returns a [store.Writer]'s.
func (r *Reference) Write(_ context.Context, b *store.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return store.ErrClosed
	}
	if slices.ContainsFunc(b.Profiles, func(p store.Profile) bool { return p.Type == "" }) {
		return errors.New("a profile without a type")
	}
	key := batchKey{b.Source.Tenant, b.ID}
	if r.known[key] {
		return nil
	}
	if r.known == nil {
		r.known, r.frames = map[batchKey]bool{}, map[stackKey][]*store.Frame{}
	}
	r.known[key] = true
	r.batches = append(r.batches, b)
	for id, frames := range b.Stacks {
		if _, known := r.frames[stackKey{b.Source.Tenant, id}]; !known && len(frames) > 0 {
			r.frames[stackKey{b.Source.Tenant, id}] = frames
		}
	}
	return nil
}

// WriteFindings returns a [store.Writer]'s.
func (r *Reference) WriteFindings(_ context.Context, findings []store.Finding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return store.ErrClosed
	}
	for _, f := range findings {
		if !slices.ContainsFunc(r.found, func(known store.Finding) bool { return known.Compare(&f) == 0 }) {
			r.found = append(r.found, f)
		}
	}
	return nil
}

// Findings returns a [store.Reader]'s.
func (r *Reference) Findings(_ context.Context, s store.Selection) (store.Findings, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var answer store.Findings
	for _, f := range r.found {
		at := f.Until.UnixMilli()
		if f.Tenant == s.Tenant && (s.Service == "" || f.Service == s.Service) && (s.Version == "" || f.Version == s.Version) &&
			at >= s.From.UnixMilli() && (s.Until.IsZero() || at < s.Until.UnixMilli()) {
			f.From, f.Until = time.UnixMilli(f.From.UnixMilli()), time.UnixMilli(at)
			answer.Findings = append(answer.Findings, f)
		}
	}
	slices.SortFunc(answer.Findings, func(a, b store.Finding) int { return a.Compare(&b) })
	return answer, nil
}

// Close returns a [store.Store]'s.
func (r *Reference) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

// batchesOf returns the batches of a selection; its type does not matter.
func (r *Reference) batchesOf(s store.Selection) []*store.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.batches), func(b *store.Batch) bool { return !matches(s, b) })
}

func matches(s store.Selection, b *store.Batch) bool {
	at := b.Until.UnixMilli()
	if at < s.From.UnixMilli() || !s.Until.IsZero() && at >= s.Until.UnixMilli() {
		return false
	}
	if s.Tenant != b.Source.Tenant ||
		s.Service != "" && s.Service != b.Source.Service ||
		s.Version != "" && s.Version != b.Source.Version ||
		s.Instance != "" && s.Instance != b.Source.Instance {
		return false
	}
	for _, l := range s.Labels {
		if label(b, l.Name) != l.Value {
			return false
		}
	}
	return true
}

func label(b *store.Batch, name string) string {
	for _, l := range b.Source.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Services returns a [store.Reader]'s.
func (r *Reference) Services(_ context.Context, s store.Selection) (store.Services, error) {
	type key struct{ name, version string }
	groups := map[key][]*store.Batch{}
	for _, b := range r.batchesOf(s) {
		k := key{b.Source.Service, b.Source.Version}
		groups[k] = append(groups[k], b)
	}
	var answer store.Services
	for k, batches := range groups {
		first, last, covered, totals := sums(batches)
		names := map[string]bool{}
		for _, b := range batches {
			names[b.Source.Instance] = true
		}
		answer.Services = append(answer.Services, store.Service{
			Name: k.name, Version: k.version, Instances: len(names),
			First: first, Last: last, Covered: covered, Totals: totals,
		})
	}
	slices.SortFunc(answer.Services, func(a, b store.Service) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return answer, nil
}

// Instances returns a [store.Reader]'s.
func (r *Reference) Instances(_ context.Context, s store.Selection) (store.Instances, error) {
	type key struct{ service, version, name string }
	groups := map[key][]*store.Batch{}
	for _, b := range r.batchesOf(s) {
		k := key{b.Source.Service, b.Source.Version, b.Source.Instance}
		groups[k] = append(groups[k], b)
	}
	var answer store.Instances
	for k, batches := range groups {
		first, last, covered, totals := sums(batches)
		answer.Instances = append(answer.Instances, store.Instance{
			Service: k.service, Version: k.version, Name: k.name,
			First: first, Last: last, Covered: covered, Totals: totals,
		})
	}
	slices.SortFunc(answer.Instances, func(a, b store.Instance) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Version, b.Version), strings.Compare(a.Name, b.Name))
	})
	return answer, nil
}

func sums(batches []*store.Batch) (first, last time.Time, covered time.Duration, totals []store.Total) {
	from, until := batches[0].From.UnixMilli(), batches[0].Until.UnixMilli()
	byType := map[store.Type]int64{}
	for _, b := range batches {
		from, until = min(from, b.From.UnixMilli()), max(until, b.Until.UnixMilli())
		cpu := false
		for _, p := range b.Profiles {
			byType[p.Type] = store.Add(byType[p.Type], sum(p))
			cpu = cpu || p.Type == store.CPU
		}
		if cpu {
			covered += time.Duration(b.Until.UnixMilli()-b.From.UnixMilli()) * time.Millisecond
		}
	}
	for _, t := range slices.Sorted(maps.Keys(byType)) {
		totals = append(totals, store.Total{Type: t, Value: byType[t]})
	}
	return time.UnixMilli(from).UTC(), time.UnixMilli(until).UTC(), covered, totals
}

func sum(p store.Profile) int64 {
	var total int64
	for _, s := range p.Samples {
		total = store.Add(total, s.Value)
	}
	return total
}

// Stacks returns a [store.Reader]'s.
func (r *Reference) Stacks(_ context.Context, s store.Selection) (store.Stacks, error) {
	if s.Type == "" {
		return store.Stacks{}, errors.New("a selection of stacks needs a type")
	}
	values := map[store.StackID]int64{}
	answer := store.Stacks{Frames: map[store.StackID][]*store.Frame{}}
	for _, b := range r.batchesOf(s) {
		for _, p := range b.Profiles {
			for _, sample := range p.Samples {
				if p.Type == s.Type {
					values[sample.Stack] = store.Add(values[sample.Stack], sample.Value)
					answer.Total = store.Add(answer.Total, sample.Value)
				}
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, value := range values {
		answer.Samples = append(answer.Samples, store.Sample{Stack: id, Value: value})
		if frames, known := r.frames[stackKey{s.Tenant, id}]; known {
			answer.Frames[id] = frames
		}
	}
	slices.SortFunc(answer.Samples, func(a, b store.Sample) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Stack, b.Stack))
	})
	return answer, nil
}

// Series returns a [store.Reader]'s.
func (r *Reference) Series(_ context.Context, s store.Selection, step time.Duration, by store.By) (store.SeriesSet, error) {
	if _, err := keyOf(&store.Batch{}, "", by); err != nil {
		return store.SeriesSet{}, err
	}
	if s.Type == "" && by != store.ByType {
		return store.SeriesSet{}, errors.New("a selection of series needs a type")
	}
	if step < time.Millisecond {
		return store.SeriesSet{}, errors.New("a step is a millisecond or longer")
	}
	points := map[string]map[int64]int64{}
	for _, b := range r.batchesOf(s) {
		for _, p := range b.Profiles {
			if s.Type != "" && p.Type != s.Type {
				continue
			}
			key, err := keyOf(b, p.Type, by)
			if err != nil {
				return store.SeriesSet{}, err
			}
			if points[key] == nil {
				points[key] = map[int64]int64{}
			}
			number := (b.Until.UnixMilli() - s.From.UnixMilli()) / step.Milliseconds()
			points[key][number] = store.Add(points[key][number], sum(p))
		}
	}
	var answer store.SeriesSet
	for _, key := range slices.Sorted(maps.Keys(points)) {
		series := store.Series{Key: key}
		for _, number := range slices.Sorted(maps.Keys(points[key])) {
			at := time.UnixMilli(s.From.UnixMilli() + number*step.Milliseconds()).UTC()
			series.Points = append(series.Points, store.Point{At: at, Value: points[key][number]})
		}
		answer.Series = append(answer.Series, series)
	}
	return answer, nil
}

// Values returns a [store.Reader]'s.
func (r *Reference) Values(_ context.Context, s store.Selection, by store.By) (store.Values, error) {
	values := map[string]bool{}
	for _, b := range r.batchesOf(s) {
		if by == store.ByType {
			for _, p := range b.Profiles {
				values[string(p.Type)] = true
			}
			continue
		}
		if by == store.ByLabels {
			for _, l := range b.Source.Labels {
				values[l.Name] = true
			}
			continue
		}
		key, err := keyOf(b, "", by)
		if err != nil {
			return store.Values{}, err
		}
		values[key] = true
	}
	return store.Values{Values: slices.Sorted(maps.Keys(values))}, nil
}

func keyOf(b *store.Batch, t store.Type, by store.By) (string, error) {
	switch by {
	case store.ByNothing:
		return "", nil
	case store.ByService:
		return b.Source.Service, nil
	case store.ByVersion:
		return b.Source.Version, nil
	case store.ByInstance:
		return b.Source.Instance, nil
	case store.ByType:
		return string(t), nil
	}
	name, ok := strings.CutPrefix(string(by), "label:")
	if !ok {
		return "", fmt.Errorf("unknown key %q", string(by))
	}
	return label(b, name), nil
}
