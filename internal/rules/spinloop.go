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

//go:embed spinloop.md
var spinloopPage string

var spinloop = &diagnosis.Rule{
	Name:  "spinloop",
	Title: "A loop asks again and again in the place of waiting",
	Doc:   spinloopPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"hotfunction", "runtimetax", "idlespin", "futexstorm", "fewprocs"},
	Check:    checkSpinloop,
}

const (
	// spinCores is how much CPU, or time on a P, the loop must take. One that
	// spins gets a whole core unless others take it away; with others on two
	// thirds of the machine it had a P all the time and 0.6 cores.
	spinCores = 0.5
	// spinEmpty is the part of a function's time that is the asking itself:
	// itself, the channel's code, the scheduler. A worker that looks at its
	// context between two pieces of work is below a tenth.
	spinEmpty = 0.9
	// spinAsking is the part that must be in the runtime's non-blocking code at
	// the least: it tells a loop that polls from one that computes.
	spinAsking = 0.2
	// spinStack is the share of all samples at one line, and spinIdle the time
	// without a finished operation, from which a loop without any call is taken
	// for one that spins.
	spinStack = 0.6
	spinIdle  = time.Second
)

// asking are the runtime's functions that answer at once whether there is
// anything, and those that only give the CPU away.
var asking = []string{"runtime.selectnbrecv", "runtime.selectnbsend", "runtime.selectnbrecv2", "runtime.Gosched", "runtime.gosched", "runtime.chanlen", "time.Now", "time.now", "time.runtimeNano", "runtime.nanotime", "time.Since", "time.runtimeNow"}

// waiting are those that may have parked the goroutine: under them a stack tells
// only together with the trace that nobody was parked.
var waiting = []string{"runtime.selectgo", "runtime.chanrecv", "runtime.chansend"}

func startsWith(function string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(function, n) })
}

// An askLoop is a function that asks.
type askLoop struct {
	place     diagnosis.Place
	stacks    []model.Stack
	all       float64            // its time and that of all it calls, in nanoseconds
	empty     float64            // itself and the asking
	asks      float64            // the asking alone
	closed    float64            // of that, in receives that may block and did not
	asked     map[string]float64 // the functions that answered, by time
	goroutine string             // its start function
}

func checkSpinloop(p *diagnosis.Pass) {
	s, ok := spentCPU(p)
	if !ok {
		return
	}
	found := false
	for _, f := range spinning(p, &s) {
		found = true
		p.Report(spinFinding(&s, f))
	}
	if !found {
		checkIdleLoop(p, &s)
	}
}

// spinning are the functions whose time is nearly all asking, by CPU.
func spinning(p *diagnosis.Pass, s *cpuSpent) (out []*askLoop) {
	whole, byFunction := s.spins(p.Model)
	// A loop that spins wants a whole CPU and gets what others leave of it: the
	// trace tells how long it had a P.
	wanted := s.Cores()
	if busy, _, ok := diagnosis.Busy(p.Model); ok {
		wanted = max(wanted, busy)
	}
	for _, name := range largest(timesOf(byFunction)) {
		f := byFunction[name]
		cores := s.sampled() * div(f.all, whole) * wanted
		switch {
		case cores < spinCores, f.empty < spinEmpty*f.all, f.asks < spinAsking*f.all:
		case f.closed > f.asks/2 && parks(p, f):
		default:
			out = append(out, f)
		}
	}
	return out
}

func timesOf(spins map[string]*askLoop) map[string]float64 {
	sum := map[string]float64{}
	for name, f := range spins {
		sum[name] = f.all
	}
	return sum
}

// spins adds up the samples by the program's function nearest to the leaf.
func (s *cpuSpent) spins(m *model.Model) (whole float64, by map[string]*askLoop) {
	nanos := s.profile.Column("cpu")
	by = map[string]*askLoop{}
	for i := range s.profile.Samples {
		sample := &s.profile.Samples[i]
		t := sample.Value(nanos)
		whole += t
		frames := m.Stacks.Frames(sample.Stack)
		place, ok := diagnosis.UserPlace(frames)
		if !ok {
			continue
		}
		f := by[place.Function]
		if f == nil {
			f = &askLoop{place: place, asked: map[string]float64{}, goroutine: startOf(m, frames)}
			by[place.Function] = f
		}
		f.add(frames, sample.Stack, t)
	}
	return whole, by
}

