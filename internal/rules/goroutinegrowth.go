package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed goroutinegrowth.md
var goroutinegrowthPage string

// goroutinegrowth needs no source in particular: the runtime's metrics, two
// goroutine profiles or a trace, each of which counts goroutines.
var goroutinegrowth = &diagnosis.Rule{
	Name:     "goroutinegrowth",
	Title:    "Goroutines become more and more",
	Doc:      goroutinegrowthPage,
	Explains: []string{"heapgrowth"},
	Check:    checkGoroutinegrowth,
}

const (
	// growthLeast is by how many they must have become more in the window: a
	// pool, a burst or a server's own helpers move by tens.
	growthLeast = 100
	// growthPart is the same relative to those there were at the start. The
	// number of a server with random arrivals wanders by a few percent.
	growthPart = 0.10
	// growthHalf is the part of the growth that must fall into the second half
	// of the window: of a steady leak it is 0.5, of a program that starts its
	// workers nothing.
	growthHalf = 0.25
	// growthSite is the part of the growth that one place must account for.
	// A leak has one line; that everything becomes more is load.
	growthSite = 0.5
	// lateJump is how many times as many there must be at the end as when three
	// quarters of the window were over, for it to have ended too early: what a
	// program that watches itself records at such a moment.
	lateJump = 5
	// growthPoints is how many points a trace's count of goroutines gets.
	growthPoints = 50
)

// A growth is how the number of goroutines changed.
type growth struct {
	start, end float64
	perSecond  float64
	low, high  float64 // of perSecond, 95 %; 0 when the points are too few
	trend      bool    // the interval is above 0, in the second half too
	seconds    float64
	late       float64 // how many there were at three quarters of the window; negative when not known
	source     string
}

func (g *growth) grown() float64 { return g.end - g.start }

// A growing is a place where the goroutines wait that became more.
type growing struct {
	stack  model.Stack // 0 when only the group is known
	group  string
	grown  float64
	ended  float64 // share of those started in the window that ended in it; negative when not known
	net    bool    // waits for the network: a connection
	flood  bool    // queues inside the program under load
	source string
}

func checkGoroutinegrowth(p *diagnosis.Pass) {
	const what = "whether goroutines become more and more"
	g, ok := measureGrowth(p)
	if !ok {
		p.Unchecked(what, "neither the runtime's metrics, nor two goroutine profiles, nor a trace was given", diagnosis.HowToGet(model.MetricsLog))
		return
	}
	if g.grown() >= growthLeast && g.late >= 0 && g.end >= lateJump*g.late {
		p.Unchecked(what, fmt.Sprintf("they rose from %s to %s at the end of the window, too late to tell a leak from a burst", num(g.late), num(g.end)),
			"gowhy record -d 60s -o longer.gowhy --url http://localhost:6060")
		return
	}
	if g.grown() < max(growthLeast, growthPart*g.start) || g.low > 0 && !g.trend || g.perSecond <= 0 {
		p.Fine(fmt.Sprintf("number of goroutines: %s at the start, %s at the end", num(g.start), num(g.end)))
		return
	}
	s, ok := growingSite(p)
	switch {
	case !ok:
		p.Unchecked(what, fmt.Sprintf("they rose from %s to %s, and no goroutine profiles at both ends tell where those wait that were added", num(g.start), num(g.end)), diagnosis.HowToGet(model.GoroutineProfile))
	case s.grown < growthSite*g.grown():
		p.Fine(fmt.Sprintf("number of goroutines: from %s to %s, and no place accounts for half of it", num(g.start), num(g.end)))
	case s.net:
		p.Fine(fmt.Sprintf("number of goroutines: from %s to %s, because there are more connections", num(g.start), num(g.end)))
	case s.flood || g.low <= 0 && (g.start == 0 || s.ended >= spawnServed):
		p.Fine(fmt.Sprintf("number of goroutines: from %s to %s, a start or a queue and no leak: they come and go", num(g.start), num(g.end)))
	case overloaded(p.Model):
		p.Unchecked(what, fmt.Sprintf("they rose from %s to %s while more was asked for than was served, which queues: record at a load that the program can serve", num(g.start), num(g.end)), diagnosis.HowToGet(model.Trace))
	default:
		p.Report(growthFinding(p, g, s))
	}
}

// overloaded reports whether the load generator asked for clearly more than
// was served.
func overloaded(m *model.Model) bool {
	return m.Load != nil && m.Load.Offered > worthwhile*m.Load.Rate
}

