package statistics

import (
	"math"
	"slices"
)

// mostExact is the number of values up to which tests count all outcomes: 2^50
// of them are whole numbers that a float64 holds exactly.
const mostExact = 50

// SignedRank returns the two-sided p of Wilcoxon's signed-rank test that the
// differences are as often and as far below zero as above. Up to 50 differences
// other than zero it is exact, with ties too: every assignment of signs to the
// ranks there are is counted. Beyond, it is normal with the continuity
// correction. NaN counts as missing; p is 1 when nothing differs.
//
// When each difference's sign was decided by a coin, as when a coin says which
// of two arms runs first, the test needs no assumption about the noise: neither
// normal nor independent nor equal from pair to pair.
//
// Zeros take part in the ranking and then have no sign (Pratt 1959). Leaving
// them out before (Wilcoxon) would rank small differences as if there were no
// smaller ones: a metric that is the same to the last digit in most pairs could
// then be found different by the few others.
func SignedRank(d []float64) (p float64) {
	d = slices.DeleteFunc(slices.Clone(d), math.IsNaN)
	size := make([]float64, len(d))
	for i, v := range d {
		size[i] = math.Abs(v)
	}
	rank := doubleRanks(size)
	signed := rank[:0]
	plus := 0
	for i, v := range d {
		if v != 0 {
			signed = append(signed, rank[i])
		}
		if v > 0 {
			plus += rank[i]
		}
	}
	switch {
	case len(signed) == 0:
		return 1
	case len(signed) <= mostExact:
		return countSigns(signed, plus)
	default:
		return normalSigns(signed, plus)
	}
}

// doubleRanks are twice the ranks of x, from 2; equal values share the mean of
// theirs. Doubled, all are whole numbers.
func doubleRanks(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	rank := make([]int, len(x))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			rank[i] = from + 1 + to
		}
		from = to
	}
	return rank
}

// countSigns returns the share of the 2^n assignments of signs whose sum of positive
// ranks is at least as far from the middle as plus.
func countSigns(rank []int, plus int) float64 {
	total := 0
	for _, r := range rank {
		total += r
	}
	ways := make([]float64, total+1) // with this sum
	ways[0] = 1
	top := 0
	for _, r := range rank {
		for sum := top; sum >= 0; sum-- {
			ways[sum+r] += ways[sum]
		}
		top += r
	}
	return tails(ways, float64(total)/2, plus) / math.Exp2(float64(len(rank)))
}

// tails adds up the ways whose sum is at least as far from the middle as seen.
func tails(ways []float64, middle float64, seen int) (count float64) {
	far := math.Abs(float64(seen) - middle)
	for sum, n := range ways {
		if math.Abs(float64(sum)-middle) >= far {
			count += n
		}
	}
	return count
}

func normalSigns(rank []int, plus int) float64 {
	var total, squares float64
	for _, r := range rank {
		total += float64(r)
		squares += float64(r) * float64(r)
	}
	// Each sign is ±1 by a coin: the sum of positive ranks varies by Σr²/4.
	return twoSided(float64(plus)-total/2, math.Sqrt(squares/4), 1)
}

// twoSided returns the p of a deviation in units of its standard deviation, with a
// continuity correction of half a step: what is seen stands for a stretch.
func twoSided(deviation, sd, halfStep float64) float64 {
	if sd == 0 {
		return 1
	}
	z := max(math.Abs(deviation)-halfStep, 0) / sd
	return min(2*Tail(z), 1)
}

// MannWhitney returns the two-sided p of the rank-sum test of Wilcoxon, Mann and
// Whitney for two unpaired sets: that neither tends to be greater. Up to 50
// values together it is exact, with ties too: all ways to deal the ranks there
// are to the two sets are counted. Beyond, it is normal with corrections for
// ties and continuity. NaN counts as missing; p is 1 when a set is empty.
func MannWhitney(a, b []float64) (p float64) {
	all := slices.DeleteFunc(slices.Clone(a), math.IsNaN)
	n := len(all)
	all = append(all, slices.DeleteFunc(slices.Clone(b), math.IsNaN)...)
	m := len(all) - n
	if n == 0 || m == 0 {
		return 1
	}
	rank := doubleRanks(all)
	sum := 0
	for _, r := range rank[:n] {
		sum += r
	}
	if len(all) <= mostExact {
		return countDeals(rank, n, sum)
	}
	return normalDeals(rank, n, sum)
}

// countDeals returns the share of the ways to choose n of the ranks whose sum is at
// least as far from the middle as seen.
func countDeals(rank []int, n, seen int) float64 {
	total := 0
	for _, r := range rank {
		total += r
	}
	ways := make([][]float64, n+1) // by how many are chosen and their sum
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	top := 0
	for i, r := range rank {
		top += r
		for k := min(i+1, n); k > 0; k-- {
			for sum := top; sum >= r; sum-- {
				ways[k][sum] += ways[k-1][sum-r]
			}
		}
	}
	all := 0.0
	for _, count := range ways[n] {
		all += count
	}
	middle := float64(total) * float64(n) / float64(len(rank))
	return tails(ways[n], middle, seen) / all
}

func normalDeals(rank []int, n, seen int) float64 {
	count := float64(len(rank))
	mean := count + 1 // of doubled ranks, with ties too
	var squares float64
	for _, r := range rank {
		squares += (float64(r) - mean) * (float64(r) - mean)
	}
	k := float64(n)
	// The variance of the sum of k drawn without putting back.
	variance := k * (count - k) / (count * (count - 1)) * squares
	return twoSided(float64(seen)-k*mean, math.Sqrt(variance), 1)
}
