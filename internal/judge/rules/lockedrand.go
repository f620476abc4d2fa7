package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed lockedrand.md
var lockedrandPage string

var lockedrand = &diagnosis.Rule{
	Name:  "lockedrand",
	Title: "Random numbers are drawn under one lock",
	Doc:   lockedrandPage,
	// No Needs: CPU samples show the lock, and so do the waits of a trace.
	Explains: []string{"hotmutex", "idleprocs", "futexstorm"},
	Check:    checkLockedrand,
}

const (
	// lockedShare is the share of the CPU in drawing numbers under the lock from
	// which its removal is worth a change, with lockedSamples at the least. The
	// drawing itself is a few nanoseconds; contended by two threads the lock
	// makes it 25 to 75.
	lockedShare   = minShare
	lockedSamples = 10
	// lockedWaiters is how many goroutines wait for the lock on average: one
	// tenth of one is seen in no throughput, half of one is.
	lockedWaiters = 0.5
	// lockedSeen is the share of the CPU in math/rand's functions from which
	// their use is worth the word that they are harmless.
	lockedSeen = 0.01
)

// A lockedDraw is what is known of random numbers drawn under a lock.
type lockedDraw struct {
	global     bool // the package's own source, else a *rand.Rand under the program's lock
	cpu        cpu.Use
	share      fact.Fact // of the CPU
	draws      func([]model.Frame) bool
	samples    fact.Fact
	places     []diagnosis.Place
	stacks     []model.Stack
	queue      queueing.Queue // before the lock
	waiting    fact.Fact
	throughput fact.Fact // if nobody waited there
}

// sampled reports whether CPU samples show the lock, and contended whether a trace does.
func (d *lockedDraw) sampled() bool   { return d.samples.Value >= lockedSamples }
func (d *lockedDraw) contended() bool { return d.waiting.Value >= lockedWaiters }

func checkLockedrand(p *diagnosis.Pass) {
	found, drawn := false, false
	for _, global := range []bool{true, false} {
		d := measureDraw(p, global)
		if d.sampled() && d.share.Value >= lockedShare || d.contended() && d.throughput.Value >= worthwhile {
			found = true
			p.Report(lockedFinding(p, &d))
		}
		drawn = drawn || d.samples.Value > 0
	}
	if found || drawn {
		return
	}
	if s, ok := cpu.UseOf(p); ok && s.ShareIn("CPU in drawing random numbers without a lock", drawsFreely).Value >= lockedSeen {
		unlockedRand.harmless(p, "math/rand's functions on the hot path")
	}
}

// lockedSource matches stacks in the source that math/rand's functions share
// when something has seeded them.
func lockedSource(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, []string{"math/rand.(*lockedSource)."})
}

// drawsFreely matches math/rand's functions over the runtime's own numbers.
func drawsFreely(frames []model.Frame) bool {
	return !lockedSource(frames) && code.ContainsFunc(frames, func(f string) bool {
		name, ok := strings.CutPrefix(f, "math/rand.")
		return ok && slices.Contains(drawing, name)
	})
}

// drawing are the functions of the package that draw from its own source.
var drawing = strings.Fields("Int Intn Int31 Int31n Int63 Int63n Uint32 Uint64 Float32 Float64 NormFloat64 ExpFloat64 Perm Shuffle Read")

func measureDraw(p *diagnosis.Pass, global bool) (d lockedDraw) {
	d.global, d.queue.Kind = global, queueing.Lock
	match := lockedSource
	if !global {
		holders := drawHolders(p)
		if len(holders) == 0 {
			return d
		}
		match = func(frames []model.Frame) bool { return holderDraws(frames, holders) }
	}
	if s, ok := cpu.UseOf(p); ok {
		d.cpu, d.share, d.draws = s, s.ShareIn("CPU in drawing random numbers under the lock", match), match
		sites := s.Functions(p.Model, match)
		d.samples = s.SamplesAt(sites)
		d.places, d.stacks = cpu.Places(sites, cpu.MostNamed), cpu.Stacks(sites, cpu.MostNamed)
	}
	if p.Model.Sched != nil {
		d.wait(p, match)
	}
	return d
}

// wait adds the goroutines that a trace shows waiting for the lock.
func (d *lockedDraw) wait(p *diagnosis.Pass, match func([]model.Frame) bool) {
	for _, q := range queueing.Queues(p) {
		if q.Kind == queueing.Lock && slices.ContainsFunc(q.Stacks, func(s model.Stack) bool { return match(p.Model.Stacks.Frames(s)) }) {
			d.queue.Merge(q)
			d.places = code.Places(append(d.places, q.Place(p))...)
		}
	}
	d.stacks = append(d.stacks, d.queue.Stacks...)
	d.waiting = d.queue.Waiting(p, "goroutines waiting for the lock, on average")
	d.throughput = d.queue.Faster(p)
}

