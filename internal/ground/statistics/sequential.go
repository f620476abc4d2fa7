package statistics

import "math"

// How the boundaries are found. Under the null hypothesis the sum of what n
// pairs say, scaled so that it has variance 1 at the last look, walks like a
// Brownian motion: at look k it is the one at look k-1 plus an independent
// normal number of variance t_k-t_(k-1). So the density of the sums that have
// crossed no boundary is carried from look to look by integrating over the last
// one (Armitage, McPherson and Rowe 1969), and each boundary is put where what
// leaves there is what may be spent (Lan and DeMets 1983).

// Spending is the power of the share of pairs in the spending function
// alpha·t^1.5 (Kim and DeMets 1987). O'Brien and Fleming's function would give
// the first of three looks at 10, 20 and 40 pairs a level of 0.0001, which no
// rank test of ten pairs reaches: its least p is 2/1024.
const Spending = 1.5

// Boundaries returns the nominal two-sided levels of a test that is repeated on
// growing data, after looks[0], looks[1], … pairs, ascending: the test is
// significant at look k when its p is at most the k-th level. The probability
// that it ever is without any effect is alpha. The last look has the most pairs
// that there will be; a trial may stop before.
func Boundaries(looks []int, alpha float64) []float64 {
	if !ascending(looks) {
		return nil
	}
	levels := make([]float64, len(looks))
	w := walk{}
	spent := 0.0
	for k, n := range looks {
		t := share(looks, n)
		may := alpha * math.Pow(t, Spending)
		levels[k] = w.step(t, may-spent)
		spent = may
	}
	return levels
}

// Constant returns the level that a test repeated after looks[0], looks[1], … pairs
// may have at each of them, so that the probability of ever being significant
// without any effect is alpha (Pocock 1977, for looks at any distance). It is
// for metrics that do not decide when a trial stops: whichever look is the
// last, their level was this one.
func Constant(looks []int, alpha float64) float64 {
	if !ascending(looks) {
		return math.NaN()
	}
	low, high := alpha/float64(len(looks)), alpha
	for high-low > 1e-6*alpha {
		mid := (low + high) / 2
		w := walk{}
		total := 0.0
		for _, n := range looks {
			total += w.cross(share(looks, n), mid)
		}
		if total > alpha {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

func ascending(looks []int) bool {
	last := 0
	for _, n := range looks {
		if n <= last {
			return false
		}
		last = n
	}
	return len(looks) > 0
}

func share(looks []int, n int) float64 { return float64(n) / float64(looks[len(looks)-1]) }

// A walk is the sums that have crossed no boundary so far: a density, as points
// with their weights.
type walk struct {
	t      float64   // share of the pairs
	at     []float64 // sums
	weight []float64 // probability that each point stands for
}

// step goes on to the share t and puts the boundary where the probability of
// crossing it first there is spend. It returns the boundary's two-sided level.
func (w *walk) step(t, spend float64) (level float64) {
	low, high := 0.0, 40.0 // in standard deviations
	for range 60 {
		mid := (low + high) / 2
		if w.leaves(t, mid*math.Sqrt(t)) > spend {
			low = mid
		} else {
			high = mid
		}
	}
	w.move(t, high*math.Sqrt(t))
	return 2 * Tail(high)
}

// cross goes on to the share t with a boundary of the given level and returns
// the probability of crossing it first there.
func (w *walk) cross(t, level float64) (left float64) {
	bound := Normal(1-level/2) * math.Sqrt(t)
	left = w.leaves(t, bound)
	w.move(t, bound)
	return left
}

// leaves returns the probability of being outside ±bound at the share t.
func (w *walk) leaves(t, bound float64) (p float64) {
	sd := math.Sqrt(t - w.t)
	if w.at == nil {
		return 2 * Tail(bound/sd)
	}
	for i, at := range w.at {
		p += w.weight[i] * (Tail((bound-at)/sd) + Tail((bound+at)/sd))
	}
	return p
}

// move carries the density to the share t, cut at ±bound.
func (w *walk) move(t, bound float64) {
	sd := math.Sqrt(t - w.t)
	// Simpson's rule with eight points for each standard deviation of the step
	// has an error far below that of any p that decides.
	n := 2 * int(math.Ceil(min(max(16, 4*2*bound/sd), 1000)))
	from, weight := w.at, w.weight
	if from == nil {
		from, weight = []float64{0}, []float64{1}
	}
	at, mass := make([]float64, n+1), make([]float64, n+1)
	for i := range at {
		at[i] = bound * (2*float64(i)/float64(n) - 1)
		density := 0.0
		for j, u := range from {
			z := (at[i] - u) / sd
			density += weight[j] * math.Exp(-z*z/2)
		}
		mass[i] = density / (sd * math.Sqrt(2*math.Pi)) * simpson(i, n) * 2 * bound / float64(n)
	}
	w.t, w.at, w.weight = t, at, mass
}

// simpson returns the weight of point i of n+1 in units of their distance.
func simpson(i, n int) float64 {
	switch {
	case i == 0 || i == n:
		return 1.0 / 3
	case i%2 == 1:
		return 4.0 / 3
	default:
		return 2.0 / 3
	}
}
