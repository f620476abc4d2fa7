package fact

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// A Formula computes a fact from others. What it says of itself names them by
// their place, from {0} on, or all of them: {all +}, {all ×}, {all,}.
type Formula struct {
	Name  string
	Words string // like "{0} ÷ {1}"
	Value func(x []float64) float64
}

// Of computes the fact: the value follows from the operands and nothing else.
func (f *Formula) Of(name string, u Unit, operands ...Fact) Fact {
	x := make([]float64, len(operands))
	for i, o := range operands {
		x[i] = o.Value
	}
	return fact(name, f.Value(x), u, Origin{Kind: Computed, Name: f.Name, Sentence: f.sentence(operands)}, operands...)
}

// SumOf adds up those facts that are not nothing. One alone keeps its origin.
func SumOf(name string, u Unit, facts ...Fact) Fact {
	facts = slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == 0 })
	if len(facts) == 1 {
		return facts[0].Named(name)
	}
	return Sum.Of(name, u, facts...)
}

// sentence returns the formula with the operands' names in their places.
func (f *Formula) sentence(operands []Fact) string {
	names := make([]string, len(operands))
	for i, o := range operands {
		names[i] = o.Name
	}
	pairs := []string{"{all +}", strings.Join(names, " + "), "{all ×}", strings.Join(names, " × "), "{all,}", strings.Join(names, ", ")}
	for i, name := range names {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", name)
	}
	return strings.NewReplacer(pairs...).Replace(f.Words)
}

func formula(name, words string, value func(x []float64) float64) *Formula {
	return &Formula{name, words, value}
}

// The formulas that several rules use. One that a single rule needs stands there.
var (
	Quotient = formula("quotient", "{0} ÷ {1}", func(x []float64) float64 { return statistics.Quotient(x[0], x[1]) })
	// Fraction is a quotient that is a share: never more than all.
	Fraction   = formula("fraction", "{0} ÷ {1}", func(x []float64) float64 { return min(1, statistics.Quotient(x[0], x[1])) })
	Product    = formula("product", "{all ×}", product)
	Sum        = formula("sum", "{all +}", statistics.Sum)
	Difference = formula("difference", "{0} − {1}", func(x []float64) float64 { return max(0, x[0]-x[1]) })
	Smallest   = formula("smallest", "the least of {all,}", func(x []float64) float64 { return fold(x, math.Min) })
	Largest    = formula("largest", "the most of {all,}", func(x []float64) float64 { return fold(x, math.Max) })
	// Idle is what is left of a number when a share of it is used.
	Idle = formula("idle", "{0} × (1 − {1})", func(x []float64) float64 { return x[0] * (1 - x[1]) })
	// Even is the part of something that falls to some of a number of equals.
	Even = formula("even part", "{0} × {1} ÷ {2}", func(x []float64) float64 { return statistics.Quotient(x[0]*x[1], x[2]) })
	// Rest is what a share leaves.
	Rest = formula("rest", "1 − {0}", func(x []float64) float64 { return 1 - min(max(x[0], 0), 1) })

	// Saving is the CPU that is not used any more when a share of it is not:
	// G. Amdahl (AFIPS 1967), for a part made infinitely fast.
	Saving = formula("amdahl", "Amdahl: {0} × {1}, as if that part cost nothing", product)
	// Sampled is a share of what was sampled as a share of all.
	Sampled = formula("sampled", "{0} × (1 − {1})", func(x []float64) float64 { return x[0] * (1 - x[1]) })
	// Without is the most of the CPU that is saved when something is not done any
	// more. With it goes what is done because of it and elsewhere: of what the
	// collector does on its own the part that its garbage is, and of the scheduler's
	// work that or its part of the program's, whichever is larger. What no sample
	// shows, and what chance may have kept from the samples, is added: see [LargestShare].
	// Its operands: share, garbage, collecting, scheduling, unknown, samples.
	Without = formula("amdahl without", "Amdahl: as if {0} cost nothing, with its part of the collector's and the scheduler's work, and with what "+
		"the samples may not show",
		func(x []float64) float64 {
			share, garbage, collecting, scheduling, unknown, samples := x[0], x[1], x[2], x[3], x[4], x[5]
			part := max(garbage, statistics.Quotient(share, max(share, 1-unknown-collecting-scheduling)))
			return LargestShare(share+garbage*collecting+part*scheduling+unknown, int64(samples))
		})
	// Bottleneck is by what share work takes less time when its throughput grows
	// by the asymptotic bound of operational analysis; see [ClosedSystem.Asymptotic].
	// Its operands are: cores, those in use without the wait, time of those who
	// wait, their wait, and what stays serial.
	Bottleneck = formula("asymptotic", "asymptotic bound of a closed system: min({0} ÷ {1}, {2} ÷ ({2} − {3})); less when requests arrive slower than that",
		func(x []float64) float64 {
			factor, _, _ := closedSystem(x).Asymptotic()
			return factor
		})
	// CollectorSaving is what fewer collections save; see [GCModel]. Its operands
	// are: CPU in use, the collector's share of it, GOGC by what it is, and how
	// much more than that was seen to be saved.
	CollectorSaving = formula("gc model", "GC model: {0} × {1} × (1 − 1 ÷ {2}) × {3}",
		func(x []float64) float64 { return x[0] * GCModel(x[1], x[2], x[3]) })
	// Gain is the part of the time for a unit of work that a factor of
	// throughput saves.
	Gain = formula("gain", "1 − 1 ÷ {0}", func(x []float64) float64 { return 1 - 1/max(1, x[0]) })
)

func closedSystem(x []float64) ClosedSystem {
	c := ClosedSystem{Cores: x[0], Busy: x[1], Whole: x[2], Wait: x[3]}
	if len(x) > 4 {
		c.Serial = x[4]
	}
	return c
}

func product(x []float64) float64 {
	p := 1.0
	for _, v := range x {
		p *= v
	}
	return p
}

func fold(x []float64, f func(a, b float64) float64) float64 {
	v := x[0]
	for _, y := range x[1:] {
		v = f(v, y)
	}
	return v
}