// startOf is the goroutine group that a stack belongs to. Those of the kernel's
// samples go on to the assembly that starts each goroutine.
func startOf(m *model.Model, frames []model.Frame) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if group(m, frames[i].Func) != nil {
			return frames[i].Func
		}
	}
	return ""
}

func (f *askLoop) add(frames []model.Frame, stack model.Stack, t float64) {
	own := slices.IndexFunc(frames, func(g model.Frame) bool { return g.Func == f.place.Function })
	f.all += t
	f.stacks = append(f.stacks, stack)
	if own == 0 {
		f.empty += t
		return
	}
	switch called := frames[own-1].Func; { // the first call out of the function
	case startsWith(called, asking):
		f.asks += t
	case startsWith(called, waiting):
		f.asks, f.closed = f.asks+t, f.closed+t
	case called == "context.(*cancelCtx).Err" || called == "context.(*cancelCtx).Done" || strings.HasPrefix(called, "sync/atomic.") || strings.HasPrefix(called, "runtime.asyncPreempt"):
		f.empty += t
		return
	default:
		return
	}
	f.empty += t
	if f.asked[frames[own-1].Func] += t; largest(f.asked)[0] == frames[own-1].Func {
		f.place = diagnosis.Place{Function: frames[own].Func, File: frames[own].File, Line: frames[own].Line}
	}
}

// parks reports whether the goroutines do wait at times: a receive that parks
// its goroutine is a hand-over, not a spin. Without a trace nobody knows.
func parks(p *diagnosis.Pass, f *askLoop) bool {
	if p.Model.Sched == nil {
		return true
	}
	g := group(p.Model, f.goroutine)
	return g == nil || g.BlockedTotal() > g.Times.Running/10 || g.Runs > 0 && g.Times.Running/time.Duration(g.Runs) < time.Millisecond
}

func spinFinding(s *cpuSpent, f *askLoop) diagnosis.Finding {
	whole := 0.0
	nanos := s.profile.Column("cpu")
	for i := range s.profile.Samples {
		whole += s.profile.Samples[i].Value(nanos)
	}
	share := s.sampled() * div(f.all, whole)
	most := fact.AtMost(share+s.part(model.NotSampled, model.OtherCPU), s.Samples)
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s takes %s cores to ask whether there is something to do: %s of its time is the asking.",
			short(f.place.Function), num(share*s.Cores()), pct(div(f.empty, f.all))),
		Where: where(f.place),
		Evidence: []fact.Fact{
			{Name: "CPU in the loop", Value: share * s.Cores(), Unit: fact.Cores, Source: s.from()},
			{Name: "share of its time that is asking", Value: div(f.empty, f.all), Unit: fact.Ratio, Source: s.source},
			{Name: "share of its time in the runtime's answers", Value: div(f.asks, f.all), Unit: fact.Ratio, Source: s.source + ", under " + largest(f.asked)[0]},
		},
		Cost: diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU in a loop that asks"},
		Bound: diagnosis.Bound{
			Value: most * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: most,
			Method: "Amdahl: all of the loop, for a goroutine that waits costs nothing, with what the samples may not show",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{fmt.Sprintf("one kind of evidence, the %s, with %s samples", s.source, num(s.Samples))},
		RuledOut: []string{
			"a worker that looks between two pieces of work whether it should stop: such a loop has work, this one calls nothing else",
			"code that computes: it would not be in the runtime's code for " + pct(spinAsking) + " of its time",
			"a poller that is meant to be faster than a wake-up (some 5 µs): it looks the same, and it costs its core",
		},
		Stacks:     f.stacks,
		Remedy:     spinRemedy(largest(f.asked)[0]),
		Experiment: changed(diagnosis.CPUPerOp, "", "Without any work to do the process must be at 0 cores; operations must not get slower by more than a wake-up."),
	}
}

