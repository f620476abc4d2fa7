package rules

import (
	_ "embed"
	"math"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed noheadroom.md
var noheadroomPage string

var noheadroom = &diagnosis.Rule{
	Name:  "noheadroom",
	Title: "The heap may grow into the container's memory limit",
	Doc:   noheadroomPage,
	Needs: []model.Source{model.ProcFS},
	Whole: true,
	Check: checkNoheadroom,
}

const (
	// headroomFull is the part of the container's memory from which the next
	// burst may end in the kernel's killing the process.
	headroomFull = 0.8
	// headroomLimit is the part of it that GOMEMLIMIT should be: the rest is
	// for what the runtime does not count, C memory, thread stacks, page tables.
	headroomLimit = 0.9
	// headroomLive is the part of GOMEMLIMIT that the live heap may take
	// before the limit itself becomes a problem; see limitFull.
	headroomLive = 0.7
	// headroomNative is the part of the resident memory that is most of it. Of programs that
	// map it themselves or have C code keep it native memory has 85 to 89%, of others 0 to 3.
	headroomNative = 0.5
)

func checkNoheadroom(p *diagnosis.Pass) {
	if p.Model.Limits == nil || p.Model.Limits.Memory == 0 {
		return
	}
	r := headroom{
		killed: p.Model.Run.Killed != nil && p.Model.Run.Killed.Limit > 0,
		memory: p.Setting("container's memory limit", "memory limit of the control group", float64(p.Model.Limits.Memory), fact.Bytes),
		rss:    p.Process("largest resident memory", "rss", fact.Most),
		goal:   heapPeak(p),
	}
	live := memory.LiveHeap(p.Model)
	r.alive = live.MaxHeap(p)
	if look := lastLook(p.Model); look != nil { // which is later than the last collection
		r.alive = r.alive.Larger(p.Look("what is reached on the heap", "reached"))
		if r.look, r.holder = look, mainHolder(look); r.holder != nil {
			r.held = p.Held("held by "+r.holder.Words(), "bytes", r.holder)
		}
	}
	var known bool
	r.limit, r.set, known = memory.Limit(p)
	r.native = measureNative(p)
	peak := r.rss.Larger(r.goal)
	switch {
	case r.killed:
		p.Report(killedFinding(p, &r))
	case peak.Value < headroomFull*r.memory.Value:
		p.Fine(fact.Sentence("memory: at most %s of the container's %s", peak, r.memory))
	case !known:
		p.Unchecked("whether the runtime knows of the container's memory limit",
			fact.Sentence("the process takes %s of %s, and no evidence tells GOMEMLIMIT", peak, r.memory), p.HowToGet(model.MetricsLog))
	case !r.set || r.limit.Value > r.memory.Value:
		p.Report(headroomFinding(&r))
	default:
		p.Fine(fact.Sentence("memory: GOMEMLIMIT is %s, the container's limit %s", r.limit, r.memory))
	}
}

// A headroom is what the rule measures.
type headroom struct {
	memory, rss, goal, alive fact.Fact // bytes: the container's, and the largest of the others in the window
	limit                    fact.Fact // GOMEMLIMIT
	set                      bool
	killed                   bool      // the kernel killed it at the limit
	native                   fact.Fact // bytes, if they are most of the resident memory
	look                     *model.HeapLook
	holder                   *model.Holder // of most of the heap; nil where nobody is, or looked
	held                     fact.Fact     // by it
}

// nativeText is what helps where the memory is not the runtime's.
const nativeText = "Find who takes it outside of the Go heap, which GOMEMLIMIT does not bound: " +
	"C code that keeps what it allocates (each C.CString and C.malloc has its C.free, each handle its Close), " +
	"memory that the program maps itself, and the stacks of threads. " +
	"Where glibc keeps much for its threads, MALLOC_ARENA_MAX=2 bounds that."

// measureNative returns native memory if that is most of what is resident.
func measureNative(p *diagnosis.Pass) (native fact.Fact) {
	if mapped, known := mappedOutside(p); known && mapped.Value >= headroomNative*float64(p.Model.MemoryAccount().Counted) {
		return mapped
	}
	return native
}

// heapPeak returns the largest goal of the heap in the window: what it may grow to
// before the next collection has ended.
func heapPeak(p *diagnosis.Pass) (goal fact.Fact) {
	const name = "largest heap goal"
	logged := 0.0
	for _, l := range p.Model.GCLog {
		logged = max(logged, float64(l.Goal))
	}
	for _, g := range []fact.Fact{p.Metric(name, memory.MetricGoal, fact.Most), heapGoal(p), p.Statistic(fact.Collector, "goal", name, logged, fact.Bytes).From(model.GCTrace)} {
		if g.Value < math.MaxInt64 { // GOGC=off has a goal that is none
			goal = goal.Larger(g)
		}
	}
	return goal
}

func headroomFinding(r *headroom) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{r.memory, r.rss},
		Cost:       diagnosis.CostOf(r.rss, fact.Fraction.Of("part of the container's memory", fact.Ratio, r.rss, r.memory).Value),
		Bound:      r.bound(),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the limit and the sizes are exact; whether a burst comes that needs more is not known"},
		RuledOut: []string{
			"the page cache, which counts in the container's usage and can be dropped: " +
				"resident memory and the heap's goal are compared",
			"a limit that the runtime knows: " + r.unlimited(),
		},
		Remedy: r.remedy(),
		Prove: "More memory for the container has no other arm. Record under the heaviest load there is: " +
			"the heap's goal must stay below the limit.",
	}
	if r.native.Value > 0 {
		f.Title = "Native memory fills the container"
	}
	for _, known := range []fact.Fact{r.goal, r.alive, r.native} {
		if known.Value > 0 {
			f.Rest(known)
		}
	}
	if f.Remedy.Knob != "" {
		f.Experiment = settingTrial(diagnosis.PeakRSS, f.Remedy.Knob, "", "Try it under the heaviest load there is: the heap's goal must stay below the limit, "+
			"and CPU time per operation as it was, for the limit acts only when it is near.")
	}
	format, parts := "The process takes up to %s of the container's %s, and %s", []fact.Part{r.rss, r.memory, fact.Name(r.unlimited())}
	if r.goal.Value > r.rss.Value {
		format, parts[0] = "The heap may grow to %s before a collection ends, the container has %s, and %s", r.goal
	}
	r.sayNative(&format, &parts)
	f.Say(format+".", parts...)
	return f
}

