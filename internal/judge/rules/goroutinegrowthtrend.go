package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// growthLeast is by how many they must have become more in the window: a
	// pool, a burst or a server's own helpers move by tens.
	growthLeast = 100
	// growthPart is the same relative to those there were at the start. The
	// number of a server with random arrivals wanders by a few percent.
	growthPart = 0.10
	// growthCreeps is by how many a steady rise is no level, small as it is: the runtime and
	// a recorder start some, a pool that is as large as at first adds none.
	growthCreeps = 20
	// growthHalf is the part of the growth that must fall into the second half
	// of the window: of a steady leak it is 0.5, of a program that starts its
	// workers nothing.
	growthHalf = 0.25
	// growthLived is the part of the window that those added lived on average from which
	// less than growthHalf of them can have come in its second half: one that did lived a
	// half at most.
	growthLived = 1 - growthHalf/2
	// growthSite is the part of the growth that one place must account for.
	// A leak has one line; that everything becomes more is load.
	growthSite = 0.5
	// growthAlike is how far apart the growth of two places may be that belong together:
	// the goroutines of a connection or a call come and go at once, but for those that a
	// profile catches between.
	growthAlike = 0.01
	// growthNamed is how many lines a finding names that start them.
	growthNamed = 3
	// lateJump is how many times as many there must be at the end as when three
	// quarters of the window were over, for it to have ended too early: what a
	// program that watches itself records at such a moment.
	lateJump = 5
	// growthCounts are the least counts in order that say it: by chance four are once in 24
	// times.
	growthCounts = 4
	// growthPoints is how many points a trace's count of goroutines gets.
	growthPoints = 50
)

// becomeMore reports whether goroutines become more and more. On a machine that is full they
// are read so seldom that there is no trend: then each count must be above the one before.
func becomeMore(counts model.Series) bool {
	if rises, known := counts.Rises(growthHalf); known {
		return rises
	}
	for i := 1; i < len(counts); i++ {
		if counts[i].Value <= counts[i-1].Value {
			return false
		}
	}
	return len(counts) >= growthCounts
}

// A goroutineTrend is how the number of goroutines changed.
type goroutineTrend struct {
	start, end  fact.Fact
	added, over fact.Fact // from the one to the other
	perSecond   fact.Fact
	low, high   fact.Fact // of perSecond, 95%, where there is a series to fit
	fitted      bool      // there is
	trend       bool      // the interval is above 0, in the second half too
	fell        bool      // they ended together, at its end: end is the most there were
	peak        time.Duration
	late        fact.Fact // how many there were at three quarters of the window
	sudden      bool      // nearly all of them came after that
}

// A growing is a place where the goroutines wait that became more.
type growing struct {
	stack  model.Stack // 0 when only the group is known
	places int         // it and those that belong to it
	alike  bool        // they grew by the same number
	group  string
	groups []string // of all these places; the first is group
	starts string   // the function that starts all of them, where it is one and they are several
	added  fact.Fact
	ended  fact.Fact // share of those started in the window that ended in it
	known  bool      // ended is
	net    bool      // waits for the network: a connection
	// readers are those of the places that read connections of net/http's client, as far
	// as goroutine profiles tell
	readers []model.Stack
	flood   bool // queues inside the program under load
}

// overloaded reports whether the load generator asked for clearly more than
// was served.
func overloaded(m *model.Model) bool {
	return m.Load != nil && m.Load.Offered > worthwhile*m.Load.Rate
}

