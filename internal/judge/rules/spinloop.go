package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed spinloop.md
var spinloopPage string

var spinloop = &diagnosis.Rule{
	Name:  "spinloop",
	Title: "Busy loop: polling instead of waiting",
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
	// spinWhole is how much CPU a loop of receives wants that never waits for one, where
	// no trace tells.
	spinWhole = 0.9
	// spinStack is the share of all samples at one line, and spinIdle the time
	// without a finished operation, from which a loop without any call is taken
	// for one that spins.
	spinStack = 0.6
	spinIdle  = time.Second
)

// asking are the runtime's functions that answer at once whether there is
// anything, and those that only give the CPU away.
var asking = []string{
	"runtime.selectnbrecv", "runtime.selectnbsend", "runtime.selectnbrecv2", "runtime.Gosched", "runtime.gosched", "runtime.chanlen",
	"time.Now", "time.now", "time.runtimeNano", "runtime.nanotime", "time.Since", "time.runtimeNow",
	"time.(*Timer).Reset", "time.(*Ticker).Reset", "sync.(*Mutex).TryLock", "sync.(*RWMutex).TryLock", "sync.(*RWMutex).TryRLock",
}

// waiting are those that may have parked the goroutine: under them a stack tells
// only together with the trace that nobody was parked.
var waiting = []string{"runtime.selectgo", "runtime.chanrecv", "runtime.chansend"}

// looking are those that look at a flag, and the preemption that a loop meets.
var looking = []string{"context.(*cancelCtx).Err", "context.(*cancelCtx).Done", "sync/atomic.", "runtime.asyncPreempt"}

// A spinPart is what a sample of a loop is of.
type spinPart int

const (
	spinWork    spinPart = iota
	spinLook             // the loop itself, or a look at a flag
	spinAnswer           // the runtime's code that answers at once
	spinReceive          // a receive that may block
)

// spinPartOf tells it of a stack in a function of the program, with the function
// that answers.
func spinPartOf(frames []model.Frame, function string) (part spinPart, by string) {
	at := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == function })
	if at == 0 {
		return spinLook, ""
	}
	switch called := frames[at-1].Func; { // the first call out of the function
	case code.StartsWith(called, asking):
		return spinAnswer, called
	case code.StartsWith(called, waiting):
		return spinReceive, called
	case code.StartsWith(called, looking):
		return spinLook, ""
	}
	return spinWork, ""
}

// An askLoop is a function that asks.
type askLoop struct {
	cpu.Line
	share fact.Fact // of the CPU
	// yields is whether giving the P away is in the share.
	yields bool
	// Parts of its time: itself and the asking, the answers alone, and of these the
	// receives that may block.
	empty, answers, waits fact.Fact
	by                    string // the function that answers most
}

// newAskLoop measures the function of a place.
func newAskLoop(s *cpu.Use, f cpu.Line) *askLoop {
	time := func(name string, is func(part spinPart, by string) bool) fact.Fact {
		return s.Pass.Samples(name, s.Tree, s.Pass.Frames(loopIn(f.Function, is)))
	}
	all := time("time of the loop", func(spinPart, string) bool { return true })
	from := func(first spinPart, name string) fact.Fact {
		return fact.Quotient.Of("share of its time "+name, fact.Ratio, time("time "+name, func(part spinPart, _ string) bool { return part >= first }), all)
	}
	most, seen := fact.Fact{}, map[string]bool{"": true}
	for _, stack := range f.Stacks {
		if _, by := spinPartOf(s.Pass.Model.Stacks.Frames(stack), f.Function); !seen[by] {
			seen[by], most = true, most.Larger(time(by, func(_ spinPart, name string) bool { return name == by }))
		}
	}
	return &askLoop{
		Line: f, share: s.ShareAt("CPU in a loop that asks", f), by: most.Name,
		empty:   from(spinLook, "that is asking"),
		answers: from(spinAnswer, "in the runtime's answers"),
		waits:   from(spinReceive, "in receives that did not wait"),
	}
}

