package statistics

import "slices"

// MedianInterval returns between which two values the median of what x was drawn from
// lies at the level, by the order of x alone; it assumes no distribution. ok is false
// where there are too few values: six are needed for 0.95.
func MedianInterval(x []float64, level float64) (low, high float64, ok bool) {
	n := len(x)
	// How many of n fair coins fall on one side decides how far in from the ends to go.
	outside, ways := 0.0, 1.0
	for range n {
		ways /= 2
	}
	k := 0
	for ; k < n/2; k++ {
		if 2*(outside+ways) > 1-level {
			break
		}
		outside += ways
		ways *= float64(n-k) / float64(k+1)
	}
	if k == 0 || n > maxInterval {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(x))
	return sorted[k-1], sorted[n-k], true
}

// maxInterval is how many values can be: 2 to the minus n is not 0 yet.
const maxInterval = 1000
