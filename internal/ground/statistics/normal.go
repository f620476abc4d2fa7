package statistics

import "math"

// Tail returns the probability that a standard normal number exceeds z.
func Tail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// Normal returns the number below which a standard normal one is with probability p.
func Normal(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// student returns the quantile of Student's t distribution that belongs to the
// normal quantile z (the expansion 26.7.5 of Abramowitz and Stegun): within
// 0.3% from five degrees of freedom.
func student(z, freedom float64) float64 {
	z2 := z * z
	terms := [4]float64{
		(z2 + 1) / 4,
		((5*z2+16)*z2 + 3) / 96,
		(((3*z2+19)*z2+17)*z2 - 15) / 384,
		((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160,
	}
	t, power := 1.0, 1.0
	for _, term := range terms {
		power /= freedom
		t += term * power
	}
	return z * t
}