// loopIn matches the stacks of a function that are of such a part.
func loopIn(function string, is func(part spinPart, by string) bool) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		place, ok := diagnosis.UserPlace(frames)
		return ok && place.Function == function && is(spinPartOf(frames, function))
	}
}

func checkSpinloop(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	loops := spinning(p, &s)
	for _, l := range loops {
		p.Report(spinFinding(&s, l))
	}
	if len(loops) == 0 && !checkYields(p, &s) {
		checkIdleLoop(p, &s)
	}
}

// spinning returns the functions whose time is nearly all asking, by CPU.
func spinning(p *diagnosis.Pass, s *cpu.Use) (out []*askLoop) {
	// A loop that spins wants a whole CPU and gets what others leave of it.
	wanted, yields := wantedCPU(s), yielding(s)
	for _, f := range s.Functions(p.Model, func([]model.Frame) bool { return true }) {
		if (f.Share+yields.Value)*wanted.Value < spinCores {
			break // so are all after it
		}
		l := newAskLoop(s, f)
		if yields.Value > 0 && l.empty.Value >= spinEmpty {
			l.share = fact.Sum.Of("CPU in a loop that asks and yields", fact.Ratio, l.share, yields)
			yields, l.yields = fact.Fact{}, true
		}
		switch {
		case l.empty.Value < spinEmpty, l.answers.Value < spinAsking, l.share.Value*wanted.Value < spinCores:
		case l.waits.Value > l.answers.Value/2 && parks(s, l, time.Duration(l.share.Value*wanted.Value*float64(p.Model.Run.Duration))):
		case !stays(s, f):
		default:
			out = append(out, l)
		}
	}
	return out
}

// yielding returns the CPU that giving the P away takes, where it is enough to be a loop's: it
// runs on the scheduler's own stack, so that its samples do not say who did.
func yielding(s *cpu.Use) fact.Fact {
	yields := s.ShareIn("CPU in giving the P away", givesAway)
	if yields.Value < spinAsking {
		return fact.Fact{}
	}
	return yields
}

func givesAway(frames []model.Frame) bool {
	return code.ContainsAny(frames, []string{"runtime.gosched_m"})
}

// spends matches the stacks on which a loop spends time, and what of the runtime's own it is seen in: giving the P
// away, and being recorded.
func (l *askLoop) spends(frames []model.Frame) bool {
	place, ok := diagnosis.UserPlace(frames)
	return ok && place.Function == l.Function || l.yields && givesAway(frames) || model.OfRecording(frames)
}

// stays reports whether a function keeps its goroutine: nearly all of its time it was
// called from one line, by code that does nearly nothing else, or it is where its
// goroutine begins. What is called again and again, as a wrapper of time.Now is, goes
// back to somebody's work each time.
func stays(s *cpu.Use, f cpu.Line) bool {
	nanos := s.Profile.Column("cpu")
	calls, times, all := map[diagnosis.Place]float64{}, map[string]float64{}, 0.0
	for i := range s.Profile.Samples {
		sample := &s.Profile.Samples[i]
		frames, v := s.Pass.Model.Stacks.Frames(sample.Stack), sample.Value(nanos)
		seen := map[string]bool{}
		for _, frame := range frames {
			if !seen[frame.Func] {
				seen[frame.Func], times[frame.Func] = true, times[frame.Func]+v
			}
		}
		if place, ok := diagnosis.UserPlace(frames); !ok || place.Function != f.Function {
			continue
		}
		all += v
		last := len(frames) - 1
		for frames[last].Func != f.Function {
			last--
		}
		if caller, ok := diagnosis.UserPlace(frames[last+1:]); ok {
			calls[caller] += v
		}
	}
	called := 0.0
	for _, v := range calls {
		called += v
	}
	if called < (1-spinEmpty)*all {
		return true // goroutines begin with it
	}
	for caller, v := range calls {
		if v >= spinEmpty*all {
			return v >= spinEmpty*times[caller.Function]
		}
	}
	return false
}

