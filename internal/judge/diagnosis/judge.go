package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The limits below which evidence says too little, or says it about a
// program that was not at work.
const (
	// ThinWindow is the shortest trace that may call a program healthy. A
	// second holds several collections of a loaded program and ten periods of
	// a CPU quota; shorter ones happen to fall between them.
	ThinWindow = time.Second
	// ThinEvents is the fewest trace events that show a pattern rather than
	// an anecdote: a bare main that starts, prints and ends writes about 200.
	ThinEvents = 1000
	// ThinSamples is the fewest CPU samples that shares are taken from: with
	// 100, a true 10% shows as 4 to 16% nineteen times in twenty.
	ThinSamples = 100
	// idleShare is the share of the cores that it can use below which a program hardly ran.
	// Tracing and a mostly sleeping server's timers alone stay under it.
	idleShare = 0.02
	// LoadedShare is the share of its Ps below which capacity cannot be judged: the program
	// had no work that would show a limit.
	LoadedShare = 0.20
	// LostShare is the share of lost evidence, by bytes, events or goroutine
	// time, from which times are no longer trusted. Shares that rules act on
	// start at 5%; a loss of 1% cannot turn one of them around.
	LostShare = 0.01
	// ruinedShare is the lost share from which the rest may be anything.
	ruinedShare = 0.5
	// StarvedOverlap is the overlap of two generations of a trace that says
	// the tracer waited for a CPU. An idle machine shows 0.01-0.1 ms, and 11 ms with
	// 100,000 parked goroutines; starved ones showed 235 to 1,800 ms.
	StarvedOverlap = 50 * time.Millisecond
	// stoppedShare is the share of time that a quota or a hypervisor may take
	// before times are distrusted: what a rule acts on begins at 5%.
	stoppedShare = 0.05
	// crowdedShare is the part of the machine that others must use while it is
	// full, and the part of its ready time that the process must wait for a CPU
	// then, to blame the others. Beside compilers and tests that filled two CPUs
	// the first was 0.65 and the second 0.7; a web server at a thirtieth of a
	// core waited 0.63 on a machine that was five sixths idle, 0.1 ms for each
	// time that a thread was woken.
	crowdedShare = 0.10
	// stalledShare is the pressure that stands for the wait where the kernel
	// does not count that for each process.
	stalledShare = 0.20
	// coveredShare is the coverage below which shares of CPU time are of
	// something else than the CPU time. Profiles of busy programs cover 0.9 to
	// 1.02; those of programs that wake often to do little, 0.2 to 0.7.
	coveredShare = 0.8
)

// Disturbed says why some of the evidence cannot be trusted to a few percent, or ""
// when all can. What others took is not the program's doing.
func Disturbed(m *model.Model) string {
	for _, d := range disturbances(m) {
		return d.why
	}
	return ""
}

// A disturbance is something that happened to a recording, and what it changes.
type disturbance struct {
	of  fact.Disturbance
	why string
}

func disturbances(m *model.Model) (ds []disturbance) {
	add := func(of fact.Disturbance, why string) {
		if why != "" {
			ds = append(ds, disturbance{of, why})
		}
	}
	if s := LostPart(m); s >= LostShare {
		add(fact.Loss, fmt.Sprintf("%.1f%% of the trace is lost or unknown", 100*s))
	}
	add(fact.Starvation, Starved(m))
	add(fact.Uncovered, uncovered(m))
	return ds
}

// Starved says why threads of the process had no CPU when they could have run, or ""
// when nothing tells that: a quota, the hypervisor, other processes, or the tracer,
// which waited in its place.
func Starved(m *model.Model) string {
	if c := &m.Run.Coverage; m.Has(model.Trace) && c.MaxOverlap >= StarvedOverlap {
		return fmt.Sprintf("the process itself waited for a CPU, once for %s", fact.Seconds.Format(c.MaxOverlap.Seconds()))
	}
	for _, why := range []func(*model.Model) string{throttled, stolen, crowded} {
		if s := why(m); s != "" {
			return s
		}
	}
	return ""
}

