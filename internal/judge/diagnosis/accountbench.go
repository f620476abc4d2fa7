package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// benchmarkRows is how many benchmarks an account keeps, the slowest: they are parts of
// no whole, and a reader wants to find his own.
const benchmarkRows = 8

// A benchmarked is one benchmark's rounds.
type benchmarked struct {
	name   string
	values map[string][]float64 // by unit
}

func (b *benchmarked) median(unit string) float64 { return statistics.Median(b.values[unit]) }

// benchmarkAccount lists what an operation of each benchmark costs: the median of its rounds,
// what they spread, and what it allocates.
func benchmarkAccount(p fact.Meter) *Account {
	if len(p.Model.Load.Benchmarks) == 0 {
		return nil
	}
	list := benchmarksOf(p.Model.Load.Benchmarks)
	slices.SortStableFunc(list, func(a, b *benchmarked) int { return cmp.Compare(b.median("ns/op"), a.median("ns/op")) })
	a, rounds := &Account{}, 0
	for i, b := range list {
		rounds += len(b.values["ns/op"])
		if i < benchmarkRows {
			a.Rows = append(a.Rows, benchmarkRow(p, b))
		}
	}
	count := func(what string, n int) fact.Name {
		if n != 1 {
			what += "s"
		}
		return fact.Name(fact.Count.Format(float64(n)) + " " + what)
	}
	a.Text = fact.Sentence("Of %s in %s an operation of %s takes most, %s.",
		count("benchmark", len(list)), count("round", rounds), fact.Name(a.Rows[0].Name), a.Rows[0].Value)
	if rounds == len(list) {
		a.Text += " One round of each shows no spread: -count=10 does."
	}
	return a
}

func benchmarksOf(all []model.Benchmark) (list []*benchmarked) {
	by := map[string]*benchmarked{}
	several := slices.ContainsFunc(all, func(b model.Benchmark) bool { return b.Package != all[0].Package })
	for i := range all {
		name := strings.TrimPrefix(all[i].Name, "Benchmark")
		if several {
			name = all[i].Package + "." + name
		}
		b := by[name]
		if b == nil {
			b = &benchmarked{name, map[string][]float64{}}
			by[name] = b
			list = append(list, b)
		}
		for unit, v := range all[i].Values {
			b.values[unit] = append(b.values[unit], v)
		}
	}
	return list
}

func benchmarkRow(p fact.Meter, b *benchmarked) AccountRow {
	value := p.Statistic(fact.LoadResults, "median of the rounds", b.name, b.median("ns/op")/1e9, fact.Seconds)
	notes := []string{spreadWords(b.values["ns/op"])}
	if len(b.values["allocs/op"]) > 0 {
		notes = append(notes, fact.Sentence("%s in %s allocations", fact.Name(fact.Bytes.Format(b.median("B/op"))), fact.Name(fact.Count.Format(b.median("allocs/op")))))
	}
	return AccountRow{Name: b.name, Value: value, Note: note(notes...)}
}

// intervalLevel is that of the interval of a median.
const intervalLevel = 0.95

// spreadWords says where the median lies, or where few rounds do not tell between what
// the rounds were.
func spreadWords(ns []float64) string {
	if len(ns) < 2 {
		return ""
	}
	low, high, ok := statistics.MedianInterval(ns, intervalLevel)
	if !ok {
		low, high = slices.Min(ns), slices.Max(ns)
	}
	// Half of the way from end to end, by the median.
	half := fact.Name(fact.Ratio.Format(ratio((high-low)/2, statistics.Median(ns))))
	if ok {
		return fact.Sentence("±%s", half)
	}
	return fact.Sentence("rounds ±%s", half)
}