// parks reports whether the loop's goroutines do wait at times: a receive that parks
// its goroutine is a hand-over, not a spin. ran is how long the loop ran.
func parks(s *cpu.Use, l *askLoop, ran time.Duration) bool {
	p, f := s.Pass, l.Line
	if p.Model.Sched == nil {
		return !alwaysReady(s, l)
	}
	var waited time.Duration
	var times int64
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		if w.Kind == model.SyscallWait || w.Kind == model.SchedWait {
			continue
		}
		// By stack: those of other work may begin with the same function, sync.(*WaitGroup).Go's.
		in := func(frame model.Frame) bool { return frame.Func == f.Function }
		if slices.ContainsFunc(p.Model.Stacks.Frames(w.Stack), in) {
			waited, times = waited+w.Total, times+w.Count
		}
	}
	return waited > ran/10 || times > 0 && ran/time.Duration(times) < time.Millisecond
}

// alwaysReady reports whether samples alone show that a loop's receives never wait: it
// runs or is ready to all the time, while next to nothing goes into parking goroutines
// and finding others, which every hand-over needs, and into sending, by which a channel
// that is not closed is ready again.
func alwaysReady(s *cpu.Use, l *askLoop) bool {
	// Loops that were handed all they received had 0.26 and 0.77 of their CPU in both
	// together with a buffer of 1,000, 1.0 and 1.9 without one; a closed channel none.
	const little = 1 - spinEmpty
	parked := s.ShareIn("CPU in parking goroutines and finding others", func(frames []model.Frame) bool {
		return looksForWork(frames) || code.ContainsAny(frames, []string{"runtime.gopark", "runtime.park_m", "runtime.goready", "runtime.ready"})
	})
	sent := s.ShareIn("CPU in sending", func(frames []model.Frame) bool {
		return code.ContainsPrefix(frames, []string{"runtime.chansend", "runtime.selectnbsend"})
	})
	return l.share.Value*wantedCPU(s).Value >= spinWhole && parked.Value < little*l.share.Value && sent.Value < little*l.share.Value
}

// wantedCPU returns the CPU that the program would have used had others left it: a trace
// tells how long it had Ps, else the kernel how long its threads waited for a CPU.
func wantedCPU(s *cpu.Use) fact.Fact {
	if s.Pass.Model.Sched != nil {
		return s.InUse().Larger(cpu.ActivePs(s.Pass))
	}
	return fact.Sum.Of("CPU used and waited for", fact.Cores, s.InUse(), s.Pass.Process("waiting for a CPU", "run_queue", fact.Rate))
}

func spinFinding(s *cpu.Use, l *askLoop) diagnosis.Finding {
	asks := s.Places(s.Pass.Model, loopIn(l.Function, func(_ spinPart, by string) bool { return by == l.by }))
	cost := s.Cost(l.share)
	f := diagnosis.Finding{
		Where:      code.Places(asks[0].Place),
		Evidence:   []fact.Fact{cost.Fact(), l.empty, l.answers},
		Cost:       cost,
		Bound:      s.LimitWithout("such a loop", l.spends, "a goroutine that waits costs nothing"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness()},
		RuledOut: []string{
			"a worker that looks between two pieces of work whether it should stop: " +
				"such a loop has work, this one calls nothing else",
			fact.Sentence("code that computes: it would not be in the runtime's code for %s of its time", fact.Name(fact.Ratio.Format(spinAsking))),
			"a poller that is meant to be faster than a wake-up: it looks the same, and it costs its core",
		},
		Stacks: l.Stacks,
		Remedy: spinRemedy(l.by),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Without any work to do the process must be at 0 cores; "+
			"operations must not get slower by more than a wake-up."),
	}
	if s.Pass.Model.Sched == nil && l.waits.Value > l.answers.Value/2 {
		f.Reasons = append(f.Reasons, "that its receives never wait is concluded from samples: next to none are in parking goroutines and finding others")
	}
	f.Say("%s takes %s to ask whether there is something to do: %s of its time is the asking.", code.Name(l.Function), cost.Fact(), l.empty)
	return f
}