// throttled says that the control group's quota stopped the process.
func throttled(m *model.Model) string {
	first, last, ok := m.Limits.Window()
	if !ok {
		return ""
	}
	stopped, window := last.ThrottledTime-first.ThrottledTime, last.At-first.At
	if ratio(stopped.Seconds(), window.Seconds()) < stoppedShare {
		return ""
	}
	return fmt.Sprintf("a CPU quota of %.3g cores stopped the process for %.0f%% of the time", m.Limits.Quota, 100*min(1, ratio(stopped.Seconds(), window.Seconds())))
}

// stolen says that the hypervisor took CPUs away.
func stolen(m *model.Model) string {
	n, ok := m.Neighbours()
	if !ok || ratio(n.Steal.Seconds(), n.Capacity.Seconds()) < stoppedShare {
		return ""
	}
	return fmt.Sprintf("the hypervisor took %.0f%% of the machine's CPU time", 100*ratio(n.Steal.Seconds(), n.Capacity.Seconds()))
}

// crowded says that other processes kept this one's threads from a CPU.
func crowded(m *model.Model) string {
	waited, ok := waitedForOthers(m)
	if !ok {
		return ""
	}
	n, _ := m.Neighbours()
	others := 100 * ratio(n.FullOthers.Seconds(), n.Capacity.Seconds())
	if n.Waited == 0 {
		return fmt.Sprintf("other processes used %.0f%% of the machine while it was full, and tasks waited for a CPU", others)
	}
	return fmt.Sprintf("other processes used %.0f%% of the machine while it was full, and the ready threads of this one "+
		"spent %.0f%% of that time waiting for a CPU", others, 100*waited)
}

// waitedForOthers returns the part of the time in which threads of the process could have run,
// on a full machine, that they waited for a CPU, or 0 where the kernel does not count that; ok
// reports whether others kept them from it. A queue of its own threads alone is its own doing,
// and while the machine has CPUs idle others keep nobody from running.
func waitedForOthers(m *model.Model) (part float64, ok bool) {
	n, ok := m.Neighbours()
	if !ok || n.FullOwn == 0 || ratio(n.FullOthers.Seconds(), n.Capacity.Seconds()) < crowdedShare {
		return 0, false
	}
	if n.Waited == 0 { // pressure is the machine's, so it must be high
		first, last, _ := m.Machine.Window()
		return 0, first.CPUStall >= 0 && ratio((last.CPUStall-first.CPUStall).Seconds(), n.Window.Seconds()) >= stalledShare
	}
	part = ratio(n.FullWaited.Seconds(), (n.FullWaited + n.FullOwn).Seconds())
	return part, part >= crowdedShare
}

// uncovered says that shares of CPU time are of too small a part of it. A
// trace does not rest on them.
func uncovered(m *model.Model) string {
	if m.Has(model.Trace) {
		return ""
	}
	a := m.CPUAccount()
	if a == nil {
		return ""
	}
	c, ok := a.Covered()
	if a.Disagree {
		return "samples and counters of CPU time disagree"
	}
	if !ok || c+a.Noise >= coveredShare {
		return ""
	}
	return fmt.Sprintf("the samples cover %.0f%% of the CPU time", 100*c)
}