func spinRemedy(asked string) diagnosis.Remedy {
	switch {
	case startsWith(asked, waiting):
		return diagnosis.Remedy{
			Text: "A receive from a closed channel never waits. Look at its second value, and leave the loop or set the channel to nil when it is false: a nil channel is never ready, so that select waits for the others.",
			Code: "case v, ok := <-in:\n\tif !ok {\n\t\tin = nil // or return\n\t\tcontinue\n\t}\n\thandle(v)",
		}
	case startsWith(asked, []string{"runtime.selectnb"}):
		return diagnosis.Remedy{
			Text: "Take the default out of the select, so that it waits. Where something else has to be done in between, put that into a case of its own: a ticker, a context, another channel.",
			Code: "select { // no default: it sleeps until there is something\ncase job := <-jobs:\n\thandle(job)\ncase <-tick.C:\n\tflush()\ncase <-ctx.Done():\n\treturn\n}",
		}
	}
	return diagnosis.Remedy{
		Text: "Wait for an event in the place of looking at a flag or the clock: receive from a channel that is closed when it is so, sync.Cond for a condition under a lock, time.Sleep or a ticker for a time. runtime.Gosched gives the P away and gets it back at once.",
		Code: "ready := make(chan struct{}) // close(ready) where the flag was set\n<-ready",
	}
}

// checkIdleLoop looks for a loop without any call: one line that takes most of
// the samples while no operation ends. Only the load tells it from the job.
func checkIdleLoop(p *diagnosis.Pass, s *cpuSpent) {
	idle, cores := idleTime(p.Model)
	if idle < spinIdle || cores < spinCores {
		return
	}
	lines := s.places(p.Model, func([]model.Frame) bool { return true })
	if len(lines) == 0 || lines[0].share < spinStack {
		return
	}
	top := lines[0]
	share := top.share
	p.Report(diagnosis.Finding{
		Summary: fmt.Sprintf("For %s no operation ended and %s cores were busy all the same; %s of all CPU samples are at one line of %s.",
			dur(idle), num(cores), pct(share), short(top.Function)),
		Where: where(top.Place),
		Evidence: []fact.Fact{
			{Name: "time without a finished operation", Value: idle.Seconds(), Unit: fact.Seconds, Source: "load result, by intervals"},
			{Name: "CPU in use meanwhile", Value: cores, Unit: fact.Cores, Source: "/proc: CPU time of the process"},
			{Name: "share of the samples at that line", Value: share, Unit: fact.Ratio, Source: s.from()},
		},
		Cost: diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU in use while nothing was finished"},
		Bound: diagnosis.Bound{
			Value: share * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method: "Amdahl: all of the line's samples, as if the loop waited",
		},
		Confidence: diagnosis.Low,
		Reasons:    []string{"what the loop does is not seen: work of the program beside its operations looks the same"},
		RuledOut:   []string{"the operations themselves: the line goes on while none ends"},
		Stacks:     top.stacks,
		Remedy:     spinRemedy(""),
		Experiment: changed(diagnosis.CPUPerOp, "", "Without any work to do the process must be at 0 cores."),
	})
}

// idleTime is how long the load saw no operation end although it was going on,
// and the cores that the process used in that time.
func idleTime(m *model.Model) (idle time.Duration, cores float64) {
	if m.Load == nil || !m.Load.Known || m.Process == nil {
		return 0, 0
	}
	var used time.Duration
	for _, i := range m.Load.Over {
		if i.Ops > 0 || i.Width <= 0 {
			continue
		}
		u0, s0 := m.Process.CPUAt(i.At)
		u1, s1 := m.Process.CPUAt(i.At + i.Width)
		idle += i.Width
		used += u1 + s1 - u0 - s0
	}
	return idle, div(used.Seconds(), idle.Seconds())
}
