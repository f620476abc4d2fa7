package statistics

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// An Estimate is a value with its 95% interval. Its ends may be infinite
// where the data allows any value.
type Estimate struct{ Value, Low, High float64 }

// A USL is a fit of the universal scalability law,
//
//	X(N) = λN / (1 + σ(N-1) + κN(N-1))
//
// (N. J. Gunther, Guerrilla Capacity Planning, 2007): λ is the throughput of
// one, σ the share of the work that only one can do at a time, κ the cost of
// each pair having to agree. Throughput is greatest at N* = sqrt((1-σ)/κ).
type USL struct {
	Lambda, Sigma, Kappa Estimate
	// Peak is N*; +Inf where throughput only ever grows.
	Peak Estimate
	// R2 is the share of the variance of the logarithm of throughput that the
	// law explains; NaN when throughput does not vary.
	R2 float64
}

// Errors of FitUSL.
var (
	ErrFewPoints  = errors.New("the law needs throughput at 3 or more different counts")
	ErrNotANumber = errors.New("counts must be at least 1 and throughputs above 0")
)

// uslResamples are enough for the ends of a 95% interval: 25 lie outside each.
const uslResamples = 1000

// FitUSL fits the law to throughputs x measured at the counts n, several at
// the same count as they come. It minimises the squares of relative errors
// under σ ≥ 0 and κ ≥ 0: noise of throughput grows with throughput, and the
// small counts, which settle λ and σ, would not be heard otherwise.
//
// Intervals are of the bootstrap over residuals, those of all counts together:
// the few samples of one count would show too little of their spread. Where
// the law does not describe the program, residuals and intervals are wide.
func FitUSL(n, x []float64, seed uint64) (USL, error) {
	d, err := newUSLData(n, x)
	if err != nil {
		return USL{}, err
	}
	best := d.fit()
	out := USL{R2: d.r2(best)}
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	fits := make([]uslFit, 0, uslResamples)
	for range uslResamples {
		fits = append(fits, d.resample(best, random).fit())
	}
	estimate := func(of func(uslFit) float64) Estimate {
		all := make([]float64, len(fits))
		for i, f := range fits {
			all[i] = of(f)
		}
		slices.Sort(all)
		e := Estimate{Value: of(best)}
		k := len(all)
		e.Low, e.High = min(e.Value, all[k/40]), max(e.Value, all[k-1-k/40])
		return e
	}
	out.Lambda = estimate(func(f uslFit) float64 { return math.Exp(f.logLambda) })
	out.Sigma = estimate(func(f uslFit) float64 { return f.sigma })
	out.Kappa = estimate(func(f uslFit) float64 { return f.kappa })
	out.Peak = estimate(uslFit.peak)
	return out, nil
}

// A uslFit is the law's parameters.
type uslFit struct{ logLambda, sigma, kappa float64 }

// peak returns where throughput is greatest: at 1 when it falls from there.
func (f uslFit) peak() float64 {
	switch {
	case f.sigma >= 1:
		return 1
	case f.kappa <= 0:
		return math.Inf(1)
	}
	return max(1, math.Sqrt((1-f.sigma)/f.kappa))
}

// uslData is counts and what the fit needs of throughputs: the logarithm of
// throughput for each of the count, so that the law is
// y = log λ - log(1 + σ(N-1) + κN(N-1)).
type uslData struct{ n, y []float64 }

func newUSLData(n, x []float64) (uslData, error) {
	d := uslData{n: n, y: make([]float64, len(n))}
	if len(n) != len(x) {
		return d, ErrNotANumber
	}
	for i := range n {
		if !(n[i] >= 1 && n[i] < 1e9 && x[i] > 0) || math.IsInf(x[i], 0) {
			return d, ErrNotANumber
		}
		d.y[i] = math.Log(x[i] / n[i])
	}
	if d.distinct() < 3 {
		return d, ErrFewPoints
	}
	return d, nil
}

func (d uslData) distinct() int {
	sorted := slices.Sorted(slices.Values(d.n))
	return len(slices.Compact(sorted))
}

// resample returns the law at f with residuals drawn anew, scaled up for the three
// parameters that made them small.
func (d uslData) resample(f uslFit, random *rand.Rand) uslData {
	m := len(d.n)
	scale := math.Sqrt(float64(m) / float64(max(1, m-3)))
	out := uslData{n: d.n, y: make([]float64, m)}
	for i := range out.y {
		out.y[i] = f.logLambda - math.Log(d.slowdown(i, f)) + scale*d.residual(random.IntN(m), f)
	}
	return out
}

// fit tries every set of parameters that are held at zero: the constraints
// are two, so that this is the whole of active-set search, and no start value
// can lead it astray at a bound.
func (d uslData) fit() uslFit {
	best, least := uslFit{}, math.Inf(1)
	for _, free := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		f := d.improve(d.linear(free), free)
		if s := d.loss(&f); s < least {
			best, least = f, s
		}
		if free[0] && free[1] && f.sigma > 0 && f.kappa > 0 {
			break // no bound holds it
		}
	}
	return best
}

