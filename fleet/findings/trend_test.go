package findings

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Each shape of a level, of one process and of twenty: hours since the window began give
// the level, 0 is none.
func TestTogether(t *testing.T) {
	const mib = 1 << 20
	flat := func(float64) float64 { return 100 }
	for name, c := range map[string]struct {
		level, load func(hours float64) float64
		one, many   bool // whether a growth is claimed
	}{
		"leak":          {func(h float64) float64 { return (100 + 20*h) * mib }, flat, true, true},
		"well":          {func(h float64) float64 { return 100 * mib }, flat, false, false},
		"shrinks":       {func(h float64) float64 { return (200 - 20*h) * mib }, flat, false, false},
		"warm-up":       {func(h float64) float64 { return (20 + 200*(1-math.Exp(-h/1.3))) * mib }, flat, false, false},
		"daily cycle":   {func(h float64) float64 { return (100 + 15*h) * mib }, func(h float64) float64 { return 100 + 15*h }, false, false},
		"leak at night": {func(h float64) float64 { return (100 + 20*h) * mib }, func(h float64) float64 { return 200 - 20*h }, true, true},
		"restart":       {func(h float64) float64 { return (30 + 100*math.Mod(h, 1.5)) * mib }, flat, false, false},
		"restarted, and leaks": {func(h float64) float64 {
			if h < 1 {
				return 400 * mib
			}
			return (50 + 50*(h-1)) * mib
		}, flat, false, true}, // one process alone must have been there for longer
		"saw-tooth": {func(h float64) float64 { return (100 + 60*math.Mod(h*5, 1)) * mib }, flat, false, false},
		"few bins": {func(h float64) float64 {
			if h < 2.5 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"gone": {func(h float64) float64 {
			if h > 3 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"silent between": {func(h float64) float64 {
			if h > 2 && h < 2.5 {
				return 0
			}
			return (100 + 100*h) * mib
		}, flat, false, false},
		"one step":         {func(h float64) float64 { return (100 + 100*math.Floor(h/2)) * mib }, flat, false, false},
		"small part":       {func(h float64) float64 { return (1000 + 10*h) * mib }, flat, false, false},
		"small in bytes":   {func(h float64) float64 { return (4 + h) * mib }, flat, false, false},
		"no load is known": {func(h float64) float64 { return (100 + 20*h) * mib }, nil, true, true},
	} {
		for n, want := range map[int]bool{1: c.one, 20: c.many} {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			noisy := func(x float64) float64 { return x * (0.98 + 0.04*random.Float64()) }
			courses := make([]course, n)
			for i := range courses {
				for b := range bins {
					at := time.Duration(b) * bin
					if x := c.level(at.Hours()); x > 0 {
						courses[i].level = append(courses[i].level, model.Point{At: at, Value: noisy(x)})
					}
					if c.load != nil {
						courses[i].load = append(courses[i].load, model.Point{At: at, Value: noisy(c.load(at.Hours()))})
					}
				}
			}
			g := together(courses, levels[0].least)
			if got := g.stands(g.p); got != want {
				t.Errorf("%s, %d processes: claimed %v, want %v: p %g, %d of %d rise", name, n, got, want, g.p, len(g.rising), len(g.trends))
			}
		}
	}
}

// A leak in a few of many processes is none of the version's.
func TestMostRise(t *testing.T) {
	for rising, want := range map[int]bool{2: false, 9: false, 10: true, 20: true} {
		var courses []course
		for i := range 20 {
			var c course
			for b := range bins {
				value := 1e9
				if i < rising {
					value += 1e7 * float64(b)
				} else {
					value += 1e5 * float64(b)
				}
				c.level = append(c.level, model.Point{At: time.Duration(b) * bin, Value: value})
			}
			courses = append(courses, c)
		}
		if g := together(courses, 1); g.stands(g.p) != want {
			t.Errorf("%d of 20 rise: claimed %v", rising, !want)
		}
	}
}

// line returns a level that begins with a value in a bin and changes by so much in each bin
// after it.
func line(from, until int, value, by float64) (s model.Series) {
	for b := from; b < until; b++ {
		s = append(s, model.Point{At: time.Duration(b) * bin, Value: value + by*float64(b-from)})
	}
	return s
}

// A course begins anew where the level falls below half, and where nothing came for more than
// a quarter of an hour.
func TestLatest(t *testing.T) {
	for name, c := range map[string]struct {
		bins   []int // that something came in
		levels []float64
		want   int // bins of the latest part
	}{
		"one":                {[]int{0}, []float64{8}, 1},
		"none":               {nil, nil, 0},
		"all":                {[]int{0, 1, 2}, []float64{8, 9, 10}, 3},
		"to half":            {[]int{0, 1, 2}, []float64{8, 4, 4}, 3},
		"below half":         {[]int{0, 1, 2}, []float64{8, 3.9, 4}, 2},
		"twice":              {[]int{0, 1, 2, 3}, []float64{8, 3, 7, 1}, 1},
		"silent":             {[]int{0, 3, 4}, []float64{8, 8, 8}, 3},
		"silent for longer":  {[]int{0, 4, 5}, []float64{8, 8, 8}, 2},
		"late, and together": {[]int{20, 21, 22}, []float64{8, 8, 8}, 3},
		"more than doubles":  {[]int{0, 1, 2}, []float64{1, 5, 30}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var course course
			for i, b := range c.bins {
				course.level = append(course.level, model.Point{At: time.Duration(b) * bin, Value: c.levels[i]})
			}
			if got := course.latest().level; len(got) != c.want || len(got) > 0 && got[len(got)-1] != course.level[len(course.level)-1] {
				t.Errorf("latest(%v) = %v, want the last %d", course.level, got, c.want)
			}
		})
	}
}

// Two hours decide, of which a quarter is left out where a process began in the window, and only
// while it is there.
func TestTrendNeeds(t *testing.T) {
	every := func(step, n int) (s model.Series) {
		for i := range n {
			s = append(s, model.Point{At: time.Duration(i*step) * bin, Value: 100 + float64(i)})
		}
		return s
	}
	for name, c := range map[string]struct {
		level model.Series
		bins  int // that decide; 0 where none do
		whole bool
	}{
		"the window":          {line(0, 48, 100, 1), 48, true},
		"all but a late bin":  {line(3, 48, 100, 1), 45, true},
		"it began then":       {line(4, 48, 100, 1), 33, false},
		"44 bins":             {line(3, 47, 100, 1), 44, true},
		"43 bins":             {line(3, 46, 100, 1), 43, false},
		"24 bins":             {every(2, 24), 24, false},
		"23 bins":             {every(2, 23), 0, false},
		"24 after the begin":  {line(16, 48, 100, 1), 24, false},
		"23 after the begin":  {line(17, 48, 100, 1), 0, false},
		"ended just now":      {line(0, 45, 100, 1), 45, true},
		"ended":               {line(0, 44, 100, 1), 0, false},
		"nothing":             {nil, 0, false},
		"nothing to begin at": {line(0, 48, 0, 0), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := course{level: c.level}.trend(1)
			if len(got.level) != c.bins || ok != (c.bins > 0) || got.whole != c.whole {
				t.Errorf("trend() = %d bins, whole %v, %v, want %d, %v", len(got.level), got.whole, ok, c.bins, c.whole)
			}
		})
	}
}

// What a level grew by is its slope over the time that it was there, beside its median in the
// first quarter of that; so is what the load grew by, without the bins that may be parts.
func TestTrendFigures(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	for name, c := range map[string]struct {
		level, load             model.Series
		slope, by, more, middle float64
	}{
		// 47 of the median of 100 to 111, and 47 of that of 201 to 211.
		"both": {line(0, 48, 100, 1), line(0, 48, 200, 1), 1.0 / 300, 47 / 105.5, 47.0 / 206, 123.5},
		// 44 bins later; of the load those from the third to the last but two count.
		"parts": {line(2, 47, 100, 2), line(0, 48, 200, 1), 2.0 / 300, 88.0 / 110, 44 / 207.5, 144},
		// Less load explains nothing.
		"less load":        {line(0, 48, 100, 1), line(0, 48, 200, -1), 1.0 / 300, 47 / 105.5, 0, 123.5},
		"no load":          {line(0, 48, 100, 1), nil, 1.0 / 300, 47 / 105.5, 0, 123.5},
		"no load at first": {line(0, 48, 100, 1), line(0, 48, -500, 1), 1.0 / 300, 47 / 105.5, 0, 123.5},
		"falls":            {line(0, 48, 200, -1), nil, -1.0 / 300, -47 / 194.5, 0, 176.5},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := course{level: c.level, load: c.load}.trend(1)
			if !ok || !near(got.slope, c.slope) || !near(got.by, c.by) || !near(got.load, c.more) || got.middle != c.middle {
				t.Errorf("trend() = slope %g, by %g, load %g, middle %g, %v, want %g, %g, %g, %g",
					got.slope, got.by, got.load, got.middle, ok, c.slope, c.by, c.more, c.middle)
			}
		})
	}
}

