// Package trend works out the trends of a patient's vital signs.
package trend

import (
	"math"
	"sync"
)

// Vitals is one set of values.
type Vitals struct {
	Second float64
	Signs  [4]float64 // pulse, saturation, pressure, breathing
}

const depth = 240

// Recorder keeps the last values of one monitor and their trend. Values are
// put in by Record and worked on in the order of their arrival.
type Recorder struct {
	Monitor string

	in   chan Vitals
	quit chan struct{}

	mu    sync.Mutex
	last  []Vitals
	slope [4]float64
	score int
}

// NewRecorder starts a recorder.
func NewRecorder(monitor string) *Recorder {
	r := &Recorder{
		Monitor: monitor,
		in:      make(chan Vitals, 16),
		quit:    make(chan struct{}),
		last:    make([]Vitals, 0, depth),
	}
	go r.run()
	return r
}

// Record puts values in; it reports false when the recorder has been closed.
func (r *Recorder) Record(v Vitals) bool {
	select {
	case r.in <- v:
		return true
	case <-r.quit:
		return false
	}
}

// Close ends the recorder.
func (r *Recorder) Close() { close(r.quit) }

// Trend returns the changes per minute and the warning score.
func (r *Recorder) Trend() (slope [4]float64, score int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slope, r.score
}

func (r *Recorder) run() {
	for {
		select {
		case v := <-r.in:
			r.add(v)
		case <-r.quit:
			return
		}
	}
}

func (r *Recorder) add(v Vitals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == depth {
		r.last = r.last[:copy(r.last, r.last[depth/4:])]
	}
	r.last = append(r.last, v)
	for i := range r.slope {
		r.slope[i] = regress(r.last, i)
	}
	r.score = warning(v)
}

// regress is the weighted slope; newer values count more.
func regress(vs []Vitals, sign int) float64 {
	var sw, sx, sy, sxx, sxy float64
	now := vs[len(vs)-1].Second
	for _, v := range vs {
		x := v.Second - now
		w := math.Exp(x / 90)
		y := v.Signs[sign]
		sw += w
		sx += w * x
		sy += w * y
		sxx += w * x * x
		sxy += w * x * y
	}
	d := sw*sxx - sx*sx
	if math.Abs(d) < 1e-9 {
		return 0
	}
	return 60 * (sw*sxy - sx*sy) / d
}

func warning(v Vitals) int {
	n := 0
	for i, lim := range [4][2]float64{{50, 104}, {92, 100}, {100, 180}, {9, 21}} {
		if v.Signs[i] < lim[0] || v.Signs[i] > lim[1] {
			n += 2
		}
	}
	return n
}
