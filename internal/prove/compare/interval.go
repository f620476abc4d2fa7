package compare

import (
	"math"
	"slices"
)

// shiftInterval returns the 95% interval of the Hodges-Lehmann shift b-a: the
// shifts that a Mann-Whitney test at that level would not reject, which lie
// between two order statistics of the pairwise differences. False when there
// are too few values for any to be rejected.
func shiftInterval(a, b []float64) (low, high float64, ok bool) {
	diff := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			diff = append(diff, y-x)
		}
	}
	k := criticalU(len(a), len(b))
	if k < 0 {
		return 0, 0, false
	}
	slices.Sort(diff)
	return diff[k], diff[len(diff)-1-k], true
}

// exactU is the size up to which the distribution of U is counted.
const exactU = 20

// criticalU returns the largest u with P(U <= u) <= alpha/2 if nothing differs, -1
// when there is none.
func criticalU(n, m int) int {
	if n > exactU || m > exactU {
		mean, sd := float64(n*m)/2, math.Sqrt(float64(n*m)*float64(n+m+1)/12)
		return int(math.Floor(mean - 1.959964*sd - 0.5))
	}
	total := choose(n+m, n)
	sum := 0.0
	for u, ways := range waysU(n, m) {
		if sum += ways; sum > total*alpha/2 {
			return u - 1
		}
	}
	return -1
}

// waysU counts the arrangements of n and m values for each U: the coefficients
// of the Gaussian binomial, whole numbers far below 2^53 for n, m <= exactU.
func waysU(n, m int) []float64 {
	ways := make([]float64, n*m+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := len(ways) - 1; u >= m+i; u-- { // times 1-q^(m+i)
			ways[u] -= ways[u-m-i]
		}
		for u := i; u < len(ways); u++ { // by 1-q^i
			ways[u] += ways[u-i]
		}
	}
	return ways
}

// choose returns the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c *= float64(n-k+i) / float64(i)
	}
	return c
}