func measureGrowth(p *diagnosis.Pass) (g goroutineTrend, ok bool) {
	const atStart, atEnd, atMost = "goroutines at the start", "goroutines at the end", "goroutines at most"
	if m := p.Model.Metrics; m != nil {
		if s := m.Series[memory.MetricGoroutines]; len(s) > 1 {
			statistic := func(name string, v float64, u fact.Unit) fact.Fact {
				return p.Statistic(fact.Metric, memory.MetricGoroutines, name, v, u).From(model.MetricsLog)
			}
			g.start, g.end = p.Metric(atStart, memory.MetricGoroutines, fact.First), p.Metric(atEnd, memory.MetricGoroutines, fact.Last)
			slope := p.Metric(moreEachSecond, memory.MetricGoroutines, fact.Trend)
			if rise, ok := untilEnded(s); ok {
				g.end, s = p.Metric(atMost, memory.MetricGoroutines, fact.Most), rise
				g.fell, g.peak = true, s[len(s)-1].At
				v, _, _, _ := s.Slope()
				slope = statistic(moreEachSecond, v, fact.PerSec)
			}
			return g, g.fit(s, slope, statistic)
		}
	}
	if s := p.Model.Sched; s != nil && s.AllKept && len(s.Goroutines) > 0 && p.Model.Run.Duration > 0 {
		alive := aliveOverTime(p.Model)
		statistic := func(name string, v float64, u fact.Unit) fact.Fact {
			return p.Statistic(fact.Timeline, "goroutines alive", name, v, u)
		}
		g.start, g.end = statistic(atStart, alive[0].Value, fact.Count), statistic(atEnd, alive[len(alive)-1].Value, fact.Count)
		slope, _, _, _ := alive.Slope()
		return g, g.fit(alive, statistic(moreEachSecond, slope, fact.PerSec), statistic)
	}
	if p.Model.Goroutines.Start != nil && p.Model.Goroutines.End != nil {
		g.start, g.end = p.SamplesAtStart(atStart, "goroutine", nil), p.Samples(atEnd, "goroutine", nil)
		g.compareCounts(snapshotWindow(p))
		return g, true
	}
	if p.Model.Sched == nil {
		return g, false
	}
	groups := code.UserGroups(p.Model)
	g.start = fact.Difference.Of(atStart, fact.Count, p.Goroutines("goroutines", groups, "count"), p.Goroutines("started in the window", groups, "created"))
	g.end = p.Goroutines(atEnd, groups, "alive")
	g.compareCounts(p.WindowLength())
	return g, g.over.Value > 0
}

// creeps reports whether they become more at one pace, though by less than a finding needs.
func (g *goroutineTrend) creeps() bool {
	return g.trend && (g.added.Value >= growthLeast || g.added.Value >= max(growthCreeps, growthPart*g.start.Value))
}

const moreEachSecond = "more each second"

// compareCounts fills in what two counts tell.
func (g *goroutineTrend) compareCounts(over fact.Fact) {
	g.over = over
	g.added = fact.Difference.Of("goroutines added", fact.Count, g.end, g.start)
	g.perSecond = fact.Quotient.Of(moreEachSecond, fact.PerSec, g.added, over)
}

// fit takes the trend of a series.
func (g *goroutineTrend) fit(s model.Series, slope fact.Fact, statistic func(string, float64, fact.Unit) fact.Fact) (ok bool) {
	if len(s) < 2 || s[len(s)-1].At <= s[0].At {
		return false
	}
	first, last := s[0], s[len(s)-1]
	g.compareCounts(statistic("time from the first count to the last", (last.At - first.At).Seconds(), fact.Seconds))
	g.late = statistic("goroutines at three quarters of the window", s[len(s)*3/4].Value, fact.Count)
	g.sudden = last.Value >= lateJump*g.late.Value
	_, low, high, ok := s.Slope()
	if !ok {
		return true
	}
	g.perSecond, g.fitted = slope, true
	g.low, g.high = statistic("more each second, at least (95%)", low, fact.PerSec), statistic("more each second, at most (95%)", max(0, high), fact.PerSec)
	g.trend, _ = s.Rises(growthHalf)
	return true
}

