package evidence

import (
	"cmp"
	"slices"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// livesFollowed is how many goroutines are followed from their start to their end at once.
	livesFollowed = 1 << 16
	// livesSteps is into how many steps the window is divided, so that those that ended first can be compared
	// with those that ended last, wherever in it they did.
	livesSteps = 60
)

// A livesReader says whether goroutines of one kind live longer and longer: each that ends waited behind more of them.
type livesReader struct {
	from exectrace.Time
	step time.Duration
	born map[int64]birth
	sums map[string]*[livesSteps]livesStep // by the function that they were started with
}

type birth struct {
	at   exectrace.Time
	root string // the function that it was started with; "" before it first waits
}

type livesStep struct {
	ended int64
	lived time.Duration
}

// newLivesReader returns a reader for a window.
func newLivesReader(window time.Duration) *livesReader {
	return &livesReader{step: max(1, window/livesSteps), born: map[int64]birth{}, sums: map[string]*[livesSteps]livesStep{}}
}

// next takes one transition of a goroutine, which may be a stop.
func (r *livesReader) next(e *exectrace.Event, s *stop) {
	if r.from == 0 {
		r.from = e.Time
	}
	g, from, to := e.GoTransition()
	b, known := r.born[g]
	switch {
	case from == exectrace.Dead && len(r.born) < livesFollowed:
		r.born[g] = birth{at: e.Time}
	case !known:
	case to == exectrace.Dead:
		delete(r.born, g)
		r.ended(b, e.Time)
	case s != nil && b.root == "" && len(s.frames) > 0:
		b.root = s.frames[len(s.frames)-1].Func
		r.born[g] = b
	}
}

func (r *livesReader) ended(b birth, at exectrace.Time) {
	if b.root == "" {
		return
	}
	steps := r.sums[b.root]
	if steps == nil {
		steps = &[livesSteps]livesStep{}
		r.sums[b.root] = steps
	}
	step := &steps[min(livesSteps-1, at.Sub(r.from)/r.step)]
	step.ended++
	step.lived += at.Sub(b.at)
}

// found returns how long those lived that ended first and those that ended last, of each function.
func (r *livesReader) found() (out []model.Lives) {
	for function, steps := range r.sums {
		l := model.Lives{Function: function}
		for _, s := range steps {
			l.Ended += s.ended
		}
		l.First = meanLife(steps[:], l.Ended/3)
		slices.Reverse(steps[:])
		l.Last = meanLife(steps[:], l.Ended/3)
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b model.Lives) int {
		return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(a.Function, b.Function))
	})
	return out
}

// meanLife returns the mean of the first steps that have some number of goroutines or more.
func meanLife(steps []livesStep, enough int64) (mean time.Duration) {
	sum := livesStep{}
	for _, s := range steps {
		if sum.ended > 0 && sum.ended >= enough {
			break
		}
		sum.ended += s.ended
		sum.lived += s.lived
	}
	if sum.ended == 0 {
		return 0
	}
	return sum.lived / time.Duration(sum.ended)
}
