package statistics

import (
	"math"
	"slices"
)

// Quotient returns a by b, and 0 rather than infinite where there is nothing to divide by.
func Quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Finite returns a number as JSON has it: nil for what it has none for.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Sum adds up numbers.
func Sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// Median returns the 0.5 quantile; NaN for no numbers.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile returns the value below which the share q of the numbers lies, straight
// between neighbours (Hyndman and Fan's seventh definition, which spreadsheets
// and R use). It is NaN for no numbers and when one of them is NaN.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 || math.IsNaN(q) || slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	return sortedQuantile(slices.Sorted(slices.Values(x)), q)
}

func sortedQuantile(sorted []float64, q float64) float64 {
	last := len(sorted) - 1
	at := min(max(q, 0), 1) * float64(last)
	i := min(int(at), max(last-1, 0))
	low, high := sorted[i], sorted[min(i+1, last)]
	switch part := at - float64(i); {
	case low == high, part == 0:
		return low
	case part == 1:
		return high
	default:
		return low*(1-part) + high*part
	}
}

// HodgesLehmann returns the centre of the numbers: the median of their Walsh
// averages (x_i+x_j)/2, i <= j. It is nearly as exact as the mean where the
// mean is best and hardly moved by outliers (Hodges and Lehmann 1963). It is
// NaN for no numbers and when one is not finite.
func HodgesLehmann(d []float64) float64 {
	half, ok := sortedHalves(d, 1)
	if !ok {
		return math.NaN()
	}
	n := len(half)
	return medianOfSums(half, half, n*(n+1)/2, func(v float64) int { return walshUpTo(half, v) })
}

// Shift returns how much greater b is than a: the median of all differences b_j-a_i, the
// two-sample estimate of Hodges and Lehmann. It is NaN when one side has no numbers or one
// that is not finite.
func Shift(a, b []float64) float64 {
	minus, ok := sortedHalves(a, -1)
	plus, ok2 := sortedHalves(b, 1)
	if !ok || !ok2 {
		return math.NaN()
	}
	return 2 * medianOfSums(minus, plus, len(a)*len(b), func(v float64) int { return sumsUpTo(minus, plus, v) })
}

// sortedHalves returns the numbers times sign/2, in order. Halves cannot overflow
// when two are added.
func sortedHalves(x []float64, sign float64) (half []float64, ok bool) {
	if len(x) == 0 {
		return nil, false
	}
	half = make([]float64, len(x))
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		half[i] = sign * v / 2
	}
	slices.Sort(half)
	return half, true
}

// medianOfSums returns the median of n sums of a member of x and one of y, both in
// order, of which upTo says how many are at most a value. The sums are never
// written down: a search over the values asks 64 times, each in linear time, so
// that ten thousand numbers cost milliseconds and no memory.
func medianOfSums(x, y []float64, n int, upTo func(float64) int) float64 {
	low, high := x[0]+y[0], x[len(x)-1]+y[len(y)-1]
	first := kth(low, high, (n+1)/2, upTo)
	if n%2 == 1 || upTo(first) > n/2 {
		return first
	}
	return first/2 + kth(first, high, n/2+1, upTo)/2
}

// kth returns the least value in [low, high] with at least k sums up to it, which is
// itself a sum: their count steps at sums only.
func kth(low, high float64, k int, upTo func(float64) int) float64 {
	l, h := ordinal(low), ordinal(high)
	for l < h {
		// Their difference may exceed an int64, their mean does not.
		mid := l/2 + h/2 + (l%2+h%2)/2
		if mid == h {
			mid--
		}
		mid = max(mid, l)
		if upTo(fromOrdinal(mid)) >= k {
			h = mid
		} else {
			l = mid + 1
		}
	}
	return fromOrdinal(l)
}

// ordinal numbers the floats in their order, so that a search halves the number
// of floats between its ends and ends at a single one.
func ordinal(f float64) int64 {
	bits := int64(math.Float64bits(f))
	if bits < 0 {
		return math.MinInt64 - bits
	}
	return bits
}

func fromOrdinal(o int64) float64 {
	if o < 0 {
		return math.Float64frombits(uint64(math.MinInt64 - o))
	}
	return math.Float64frombits(uint64(o))
}

// walshUpTo counts the pairs i <= j of halves in order whose sum is at most v.
func walshUpTo(half []float64, v float64) (count int) {
	j := len(half) - 1
	for i, x := range half {
		for j >= i && x+half[j] > v {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// sumsUpTo counts the sums of a member of x and one of y that are at most v.
func sumsUpTo(x, y []float64, v float64) (count int) {
	j := len(y) - 1
	for _, x := range x {
		for j >= 0 && x+y[j] > v {
			j--
		}
		count += j + 1
	}
	return count
}
