package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A norm is what a kind of work takes in programs that are well, and what those do
// instead that take more.
type norm struct {
	work model.Work
	// seen is the largest share of the CPU that one function asks for in the programs of
	// lab/field/pairs that are well, of the half that is learnt from: seventeen, under
	// a normal and a heavy load. What was hardly seen is a hundredth.
	seen float64
	text string
	code string
}

// norms are the kinds that have a cheaper way, or can be done less frequently. Those that are
// a program's job wherever they are much (hashing, cryptography, compressing, images, big
// numbers, its own computing) have none, and what is often the job (six small programs of
// lab/field/pairs that are well did one of these kinds for more than half of their time)
// accuses nobody.
var norms = []norm{
	{model.Formatting, often, // a log and a coloured table are at 0.32 and 0.52; for keys see looksUp
		"Use the values themselves where their text is a key or is compared: a struct of them is a key of a map. " +
			"Where text is needed, strconv.AppendInt and its like write into one buffer that is kept; fmt turns " +
			"values into text through interfaces and reflection, for each call.",
		"type key struct{ x, y int } // instead of fmt.Sprintf(\"%d,%d\", x, y)"},
	{model.TimeText, often,
		"Keep times as time.Time or as a number while they are worked with, rather than parse or format them again " +
			"and again; what does not change within a second is made once a second.", ""},
	{model.Matching, often,
		"Use strings.Contains, HasPrefix or Cut for a fixed text, a prefix or a field: they are many times cheaper " +
			"than an expression. Where one is needed, ask for something fixed in it first.", ""},
	{model.SearchText, often,
		"Build a Replacer once; compare with EqualFold instead of " +
			"lowering both sides; cut a text in one pass; keep what was found.", ""},
	{model.Comparing, often,
		"Keep what is searched in a map, which finds one in a step, or in a sorted list for slices.BinarySearch: " +
			"values are compared one by one, as a search through a list does it.", ""},
	{model.Copying, 0.03,
		"Walk over large values by index or keep pointers to them; append to a " +
			"buffer that is kept; take from the end of a list instead of its beginning.", ""},
	{model.Joining, 0.07,
		"Write into a strings.Builder, or append to a []byte, until the text is whole, and convert once at the end: " +
			"strings are made anew at each step.", ""},
	{model.MapAccess, often,
		"Look up once and keep what was found; numbers that lie " +
			"close together are indices of a slice; short keys hash faster than long ones.", ""},
	{model.MapWalking, often,
		"Keep what is walked often and in whole in a slice beside the map. A map that was large and has shrunk is " +
			"cheaper copied into a new one, entry by entry: it keeps the room of the most it ever held, and is walked " +
			"slot by slot, empty ones too.", ""},
	{model.Sorting, often,
		"Insert in order, sort once before all " +
			"look-ups, or keep the few largest in a heap. slices.SortFunc is faster than sort.Slice, which swaps " +
			"through reflection.", ""},
	{model.Reflecting, 0.26,
		"Look into each type once and keep the plan, or write the code for the types that there are, rather than " +
			"reflect while the program runs.", ""},
	{model.Boxing, 0.07,
		"Use a concrete type or a type parameter on this path: it needs neither the allocation nor the assertion of " +
			"values that go in and out of interfaces.", ""},
	{model.Decoding, often,
		"Decode into a struct with the fields that are used, not into any; " +
			"decode a message once and pass on what was decoded; a code generator writes decoders without reflection.", ""},
	{model.Encoding, often,
		"Encode once what many get, write into a buffer that is kept, and leave " +
			"out what nobody reads; a code generator writes encoders without reflection.", ""},
	{model.Spawning, 0.01,
		"Do it within this process where a package can; else keep one helper and talk to it through a pipe, or " +
			"give it many pieces at once: starting a process copies the tables of this one's memory, opens pipes and loads a " +
			"program. What the children use themselves comes on top.", ""},
	{model.Clock, 0.01,
		"Read the clock once for many steps, or count steps.", ""},
	{model.Randomness, often, // simulations
		"Give each goroutine a generator, rand.New(rand.NewPCG(a, b)), which is the cheapest; one number has bits for " +
			"several decisions.", ""},
	{model.Secrets, 0.01,
		"Ask crypto/rand for many bytes at once; what needs no secret " +
			"takes math/rand/v2.", ""},
	{model.Errors, 0.01,
		"Return a plain error that was made once where failing is usual, and take stacks where somebody will read them, " +
			"not on the path of ordinary work.", ""},
	{model.Deferring, 0.01,
		"Put the loop's body into a function, and return errors: calls are deferred within a loop, or panics are the " +
			"usual way out.", ""},
}

const (
	// hotWorkRoom is how many times what was seen in programs that are well is too much,
	// and hotWorkLeast the least share that is, for seventeen programs are not all.
	hotWorkRoom  = 2
	hotWorkLeast = 0.25
)

// threshold returns the share from which a kind of work stands out.
func (n *norm) threshold() float64 { return max(hotWorkLeast, hotWorkRoom*n.seen) }