// bent returns a level that grows by so much in each bin of the first half of the window, and of
// the second.
func bent(first, second float64) model.Series {
	s := line(0, 48, 1e5, first)
	for b := 24; b < 48; b++ {
		s[b].Value = s[24].Value + second*float64(b-24)
	}
	return s
}

// A level rises where it grew by enough: beside itself, beside its load, in bytes, and as much
// in the second half.
func TestTrendRises(t *testing.T) {
	plain := line(0, 48, 1e5, 1000) // by 47,000, which is 0.4455 of 105,500
	stops := bent(1000, 1)
	for b := 25; b < 48; b++ {
		stops[b].Value += 30_000
	}
	for name, c := range map[string]struct {
		level, load model.Series
		least       float64
		want        bool
	}{
		"it does":                     {plain, nil, 46_999, true},
		"too little":                  {plain, nil, 47_001, false},
		"0.21 of what it was":         {line(0, 48, 1e5, 458), nil, 1, true},
		"0.19 of what it was":         {line(0, 48, 1e5, 414), nil, 1, false},
		"0.24 more than its load":     {plain, line(0, 48, 1e5, 450), 1, true},
		"0.18 more than its load":     {plain, line(0, 48, 1e5, 580), 1, false},
		"falls":                       {line(0, 48, 2e5, -1000), nil, 1, false},
		"0.42 in the second half":     {bent(1000, 750), nil, 1, true},
		"0.38 in the second half":     {bent(1000, 630), nil, 1, false},
		"more in the second half":     {bent(500, 2000), nil, 1, true},
		"jumps, and then hardly does": {stops, nil, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := course{level: c.level, load: c.load}.trend(c.least)
			if !ok || got.rises != c.want {
				t.Errorf("trend().rises = %v, %v, want %v: %+v", got.rises, ok, c.want, got)
			}
		})
	}
}

