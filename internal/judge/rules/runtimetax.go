package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed runtimetax.md
var runtimetaxPage string

// runtimetax is what is left when nobody else can say why the runtime takes
// so much. It asks them first.
var runtimetax = &diagnosis.Rule{
	Name:  "runtimetax",
	Title: "The runtime works more than it should for this program",
	Doc:   runtimetaxPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"hotfunction"}, // only where they are operations on channels
	Check:    checkRuntimetax,
}

const (
	// taxShare is the share of the CPU in the runtime's own work. A web server
	// with small handlers is well at 0.24 to 0.30, a bounded pipeline at 0.01; a
	// pipeline that only hands over, and goroutines that outgrow their stacks,
	// are at 0.5 to 0.9. A message consumer
	// had the problem at 0.33, of problems that have rules of their own.
	taxShare = 0.40
	// taxWell is the share below which all is well: servers that are come up to 0.30.
	taxWell = 0.32
	// taxCores is the least it must cost: a program that is nearly at rest does
	// little but be woken. Three sleepers are at 0.02 with the recording's own work; timers
	// that are set again and again by 20,000 goroutines at 0.24.
	taxCores = 0.1
	// taxHanding is the share of the CPU in the scheduler from which handing over costs more
	// than the work, and taxChannels the part of all waits that must be for the program's
	// own channels then: a server waits for the network, and its wake-ups come with requests.
	// Four stages with a channel each and next to no work were at 0.72 and 1.00, and
	// five programs of the field that are well and busy wait for the network.
	taxHanding  = 0.5
	taxChannels = 0.8
	// taxKind is the part of the scheduler's work from which one kind of it is most.
	taxKind = 0.5
	// taxExplained is the part of it that other findings must account for to
	// make this one superfluous.
	taxExplained = 0.7
)

// taxParts are the runtime's own work.
var taxParts = []model.CPUPart{model.Scheduling, model.Collecting, model.Allocating, model.StackGrowth}

// taxChildren returns the rules that say why a part is large.
func taxChildren() map[*diagnosis.Rule][]model.CPUPart {
	return map[*diagnosis.Rule][]model.CPUPart{
		allocchurn:     {model.Collecting, model.Allocating},
		gccost:         {model.Collecting},
		tinyheap:       {model.Collecting},
		memorylimit:    {model.Collecting},
		gcassist:       {model.Collecting},
		stackgrowth:    {model.StackGrowth},
		idlespin:       {model.Scheduling},
		futexstorm:     {model.Scheduling},
		goroutinechurn: {model.Scheduling, model.Allocating},
		leakedtimers:   {model.Scheduling},
		cgocalls:       {model.Scheduling},
		forcedgc:       {model.Collecting, model.Scheduling},
		growingslices:  {model.Collecting, model.Allocating},
		unboundedspawn: {model.Scheduling},
		herdwakeup:     {model.Scheduling},
		broadcastclose: {model.Scheduling},
		hotmutex:       {model.Scheduling},
	}
}

func checkRuntimetax(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	if checkPassing(p, &s) {
		return
	}
	tax := p.CPUPart("CPU in the runtime's own work", taxParts...)
	if tax.Value < taxShare || s.CoresOf(tax).Value < taxCores {
		// Well by its sum only: a part of it may be somebody's finding.
		if !slices.ContainsFunc(taxParts, func(part model.CPUPart) bool { return hasCause(p, part) }) && !wasteful(p) {
			fineTax(p, &s, tax)
		}
		return
	}
	left := slices.DeleteFunc(slices.Clone(taxParts), func(part model.CPUPart) bool { return hasCause(p, part) })
	if rest := p.CPUPart("CPU in its parts that no other finding explains", left...); rest.Value > (1-taxExplained)*tax.Value {
		p.Report(taxFinding(p, &s, tax, rest, left))
	}
}

// fineTax says that it is well, and where the share is large that this is for the little
// CPU it is of. What is between well and ill is neither.
func fineTax(p *diagnosis.Pass, s *cpu.Use, tax fact.Fact) {
	switch {
	case s.CoresOf(tax).Value < taxCores:
		p.Fine(fact.Sentence("runtime: scheduling, allocating and collecting take %s of the CPU in use, which is little: %s", tax, s.InUse()))
	case tax.Value < taxWell:
		p.Fine(fact.Sentence("runtime: scheduling, allocating and collecting take %s of the CPU", tax))
	}
}

// hasCause reports whether a rule that knows a cause of a part names one, if only in a
// remark.
func hasCause(p *diagnosis.Pass, part model.CPUPart) bool {
	for rule, parts := range taxChildren() {
		if slices.Contains(parts, part) && speaks(p, rule) {
			return true
		}
	}
	return false
}