// LostPart returns the largest share of the trace that is missing, whether
// counted in bytes, events, or goroutine time of unknown state.
func LostPart(m *model.Model) float64 {
	c := &m.Run.Coverage
	s := ratio(float64(c.LostBytes), float64(c.Bytes))
	s = max(s, ratio(float64(c.LostEvents), float64(c.Events+c.LostEvents)))
	if m.Sched == nil {
		return s
	}
	var total time.Duration
	for i := range m.Sched.Groups {
		total += m.Sched.Groups[i].Total()
	}
	return max(s, ratio(float64(c.Unknown), float64(total)))
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// Busy returns the cores that the program kept busy on average and how many
// it could use; ok is false when no evidence says so. From a trace this is P
// occupancy without the collector's idle-time work, which takes nothing from
// anybody, in the time that the trace knows of; else the process's own counters, and a profile at last.
func Busy(m *model.Model) (cores, of float64, ok bool) {
	w := m.Run.Duration.Seconds()
	if m.Sched != nil && len(m.Sched.Procs) > 0 && w > 0 {
		var d, all, unknown time.Duration
		for _, p := range m.Sched.Procs {
			work := p.User + p.GC + p.Syscall + p.Scheduler
			d += work
			all += work + p.GCIdle + p.Idle + p.Unknown
			unknown += p.Unknown
		}
		known := 1.0
		if all > unknown {
			known = float64(all-unknown) / float64(all)
		}
		return d.Seconds() / w / known, float64(max(m.Run.Procs, 1)), true
	}
	a := m.CPUAccount()
	if a == nil || a.Window <= 0 {
		return 0, 0, false
	}
	return a.Cores(), usable(m), true
}

// usable returns how many cores the program can use at most: its Ps, and what the machine and
// its limits allow. One when nothing tells.
func usable(m *model.Model) float64 {
	of := float64(m.Run.Procs)
	if u := m.Usable(); u > 0 && (of == 0 || u < of) {
		of = u
	}
	if of == 0 {
		of = 1
	}
	return of
}

// thin says why the evidence cannot carry a verdict of health, or "".
func thin(m *model.Model) string {
	switch {
	case m.Has(model.Trace):
		if m.Run.Duration < ThinWindow {
			return fmt.Sprintf("the trace covers only %s", fact.Seconds.Format(m.Run.Duration.Seconds()))
		}
		// Of a program at rest few events are all there is.
		if e := m.Run.Coverage.Events; e > 0 && e < ThinEvents && !resting(m) {
			return fmt.Sprintf("the trace holds only %d events", e)
		}
		if s := LostPart(m); s >= ruinedShare {
			return fmt.Sprintf("%.0f%% of the trace is lost or unknown", 100*s)
		}
		return ""
	case m.Has(model.ProcFS) && counted(m):
		return thinCounters(m)
	case m.Has(model.CPU):
		if _, n := CPUTime(m); n < ThinSamples && m.CPU.Counted() {
			return fmt.Sprintf("the CPU profile holds only %d samples", n)
		}
		return "a CPU profile alone tells where processor time goes, not what the program waits for"
	case m.Load != nil && len(m.Load.Benchmarks) > 0:
		return "benchmarks tell what an operation costs, not what for; -cpuprofile and -memprofile do"
	case m.Has(model.Wall):
		return "a wall-clock profile alone does not tell what uses the CPU"
	case m.Has(model.Heap):
		return "a heap profile alone does not tell how the program spends its time"
	}
	if m.Has(model.MetricsLog) && !m.Has(model.Printed) && len(m.Metrics.Series) > 0 {
		return "a moment of its metrics tells how much, not why"
	}
	if m.Has(model.Counted) && !m.Has(model.Printed) {
		return "counts tell how often, not for what"
	}
	if m.Has(model.Printed) {
		return "of its profiles there is only the text"
	}
	return "there is neither a trace nor a profile of the CPU or of allocations"
}

// resting reports whether the program hardly ran: by the cores that it can use, for who gives it
// many more Ps than those has not less to do.
func resting(m *model.Model) bool {
	cores, _, ok := Busy(m)
	return ok && cores < idleShare*usable(m)
}

// A program at rest is idle when its goroutines wait for what comes from elsewhere: the
// network, time, work that others give them. Those that wait for a lock, or to send, have
// work in hand that waits for the program itself.
const (
	// heldLockers is how many goroutines wait for locks, on average, in a program that
	// is not idle. One that waits for a lock has work.
	heldLockers = 1
	// heldSenders is the same for those that wait to send: a generator of numbers
	// always stands at its send, and nobody wants the next one sooner. Two that always
	// stand, in a chain of the lab, stood 1.99 of the time on average.
	heldSenders = 1.5
	// heldSends is how many sends of one line must have waited, half of the time in all, for the one who
	// stands there to be no such generator: somebody takes what it has, again and again.
	heldSends, heldStood = 20, 0.5
	// heldAsks is the part of its time that a goroutine of the program waits for answers to its questions, one
	// after the other, which is no leisure.
	heldAsks = 0.5
	// untoldWaiters is how many goroutines may wait for what nothing tells: one is main.
	untoldWaiters = 2
)

// waitsForIt says who waits for a program that hardly runs, or that nothing tells whether
// somebody does; "" when nobody is seen to.
func waitsForIt(m *model.Model) string {
	if m.Sched == nil {
		return standsInWall(m)
	}
	if m.Run.Duration <= 0 {
		return ""
	}
	window := m.Run.Duration.Seconds()
	held, untold := map[string]float64{}, 0.0
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if g := m.Sched.Group(w.Group); g == nil || !g.System {
			held[heldAt(m, w)] += w.Total.Seconds() / window
		}
	}
	for i := range m.Sched.Groups {
		if g := &m.Sched.Groups[i]; !g.System {
			untold += (g.Blocked[""] + g.Unknown).Seconds() / window
		}
	}
	switch {
	case held["lock"] >= heldLockers:
		return heldUp(held["lock"], "for locks")
	case held["send"] >= heldSenders:
		return heldUp(held["send"], "to send")
	case standsAt(m) != "":
		return standsAt(m)
	case untold >= untoldWaiters:
		return fmt.Sprintf("what %.3g of its goroutines waited for is not in the trace", untold)
	}
	return ""
}