func measureGrowth(p *diagnosis.Pass) (g growth, ok bool) {
	if m := p.Model.Metrics; m != nil {
		if s := m.Series[metricGoroutines]; len(s) > 1 {
			return growthOf(s, "metrics: "+metricGoroutines)
		}
	}
	if s := p.Model.Sched; s != nil && s.AllKept && len(s.Goroutines) > 0 && p.Model.Run.Duration > 0 {
		return growthOf(aliveOverTime(p.Model), "trace: goroutines alive")
	}
	if a, b := p.Model.Goroutines.Start, p.Model.Goroutines.End; a != nil && b != nil {
		return growthBetween(float64(profileCount(a)), float64(profileCount(b)), snapshotSeconds(p), "goroutine profiles at the start and the end")
	}
	if s := p.Model.Sched; s != nil {
		var start, end int
		for i := range s.Groups {
			if g := &s.Groups[i]; !g.System {
				start, end = start+g.Count-g.Created, end+g.Alive()
			}
		}
		return growthBetween(float64(start), float64(end), p.Seconds(), "trace: goroutine groups")
	}
	return growth{}, false
}

func growthBetween(start, end, seconds float64, source string) (growth, bool) {
	return growth{start: start, end: end, late: -1, perSecond: div(end-start, seconds), seconds: seconds, source: source}, seconds > 0
}

// growthOf takes the trend of a series. It has one when the interval of the
// slope is above 0, in the second half too, and that half has its part of it.
func growthOf(s model.Series, source string) (g growth, ok bool) {
	if len(s) < 2 || s[len(s)-1].At <= s[0].At {
		return growth{}, false
	}
	first, last := s[0], s[len(s)-1]
	g = growth{start: first.Value, end: last.Value, late: s[len(s)*3/4].Value, seconds: (last.At - first.At).Seconds(), source: source}
	g.perSecond = g.grown() / g.seconds
	slope, low, high, ok := s.Slope()
	if !ok {
		return g, true
	}
	g.perSecond, g.low, g.high = slope, low, high
	half := s[len(s)/2:]
	_, later, _, ok := half.Slope()
	g.trend = ok && low > 0 && later > 0 && last.Value-half[0].Value >= growthHalf*g.grown()
	if low <= 0 {
		g.perSecond = min(0, low) // no trend that can be told from none
	}
	return g, true
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

// growingSite is the place of the largest growth: by goroutine profiles, and
// by the groups of a trace where there are none.
func growingSite(p *diagnosis.Pass) (g growing, ok bool) {
	m := p.Model
	if m.Goroutines.Start != nil && m.Goroutines.End != nil {
		g = grownStack(m)
	} else if m.Sched != nil {
		g = grownGroup(m)
	}
	if g.grown <= 0 {
		return g, false
	}
	g.ended = -1
	if t := group(m, g.group); t != nil {
		g.flood = flooding(t)
		if t.Created > 0 {
			g.ended = float64(t.Ended) / float64(t.Created)
		}
	}
	return g, true
}

func grownStack(m *model.Model) (g growing) {
	type sum struct {
		stack model.Stack
		n     int64
	}
	sums := map[string]*sum{}
	add := func(of *model.Profile, sign int64) {
		for i := range of.Samples {
			s := &of.Samples[i]
			if len(s.Values) == 0 {
				continue
			}
			key := stackText(m, s.Stack)
			if sums[key] == nil {
				sums[key] = &sum{}
			}
			sums[key].stack = s.Stack
			sums[key].n += sign * s.Values[0]
		}
	}
	add(m.Goroutines.Start, -1)
	add(m.Goroutines.End, 1)
	keys := map[string]int64{}
	for k, s := range sums {
		keys[k] = s.n
	}
	for _, k := range largest(keys)[:min(1, len(keys))] {
		s := sums[k]
		g = growing{stack: s.stack, group: root(m, s.stack), grown: float64(s.n), net: connection(m, s.stack), source: "goroutine profiles at the start and the end"}
	}
	return g
}

// connection recognises goroutines of which there is one to a connection:
// those that wait for the network, and the writers of net/http's client, which
// wait for their readers.
func connection(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool {
		switch f.Func {
		case "internal/poll.runtime_pollWait", "internal/poll.(*pollDesc).wait", "runtime.netpollblock", "net/http.(*persistConn).writeLoop":
			return true
		}
		return false
	})
}

func grownGroup(m *model.Model) (g growing) {
	for i := range m.Sched.Groups {
		t := &m.Sched.Groups[i]
		if n := float64(t.Created - t.Ended); !t.System && n > g.grown {
			g = growing{
				group: t.Name, grown: n, net: 2*t.Blocked["network"] > t.BlockedTotal(), stack: longestWait(m, t.Name),
				source: "trace: goroutine groups, started less ended",
			}
		}
	}
	return g
}

// longestWait is the stack in which the goroutines of a group waited longest.
func longestWait(m *model.Model, name string) (s model.Stack) {
	var most time.Duration
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Group == name && w.Kind != model.SchedWait && w.Total > most {
			most, s = w.Total, w.Stack
		}
	}
	return s
}