// drawHolders are functions of the program that take a mutex and draw from a
// *rand.Rand themselves: by the waits and the CPU samples of both, the lock is
// there for the numbers.
func drawHolders(p *diagnosis.Pass) map[string]bool {
	draws, locks := map[string]bool{}, map[string]bool{}
	eachStack(p.Model, func(frames []model.Frame) {
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "math/rand.") && !code.IsMachinery(f.Func) })
		if i <= 0 || model.IsStd(frames[i].Func) {
			return
		}
		switch below := frames[i-1].Func; {
		case strings.HasPrefix(below, "math/rand.(*Rand)."):
			draws[frames[i].Func] = true
		case code.IsMutex(below):
			locks[frames[i].Func] = true
		}
	})
	for f := range draws {
		if !locks[f] {
			delete(draws, f)
		}
	}
	return draws
}

// eachStack calls f with the stacks of waits for locks and of CPU samples.
func eachStack(m *model.Model, f func([]model.Frame)) {
	for _, profile := range []*model.Profile{m.CPU, m.Mutex, m.Block} {
		if profile == nil {
			continue
		}
		for i := range profile.Samples {
			f(m.Stacks.Frames(profile.Samples[i].Stack))
		}
	}
	if m.Sched == nil {
		return
	}
	for i := range m.Sched.Waits {
		if m.Sched.Waits[i].Kind == model.Sync {
			f(m.Stacks.Frames(m.Sched.Waits[i].Stack))
		}
	}
}

// holderDraws matches stacks that draw or lock directly under a holder.
func holderDraws(frames []model.Frame, holders map[string]bool) bool {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "math/rand.") && !code.IsMachinery(f.Func) })
	if i <= 0 || !holders[frames[i].Func] {
		return false
	}
	return strings.HasPrefix(frames[i-1].Func, "math/rand.") || code.IsMutex(frames[i-1].Func)
}

func lockedFinding(p *diagnosis.Pass, d *lockedDraw) diagnosis.Finding {
	f := diagnosis.Finding{
		Where:      d.places,
		RuledOut:   []string{"numbers drawn without a lock: math/rand/v2, and math/rand as long as nothing has seeded it"},
		Groups:     d.queue.Groups,
		Stacks:     d.stacks,
		Remedy:     d.remedy(p.Model),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "A source for each call (rand.New) is no fix: it costs more than the lock."),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence"},
	}
	saved := fact.Gain.Of("time saved", fact.Ratio, d.throughput)
	if saved.Value > d.share.Value {
		f.Cost = diagnosis.CostOf(d.waiting, saved.Value)
		f.Bound = d.queue.Limit(p, "if nobody waited for this lock")
		f.Experiment.Primary = diagnosis.ThroughputMetric(p.Model)
	} else {
		f.Cost = d.cpu.Cost(d.share)
		f.Bound = d.cpu.LimitWithout("drawing under the lock", d.draws, "a number costs a few nanoseconds without a lock")
	}
	if d.cpu.CPUAccount != nil {
		f.Evidence = append(f.Evidence, d.share)
	}
	if p.Model.Sched != nil {
		f.Evidence = append(f.Evidence, d.waiting)
	}
	if d.sampled() && d.contended() {
		f.Confidence, f.Reasons = diagnosis.High, []string{"two kinds of evidence agree: waits of the trace and samples of CPU time"}
	}
	if !d.global {
		f.Reasons = append(f.Reasons, "that the lock is there for the numbers is concluded from the function that takes it being the one that draws")
	}
	if why := d.why(p.Model); why != "" {
		f.Reasons = append(f.Reasons, why)
	}
	d.say(&f)
	return f
}

func (d *lockedDraw) say(f *diagnosis.Finding) {
	from := "math/rand's shared source"
	if !d.global {
		from = "one *rand.Rand"
	}
	var costs []string
	var parts []fact.Part
	if d.sampled() {
		costs, parts = append(costs, "%s of the CPU in use"), append(parts, d.share)
	}
	if d.contended() {
		costs, parts = append(costs, "%s goroutines that wait for it on average"), append(parts, d.waiting)
	}
	f.Say("All random numbers come from "+from+", under a lock and one at a time: "+strings.Join(costs, ", and ")+".", parts...)
}

// why says what made the package's functions take their lock.
func (d *lockedDraw) why(m *model.Model) string {
	if !d.global {
		return ""
	}
	switch s, why := unlockedRand.status(m); {
	case s == notYet || s == undone:
		return why
	case s == unsure:
		return ""
	}
	if s, why := ignoredSeed.status(m); s != inForce {
		return "the program calls rand.Seed, and " + why
	}
	return "something has seeded the package"
}

func (d *lockedDraw) remedy(m *model.Model) diagnosis.Remedy {
	r := diagnosis.Remedy{
		Text: "Use the functions of math/rand/v2, which any number of goroutines can call at once. ",
		Code: "import \"math/rand/v2\"\n\nn := rand.IntN(100)",
	}
	if !d.global {
		r.Text += "Where the sequence must be repeatable, give each goroutine a generator of its own and keep it: " +
			"rand.New(rand.NewPCG(a, b))."
		return r
	}
	switch s, _ := unlockedRand.status(m); s {
	case notYet:
		r.Text = "Build with " + unlockedRand.version() + " or later: " + unlockedRand.what + ". From Go 1.22 on there is math/rand/v2, too, which never does."
	case undone:
		r.Text += "Or take randautoseed=0 out of GODEBUG: it makes the sequence the same in each run, at the price of a lock."
	default:
		r.Text += "Or remove the call of rand.Seed: the package seeds itself, and " + unlockedRand.what + "."
	}
	return r
}