// standsAt says who of a program that hardly runs stands before another goroutine with work in hand, or waits for
// one answer after the other; "" where nobody does.
func standsAt(m *model.Model) string {
	for i := range m.Sched.Handovers {
		h := &m.Sched.Handovers[i]
		if stood := h.Waited.Seconds() / max(h.Seen.Seconds(), 1e-9); h.Waits >= heldSends && stood >= heldStood && sendsAt(m, h.Stack) {
			return heldUp(stood, "to send")
		}
	}
	for i := range m.Sched.Callers {
		c := &m.Sched.Callers[i]
		if c.Waited.Seconds() >= heldAsks*m.Run.Duration.Seconds() {
			return fmt.Sprintf("a goroutine waited %s for %d answers, one after the other", fact.Seconds.Format(c.Waited.Seconds()), c.Calls)
		}
	}
	return ""
}

// standsInWall says the same by samples of all goroutines, which do not tell whether anybody takes what
// one that stands at its send has.
func standsInWall(m *model.Model) string {
	if m.Wall == nil || m.Wall.Duration <= 0 {
		return ""
	}
	held, at := map[string]float64{}, slices.IndexFunc(m.Wall.Types, func(t model.ValueType) bool { return t.Name == "wall" })
	for i := range m.Wall.Samples {
		s := &m.Wall.Samples[i]
		if frames := m.Stacks.Frames(s.Stack); at >= 0 && !model.OfRecording(frames) {
			held[sampledState(s, frames)] += float64(s.Values[at]) / float64(m.Wall.Duration)
		}
	}
	locks := held["Mutex.Lock"] + held["RWMutex.Lock"] + held["RWMutex.RLock"] + held["lock inside a sync.Map"]
	switch {
	case locks >= heldStood:
		return heldUp(locks, "for locks")
	case held["channel send"] >= heldStood:
		return heldUp(held["channel send"], "to send")
	}
	return ""
}

// heldUp says how many goroutines waited.
func heldUp(n float64, what string) string {
	words := fact.Count.Format(n) + " goroutines"
	if words == "1 goroutines" {
		words = "1 goroutine"
	}
	return words + " waited " + what + " on average"
}

// sendsAt reports whether goroutines wait to send at a stack.
func sendsAt(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Sched.Waits, func(w model.Wait) bool { return w.Stack == s && w.Reason == "chan send" })
}

// heldAt names what goroutines with work in hand wait for: "lock", "send", or "" where they
// may be at leisure.
func heldAt(m *model.Model, w *model.Wait) string {
	if w.Reason == "chan send" {
		return "send"
	}
	if w.Reason != "sync" {
		return ""
	}
	for _, f := range m.Stacks.Frames(w.Stack) {
		name := strings.TrimPrefix(f.Func, "internal/")
		if strings.HasPrefix(name, "sync.(*Mutex).") || strings.HasPrefix(name, "sync.(*RWMutex).") || strings.HasPrefix(name, "sync.(*HashTrieMap") {
			return "lock"
		}
		if !strings.HasPrefix(name, "sync.") && !strings.HasPrefix(name, "runtime.") {
			return ""
		}
	}
	return ""
}