// killedFinding is of a program that did not get through: what it held more than at the start of
// the recording is named, of which heap profiles of a mark have what was not yet collected too.
func killedFinding(p *diagnosis.Pass, r *headroom) diagnosis.Finding {
	f := headroomFinding(r)
	f.Title, f.Fails, f.Confidence = "The kernel killed the program at the container's memory limit", true, diagnosis.High
	f.Reasons = []string{"the kernel counts the processes that it kills for want of memory"}
	format, parts := "The kernel killed it: it took %s of the container's %s", []fact.Part{r.rss, r.memory}
	if r.set && r.limit.Value <= r.memory.Value {
		format, parts = format+", beyond its GOMEMLIMIT of %s", append(parts, r.limit)
		f.RuledOut = f.RuledOut[:1]
	} else {
		format, parts = format+", and %s", append(parts, fact.Name(r.unlimited()))
	}
	if h := r.holder; h != nil {
		format, parts = format+". %s of the heap are held by %s", append(parts, r.held, fact.Name(h.Way()))
	}
	if places := memory.GrowingLines(p, false); len(places) > 0 {
		format, parts = format+". Most of what it held more in the end comes from %s", append(parts, code.Name(places[0].Place.Function))
		nameGrown(p, &f, places)
	}
	f.Summary = ""
	r.sayNative(&format, &parts)
	f.Say(format+".", parts...)
	return f
}

// sayNative adds to a sentence that most of the memory is not the runtime's, where it is so.
func (r *headroom) sayNative(format *string, parts *[]fact.Part) {
	if r.native.Value > 0 {
		*format, *parts = *format+"; most of it, %s, is native memory", append(*parts, r.native)
	}
}

// bound promises the garbage that earlier collections would have taken away: what
// is resident beyond the live heap.
func (r *headroom) bound() diagnosis.Bound {
	if r.heldFull() {
		return diagnosis.NoLimit(r.held, diagnosis.MemoryGoal, fact.Fraction.Of("part of the container's memory", fact.Ratio, r.held, r.memory).Value,
			"how much of it is needed is not known")
	}
	if r.alive.Value == 0 {
		return noSaving(fact.Bytes, diagnosis.MemoryGoal, "no evidence tells how much of it is alive")
	}
	garbage := fact.Difference.Of("resident memory beyond the live heap", fact.Bytes, r.rss, r.alive)
	return diagnosis.Limit(garbage, diagnosis.MemoryGoal, fact.Fraction.Of("part of the container's memory", fact.Ratio, garbage, r.memory).Value,
		"an upper bound on what earlier collections can free. A process that is killed loses all")
}

// heldFull reports whether what is alive takes most of the memory and it is known who holds it.
func (r *headroom) heldFull() bool {
	return r.holder != nil && r.native.Value == 0 && r.alive.Value > headroomLive*headroomLimit*r.memory.Value
}

func (r *headroom) unlimited() string {
	if !r.set {
		return "the runtime has no limit to keep to: GOMEMLIMIT is off"
	}
	return fact.Sentence("GOMEMLIMIT, %s, lies beyond it", r.limit)
}

// remedy warns where the fix would be the next problem.
func (r *headroom) remedy() diagnosis.Remedy {
	if r.native.Value > 0 {
		return diagnosis.Remedy{Text: nativeText}
	}
	if r.heldFull() {
		return diagnosis.Remedy{Text: fact.Sentence("Let less stay alive, or give the container more memory: no limit keeps what is reached below it. "+
			"Who holds it is %s. %s", fact.Name(r.holder.Words()), fact.Name(heldRemedy(r.look, r.holder).Text))}
	}
	if r.killed && r.set && r.limit.Value <= r.memory.Value {
		return diagnosis.Remedy{Text: "Let less stay alive, or give the container more memory: GOMEMLIMIT was set, and could not keep it below. " +
			"`gowhy memory` of this recording says how much of it is memory that GOMEMLIMIT does not count, as that of C code."}
	}
	if r.alive.Value > headroomLive*headroomLimit*r.memory.Value {
		return diagnosis.Remedy{Text: "Give the container more memory, or let less stay alive: the live heap alone takes most of what there is. " +
			"GOMEMLIMIT would keep the process from being killed and make it collect without end instead."}
	}
	part := fact.Figure("part of the container's memory", headroomLimit, fact.Ratio, "leaves room for what the runtime does not count")
	limit := fact.Product.Of("limit to set", fact.Bytes, part, r.memory)
	return diagnosis.Remedy{
		Text: fact.Sentence("Set GOMEMLIMIT to nine tenths of the container's limit, %s: the runtime then collects earlier as it comes near. "+
			"Memory of C code is not counted by it; leave more room for that.", limit),
		Knob: memory.LimitKnob(math.Floor(limit.Value / (1 << 20))),
	}
}
