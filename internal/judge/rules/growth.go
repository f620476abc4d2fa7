package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// growthShort is the shortest time since the warm-up where a line keeps what it makes: a
	// window of five seconds leaves 3.2 to 3.7 of them, and was too short however many
	// collections agreed.
	growthShort = 3 * time.Second
	// growthMany is how many objects the line must have kept there, or for each goroutine that
	// came: a store that began with two buffers of 14 and 20 MiB had 39 MiB more, and was as
	// large from then on.
	growthMany = 16
)

// A swelling is how the heap or another kind of memory grows, the warm-up left out.
type swelling struct {
	slope  fact.Fact // bytes a second
	low    fact.Fact // the lower end of its 95% interval; of few collections the least between two
	high   fact.Fact // the upper end, or the most
	late   fact.Fact // slope of the second half
	from   fact.Fact // bytes alive at its begin
	over   fact.Fact // seconds
	bytes  fact.Fact // that it grew by
	cycles fact.Fact
	few    bool // collections: the trend is theirs and has no 95% interval
	dips   int  // of few collections, those that found less than one before
	still  bool // of many collections, whether the second half grows for sure
	short  bool // window, shorter than heapgrowthWindow
	lasts  bool // whether they grew at an even pace to the end of the window
}

// swellingOf measures the trend of a kind of memory behind its warm-up; false of too few points.
func swellingOf(what string, s model.Series, statistic func(string, float64, fact.Unit) fact.Fact) (g swelling, ok bool) {
	if len(s) < heapgrowthCycles {
		return g, false
	}
	first, last := s[0].At, s[len(s)-1].At
	at := func(part float64) model.Series {
		return s[s.Index(first+time.Duration(part*float64(last-first))):]
	}
	warm, half := at(model.WarmUp), at(0.5)
	slope, low, high, ok := warm.Slope()
	late, least, _, okHalf := half.Slope()
	if !ok || !okHalf {
		return g, false
	}
	g.still = least > 0
	g.slope = statistic("growth of the "+what+", by its Theil-Sen slope", slope, fact.BytesPerSec)
	g.low = statistic("growth of the "+what+", at least", low, fact.BytesPerSec)
	g.high = statistic("growth of the "+what+", at most", high, fact.BytesPerSec)
	g.late = statistic("growth in the second half", late, fact.BytesPerSec)
	g.from = statistic(what+" after warm-up", warmValue(warm), fact.Bytes)
	g.over = statistic("time since the warm-up", (last - warm[0].At).Seconds(), fact.Seconds)
	g.bytes = fact.Product.Of(what+" that grew in the window", fact.Bytes, g.slope, g.over)
	g.cycles = statistic("collections", float64(len(s)), fact.Count)
	return g, true
}

// warmValue returns how much there is when the warm-up is over, by the median of the
// first few values: one of them may have come at a bad moment.
func warmValue(s model.Series) float64 {
	var v []float64
	for _, p := range s[:3] {
		v = append(v, p.Value)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// hasStep reports whether memory became larger for good in a step, after the warm-up. What
// doubles, a map or a slice, is level between two steps however much is put into it.
func hasStep(s model.Series) bool {
	warm := s[len(s)/4:]
	from, to := warmValue(s), warmValue(s[len(s)-3:])
	grew := to - from
	if grew < heapgrowthBytes || grew < model.LeastGrowth*from {
		return false
	}
	atOnce := time.Duration(heapgrowthAtOnce * float64(s[len(s)-1].At-s[0].At))
	least, later := warm[len(warm)-1].Value, len(warm)-1 // of all from an index on
	for i := len(warm) - 1; i >= 0; i-- {
		for later > i && warm[later].At > warm[i].At+atOnce {
			least, later = min(least, warm[later].Value), later-1
		}
		if later > i && min(least, warm[later].Value)-warm[i].Value >= heapgrowthJump*grew {
			return true
		}
	}
	return false
}

// A heapCourse is where memory went after its warm-up, its least values compared: what
// breathes comes back to them, what is kept does not.
type heapCourse struct {
	from, to     float64 // the least of each half
	before, most float64 // the most of the first half and of all
	last         float64
	dips         int
	fell         bool // from most, at the end
}

// courseOf compares the first half of a series with its second, its end left out where the
// memory fell there by half.
func courseOf(s model.Series) (c heapCourse) {
	s = s[len(s)/4:]
	c.last = s[len(s)-1].Value
	if rise, ok := untilHalved(s); ok {
		c.fell, s = true, rise
	}
	middle := (s[0].At + s[len(s)-1].At) / 2
	c.from, c.to, c.before, c.most = s[0].Value, s[len(s)-1].Value, s[0].Value, s.Max()
	for i, point := range s {
		if point.At <= middle {
			c.from, c.before = min(c.from, point.Value), max(c.before, point.Value)
		} else {
			c.to = min(c.to, point.Value)
		}
		if i > 0 && point.Value < s[i-1].Value {
			c.dips++
		}
	}
	return c
}

// rose reports whether the least of the second half is more than that of the first.
func (c *heapCourse) rose() bool { return c.to-c.from >= heapgrowthBytes }

// grew reports whether a finding would say so of the growth from one value to another.
func (c *heapCourse) grew(to float64) bool {
	return to-c.from >= heapgrowthBytes && to-c.from >= model.LeastGrowth*c.from
}

// untilHalved returns a series up to the most, where that is late and half of it gone at the end.
func untilHalved(s model.Series) (rise model.Series, ok bool) {
	most := 0
	for i := range s {
		if s[i].Value >= s[most].Value {
			most = i
		}
	}
	first, last := s[0], s[len(s)-1]
	late := s[most].At-first.At >= time.Duration(endedAfter*float64(last.At-first.At))
	return s[:most+1], late && most > 0 && last.Value <= endedLeft*s[most].Value
}

// untilMost leaves the end away where most were open shortly before: the kernel closes
// what a process that ends has left open, and the last counts see that.
func untilMost(s model.Series) model.Series {
	most := 0
	for i := range s {
		if s[i].Value >= s[most].Value {
			most = i
		}
	}
	if len(s) > 0 && float64(s[most].At-s[0].At) >= descriptorsLate*float64(s[len(s)-1].At-s[0].At) {
		return s[:most+1]
	}
	return s
}

// timeLeft says when the container's memory will be full, or the machine's, if it
// goes on.
func timeLeft(p *diagnosis.Pass, slope fact.Fact) (left fact.Fact, ok bool) {
	if _, _, ok := p.Model.Process.Window(); ok && p.Model.Limits != nil && p.Model.Limits.Memory > 0 {
		limit := p.Setting("container's memory limit", "memory limit of the control group", float64(p.Model.Limits.Memory), fact.Bytes)
		room := fact.Difference.Of("memory that is left", fact.Bytes, limit, p.Process("resident memory", "rss", fact.Last))
		return fact.Quotient.Of("until the container's memory is full", fact.Seconds, room, slope), true
	}
	room := p.Machine("memory that the machine has available", "available", fact.Last)
	return fact.Quotient.Of("until the machine's memory is used up", fact.Seconds, room, slope), room.Value > 0
}