func spinRemedy(asked string) diagnosis.Remedy {
	switch {
	case code.StartsWith(asked, waiting):
		return diagnosis.Remedy{
			Text: "Take the default out of the select, so that it waits, or leave the loop when the channel is closed. " +
				"Of a receive look at the second value, and leave the loop or set the channel to nil when it is false: " +
				"a nil channel is never ready, so that select waits for the others.",
			Code: "case v, ok := <-in:\n\tif !ok {\n\t\tin = nil // or return\n\t\tcontinue\n\t}\n\thandle(v)",
		}
	case code.StartsWith(asked, []string{"runtime.selectnb"}):
		return diagnosis.Remedy{
			Text: "Take the default out of the select, so that it waits. Where something else has to be done in between, " +
				"put that into a case of its own: " +
				"a ticker, a context, another channel.",
			Code: "select { // no default: it sleeps until there is something\ncase job := <-jobs:\n\thandle(job)\ncase <-tick.C:\n\tflush()\ncase <-ctx.Done():\n\treturn\n}",
		}
	}
	return diagnosis.Remedy{
		Text: "Wait for an event in the place of looking at a flag or the clock: " +
			"receive from a channel that is closed when it is so, " +
			"sync.Cond for a condition under a lock, time.Sleep or a ticker for a time. " +
			"runtime.Gosched gives the P away and gets it back at once.",
		Code: "ready := make(chan struct{}) // close(ready) where the flag was set\n<-ready",
	}
}

// checkIdleLoop looks for a loop without any call: one line that takes most of
// the samples while no operation ends. Only the load tells it from the job.
func checkIdleLoop(p *diagnosis.Pass, s *cpu.Use) {
	idle, cores := idleTime(p)
	if idle.Duration() < spinIdle || cores.Value < spinCores {
		return
	}
	lines := s.Places(p.Model, func([]model.Frame) bool { return true })
	if len(lines) == 0 || lines[0].Share < spinStack {
		return
	}
	top := lines[0]
	share := s.ShareAt("CPU at that line", top)
	f := diagnosis.Finding{
		Where:      code.Places(top.Place),
		Evidence:   []fact.Fact{idle, cores, share},
		Cost:       diagnosis.CostOf(cores.Named("CPU in use while nothing was finished"), share.Value),
		Bound:      s.LimitWithout("that loop", cpu.MatchFunctions(top.Place), "as if the loop waited"),
		Confidence: diagnosis.Low,
		Reasons:    []string{"what the loop does is not seen: work of the program beside its operations looks the same"},
		RuledOut:   []string{"the operations themselves: the line goes on while none ends"},
		Stacks:     top.Stacks,
		Remedy:     spinRemedy(""),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Without any work to do the process must be at 0 cores."),
	}
	f.Say("For %s no operation ended and %s were busy all the same; %s of all CPU samples are at one line of %s.", idle, cores, share, code.Name(top.Function))
	p.Report(f)
}

// idleTime returns how long the load saw no operation end although it was going on, and the
// cores that the process used in that time.
func idleTime(p *diagnosis.Pass) (idle, cores fact.Fact) {
	m := p.Model
	if m.Load == nil || !m.Load.Known || m.Process == nil {
		return idle, cores
	}
	var length, used time.Duration
	for _, i := range m.Load.Over {
		if i.Ops > 0 || i.Width <= 0 {
			continue
		}
		u0, s0 := m.Process.CPUAt(i.At)
		u1, s1 := m.Process.CPUAt(i.At + i.Width)
		length += i.Width
		used += u1 + s1 - u0 - s0
	}
	idle = p.Statistic(fact.LoadResults, "intervals without a finished operation", "time without a finished operation", length.Seconds(), fact.Seconds)
	return idle, fact.Quotient.Of("CPU in use meanwhile", fact.Cores,
		p.Statistic(fact.Process, "CPU time in those intervals", "CPU time meanwhile", used.Seconds(), fact.Seconds).From(model.ProcFS), idle)
}