// aliveOverTime counts the goroutines of the program at even steps.
func aliveOverTime(m *model.Model) model.Series {
	system := map[string]bool{}
	for i := range m.Sched.Groups {
		system[m.Sched.Groups[i].Name] = m.Sched.Groups[i].System
	}
	change := make([]int, growthPoints+1)
	step := func(t time.Duration) int {
		return int(min(max(0, (t*growthPoints+m.Run.Duration-1)/m.Run.Duration), growthPoints))
	}
	for i := range m.Sched.Goroutines {
		g := &m.Sched.Goroutines[i]
		if system[g.Group] {
			continue
		}
		change[step(g.Created)]++
		if g.Ended >= 0 && step(g.Ended) < growthPoints {
			change[step(g.Ended)]--
		}
	}
	out := make(model.Series, growthPoints+1)
	alive := 0
	for i := range out {
		alive += change[i]
		out[i] = model.Point{At: m.Run.Duration * time.Duration(i) / growthPoints, Value: float64(alive)}
	}
	return out
}

// growingSite returns the place of the largest growth, with those that belong to it: by
// goroutine profiles, and by the groups of a trace where there are none. enough is the
// growth that one place must have.
func growingSite(p *diagnosis.Pass, enough float64) (g growing, ok bool) {
	m := p.Model
	if m.Goroutines.Start != nil && m.Goroutines.End != nil {
		g = grownStack(p, enough)
	} else if m.Sched != nil {
		g = grownGroup(p, enough)
	}
	if g.added.Value <= 0 {
		return g, false
	}
	started := code.Groups(m, g.groups)
	if len(started) == 0 {
		return g, true
	}
	of, created := []string{}, 0
	for _, t := range started {
		of, created = append(of, t.Name), created+t.Created
		g.flood = g.flood || flooding(t)
	}
	g.known = created > 0
	g.ended = fact.Quotient.Of("share of the started that ended", fact.Ratio, p.Goroutines("goroutines ended", of, "ended"), p.Goroutines("goroutines started", of, "created"))
	g.starts = commonStarter(m, g.groups)
	return g, true
}

// commonStarter returns the function that starts all of several groups, "" where it is not one.
func commonStarter(m *model.Model, groups []string) string {
	first := starterOf(m, code.Group(m, groups[0]))
	for _, name := range groups[1:] {
		if starterOf(m, code.Group(m, name)) != first {
			return ""
		}
	}
	if len(groups) == 1 {
		return ""
	}
	return first
}

// lifetimeShare returns the part of the window that the goroutines of a place lived which were started
// in it, by a trace of the same time; nothing without one. Time of others of the group is
// taken for that of a whole window, so that it is never too much.
func lifetimeShare(p *diagnosis.Pass, g *goroutineTrend, s *growing) fact.Fact {
	const name = "part of the window that those started in it lived, mean"
	t := code.Group(p.Model, s.group)
	if t == nil || t.Created == 0 || p.Model.Run.Duration.Seconds() < (1-growthPart)*g.over.Value {
		return fact.Fact{}
	}
	of := []string{t.Name}
	started := p.Goroutines("started in the window", of, "created")
	before := fact.Product.Of("time of goroutines that were there before", fact.Seconds,
		fact.Difference.Of("there before", fact.Count, p.Goroutines("goroutines", of, "count"), started), p.WindowLength())
	time := fact.Difference.Of("time of those started in the window", fact.Seconds, p.Goroutines("time of all", of, "total"), before)
	return fact.Quotient.Of(name, fact.Ratio, fact.Quotient.Of("time that each of them lived in it", fact.Seconds, time, started), p.WindowLength())
}

