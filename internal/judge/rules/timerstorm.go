package rules

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed timerstorm.md
var timerstormPage string

var timerstorm = &diagnosis.Rule{
	Name:     "timerstorm",
	Title:    "Timers wake goroutines constantly for almost no work",
	Doc:      timerstormPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idlespin", "futexstorm", "runtimetax", "oversubscribed", "schedlatency", "goroutinechurn"},
	Check:    checkTimerstorm,
}

const (
	// timerRate is how many goroutines a second are woken by the clock: the
	// catalogue's 5,000. Below, it is no more than some hundredths of a core.
	timerRate = 5000
	// timerWork is the longest mean run after such a wake-up that counts as
	// next to nothing. Two hundred sleepers that only look whether they may
	// end run 0.3 µs each time; tickers that do something run 20 µs and more.
	timerWork = 5 * time.Microsecond
	// timerVain is the same of who waits for the network and finds nothing there when the deadline comes, which takes two
	// calls: 600 links that do so run 5.4 µs, the frames that come now and then among it. Feeds that
	// sleep and then do something do it in 5.5 µs.
	timerVain = 10 * time.Microsecond
	// timerShare is the share of the CPU in the runtime's timers: 27% in
	// those sleepers, 3% in two hundred tickers of 10 ms.
	timerShare = 0.05
	// timerRuns is the part of all runs of goroutines that begins with such a wake-up, where too few CPU
	// samples have the runtime's timers: it says that the program does little else. Thirty sessions
	// that look each 200 µs for messages have 95%.
	timerRuns = 0.8
	// timerLook is the longest mean run that is no more than a look, where no samples tell the price: sleepers and
	// sessions that look run 0.1 to 1.5 µs, two hundred tickers that do a little work 4.8 to 4.9.
	timerLook = 2 * time.Microsecond
)

// A clockwork is the wake-ups by the clock of the group that has most of them.
type clockwork struct {
	group   *model.Group
	count   int64
	stacks  []model.Stack // most first; none where it starts goroutines
	started bool          // they are new ones, each time
	vain    bool          // nothing was there for most of them when a deadline came
}

// work returns the longest mean run that counts as next to nothing.
func (c *clockwork) work() time.Duration {
	if c.vain {
		return timerVain
	}
	return timerWork
}

func checkTimerstorm(p *diagnosis.Pass) {
	c := wokenByClock(p.Model)
	rate := fact.Quotient.Of("wake-ups by the clock", fact.PerSec,
		p.Statistic(fact.Wakes, "sleeps, and receives that no code of the program ended", "wake-ups by the clock", float64(c.count), fact.Count), p.WindowLength())
	if rate.Value < timerRate {
		return
	}
	groups := []string{c.group.Name}
	runs := p.Goroutines("runs", groups, "runs")
	work := fact.Quotient.Of("run after one, mean", fact.Seconds, p.Goroutines("time that they ran", groups, "running"), runs)
	s, ok := cpu.UseOf(p)
	if !ok {
		used, known := cpu.ProcessCPU(p)
		part := fact.Fraction.Of("part of the runs of the program's goroutines", fact.Ratio, runs, p.Goroutines("runs of the program's goroutines", code.UserGroups(p.Model), "runs"))
		if known && work.Value <= timerLook.Seconds() && part.Value >= timerRuns {
			p.Report(unsampledTimers(p, &c, rate, work, part, used))
			return
		}
		p.Unchecked(fact.Sentence("what %s wake-ups a second by the clock cost", rate.Number()), "there are too few CPU samples", p.HowToGet(model.CPU))
		return
	}
	timers := s.ShareIn("CPU in timers", inTimers)
	if work.Value > c.work().Seconds() || timers.Value < timerShare {
		p.Fine(fact.Sentence("timers: %s wake-ups a second, %s of work for each, %s of the CPU in timers", rate.Number(), work, timers))
		return
	}
	p.Report(timerFinding(p, &c, &s, rate, timers, work))
}