// counted reports whether the process's counters tell its CPU time.
func counted(m *model.Model) bool {
	a := m.CPUAccount()
	return a != nil && a.Known
}

// thinCounters judges evidence without a trace. The counters are enough to
// see that a program did little; to call a busy one healthy its CPU time must
// be known by place.
func thinCounters(m *model.Model) string {
	a := m.CPUAccount()
	switch cores, of, _ := Busy(m); {
	case a.Window < ThinWindow:
		return fmt.Sprintf("the process's counters cover only %s", fact.Seconds.Format(a.Window.Seconds()))
	case cores < LoadedShare*of:
		return ""
	case a.Believed == "":
		return "the process's counters alone tell how much CPU time it took, not for what"
	case a.Samples < ThinSamples:
		return fmt.Sprintf("there are only %d samples of its CPU time", a.Samples)
	case a.Disagree:
		return "samples and counters of CPU time disagree"
	}
	return ""
}

// judge gives the verdict and its one sentence.
func (r *runner) judge(rules int) {
	d := r.d
	cores, of, known := Busy(r.m)
	why, held := thin(r.m), ""
	if why == "" && resting(r.m) {
		held = waitsForIt(r.m)
	}
	switch {
	case len(d.Findings) > 0 && !d.Findings[0].Remark: // remarks rank last
		d.Verdict, d.Summary = Problem, d.Findings[0].Summary
		if d.Findings[0].Stalls {
			d.Verdict = Stalled
		}
		accusations := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Remark })
		if accusations < 0 {
			accusations = len(d.Findings)
		}
		if n := accusations - 1; n > 0 {
			d.Summary = fmt.Sprintf("%s (and %d more).", strings.TrimSuffix(d.Summary, "."), n)
		}
		// Who had the machine is no problem of the program: it is said above its findings.
		if why := cmp.Or(stolen(r.m), crowded(r.m)); why != "" {
			d.Summary += " The machine was busy: " + why + "."
		}
	case why == "" && r.waits() != nil:
		d.Verdict = Unclear
		d.Summary = "Nothing is known to be wrong. " + r.waits().Summary
	case why == "" && len(r.doubts) > 0:
		d.Verdict = Unclear
		d.Summary = fmt.Sprintf("Nothing is known to be wrong, but it is open %s: %s.", r.doubts[0].What, r.doubts[0].Why)
		if known && cores < LoadedShare*of {
			d.Summary += fmt.Sprintf(" The program was not under load: %s were busy over %s.", r.busyWords(cores, of), r.window())
		}
	case held != "":
		d.Verdict = Unclear
		d.Summary = fmt.Sprintf("The program hardly ran, %s were busy over %s, and it is open whether it had nothing to do: %s.", r.busyWords(cores, of), r.window(), held)
	case resting(r.m) && why == "":
		d.Verdict = Idle
		d.Summary = fmt.Sprintf("The program hardly ran: %s were busy over %s.", r.busyWords(cores, of), r.window())
	case why != "" && len(d.Accounts) > 0:
		d.Verdict = Partial
		d.Summary = d.Accounts[0].Text + " Whether the program is well cannot be said: " + why + "."
		if d.Death != "" {
			d.Summary = "The program " + d.Death + ". " + d.Summary
		}
	case why != "":
		d.Verdict = TooThin
		d.Summary = "Not enough evidence to say that the program is well: " + why + "."
	case known && cores < LoadedShare*of:
		d.Verdict = NotLoaded
		d.Summary = fmt.Sprintf("No problem seen, but the program was not under load: %s were busy over %s, so what limits it cannot be judged.", r.busyWords(cores, of), r.window())
	default:
		d.Verdict, d.Summary = Healthy, r.silence(rules)
		if doubt := r.doubt(rules); doubt != "" {
			d.Verdict, d.Summary = Unclear, "Nothing is known to be wrong. "+doubt
		}
	}
}