// groupPlaces returns the places that belong to the one that grew most, itself the first: those that
// grew by the same number, and where these are not enough, the largest number that one
// function starts. order are the places, those that grew most first, and by is how much each
// grew.
func groupPlaces(order []string, by map[string]float64, enough float64, starter func(place string) string) (places []string, alike bool) {
	if len(order) == 0 {
		return nil, false
	}
	sum, most, family := 0.0, "", map[string]float64{}
	for _, key := range order {
		if by[key] >= growthLeast && by[key] >= by[order[0]]*(1-growthAlike) {
			places, sum = append(places, key), sum+by[key]
		}
		if by[key] > 0 {
			family[starter(key)] += by[key]
		}
	}
	delete(family, "")
	if first := statistics.Largest(family); len(first) > 0 {
		most = first[0]
	}
	if sum >= enough || family[most] < enough {
		return places, true
	}
	return slices.DeleteFunc(slices.Clone(order), func(key string) bool { return by[key] <= 0 || starter(key) != most }), false
}

// starterOf returns the function that starts the goroutines of a group, "" when unknown.
func starterOf(m *model.Model, t *model.Group) string { return starter(m, t).Func }

// starter returns the frame that starts them: not one of a library that starts any function.
func starter(m *model.Model, t *model.Group) (f model.Frame) {
	if t == nil {
		return f
	}
	for _, f := range m.Stacks.Frames(t.Creator) {
		if !model.IsStd(f.Func) && !strings.HasPrefix(f.Func, "golang.org/x/sync/") {
			return f
		}
	}
	return f
}

// addedHere is what the goroutines are called that a place added.
const addedHere = "goroutines added at this place"

func grownStack(p *diagnosis.Pass, enough float64) growing {
	m := p.Model
	sums, stacks := map[string]float64{}, map[string]model.Stack{}
	add := func(of *model.Profile, sign float64) {
		for i := range of.Samples {
			s := &of.Samples[i]
			key := code.PlaceText(m, s.Stack)
			sums[key] += sign * s.Value(0)
			stacks[key] = s.Stack
		}
	}
	add(m.Goroutines.Start, -1)
	add(m.Goroutines.End, 1)
	order := statistics.Largest(sums)
	if len(order) == 0 {
		return growing{}
	}
	places, alike := groupPlaces(order, sums, enough, func(key string) string { return starterOf(m, code.Group(m, code.Root(m, stacks[key]))) })
	if len(places) == 0 {
		places = order[:1]
	}
	g := growing{stack: stacks[places[0]], places: len(places), alike: alike}
	var all []model.Stack
	unread := false
	for _, key := range places {
		all = append(all, stacks[key])
		g.net = g.net || connection(m, stacks[key])
		if readsClient(m, stacks[key]) {
			g.readers = append(g.readers, stacks[key])
			if !connection(m, stacks[key]) {
				unread, g.stack = true, stacks[key]
			}
		}
		if name := code.Root(m, stacks[key]); !slices.Contains(g.groups, name) {
			g.groups = append(g.groups, name)
		}
	}
	g.net = g.net && !unread // the writer of a connection whose body nobody reads waits as that of an idle one
	g.group, g.added = code.Root(m, g.stack), moreAt(p, addedHere, all...)
	return g
}

// connection recognises goroutines of which there is one to a connection:
// those that wait for the network, and the writers of net/http's client, which
// wait for their readers.
func connection(m *model.Model, s model.Stack) bool {
	return code.ContainsAny(m.Stacks.Frames(s), []string{
		"internal/poll.runtime_pollWait", "internal/poll.(*pollDesc).wait", "runtime.netpollblock", "net/http.(*persistConn).writeLoop",
	})
}

func grownGroup(p *diagnosis.Pass, enough float64) (g growing) {
	by := map[string]float64{}
	for _, name := range code.UserGroups(p.Model) {
		t := code.Group(p.Model, name)
		by[name] = float64(t.Created - t.Ended)
	}
	order := statistics.Largest(by)
	places, alike := groupPlaces(order, by, enough, func(name string) string { return starterOf(p.Model, code.Group(p.Model, name)) })
	if len(places) == 0 && len(order) > 0 {
		places = order[:1]
	}
	if len(places) == 0 {
		return growing{}
	}
	for _, name := range places {
		t := code.Group(p.Model, name)
		g.net = g.net || 2*t.Blocked["network"] > t.BlockedTotal()
	}
	g.stack, g.places, g.alike = longestWait(p.Model, places[0]), len(places), alike
	g.group, g.groups = places[0], places
	g.added = fact.Difference.Of(addedHere, fact.Count, p.Goroutines("goroutines started", places, "created"), p.Goroutines("goroutines ended", places, "ended"))
	return g
}

