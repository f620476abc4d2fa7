package server

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// usualPoints is how many a series has where no step is asked for, mostPoints how
	// many at most, and mostKeys how many series an answer has.
	usualPoints, mostPoints, mostKeys = 200, 2000, 100
)

// stepOf reads a step, which must leave no more points than a client can want.
func stepOf(q url.Values, s store.Selection) (time.Duration, error) {
	span := s.Until.Sub(s.From)
	text := q.Get("step")
	if text == "" {
		return max(time.Second, (span / usualPoints).Round(time.Second)), nil
	}
	step, err := time.ParseDuration(text)
	if err != nil || step < time.Millisecond {
		return 0, fmt.Errorf("step %.40q is no duration of a millisecond or more: write 15s or 5m", text)
	}
	if span/step > mostPoints {
		return 0, fmt.Errorf("step %.40q makes more than %d points of %s: ask for a longer step", text, mostPoints, span)
	}
	return step, nil
}

// readDimension reads what series, or values, are told apart by.
func readDimension(text string) (store.By, error) {
	by := store.By(text)
	switch by {
	case store.ByNothing, store.ByService, store.ByVersion, store.ByInstance:
		return by, nil
	}
	if name, ok := strings.CutPrefix(text, "label:"); ok && name != "" && len(name) <= store.LongestName {
		return by, nil
	}
	return "", fmt.Errorf("by %.40q is unknown: write service, version, instance or label:NAME", text)
}

func series(ctx context.Context, r store.Reader, s store.Selection, step time.Duration, by store.By, n int) (api.SeriesSet, error) {
	all, err := r.Series(ctx, s, step, by)
	if err != nil {
		return api.SeriesSet{}, err
	}
	a := api.SeriesSet{StepNS: int64(step), Series: []api.Series{}, Missing: all.Missing}
	for _, one := range all.Series {
		made := api.Series{Key: one.Key, Points: make([][2]int64, 0, len(one.Points))}
		for _, p := range one.Points {
			made.Total = store.Add(made.Total, p.Value)
			made.Points = append(made.Points, [2]int64{p.At.UnixMilli(), p.Value})
		}
		made.Saturated = made.Total == math.MaxInt64
		a.Series = append(a.Series, made)
	}
	slices.SortStableFunc(a.Series, func(a, b api.Series) int { return cmp.Compare(b.Total, a.Total) })
	shown := min(n, mostKeys, len(a.Series))
	a.Series, a.Omitted = a.Series[:shown], len(a.Series)-shown
	return a, nil
}

// recent is how long before the end a process must have sent to be counted.
const recent = 15 * time.Minute

func levels(ctx context.Context, r store.Reader, s store.Selection, n int) (api.Levels, error) {
	if from := s.Until.Add(-recent); from.After(s.From) {
		s.From = from
	}
	all, err := r.Services(ctx, s)
	if err != nil {
		return api.Levels{}, err
	}
	a := api.Levels{Levels: []api.Level{}, Missing: all.Missing}
	type process struct{ service, instance string }
	type last struct {
		at    time.Time
		level int // its place in the answer
		value int64
	}
	seen := map[process]last{}
	shown := all.Services[:min(n, len(all.Services))]
	a.Omitted = len(all.Services) - len(shown)
	held := memory.Held(ctx)
	for i, service := range shown {
		a.Levels = append(a.Levels, api.Level{Service: service.Name, Version: service.Version})
		s.Service, s.Version = service.Name, service.Version
		// Steps of a millisecond are single batches. Those of a version are not needed for the next.
		memory.Back(ctx, held)
		sent, err := r.Series(ctx, s, time.Millisecond, store.ByInstance)
		if err != nil {
			return api.Levels{}, err
		}
		for _, one := range sent.Series {
			p := one.Points[len(one.Points)-1]
			// A process that was deployed meanwhile is one of its last version.
			who := process{service.Name, one.Key}
			if known, ok := seen[who]; !ok || p.At.After(known.at) {
				seen[who] = last{p.At, i, p.Value}
			}
		}
	}
	for _, l := range seen {
		a.Levels[l.level].Instances++
		a.Levels[l.level].Value = store.Add(a.Levels[l.level].Value, l.value)
	}
	a.Levels = slices.DeleteFunc(a.Levels, func(l api.Level) bool { return l.Instances == 0 })
	return a, nil
}

func values(ctx context.Context, r store.Reader, s store.Selection, by store.By, n int) (api.Values, error) {
	all, err := r.Values(ctx, s, by)
	if err != nil {
		return api.Values{}, err
	}
	shown := min(n, len(all.Values))
	return api.Values{Values: append([]string{}, all.Values[:shown]...), Omitted: len(all.Values) - shown, Missing: all.Missing}, nil
}
