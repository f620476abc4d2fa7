package statistics

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p values of tests that are read together: those that stay
// below alpha are wrong with probability alpha at most, all of them taken
// together (Holm 1979). The order is kept; NaN means not tested.
func Holm(p []float64) []float64 {
	order := make([]int, 0, len(p))
	adjusted := make([]float64, len(p))
	for i, v := range p {
		adjusted[i] = v
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	most := 0.0
	for done, i := range order {
		most = max(most, min(p[i]*float64(len(order)-done), 1))
		adjusted[i] = most
	}
	return adjusted
}

// Wilson returns the 95% interval of a share of which k in n were seen (Wilson's
// score interval). It is 0 to 1 for n = 0.
func Wilson(k, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	z := Normal(0.975)
	count, share := float64(n), min(max(float64(k)/float64(n), 0), 1)
	scale := 1 + z*z/count
	centre := (share + z*z/(2*count)) / scale
	half := z / scale * math.Sqrt(share*(1-share)/count+z*z/(4*count*count))
	return max(centre-half, 0), min(centre+half, 1)
}

// mostPairs is the answer of PairsNeeded for what no number of pairs decides.
const mostPairs = 1 << 30

// PairsNeeded is about how many pairs find an effect with a probability of
// power in a two-sided signed-rank test at level alpha. Both sd, the standard
// deviation of one pair, and effect are differences of logarithms. The formula
// is that of the t test, with Guenther's (1981) half of z² for small numbers,
// divided by the rank test's efficiency for normal noise, 3/π (Lehmann 1975);
// heavier tails need fewer.
func PairsNeeded(sd, effect, alpha, power float64) int {
	z := Normal(1 - alpha/2)
	n := math.Ceil((math.Pow((z+Normal(power))*sd/effect, 2) + z*z/2) * math.Pi / 3)
	// As many as can be significant at all: p is at least 2^(1-n).
	least := 1 + math.Ceil(-math.Log2(alpha))
	if math.IsNaN(n) || n > mostPairs {
		return mostPairs
	}
	return int(max(n, least))
}

// Detectable is about the least effect, a difference of logarithms, that n pairs find
// with a probability of power: the inverse of [PairsNeeded]. NaN when n are too few to
// find any.
func Detectable(sd float64, n int, alpha, power float64) float64 {
	z := Normal(1 - alpha/2)
	return sd * (z + Normal(power)) / math.Sqrt(float64(n)*3/math.Pi-z*z/2)
}