// longestWait returns the stack in which the goroutines of a group waited longest.
func longestWait(m *model.Model, name string) (s model.Stack) {
	var most time.Duration
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Group == name && w.Kind != model.SchedWait && w.Total > most {
			most, s = w.Total, w.Stack
		}
	}
	return s
}

func growthFinding(p *diagnosis.Pass, g goroutineTrend, s growing) diagnosis.Finding {
	each := memory.MeanStack(p)
	if g.fell { // the stacks of those that ended are counted still, and they are not
		each = memory.MinStack()
	}
	bytes := fact.Product.Of("stacks of the added goroutines", fact.Bytes, g.added, each)
	place, _ := p.UserPlace(s.stack)
	start, created := diagnosis.Place{}, diagnosis.Place{}
	if t := code.Group(p.Model, s.group); t != nil {
		start, _ = p.GroupPlace(t)
		created, _ = p.UserPlace(t.Creator)
	}
	waits, waiting := stuckIn(p.Model, s.stack), ""
	if s.stack != 0 && waits.words != anyWait {
		waiting = ", waiting in " + waits.words
	}
	rate, cost := g.perSecond, g.perSecond.Named("goroutines added each second, less those that ended")
	if g.over.Value == 0 {
		rate, cost = g.added, g.added
	}
	f := diagnosis.Finding{
		Grows:      true,
		Where:      code.Places(place, start, created),
		Evidence:   []fact.Fact{g.start, g.end, rate, s.added, each},
		Cost:       diagnosis.CostOf(cost, fact.Fraction.Of("share of the goroutines at the end", fact.Ratio, g.added, g.end).Value),
		Bound:      diagnosis.Direction(bytes, diagnosis.MemoryGoal, memory.PartOf(p, bytes, g.end, each).Value, tookIn(&g)),
		Confidence: diagnosis.Medium,
		Reasons: []string{"the 95% interval of the trend is above zero, the second half of the window goes on as the first, " +
			"and one place accounts for it"},
		RuledOut: []string{"connections: those that were added do not wait for the network"},
		Groups:   s.groups,
		Explains: []string{"heapgrowth"},
		Remedy:   growthRemedy(p.Model, s, waits),
		Prove:    growthProof(&g),
	}
	if s.stack != 0 {
		f.Stacks = []model.Stack{s.stack}
	}
	part := fact.Fraction.Of("part of the growth", fact.Ratio, s.added, g.added)
	if s.places > 1 {
		waiting = fact.Sentence(" and the places beside it, %s in all, that %s", fact.Name(figureOf(s.places)), s.bond())
	}
	if s.starts != "" {
		f.Where = code.Places(append(startedAt(p, s.groups), f.Where...)...)
	}
	if g.fell {
		f.Say("There were %s goroutines at the start and %s before nearly all ended at once, %s more a second; "+
			"%s of the growth is %s%s.", g.start, g.end,
			g.perSecond.Number(), part, code.Name(code.GroupName(s.group)), fact.Name(waiting))
	} else if g.over.Value == 0 {
		f.Say("There were %s goroutines in the first and %s in the second; %s of the growth is %s%s. In which time is not known.",
			g.start, g.end, part, code.Name(code.GroupName(s.group)), fact.Name(waiting))
	} else {
		f.Say("There were %s goroutines at the start and %s at the end, %s more a second; %s of the growth is %s%s.", g.start, g.end,
			g.perSecond.Number(), part, code.Name(code.GroupName(s.group)), fact.Name(waiting))
	}
	if g.fitted {
		f.Evidence = append(f.Evidence, g.low, g.high)
		f.RuledOut = append(f.RuledOut, fact.Sentence("workers that a program starts once: at least %s of the growth is in the second half",
			fact.Name(fact.Ratio.Format(growthHalf))))
	} else {
		f.Confidence, f.Reasons = diagnosis.Low, []string{"two counts are no trend: a burst or a start looks the same"}
	}
	if g.over.Value > 0 && g.over.Value < spawnSure.Seconds() {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("a window of %s does not tell growth from a burst", g.over))
	}
	switch {
	case !s.known, g.fell:
	case s.ended.Value >= spawnServed:
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fact.Sentence("%s of the goroutines started in the window ended in it: some paths leak, or a queue builds up under load", s.ended))
	default:
		f.RuledOut = append(f.RuledOut, fact.Sentence("a queue under overload: %s of the goroutines started in the window ended in it", s.ended))
	}
	adviseRelease(p, &f)
	return f
}