// Of few processes the second half must surely grow: by 0.3 of the slope of the window.
func TestTrendSure(t *testing.T) {
	for second, want := range map[float64]bool{1000: true, 200: true, 160: false, 0: false} {
		got, _ := course{level: bent(1000, second)}.trend(1)
		if got.sure != want {
			t.Errorf("with %g of 1000 in the second half: sure %v of a slope of %g a bin, want %v", second, got.sure, 300*got.slope, want)
		}
	}
}

// unsteady is a level whose second half rises, but by an uncertain amount.
func unsteady(by float64) model.Series {
	s := line(0, 48, 1e5, by)
	for b := 25; b < 47; b++ {
		s[b].Value += [...]float64{18, -18, 14, 21, -21, -12}[b%6] * by
	}
	return s
}

// Fewer than twelve processes decide by their times: those that were there all the time, and
// surely rise. Twelve decide by themselves.
func TestTogetherFew(t *testing.T) {
	leak, flat, part := line(0, 48, 1e5, 1000), line(0, 48, 1e5, 1), line(10, 48, 1e5, 1000)
	repeat := func(n int, level model.Series) (list []course) {
		for range n {
			list = append(list, course{level: level})
		}
		return list
	}
	for name, c := range map[string]struct {
		courses        []course
		least          float64
		trends, rising int
		p              float64 // NaN where nothing is known
	}{
		"none":            {nil, 1, 0, 0, math.NaN()},
		"one":             {repeat(1, leak), 1, 1, 1, 2.0 / (1 << 12)}, // twelve times, all up
		"eleven":          {repeat(11, leak), 1, 11, 11, 2.0 / (1 << 12)},
		"eleven parts":    {repeat(11, part), 1, 0, 0, math.NaN()},
		"twelve parts":    {repeat(12, part), 1, 12, 12, 2.0 / (1 << 12)}, // twelve processes
		"unsteady":        {repeat(11, unsteady(1000)), 1, 11, 0, 2.0 / (1 << 12)},
		"twelve unsteady": {repeat(12, unsteady(1000)), 1, 12, 12, 2.0 / (1 << 12)},
		"some do not":     {append(repeat(2, leak), repeat(3, flat)...), 1, 5, 2, 2.0 / (1 << 12)},
		"parts of few":    {append(repeat(3, leak), repeat(2, part)...), 1, 3, 3, 2.0 / (1 << 12)},
		"just enough":     {repeat(1, leak), 46_900, 1, 1, 2.0 / (1 << 12)},
		"not enough":      {repeat(1, leak), 47_100, 1, 0, 2.0 / (1 << 12)},
		"13 do":           {repeat(13, leak), 1, 13, 13, 2.0 / (1 << 13)},
		// Ranks of 6 for what rises, and of 12 for what falls by more: 68 of the 2,048 ways have as little on one side.
		"11 of 12":         {append(repeat(11, leak), course{level: line(0, 48, 1e5, -1000)}), 1, 12, 11, 136.0 / (1 << 12)},
		"3 of 4 that fall": {append(repeat(1, flat), repeat(3, line(0, 48, 2e5, -1000))...), 1, 4, 0, 2.0 / (1 << 12)},
	} {
		t.Run(name, func(t *testing.T) {
			g := together(c.courses, c.least)
			if len(g.trends) != c.trends || len(g.rising) != c.rising || math.Abs(g.p-c.p) > 1e-9 || math.IsNaN(g.p) != math.IsNaN(c.p) {
				t.Errorf("together() = %d of %d rise, p %g, want %d of %d, %g", len(g.rising), len(g.trends), g.p, c.rising, c.trends, c.p)
			}
		})
	}
}