// wokenByClock counts sleeps that ended, receives that nobody's code ended, as the runtime sends the
// values of timers and tickers, waits for the network that a deadline ended, and goroutines that
// no code began: time.AfterFunc has its function run in a new one.
func wokenByClock(m *model.Model) (best clockwork) {
	byGroup := map[string]map[model.Stack]int64{}
	add := func(s model.Stack, n int64) {
		name := code.Root(m, s)
		if byGroup[name] == nil {
			byGroup[name] = map[model.Stack]int64{}
		}
		byGroup[name][s] += n
	}
	for _, w := range m.Sched.Wakes {
		if f := m.Stacks.Frames(w.Woken); w.Waker == 0 && len(f) > 0 && (f[0].Func == "time.Sleep" || queueing.Receives(m, w.Woken)) {
			add(w.Woken, w.Count)
		}
	}
	vain := map[string]int64{}
	for s, n := range endedByDeadline(m) {
		add(s, n)
		vain[code.Root(m, s)] += n
	}
	for _, name := range slices.Sorted(maps.Keys(byGroup)) {
		g := code.Group(m, name)
		if g == nil || g.System {
			continue
		}
		if n := statistics.Total(byGroup[name]); n > best.count {
			best = clockwork{group: g, count: n, stacks: statistics.Largest(byGroup[name]), vain: 2*vain[name] > n}
		}
	}
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		if n := int64(g.Created); g.Creator == 0 && !g.System && g.Name != "" && n > best.count {
			best = clockwork{group: g, count: n, started: true}
		}
	}
	return best
}

// endedByDeadline counts the waits for the network after which nothing was there. Before each the program
// asks the kernel in vain, and where something came it asks again: two calls for one wait. What did not have to
// be waited for has calls of its own, so that these are never too many.
func endedByDeadline(m *model.Model) map[model.Stack]int64 {
	waits, calls := map[model.Stack]int64{}, map[string]int64{}
	for i := range m.Sched.Waits {
		switch w := &m.Sched.Waits[i]; w.Kind {
		case model.Net:
			waits[w.Stack] += w.Count
		case model.SyscallWait:
			calls[pollPath(m, w.Stack)] += w.Count
		}
	}
	for s, n := range waits {
		path := pollPath(m, s)
		if waits[s] = 2*n - calls[path]; path == "" || calls[path] == 0 || waits[s] <= 0 {
			delete(waits, s)
		}
	}
	return waits
}

// pollPath returns the part of a stack from the method of internal/poll on outwards that asks the kernel in
// one of its lines and waits in another, as a text; "" where it does not go through there.
func pollPath(m *model.Model, s model.Stack) string {
	frames := m.Stacks.Frames(s)
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return strings.HasPrefix(f.Func, "internal/poll.(*FD).") })
	if i < 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(frames[i].Func)
	for _, f := range frames[i+1:] {
		fmt.Fprintf(&b, "\n%s:%d", f.Func, f.Line)
	}
	return b.String()
}

// inTimers reports whether a sample is of the runtime's timers: setting,
// ordering and firing them. The functions were renamed in Go 1.23.
func inTimers(frames []model.Frame) bool { return code.ContainsPrefix(frames, timerFunctions) }

var timerFunctions = []string{
	"runtime.(*timer).", "runtime.(*timers).",
	"runtime.checkTimers", "runtime.runtimer", "runtime.runOneTimer", "runtime.addtimer", "runtime.doaddtimer", "runtime.modtimer",
	"runtime.resettimer", "runtime.siftupTimer", "runtime.siftdownTimer", "runtime.cleantimers", "runtime.adjusttimers",
	"runtime.resetForSleep", "runtime.goroutineReady", "time.sendTime",
}

// works reports whether a stack is of what is no longer done when the clock wakes nobody: it
// has none to fire, and the goroutines that it woke, which had hardly any work, need not be.
func (c *clockwork) works(frames []model.Frame) bool {
	return inTimers(frames) || model.CPUPartOf(frames) == model.Scheduling || code.ContainsAny(frames, []string{c.group.Name})
}

// wakes says what the clock does.
func (c *clockwork) wakes() string {
	if c.started {
		return "starts a goroutine"
	}
	return "wakes a goroutine"
}

func timerFinding(p *diagnosis.Pass, c *clockwork, s *cpu.Use, rate, timers, work fact.Fact) diagnosis.Finding {
	share := s.ShareIn("CPU in timers and the scheduler", func(f []model.Frame) bool { return inTimers(f) || model.CPUPartOf(f) == model.Scheduling })
	f := wokenFinding(p, c, rate, work)
	f.Evidence = append(f.Evidence, timers, share)
	f.Cost = s.Cost(share)
	f.Bound = s.LimitWithout("timers, in the scheduler and in what the clock wakes", c.works, "whatever else has to be scheduled is in it")
	f.Confidence = diagnosis.High
	f.Reasons = []string{"the trace counts the wake-ups and the " + s.Source + " shows their price"}
	f.Say("%s times a second the clock "+c.wakes()+" in %s, which then runs for %s: "+
		"timers and scheduling take %s of the CPU in use.",
		rate.Number(), code.Name(f.Where[0].Function), work, share)
	return f
}