// hotWorkSamples is how many samples a share needs to be compared with a norm: a
// hundred tell a third from a fifth, nineteen times in twenty.
const hotWorkSamples = 100

// often is what is seen of kinds that a small program may do nothing but, and be well: a
// remark names the cheaper way, where there is one, and nobody is accused.
const often = 1

// hotJob is the share from which one kind of work for one function is taken to be what
// the program is for: grep matches expressions, and a formatter formats.
const hotJob = 0.8

// reportWork names the functions that ask for more of a kind of work than those of
// programs that are well, the largest first, but for those that are named already.
func reportWork(p *diagnosis.Pass, s *cpu.Use, named []string) (found []string) {
	list, all := p.Model.Works()
	if all <= 0 || s.SampleCount().Value < hotWorkSamples || s.InUse().Value < leastCores {
		return nil
	}
	for _, e := range list {
		for i := range norms {
			n := &norms[i]
			most := n.threshold()
			if e.Work == model.Formatting && looksUp(list, e, all) {
				most = hotWorkLeast
			}
			if n.work != e.Work || slices.Contains(named, e.Line.Func) || code.RunsOnce(e.Line.Func) || e.Time.Seconds() < most*all.Seconds() {
				continue
			}
			if share := s.ShareOf("CPU in "+string(n.work)+" for "+code.Short(e.Line.Func), doing(p.Model, e)); share.Value >= most && share.Value < hotJob {
				found = append(found, e.Line.Func)
				p.Report(workFinding(p, s, n, e, share))
			}
		}
	}
	return found
}

// hotLookUp is the share of the CPU in maps from which a function that formats text makes
// keys of it.
const hotLookUp = 0.02

// looksUp reports whether the function of an entry looks up in maps, too: what it formats
// is a key, and what the key was made of could be one itself.
func looksUp(list []model.WorkEntry, e model.WorkEntry, all time.Duration) bool {
	return slices.ContainsFunc(list, func(x model.WorkEntry) bool {
		return x.Work == model.MapAccess && x.Line.Func == e.Line.Func && x.Time.Seconds() >= hotLookUp*all.Seconds()
	})
}

// doing matches the samples of an entry.
func doing(m *model.Model, e model.WorkEntry) fact.Where {
	match := matchWork(e)
	return func(sample *model.Sample) bool { return match(m.Stacks.Frames(sample.Stack)) }
}

func matchWork(e model.WorkEntry) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		w, line, ok := model.WorkOf(frames)
		return ok && w == e.Work && line.Func == e.Line.Func
	}
}

func workFinding(p *diagnosis.Pass, s *cpu.Use, n *norm, e model.WorkEntry, share fact.Fact) diagnosis.Finding {
	match := matchWork(e)
	stacks := matchingStacks(p.Model, s.Profile, match)
	line := diagnosis.Place{Function: e.Line.Func, File: e.Line.File, Line: e.Line.Line}
	usual := fact.Figure("the most for one function in programs that are well", n.seen, fact.Ratio, "lab/field/pairs, the healthy programs that are learnt from")
	f := diagnosis.Finding{
		Title:      "Much of the CPU goes into work that has a cheaper way",
		Where:      code.WithProgram(p, line, stacks...),
		Stacks:     stacks,
		Evidence:   []fact.Fact{share, usual, s.InUse()},
		Cost:       s.Cost(share),
		Bound:      s.ExtendBound(s.Estimate(s.MaxSaving(string(n.work)+" for "+code.Short(e.Line.Func), match), "all of it; a cheaper way still costs something"), e.Line.Func),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness()},
		RuledOut:   []string{"healthy programs: none that it is compared with spends half as much on one function"},
		Remedy:     diagnosis.Remedy{Text: n.text, Code: n.code},
		Explains:   []string{},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Allocations per operation are a count and often show in one run what became of it."),
	}
	if n.seen == often { // keys of a map, see looksUp
		f.Evidence[1] = s.ShareOf("map access in "+code.Short(e.Line.Func), doing(p.Model, model.WorkEntry{Work: model.MapAccess, Line: e.Line}))
		f.RuledOut = []string{"text that somebody reads: the function looks up in maps, too"}
	}
	f.Say("%s of the CPU in use goes into %s for %s.", share, fact.Name(string(n.work)), code.Name(e.Line.Func))
	if s.Garbage(match).Value >= hotGarbage {
		f.Explains = append(p.Rule.Explains, "boxedargs")
		f.Stacks = append(f.Stacks, memory.AllocatingStacks(p.Model, match)...)
	}
	return f
}

// matchingStacks returns the stacks of a profile's samples that match.
func matchingStacks(m *model.Model, p *model.Profile, match func([]model.Frame) bool) (stacks []model.Stack) {
	for i := range p.Samples {
		if s := p.Samples[i].Stack; match(m.Stacks.Frames(s)) {
			stacks = append(stacks, s)
		}
	}
	return stacks
}
