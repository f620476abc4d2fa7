package statistics

import "math"

// A Power is a fit of y = a·x^b.
type Power struct {
	// Exponent is b, with the 95% interval of the scatter around the fit; of two points its
	// ends are infinite.
	Exponent Estimate
	// R2 is the share of the variance of log y that the fit explains; 1 where y is constant.
	R2 float64
}

// FitPower fits a power of x to y by least squares of the logarithms. ok is false where
// fewer than two different x or a number that is not above 0 leave nothing to fit.
func FitPower(x, y []float64) (p Power, ok bool) {
	n := len(x)
	if n < 2 || len(y) != n {
		return p, false
	}
	lx, ly := make([]float64, n), make([]float64, n)
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
		if !(x[i] > 0 && y[i] > 0) || math.IsInf(lx[i]+ly[i], 0) {
			return p, false
		}
	}
	mx, my := Sum(lx)/float64(n), Sum(ly)/float64(n)
	var sxx, sxy, syy float64
	for i := range lx {
		dx, dy := lx[i]-mx, ly[i]-my
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	if sxx < 1e-12 { // the same x but for rounding
		return p, false
	}
	b := sxy / sxx
	rest := max(0, syy-b*sxy)
	p.Exponent = Estimate{b, math.Inf(-1), math.Inf(1)}
	if n > 2 {
		half := studentWithin(0.95, float64(n-2)) * math.Sqrt(rest/float64(n-2)/sxx)
		p.Exponent.Low, p.Exponent.High = b-half, b+half
	}
	p.R2 = 1
	if syy > 1e-12 {
		p.R2 = 1 - rest/syy
	}
	return p, true
}

// studentWithin returns the distance from 0 within which a part of Student's distribution lies.
func studentWithin(part, freedom float64) float64 {
	low, high := 0.0, 1.0
	for studentTail(high, freedom) > 1-part && high < 1e9 {
		high *= 2
	}
	for range 64 {
		if mid := (low + high) / 2; studentTail(mid, freedom) > 1-part {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
