package experiment

import (
	"maps"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// firstPrimary returns the metric that decides when none was named.
func (t *Trial) firstPrimary() diagnosis.Metric {
	for _, m := range []diagnosis.Metric{diagnosis.CPUPerOp, diagnosis.Elapsed} {
		if t.measured(m) {
			return m
		}
	}
	all := t.allMetrics()
	if len(all) == 0 {
		return diagnosis.CPUPerOp
	}
	return all[0]
}

// measured says that both arms had a value of the metric, in dropped rounds too,
// and from runs of the same kind: a program that is counted is another one.
func (t *Trial) measured(m diagnosis.Metric) bool {
	var seen sightings
	for _, r := range t.Rounds {
		if _, ok := r.Values[m]; ok {
			seen.add(r)
		}
	}
	return seen.both()
}

// sightings are where a metric was measured: timed or counted, in A or in B.
type sightings [2][2]bool

func (s *sightings) add(r Round) { s[index(r.Count)][index(r.Arm == "B")] = true }

func (s *sightings) both() bool { return s[0][0] && s[0][1] || s[1][0] && s[1][1] }

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// allMetrics returns those that both arms measured, in the table's order.
func (t *Trial) allMetrics() []diagnosis.Metric {
	seen := map[diagnosis.Metric]*sightings{}
	for _, r := range t.Rounds {
		for m := range r.Values {
			if seen[m] == nil {
				seen[m] = new(sightings)
			}
			seen[m].add(r)
		}
	}
	maps.DeleteFunc(seen, func(_ diagnosis.Metric, s *sightings) bool { return !s.both() })
	return slices.SortedFunc(maps.Keys(seen), compareMetrics)
}

func (t *Trial) measuredList() string {
	var names []string
	for _, m := range t.allMetrics() {
		names = append(names, string(m))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
