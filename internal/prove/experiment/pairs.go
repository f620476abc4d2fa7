package experiment

import (
	"maps"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// values are what one arm measured in a pair.
type values map[diagnosis.Metric]float64

// pairs returns the counted ones in the order in which they ran. Of one that was both
// timed and counted, the counted runs only tell what the timed ones do not.
func (t *Trial) pairs() [][2]values {
	timed, counted := t.whole(false), t.whole(true)
	for pair, arms := range counted {
		if of, both := timed[pair]; both {
			arms = [2]values{merge(of, arms, 0), merge(of, arms, 1)}
		}
		timed[pair] = arms
	}
	list := make([][2]values, 0, len(timed))
	for _, pair := range slices.Sorted(maps.Keys(timed)) {
		list = append(list, timed[pair])
	}
	return list
}

// whole returns the pairs of runs of one kind of which both arms count.
func (t *Trial) whole(counted bool) map[int][2]values {
	pairs := map[int][2]values{}
	for _, r := range t.Rounds {
		if r.Pair > 0 && r.Dropped == "" && r.Count == counted {
			arms := pairs[r.Pair]
			arms[index(r.Arm == "B")] = values(r.Values)
			pairs[r.Pair] = arms
		}
	}
	maps.DeleteFunc(pairs, func(_ int, arms [2]values) bool { return arms[0] == nil || arms[1] == nil })
	return pairs
}

// merge takes what the timed run did not measure, in neither arm, from the
// counted one.
func merge(timed, counted [2]values, arm int) values {
	all := values{}
	for m, v := range counted[arm] {
		_, inA := timed[0][m]
		_, inB := timed[1][m]
		if !inA && !inB {
			all[m] = v
		}
	}
	for m, v := range timed[arm] {
		all[m] = v
	}
	return all
}

func (t *Trial) droppedPairs() int {
	seen := map[int]bool{}
	for _, r := range t.Rounds {
		if r.Pair > 0 && r.Dropped != "" {
			seen[r.Pair] = true
		}
	}
	return len(seen)
}

// soFar returns the primary's ratio with its interval, each 0 when unknown. It is for the eye:
// fewer draws than a verdict takes are enough, and none whose pairs would take longer than a
// run.
func (t *Trial) soFar() (i Interval) {
	d := t.series(t.pairs(), t.Primary).d
	if len(d) > 0 {
		i.Value = math.Exp(statistics.HodgesLehmann(d))
	}
	const most, draws = 200, 500
	if len(d) >= leastPairs && len(d) <= most {
		low, high := statistics.Bootstrap(len(d), statistics.Centre(d), level, statistics.BootstrapOptions{Draws: draws, Seed: t.Seed})
		i.Low, i.High = math.Exp(low), math.Exp(high)
	}
	return i
}

// A series is one metric over the pairs that measured it.
type series struct {
	a, b []float64
	d    []float64 // log(b/a)
}

// series pairs up a metric's values. A zero stands for less than half of the
// least that was measured, or no ratio could be formed.
func (t *Trial) series(pairs [][2]values, m diagnosis.Metric) (s series) {
	least := math.Inf(1)
	for _, arms := range pairs {
		a, inA := arms[0][m]
		b, inB := arms[1][m]
		if !inA || !inB {
			continue
		}
		s.a, s.b = append(s.a, a), append(s.b, b)
		for _, v := range []float64{a, b} {
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	for i := range s.a {
		a, b := s.a[i], s.b[i]
		if a == b {
			s.d = append(s.d, 0)
			continue
		}
		s.d = append(s.d, math.Log(max(b, least/2))-math.Log(max(a, least/2)))
	}
	return s
}
