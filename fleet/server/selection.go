package server

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// types are the short names of the types that are asked for most.
var types = map[string]store.Type{
	"cpu": store.CPU, "alloc_objects": store.AllocObjects, "alloc_space": store.AllocSpace,
	"inuse_objects": store.InuseObjects, "inuse_space": store.InuseSpace, "goroutines": store.Goroutines,
	"mutex_count": store.MutexCount, "mutex_delay": store.MutexDelay,
	"block_count": store.BlockCount, "block_delay": store.BlockDelay, "operations": store.Operations,
}

// selection reads which batches a question is about. Without a span of time it is the
// last hour; without a type it is CPU.
func selection(q url.Values, tenant string, now time.Time) (store.Selection, error) {
	s := store.Selection{Tenant: tenant, Service: q.Get("service"), Version: q.Get("version"), Instance: q.Get("instance"), Type: store.CPU}
	var err error
	if s.From, err = instant(q.Get("from"), now, now.Add(-time.Hour)); err != nil {
		return s, fmt.Errorf("from: %w", err)
	}
	if s.Until, err = instant(q.Get("until"), now, now); err != nil {
		return s, fmt.Errorf("until: %w", err)
	}
	if !s.From.Before(s.Until) {
		return s, fmt.Errorf("from (%s) is not before until (%s)", s.From.Format(time.RFC3339), s.Until.Format(time.RFC3339))
	}
	if s.Labels, err = labels(q["label"]); err != nil {
		return s, err
	}
	if err := nameable(s); err != nil {
		return s, err
	}
	if name := q.Get("type"); name != "" {
		s.Type, err = typeOf(name)
	}
	return s, err
}

// nameable refuses what no source is called: it is compared with each of them. An instance is
// two labels' values, of a host and a process.
func nameable(s store.Selection) error {
	for _, part := range []struct {
		what, text string
		most       int
	}{{"service", s.Service, store.LongestValue}, {"version", s.Version, store.LongestValue}, {"instance", s.Instance, 2*store.LongestValue + 1}} {
		if len(part.text) > part.most {
			return fmt.Errorf("%s %.40q has %d bytes, %d are the most", part.what, part.text, len(part.text), part.most)
		}
	}
	return nil
}

// instant reads a time: RFC 3339, now, or a duration before now as in now-1h.
func instant(text string, now, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	if text == "now" {
		return now, nil
	}
	if ago, ok := strings.CutPrefix(text, "now-"); ok {
		d, err := time.ParseDuration(ago)
		if err != nil || d < 0 {
			return time.Time{}, fmt.Errorf("%.40q is no duration before now: write now-1h or now-30m", text)
		}
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is no time: write it as 2006-01-02T15:04:05Z or now-1h", text)
	}
	return t, nil
}

func labels(texts []string) ([]store.Label, error) {
	if len(texts) > store.MostLabels {
		return nil, fmt.Errorf("%d labels, of which a question has at most %d", len(texts), store.MostLabels)
	}
	var all []store.Label
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("label %.40q is not of the form name=value", text)
		}
		if len(name) > store.LongestName || len(value) > store.LongestValue {
			return nil, fmt.Errorf("label %.40q: a name has at most %d bytes and a value %d", name, store.LongestName, store.LongestValue)
		}
		all = append(all, store.Label{Name: name, Value: value})
	}
	slices.SortStableFunc(all, func(a, b store.Label) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func typeOf(name string) (store.Type, error) {
	if t, ok := types[name]; ok {
		return t, nil
	}
	if strings.Count(name, ":") != 4 { // as in process_cpu:cpu:nanoseconds:cpu:nanoseconds
		return "", fmt.Errorf("type %.40q is unknown: write cpu, alloc_space or a full type of five parts", name)
	}
	return store.Type(name), nil
}

// limit reads how many rows an answer has: 100 if nothing is said, at most 10,000.
func limit(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return 100, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 10_000 {
		return 0, fmt.Errorf("limit %.40q is no number from 1 to 10000", text)
	}
	return n, nil
}
