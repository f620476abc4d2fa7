package findings

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// bin is what a level is the mean of: a process that sends each 15 seconds has 20 in
	// it, one that is scraped each minute 5, so that the saw-tooth of collections is
	// levelled out.
	bin = 5 * time.Minute
	// window is how far back growth is judged. It is much longer than what fills when a
	// program starts, and four processes are not a different four in it.
	window = 4 * time.Hour
	bins   = int(window / bin)
	// leastBins of a process decide: two hours, of which both halves have a slope.
	leastBins = 24
	// silent bins end a course: what comes after is taken for another run.
	silent = 3
	// restarted is the part of the level before below which a process begins anew. A
	// saw-tooth as steep decides nothing then.
	restarted = 0.5
	// steady is the part of the growth that the second half must have. A straight line has
	// 0.5, what fills with a time constant of half the time 0.27, of all of it 0.38.
	steady = 0.4
	// steadySure is what the lower end of its 95% interval must have where few processes
	// decide: what half an hour of noise adds to the end of a cache's growth has less.
	steadySure = 0.3
	// manyProcesses are enough to be the replicates: by the signed-rank test fewer than
	// twelve cannot be told from chance among a hundred questions. Of fewer the replicates
	// are times, and each process must have been there for the whole window.
	manyProcesses = 12
	// wholeBins are the whole window, but for what a late scrape leaves out.
	wholeBins = bins - 4
	// mostRise is the part of the processes that must rise: one that leaks only under
	// some requests does not in all of them.
	mostRise = 0.5
)

// A course is what a process had in bins of the window, and the CPU that it took, which
// stands for its load.
type course struct {
	instance    string
	level, load model.Series
}

// A trend is what a course does.
type trend struct {
	course
	slope  float64 // a second
	by     float64 // that the level grew by, as a part of what it was
	load   float64 // and the load, 0 if that fell
	rises  bool
	sure   bool // that the second half does
	whole  bool // it was there all the time
	middle float64
}

// latest returns the part of a course since the process began or was silent.
func (c course) latest() course {
	from := 0
	for i := 1; i < len(c.level); i++ {
		was, is := c.level[i-1], c.level[i]
		if is.At-was.At > silent*bin || is.Value < restarted*was.Value {
			from = i
		}
	}
	c.level = c.level[from:]
	return c
}

// trend returns that of the latest part of a course; false where that is too short, or ended.
func (c course) trend(least float64) (trend, bool) {
	c = c.latest()
	if len(c.level) == 0 || c.level[len(c.level)-1].At < window-(silent+1)*bin {
		return trend{}, false
	}
	if c.level[0].At > silent*bin {
		c.level = c.level[int(math.Ceil(model.WarmUp*float64(len(c.level)))):]
	}
	if len(c.level) < leastBins {
		return trend{}, false
	}
	t := trend{course: c, whole: len(c.level) >= wholeBins, middle: middle(c.level)}
	var ok bool
	if t.slope, _, _, ok = c.level.Slope(); !ok {
		return trend{}, false
	}
	over := (c.level[len(c.level)-1].At - c.level[0].At).Seconds()
	if first := middle(c.level[:len(c.level)/4]); first > 0 {
		t.by = t.slope * over / first
	} else {
		return trend{}, false
	}
	// The edges may be parts of bins.
	load := slices.DeleteFunc(slices.Clone(c.load), func(p model.Point) bool { return p.At <= c.level[0].At || p.At >= c.level[len(c.level)-1].At })
	if slope, _, _, ok := load.Slope(); ok {
		if first := middle(load[:len(load)/4]); first > 0 {
			t.load = max(0, slope*over/first)
		}
	}
	rises, _ := c.level.Rises(steady)
	late, low, _, _ := c.level[len(c.level)/2:].Slope()
	t.sure = low >= steadySure*t.slope
	t.rises = rises && late >= model.SteadyGrowth*t.slope && t.slope*over >= least && t.by >= model.LeastGrowth+t.load
	return t, true
}

func middle(s model.Series) float64 {
	values := make([]float64, len(s))
	for i, p := range s {
		values[i] = p.Value
	}
	return statistics.Median(values)
}

// A growth is what the processes of a version do together.
type growth struct {
	trends []trend // that decided
	rising []trend
	// p is how likely such a growth is where there is none; NaN where too little is known.
	p float64
}

// together judges the courses of a version.
func together(courses []course, least float64) (g growth) {
	for _, c := range courses {
		if t, ok := c.trend(least); ok {
			g.trends = append(g.trends, t)
		}
	}
	few := len(g.trends) < manyProcesses
	if few {
		g.trends = slices.DeleteFunc(g.trends, func(t trend) bool { return !t.whole })
	}
	if len(g.trends) == 0 {
		g.p = math.NaN()
		return g
	}
	for _, t := range g.trends {
		if t.rises && (t.sure || !few) {
			g.rising = append(g.rising, t)
		}
	}
	slices.SortStableFunc(g.rising, func(a, b trend) int { return cmp.Compare(a.slope, b.slope) })
	if few {
		g.p = statistics.SignedRank(halves(g.trends))
	} else {
		g.p = statistics.SignedRank(beyondLoad(g.trends))
	}
	return g
}

// stands tells whether enough of them rise, by a probability that is corrected for all
// questions.
func (g *growth) stands(p float64) bool {
	return p < alpha && float64(len(g.rising)) >= mostRise*float64(len(g.trends)) && statistics.Median(beyondLoad(g.trends)) > 0
}

// alpha is how often a fleet in which nothing grows may have any growth claimed.
const alpha = 0.05

func beyondLoad(trends []trend) []float64 {
	x := make([]float64, len(trends))
	for i, t := range trends {
		x[i] = t.by - t.load
	}
	return x
}

// halves returns the differences between the second half of the window and the first, ten
// minutes by ten minutes, of the mean over processes: what moves all of them at once counts
// once. Half of what the load grew by is taken off.
func halves(trends []trend) []float64 {
	const blocks = bins / 2
	var sum, n [blocks]float64
	var load []float64
	for _, t := range trends {
		for _, p := range t.level {
			i := min(int(p.At/(2*bin)), blocks-1) // a part of a bin may be at the end
			sum[i], n[i] = sum[i]+p.Value/t.middle, n[i]+1
		}
		load = append(load, t.load)
	}
	var d []float64
	for i := range blocks / 2 {
		if j := i + blocks/2; n[i] > 0 && n[j] > 0 {
			d = append(d, sum[j]/n[j]-sum[i]/n[i]-statistics.Median(load)/2)
		}
	}
	return d
}