func growthFinding(p *diagnosis.Pass, g growth, s growing) diagnosis.Finding {
	_, each, from := goroutineMemory(p.Model)
	bytes := g.grown() * each
	place, _ := p.UserPlace(s.stack)
	start, created := diagnosis.Place{}, diagnosis.Place{}
	if t := group(p.Model, s.group); t != nil {
		start, _ = p.GroupPlace(t)
		created, _ = p.UserPlace(t.Creator)
	}
	waits, waiting := stuckIn(p.Model, s.stack), ""
	if s.stack != 0 {
		waiting = ", waiting in " + waits.words
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("There were %s goroutines at the start and %s at the end, %s more a second; %s of the growth is %s%s.",
			num(g.start), num(g.end), num(round3(g.perSecond)), pct(min(1, s.grown/g.grown())), short(groupName(s.group)), waiting),
		Where: where(place, start, created),
		Evidence: []fact.Fact{
			{Name: "goroutines at the start", Value: g.start, Unit: fact.Count, Source: g.source},
			{Name: "goroutines at the end", Value: g.end, Unit: fact.Count, Source: g.source},
			{Name: "more each second", Value: max(0, g.perSecond), Unit: fact.PerSec, Source: g.source},
			{Name: "of those, at this place", Value: s.grown, Unit: fact.Count, Source: s.source},
			{Name: "stack of one", Value: each, Unit: fact.Bytes, Source: from},
		},
		Cost: diagnosis.Cost{Value: max(0, g.perSecond), Unit: fact.PerSec, Share: min(1, div(g.grown(), g.end)), What: "goroutines added, and none of them ended"},
		Bound: diagnosis.Bound{
			Value: bytes, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: leakedPart(p.Model, bytes, g.end*each),
			Method: fmt.Sprintf("goroutines added in the window × stack of one (%s): what the growth took in %s, and takes again as often as that passes. What they hold in the heap comes on top", from, dur(time.Duration(g.seconds*float64(time.Second)))),
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the 95 % interval of the trend is above zero, the second half of the window goes on as the first, and one place accounts for it"},
		RuledOut: []string{
			"connections: those that were added do not wait for the network",
			fmt.Sprintf("workers that a program starts once: at least %s of the growth is in the second half", pct(growthHalf)),
		},
		Groups: []string{s.group},
		Remedy: growthRemedy(p.Model, s, waits),
		Prove:  fmt.Sprintf("It is a trend, which no single figure of a run shows: after the change record as long under the same load, and the comparison lists this finding as gone. The number of goroutines must stay level, where it now rises by %s a second, and fall back to where it began when the load stops.", num(round3(g.perSecond))),
	}
	if s.stack != 0 {
		f.Stacks = []model.Stack{s.stack}
	}
	if g.low > 0 {
		f.Evidence = append(f.Evidence,
			fact.Fact{Name: "more each second, at least (95 %)", Value: g.low, Unit: fact.PerSec, Source: g.source},
			fact.Fact{Name: "more each second, at most (95 %)", Value: max(0, g.high), Unit: fact.PerSec, Source: g.source})
	} else {
		f.Confidence, f.Reasons = diagnosis.Low, []string{"two counts are no trend: a burst or a start looks the same"}
		f.RuledOut = f.RuledOut[:1]
	}
	if g.seconds < spawnSure.Seconds() {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "a window of "+dur(time.Duration(g.seconds*float64(time.Second)))+" does not tell growth from a burst")
	}
	switch {
	case s.ended >= spawnServed:
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, fmt.Sprintf("%s of those started in the window ended in it: some paths leak, or a queue builds up under load", pct(s.ended)))
	case s.ended >= 0:
		f.RuledOut = append(f.RuledOut, fmt.Sprintf("a queue under overload: %s of those started in the window ended in it", pct(s.ended)))
	}
	return f
}

// growthRemedy is that of what the goroutines wait in, but for the readers of
// net/http's client: those wait for a body to be closed.
func growthRemedy(m *model.Model, s growing, waits sticking) diagnosis.Remedy {
	for _, f := range m.Stacks.Frames(s.stack) {
		if strings.HasPrefix(f.Func, "net/http.(*persistConn).readLoop") {
			return diagnosis.Remedy{
				Text: "Each of these reads a connection whose response body was neither read to its end nor closed. Close it on every path, after an error status too.",
				Code: "resp, err := client.Do(req)\nif err != nil {\n\treturn err\n}\ndefer resp.Body.Close()",
			}
		}
	}
	text := "Find who should end them and does not. " + waits.cure
	if waits.words == "Lock" {
		text = "They queue for a lock: find who holds it so long, or never gives it back. " + waits.cure
	}
	return diagnosis.Remedy{Text: text, Code: waits.code}
}