func taxFinding(p *diagnosis.Pass, s *cpu.Use, tax, rest fact.Fact, left []model.CPUPart) diagnosis.Finding {
	byShare := func(a, b model.CPUPart) int { return cmp.Compare(s.Share(b), s.Share(a)) }
	slices.SortStableFunc(left, byShare)
	sites := s.Places(p.Model, func(frames []model.Frame) bool { return slices.Contains(left, model.CPUPartOf(frames)) })
	f := diagnosis.Finding{
		Where:      cpu.Places(sites, 2),
		Stacks:     cpu.Stacks(sites, 2),
		Evidence:   []fact.Fact{s.InUse()},
		Cost:       s.Cost(tax),
		Bound:      s.Direction(rest, "the program needs some of them; what it does around those that go is not in it"),
		Remark:     true, // five programs of the field that are well and busy are above the limit, and none that has the problem
		Confidence: diagnosis.Low,
		Reasons:    []string{"the shares are measured; which of it is too much for what the program does is not"},
		RuledOut: []string{
			fact.Sentence("causes that other rules know: %s of it is left without one", fact.Quotient.Of("part without a cause", fact.Ratio, rest, tax)),
			fact.Sentence("a program at rest: it uses %s", s.InUse()),
		},
		Remedy:   taxRemedy(left[0], cpu.ProcsCount(p.Model)),
		Explains: []string{},
	}
	var words []string
	for _, part := range slices.SortedStableFunc(slices.Values(taxParts), byShare) {
		share := p.CPUPart("CPU in "+string(part), part)
		if f.Evidence = append(f.Evidence, share); share.Value > 0 {
			words = append(words, fact.Sentence(string(part)+" %s", share))
		}
	}
	format, parts := "The runtime's own work takes %s of the CPU in use: %s.", []fact.Part{tax, fact.Name(strings.Join(words, ", "))}
	if left[0] == model.Scheduling {
		if kind, share := cpu.LargestScheduling(p, s); share.Value > taxKind*p.CPUPart("CPU in scheduling", model.Scheduling).Value {
			format, parts = format+" Most of the scheduling is "+string(kind)+", %s.", append(parts, share)
			f.Rest(share)
			if kind == cpu.Timers {
				f.Remedy = diagnosis.Remedy{Text: "Use one ticker for many goroutines, " +
					"set a deadline once for a connection or a batch instead of for each operation, and wait on a " +
					"channel rather than sleep and look: timers are set, moved and fired more often than the program needs. " +
					"An execution trace counts the timers of each place (`gowhy explain timerstorm`)."}
			}
		}
	}
	if scheduling := p.CPUPart("CPU in "+string(model.Scheduling), model.Scheduling); scheduling.Value >= taxHanding && left[0] == model.Scheduling {
		format, parts = handingOver(p, &f, format, parts)
	}
	f.Say(format, parts...)
	note := "`gowhy ledger` prints the parts. Do not compare shares: when one part shrinks all the others' grow."
	if f.Experiment = codeChange(diagnosis.CPUPerOp, "", note); f.Remedy.Knob != "" {
		f.Experiment = settingTrial(diagnosis.CPUPerOp, f.Remedy.Knob, "", note)
	}
	return f
}

// handingOver accuses where the goroutines of the program wait for each other's channels
// and for little else.
func handingOver(p *diagnosis.Pass, f *diagnosis.Finding, format string, parts []fact.Part) (string, []fact.Part) {
	var waits []fact.Fact
	for _, kind := range []model.WaitKind{model.Net, model.Sync, model.OtherWait} {
		waits = append(waits, p.WaitCount("waits", kind, func(w *model.Wait) bool { return !model.OfRecording(p.Model.Stacks.Frames(w.Stack)) }))
	}
	channels := p.WaitCount("waits for channels of the program", model.Sync, func(w *model.Wait) bool { return forOwnChannel(p.Model, w) })
	all := fact.SumOf("waits in all", fact.Count, waits...)
	of := fact.Quotient.Of("part of all waits that are for channels", fact.Ratio, channels, all)
	if of.Value < taxChannels {
		return format, parts
	}
	rate := fact.Quotient.Of("hand-overs through channels that somebody waited for", fact.PerSec, channels, p.WindowLength())
	f.Remark, f.Confidence = false, diagnosis.Medium
	f.Reasons = []string{"two kinds of evidence agree: the samples show the scheduler at work, " +
		"and the trace that the program's own channels wake it"}
	f.Rest(rate, of)
	f.RuledOut = append(f.RuledOut, fact.Sentence("requests from outside that wake it: %s of all waits are for channels of the program", of))
	return format + " It hands over %s times a second, and that costs more than the work.", append(parts, rate.Number())
}

// forOwnChannel reports whether a wait is for a channel in a line of the program or of a
// library that is not Go's.
func forOwnChannel(m *model.Model, w *model.Wait) bool {
	frames := m.Stacks.Frames(w.Stack)
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "runtime.") })
	return i >= 0 && !model.IsStd(frames[i].Func) && !model.OfRecording(frames) && (strings.HasPrefix(w.Reason, "chan ") || w.Reason == "select")
}

// taxRemedy goes by the largest part.
func taxRemedy(part model.CPUPart, ps int) diagnosis.Remedy {
	switch part {
	case model.Scheduling:
		r := diagnosis.Remedy{
			Text: "Do more for each hand-over: batches through channels, " +
				"fewer stages, the handler called directly instead of through a goroutine of its own. " +
				"The program hands work from goroutine to goroutine more than it works. " +
				"Fewer Ps make hand-overs cheaper where there is less work than Ps.",
		}
		if ps >= surplusPs {
			r.Knob = cpu.ProcsKnob(ps / 2)
		}
		return r
	case model.StackGrowth:
		return diagnosis.Remedy{Text: "Move large values off the goroutines' stacks, which they outgrow, or let goroutines live longer."}
	}
	return diagnosis.Remedy{
		Text: "Find the lines that allocate by an allocs profile (`go tool pprof -sample_index=alloc_objects`): reuse what they make. " +
			"A higher GOGC trades memory for the collector's part.",
		Knob: "GOGC=200",
	}
}