// The processes that rise are in the order of their slopes, so that the one in the middle is the
// usual one.
func TestTogetherOrder(t *testing.T) {
	var courses []course
	for _, by := range []float64{3000, 2000, 5000, 4000} {
		courses = append(courses, course{level: line(0, 48, 1e5*by/1000, by)}, course{level: line(0, 48, 1e5, 0.1)})
	}
	courses[0].level = line(0, 48, 1e5, 3000) // by more beside itself
	q := question{growth: together(courses, 1)}
	for i, want := range []float64{2000, 3000, 4000, 5000} {
		if len(q.rising) != 4 || math.Abs(q.rising[i].slope*300-want) > 1e-6 {
			t.Fatalf("of those that rise number %d = %+v, want %g a bin", i, q.rising, want)
		}
	}
	if usual := q.usual().slope * 300; math.Abs(usual-4000) > 1e-6 {
		t.Errorf("usual() = %g a bin, want 4000", usual)
	}
}

// A growth stands where chance has it in fewer than one of twenty fleets, half of the
// processes rise, and the median one does by more than its load.
func TestGrowthStands(t *testing.T) {
	up, down := trend{by: 0.5, load: 0.1}, trend{by: -0.9}
	busy := trend{by: 0.4, load: 0.5}
	for name, c := range map[string]struct {
		p              float64
		trends, rising []trend
		want           bool
	}{
		"it does":                   {0.049, []trend{up}, []trend{up}, true},
		"by chance":                 {0.051, []trend{up}, []trend{up}, false},
		"nothing is known":          {math.NaN(), nil, nil, false},
		"half rise":                 {0.01, []trend{up, {by: 0.1}}, []trend{up}, true},
		"a third rises":             {0.01, []trend{up, {by: 0.1}, {by: 0.1}}, []trend{up}, false},
		"none rises":                {0.01, []trend{{by: 0.1}}, nil, false},
		"half rise, and half fall":  {0.01, []trend{up, down}, []trend{up}, false},
		"half rise, and half serve": {0.01, []trend{{by: 0.3, load: 0.25}, busy}, []trend{{by: 0.3, load: 0.25}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := growth{trends: c.trends, rising: c.rising}
			if got := g.stands(c.p); got != c.want {
				t.Errorf("stands(%g) = %v, want %v", c.p, got, c.want)
			}
		})
	}
}