// bond names what makes several places one.
func (s *growing) bond() fact.Name {
	const alike = "grew by the same number"
	switch {
	case s.starts == "":
		return alike
	case s.alike:
		return fact.Name(fact.Sentence(alike+" and are started by %s", code.Name(s.starts)))
	}
	return fact.Name(fact.Sentence("%s starts", code.Name(s.starts)))
}

// startedAt returns the lines that start goroutines of some groups.
func startedAt(p *diagnosis.Pass, groups []string) (places []diagnosis.Place) {
	for _, t := range code.Groups(p.Model, groups) {
		if f := starter(p.Model, t); len(places) < growthNamed {
			places = append(places, diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line})
		}
	}
	return places
}

// tookIn returns the note of the bound.
func tookIn(g *goroutineTrend) string {
	if g.over.Value == 0 {
		return "what the growth took; what they hold in the heap comes on top"
	}
	return fact.Sentence("what the growth took in %s, and takes again as often as that passes. What they hold in the heap comes on top", g.over)
}

// growthProof says what refutes it: a trend shows in no single figure of a run.
func growthProof(g *goroutineTrend) string {
	const again = "It is a trend, which no single figure of a run shows: after the change record as long under the same load, " +
		"and the comparison lists this finding as gone. The number of goroutines must stay level, "
	if g.over.Value == 0 {
		return again + "and fall back to where it began when the load stops."
	}
	return fact.Sentence(again+"where it now rises by %s a second, and fall back to where it began when the load stops.", g.perSecond.Number())
}

// growthRemedy returns that of what the goroutines wait in, but for the readers of
// net/http's client: those wait for a body to be closed.
func growthRemedy(m *model.Model, s growing, waits sticking) diagnosis.Remedy {
	for _, f := range m.Stacks.Frames(s.stack) {
		if strings.HasPrefix(f.Func, "net/http.(*persistConn).readLoop") {
			return diagnosis.Remedy{
				Text: "Close the response body on every path, after an error status too: " +
					"each of these reads a connection whose body was neither read to its end nor closed.",
				Code: "resp, err := client.Do(req)\nif err != nil {\n\treturn err\n}\ndefer resp.Body.Close()",
			}
		}
	}
	if s.group == code.Coroutines {
		return diagnosis.Remedy{
			Text: "Call the second function that iter.Pull returns on every path, best by defer: a sequence that is not read to its end " +
				"goes on being there, with its goroutine, its stack and all that it holds. A for loop over the sequence needs no call.",
			Code: "next, stop := iter.Pull(seq)\ndefer stop()",
		}
	}
	text := "Find who should end them and does not. " + waits.fix
	if waits.words == "Lock" {
		text = "Find who holds the lock so long, or never gives it back. " + waits.fix
	}
	if s.starts != "" {
		text = fact.Sentence("End all of them where the work is over that %s begins, which starts them. ", code.Name(s.starts)) + waits.fix
	}
	return diagnosis.Remedy{Text: text, Code: waits.code}
}
