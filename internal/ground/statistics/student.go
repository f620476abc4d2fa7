package statistics

import "math"

// Student returns the two-sided p of Student's t test that the mean of numbers is 0. It
// assumes that they come from a normal distribution, and can be as small as they say: of six
// numbers no test by rank is below 3%. It is 1 for fewer than two, or where all are 0.
func Student(d []float64) (p float64) {
	n := float64(len(d))
	mean, variance := meanVariance(d)
	if n < 2 || mean == 0 {
		return 1
	}
	if variance == 0 {
		return 0
	}
	return studentTail(mean/math.Sqrt(variance/n), n-1)
}

// Welch returns the two-sided p of Welch's t test that two sets have the same mean. It assumes that
// each comes from a normal distribution, of whatever variance. It is 1 where one of them
// has fewer than two numbers.
func Welch(a, b []float64) (p float64) {
	n, m := float64(len(a)), float64(len(b))
	meanA, varianceA := meanVariance(a)
	meanB, varianceB := meanVariance(b)
	if n < 2 || m < 2 || meanA == meanB {
		return 1
	}
	u, v := varianceA/n, varianceB/m
	if u+v == 0 {
		return 0
	}
	freedom := (u + v) * (u + v) / (u*u/(n-1) + v*v/(m-1)) // Welch 1947, Satterthwaite
	return studentTail((meanA-meanB)/math.Sqrt(u+v), freedom)
}

// meanVariance returns the mean and the unbiased variance.
func meanVariance(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, variance
}

// studentTail returns the probability that a number of Student's t distribution is as far from 0.
func studentTail(t, freedom float64) float64 {
	return beta(freedom/(freedom+t*t), freedom/2, 0.5)
}

// beta returns the regularized incomplete beta function I_x(a, b), by its continued fraction
// (Abramowitz and Stegun 26.5.8) as Lentz evaluates one.
func beta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where it converges fast
		return 1 - beta(1-x, b, a)
	}
	logA, _ := math.Lgamma(a)
	logB, _ := math.Lgamma(b)
	logAB, _ := math.Lgamma(a + b)
	front := math.Exp(logAB-logA-logB+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	away := func(v float64) float64 { // from 0
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for i := 1.0; i < 500; i++ {
		for _, numerator := range [2]float64{
			i * (b - i) * x / ((a + 2*i - 1) * (a + 2*i)),
			-(a + i) * (a + b + i) * x / ((a + 2*i) * (a + 2*i + 1)),
		} {
			d = 1 / away(1+numerator*d)
			c = away(1 + numerator/c)
			f *= c * d
		}
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return min(1, front*f)
}