// The halves of the window are compared ten minutes by ten, each process beside its own median,
// and half of what the load of the median one grew by is taken off.
func TestHalves(t *testing.T) {
	half := func(value, times float64) model.Series {
		s := line(0, 48, value, 0)
		for b := 24; b < 48; b++ {
			s[b].Value *= times
		}
		return s
	}
	without := func(s model.Series, from, until int) (rest model.Series) {
		return append(append(rest, s[:from]...), s[until:]...)
	}
	a := trend{course: course{level: half(100, 1.5)}, middle: 100, load: 0.2}
	b := trend{course: course{level: half(10, 2)}, middle: 20, load: 0.4}
	silentFirst, silentLast := a, a
	silentFirst.level, silentLast.level = without(a.level, 2, 4), without(a.level, 46, 48)
	for name, c := range map[string]struct {
		trends []trend
		want   float64 // of each
		n      int
	}{
		"one":                {[]trend{a}, 0.5 - 0.1, 12},
		"two":                {[]trend{a, b}, 0.5 - 0.15, 12}, // (1.5 + 1)/2 less (1 + 0.5)/2
		"three":              {[]trend{a, a, b}, 0.5 - 0.1, 12},
		"silent":             {[]trend{silentFirst}, 0.5 - 0.1, 11},
		"silent at the end":  {[]trend{silentLast}, 0.5 - 0.1, 11},
		"silent alone":       {[]trend{silentLast, a}, 0.5 - 0.1, 12},
		"without processes":  {nil, 0, 0},
		"each alone for now": {[]trend{silentFirst, silentLast}, 0.5 - 0.1, 12},
	} {
		t.Run(name, func(t *testing.T) {
			d := halves(c.trends)
			for _, x := range d {
				if math.Abs(x-c.want) > 1e-9 {
					t.Errorf("halves() = %v, want %g each", d, c.want)
				}
			}
			if len(d) != c.n {
				t.Errorf("halves() has %d, want %d", len(d), c.n)
			}
		})
	}
	// What changes from ten minutes to ten minutes is in its place.
	saw := trend{course: course{level: line(0, 48, 0, 1)}, middle: 1}
	saw.level[0].Value, saw.level[1].Value = 5, 6 // 24.5 comes 12 blocks after 5.5
	if d := halves([]trend{saw}); len(d) != 12 || d[0] != 24.5-5.5 || d[1] != 24 || d[11] != 24 {
		t.Errorf("halves() of a line = %v, want 19 and then 24 each", d)
	}
}
