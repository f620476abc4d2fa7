package load

import (
	"fmt"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// When the generator was the limit, a result says more of it than of the
// program. These are the signs, in the order of how sure they are.
const (
	// When half of all operations are begun later than this the generator cannot
	// follow its plan. Some that are much later are an accident of the scheduler:
	// they do not change the rate, and Late has them.
	lateTime  = 5 * time.Millisecond
	lateShare = 0.5
	// busyCores is the share of the cores that it may use at which it is at their
	// end: what is left are the gaps of the scheduler.
	busyCores = 0.9
	// A program at its limit takes longer the more operations it has at once: with nearly all
	// connections busy some four times as long as with up to half of them. One that takes the
	// same time could do more under more load.
	crowdedRatio = 2
	// crowdedShare of operations must have found nearly all connections busy, and this number
	// in each group is enough to compare.
	crowdedShare = 0.2
	crowdedLeast = 10
	// droppedShare of answers lost by us is as much as a search of a capacity
	// bears of failures: they would be taken for the program's.
	droppedShare = 0.001
)

// limit says why the generator was the limit; "" when it was not.
func (r *run) limit(res *loadresult.Result) string {
	var why []string
	for _, f := range res.Errors {
		switch f.What {
		case kindPorts:
			why = append(why, fmt.Sprintf("%d operations found no local port: keep connections alive, or use fewer", f.N))
		case kindFiles:
			why = append(why, fmt.Sprintf("%d operations could not open another file: raise ulimit -n", f.N))
		}
	}
	if n := r.dropped.Load(); float64(n) > droppedShare*float64(res.Ops) {
		why = append(why, fmt.Sprintf("%d answers were lost because it did not read them in time: more sockets hold more", n))
	}
	if n := r.rec.tardy; float64(n) > lateShare*float64(res.Ops) {
		why = append(why, fmt.Sprintf("%d operations were begun more than %v late although connections were free, by %s at p99",
			n, lateTime, figures.Duration(r.rec.late.Quantile(0.99))))
	}
	if res.Procs > 0 && res.CPU >= busyCores*float64(res.Procs) {
		why = append(why, fmt.Sprintf("it used %s of the %s that it may use", figures.Number(res.CPU), figures.Plural(res.Procs, "CPU")))
	}
	if r.starved(res) {
		why = append(why, fmt.Sprintf("all %d connections were busy: try -c %d", r.o.Connections, 4*r.o.Connections))
	}
	return strings.Join(why, "; ")
}

// starved reports whether more connections would have brought more.
func (r *run) starved(res *loadresult.Result) bool {
	few, many := r.rec.crowd[0], r.rec.crowd[1]
	if r.o.Closed {
		return false
	}
	least := min(crowdedLeast, int64(r.o.Connections/2))
	if few.n < least || many.n < least || float64(many.n) < crowdedShare*float64(res.Ops) {
		return false
	}
	return many.mean() < crowdedRatio*few.mean()
}

func (c crowd) mean() float64 { return float64(c.sum) / float64(max(c.n, 1)) }