// silence says that nothing was found, by whom, and of a program that did what.
func (r *runner) silence(rules int) string {
	s := fmt.Sprintf("No bottleneck found: %d of %d checks ran and found nothing", r.ran, rules)
	if cores, of, ok := Busy(r.m); ok {
		s += fmt.Sprintf(", while %s were busy over %s", r.busyWords(cores, of), r.window())
	}
	s += "."
	// Healthy is a claim: what the CPU went into is part of it.
	if f := r.mostCPU(); f != nil {
		s += " What takes most: " + f.Summary
	}
	return s
}

// unexplainedShare is the part of the CPU in use that one function may have in a program
// that is called well. From two fifths on, that function is what the program does: made
// twice as fast it would save a fifth, and no rule says that it cannot be.
const unexplainedShare = 0.40

// doubt says in a sentence why a program in which nothing was found is not called well,
// or "". Green is a claim: the machine must have let the program run, the rules that
// could have shown something must have looked, and what takes most must be known to be
// necessary.
func (r *runner) doubt(rules int) string {
	looked := ""
	if n := rules - r.ran; n > 0 {
		looked = fmt.Sprintf(", and %d of %d rules did not look", n, rules)
	}
	why := Disturbed(r.m)
	switch a := r.m.CPUAccount(); {
	case why != "":
	case !r.m.Has(model.Trace):
		why = "there is no execution trace, which would show what its goroutines wait for" + looked
	case a == nil || a.Believed == "":
		why = "nothing tells what the CPU goes into" + looked
	}
	if why != "" {
		return "Whether the program is well cannot be said: " + why + "."
	}
	if f := r.mostCPU(); f != nil && f.Cost.Share >= unexplainedShare {
		return "What takes most: " + f.Summary
	}
	return ""
}

// mostCPU returns the remark about what takes most of the CPU; nil for none.
func (r *runner) mostCPU() (most *Finding) {
	for i := range r.d.Findings {
		f := &r.d.Findings[i]
		if f.Remark && f.Bound.Goal == CPUGoal && len(f.Where) > 0 && (most == nil || f.Cost.Share > most.Cost.Share) {
			most = f
		}
	}
	return most
}

// waits returns the remark that says what the program waits for; nil for none.
func (r *runner) waits() *Finding {
	if i := slices.IndexFunc(r.d.Findings, func(f Finding) bool { return f.Waits }); i >= 0 {
		return &r.d.Findings[i]
	}
	return nil
}

// window returns how long it was looked at, in words.
func (r *runner) window() string {
	d := r.m.Run.Duration
	if r.m.Sched == nil {
		if a := r.m.CPUAccount(); a != nil && a.Window > 0 {
			d = a.Window
		}
	}
	return fact.Seconds.Format(d.Seconds())
}

// busyWords names what was busy: Ps in a trace, where running is occupancy,
// and cores else.
func (r *runner) busyWords(cores, of float64) string {
	if r.m.Sched == nil {
		return fmt.Sprintf("%.3g of %g cores", cores, of)
	}
	return fmt.Sprintf("%.3g of %g Ps", cores, of)
}

func traceInfo(m *model.Model) *TraceInfo {
	if m.Sched == nil {
		return nil
	}
	c := &m.Run.Coverage
	return &TraceInfo{
		Go:          m.Run.Go,
		DurationNS:  int64(m.Run.Duration),
		Events:      c.Events,
		Generations: c.Generations,
		LostBytes:   c.LostBytes,
	}
}

// timeShares returns the account at the head of a report: where the Ps' time went.
func timeShares(m *model.Model) []Share {
	if m.Sched == nil || len(m.Sched.Procs) == 0 {
		return nil
	}
	p := m.Sched.ProcSeconds()
	parts := []struct {
		name string
		d    time.Duration
		// always is false for lines that only matter when they are not zero.
		always bool
	}{
		{"user code", p.User, true},
		{"garbage collector", p.GC, true},
		{"garbage collector in idle time", p.GCIdle, false},
		{"system calls", p.Syscall, true},
		{"scheduler", p.Scheduler, true},
		{"idle", p.Idle, true},
		{"unknown", p.Unknown, false},
	}
	var total time.Duration
	for _, x := range parts {
		total += x.d
	}
	var out []Share
	for _, x := range parts {
		if x.always || x.d > 0 {
			out = append(out, Share{x.name, int64(x.d), ratio(float64(x.d), float64(total))})
		}
	}
	return out
}