// unsampledTimers is about wake-ups whose price no samples tell, in a program that does little else.
func unsampledTimers(p *diagnosis.Pass, c *clockwork, rate, work, part, used fact.Fact) diagnosis.Finding {
	f := wokenFinding(p, c, rate, work)
	f.Evidence = append(f.Evidence, part, used)
	f.Cost = diagnosis.CostOf(used, part.Value)
	f.Bound = diagnosis.Limit(used, diagnosis.CPUGoal, 1, "all that the program uses, for too few samples tell what is the scheduler's")
	f.Confidence = diagnosis.Medium
	f.Reasons = []string{"the trace counts the wake-ups and what runs after them; too few CPU samples show their price"}
	f.Say("%s times a second the clock "+c.wakes()+" in %s, which then runs for %s: "+
		"%s of the runs of the program's goroutines. It uses %s in all.",
		rate.Number(), code.Name(f.Where[0].Function), work, part, used)
	return f
}

// wokenFinding has what is said of wake-ups by the clock, whatever tells their price.
func wokenFinding(p *diagnosis.Pass, c *clockwork, rate, work fact.Fact) diagnosis.Finding {
	place, _ := p.GroupPlace(c.group)
	remedy := pollRemedy
	if c.started {
		remedy = rearmRemedy
	} else {
		if at, ok := p.UserPlace(c.stacks[0]); ok {
			place = at
		}
		if pollPath(p.Model, c.stacks[0]) != "" {
			remedy = shortReadRemedy
		}
	}
	return diagnosis.Finding{
		Where:    []diagnosis.Place{place},
		Evidence: []fact.Fact{rate, work, p.Goroutines("goroutines that do so", []string{c.group.Name}, "peak")},
		RuledOut: []string{
			fact.Sentence("work by the clock: a wake-up leads to %s of it", work),
			"timers that are set and never fire: only those that woke somebody are counted",
		},
		Groups: []string{c.group.Name},
		Stacks: c.stacks,
		Remedy: remedy,
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Wake-ups by the clock in a new recording show that the change was made. "+
			"Latency is the price where a period became longer."),
	}
}

// pollRemedy and shortReadRemedy are for goroutines that look whether something has happened, by a sleep or a
// timer, or by a read with a short deadline; rearmRemedy is for timers that start a goroutine each time.
var (
	rearmRemedy = diagnosis.Remedy{
		Text: "Let the timer fire when something is due, and not to look whether it is: set it to the deadline, and where that was " +
			"put off meanwhile, set it again for what is left. Where many wait for about the same, one ticker looks at " +
			"all of them, or a heap of deadlines has one timer for the first.",
		Code: "func (l *lease) check() {\n\tif left := time.Until(l.deadline()); left > 0 {\n\t\tl.timer.Reset(left) // not a fixed, short period\n\t\treturn\n\t}\n\tl.end()\n}",
	}
	pollRemedy = diagnosis.Remedy{
		Text: "Wait for the thing itself, not for a while: a channel, a condition variable or the network wakes the goroutine " +
			"when there is something to do. " +
			"Where it must be polled, let one ticker do it for all, at the longest period that the answer bears, " +
			"or double the sleep as long as nothing came.",
		Code: "tick := time.NewTicker(10 * time.Millisecond) // one for all, not one each\nfor range tick.C {\n\tfor _, c := range conns {\n\t\tc.poll()\n\t}\n}",
	}
	shortReadRemedy = diagnosis.Remedy{
		Text: "Wait for what comes without a deadline, in a goroutine that does nothing else, and do in another what the " +
			"deadline was for: a write when there is something to write, a timer of its own for what is due. " +
			"Where one goroutine must do both, let the deadline be when the next thing is due.",
		Code: "go func() {\n\tfor m := range s.out { // wakes when there is something to write\n\t\ts.write(m)\n\t}\n}()\n" +
			"for {\n\tn, err := s.conn.Read(buf) // no deadline, or minutes\n\tif err != nil {\n\t\treturn err\n\t}\n\ts.take(buf[:n])\n}",
	}
)