// loss returns the sum of squares at f, whose λ it sets to the best for σ and κ.
func (d uslData) loss(f *uslFit) float64 {
	sum := 0.0
	for i := range d.n {
		sum += d.y[i] + math.Log(d.slowdown(i, *f))
	}
	f.logLambda = sum / float64(len(d.n))
	squares := 0.0
	for i := range d.n {
		r := d.residual(i, *f)
		squares += r * r
	}
	return squares
}

func (d uslData) slowdown(i int, f uslFit) float64 {
	return 1 + f.sigma*(d.n[i]-1) + f.kappa*d.n[i]*(d.n[i]-1)
}

func (d uslData) residual(i int, f uslFit) float64 {
	return d.y[i] - f.logLambda + math.Log(d.slowdown(i, f))
}

// linear finds where to start: 1/X is linear in 1/λ, σ/λ and κ/λ.
func (d uslData) linear(free [2]bool) uslFit {
	columns := [][3]float64{{1, 0, 0}}
	if free[0] {
		columns = append(columns, [3]float64{0, 1, 0})
	}
	if free[1] {
		columns = append(columns, [3]float64{0, 0, 1})
	}
	var normal [3][4]float64
	for i, n := range d.n {
		x := math.Exp(d.y[i])
		basis := [3]float64{x, (n - 1) * x, n * (n - 1) * x} // relative to 1/X
		var row [3]float64
		for j, c := range columns {
			row[j] = c[0]*basis[0] + c[1]*basis[1] + c[2]*basis[2]
		}
		for j := range columns {
			for k := range columns {
				normal[j][k] += row[j] * row[k]
			}
			normal[j][3] += row[j]
		}
	}
	v, ok := solve3(normal, len(columns))
	f := uslFit{}
	if !ok || v[0] <= 0 {
		return f
	}
	for j, c := range columns {
		f.sigma += c[1] * max(0, v[j]/v[0])
		f.kappa += c[2] * max(0, v[j]/v[0])
	}
	return f
}

// improve is Levenberg's and Marquardt's method over the free parameters, each
// step cut off at zero.
func (d uslData) improve(f uslFit, free [2]bool) uslFit {
	least, damping := d.loss(&f), 1e-3
	for range 50 {
		normal := d.normal(f, free)
		for j := range 3 {
			normal[j][j] *= 1 + damping
			if normal[j][j] == 0 {
				normal[j][j] = 1 // held: its step is 0
			}
		}
		step, ok := solve3(normal, 3)
		next := uslFit{sigma: max(0, f.sigma+step[1]), kappa: max(0, f.kappa+step[2])}
		s := d.loss(&next)
		if !ok || !(s < least) {
			if damping *= 8; damping > 1e8 {
				break
			}
			continue
		}
		gain := least - s
		f, least, damping = next, s, max(damping/8, 1e-12)
		if gain < 1e-10*least {
			break
		}
	}
	return f
}

// normal returns the normal equations of a step in log λ, σ and κ.
func (d uslData) normal(f uslFit, free [2]bool) (m [3][4]float64) {
	for i, n := range d.n {
		slow := d.slowdown(i, f)
		row := [3]float64{1, 0, 0}
		if free[0] {
			row[1] = -(n - 1) / slow
		}
		if free[1] {
			row[2] = -n * (n - 1) / slow
		}
		r := d.residual(i, f)
		for j := range 3 {
			for k := range 3 {
				m[j][k] += row[j] * row[k]
			}
			m[j][3] += row[j] * r
		}
	}
	return m
}

func (d uslData) r2(f uslFit) float64 {
	x := make([]float64, len(d.n))
	for i := range x {
		x[i] = d.y[i] + math.Log(d.n[i])
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var left, all float64
	for i, v := range x {
		r := d.residual(i, f)
		left, all = left+r*r, all+(v-mean)*(v-mean)
	}
	if all <= 1e-12 {
		return math.NaN()
	}
	return 1 - left/all
}

// solve3 solves the first n equations of at most three, by elimination with
// scaled rows: κ's column is larger than the others by the square of N.
func solve3(m [3][4]float64, n int) (v [3]float64, ok bool) {
	var scale [3]float64
	for j := range n {
		if scale[j] = math.Sqrt(m[j][j]); !(scale[j] > 0) || math.IsInf(scale[j], 0) {
			return v, false
		}
	}
	for j := range n {
		for k := range n {
			m[j][k] /= scale[j] * scale[k]
		}
		m[j][3] /= scale[j]
	}
	for j := range n {
		p := j
		for k := j + 1; k < n; k++ {
			if math.Abs(m[k][j]) > math.Abs(m[p][j]) {
				p = k
			}
		}
		m[j], m[p] = m[p], m[j]
		if math.Abs(m[j][j]) < 1e-13 {
			return v, false
		}
		for k := j + 1; k < n; k++ {
			by := m[k][j] / m[j][j]
			for l := j; l < 4; l++ {
				m[k][l] -= by * m[j][l]
			}
		}
	}
	for j := n - 1; j >= 0; j-- {
		v[j] = m[j][3]
		for k := j + 1; k < n; k++ {
			v[j] -= m[j][k] * v[k]
		}
		v[j] /= m[j][j]
	}
	for j := range n {
		v[j] /= scale[j]
	}
	return v, true
}
