package scrape

import (
	"strings"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

// A baseline is the values of the last scrape, by kind and sample type, from which the
// next are subtracted.
type baseline map[string]map[store.StackID]int64

// differences returns the samples to write, by the index of their type, and b becomes the
// baseline of the next. The first scrape of a profile is only a baseline: nobody knows
// how long before it the counts began.
func (b baseline) differences(k kind, p *profiles.Profile) [][]store.Sample {
	for i, t := range p.Types {
		if k.counts(t.Name) && fell(b[k.key(t.Name)], p.Samples[i]) {
			b.restart(k)
		}
	}
	all := make([][]store.Sample, len(p.Types))
	for i, t := range p.Types {
		if k.counts(t.Name) {
			all[i] = b.difference(k.key(t.Name), p.Samples[i])
		} else {
			all[i] = p.Samples[i]
		}
	}
	return all
}

// restart makes the baseline zero: all that a new process counted is since the last
// scrape. Memory stands for the whole process, also for profiles that fail to arrive in
// this scrape; the others stand for themselves.
func (b baseline) restart(k kind) {
	for key := range b {
		if k.name == "memory" || strings.HasPrefix(key, k.key("")) {
			b[key] = nil
		}
	}
}

func (b baseline) difference(key string, samples []store.Sample) (grown []store.Sample) {
	before, known := b[key]
	b[key] = byStack(samples)
	if !known {
		return nil
	}
	for _, s := range samples {
		if s.Value -= before[s.Stack]; s.Value != 0 {
			grown = append(grown, s)
		}
	}
	return grown
}

// fell reports whether a count is less than before, which happens only in another process.
func fell(before map[store.StackID]int64, samples []store.Sample) bool {
	now := byStack(samples)
	for stack, v := range before {
		if now[stack] < v {
			return true
		}
	}
	return false
}

func byStack(samples []store.Sample) map[store.StackID]int64 {
	values := make(map[store.StackID]int64, len(samples))
	for _, s := range samples {
		values[s.Stack] = s.Value
	}
	return values
}
