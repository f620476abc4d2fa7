package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed boxedargs.md
var boxedargsPage string

var boxedargs = &diagnosis.Rule{
	Name:     "boxedargs",
	Title:    "Arguments escape to the heap for calls that discard them",
	Doc:      boxedargsPage,
	Needs:    []model.Source{model.Heap, model.Escape},
	Explains: []string{"allocchurn", "gccost"}, // only where it is most of their cost
	Check:    checkBoxedargs,
}

const (
	// boxedObjects is the share of all objects that a line must allocate for
	// arguments of a call. A DNS server made 30% of its objects for debug
	// lines that were off.
	boxedObjects = 0.02
	// boxedUsed is how many objects and how much CPU time in formatting and
	// writing a call that does use its arguments must leave at least: one string
	// for each handful of boxes. Of calls that are off none is ever seen under
	// the line; of a log that is on, more than half of the time is there.
	boxedUsed = 0.05
	// boxedSeen is how many CPU samples must be on a line itself to trust that there would be
	// some under it, or on all lines together of which none has that share: 27 lines of the
	// DNS server at half of what it can take have one or two each in five seconds.
	boxedSeen = 10
	// boxedMost is the part of another rule's cost that this one must be to
	// explain it.
	boxedMost = 0.7
	// boxedNamed is how many lines a finding names.
	boxedNamed = 5
)

func checkBoxedargs(p *diagnosis.Pass) {
	a := memory.AllocationOf(p)
	var found, unclear, all []memory.Site
	used, seen := false, 0.0
	for _, s := range a.Sites {
		if s.Objects < boxedObjects || !boxes(p.Model, s.Place) {
			continue
		}
		switch own, below := useOfArguments(p, s); {
		case below > boxedUsed*own:
			used = true
		case own >= boxedSeen:
			found, all = append(found, s), append(all, s)
		default:
			unclear, all = append(unclear, s), append(all, s)
			seen += own
		}
	}
	if seen >= boxedSeen && !used {
		found, unclear = append(found, unclear...), nil
	}
	objects, share := boxedShare(p, &a, found)
	_, most := boxedShare(p, &a, all)
	switch {
	case len(all) == 0 && used:
		p.Fine("arguments on the heap: the calls that they are for use them")
	case len(all) == 0:
		p.Fine(fact.Sentence("arguments on the heap: no line makes %s of the objects for a call that ignores them", fact.Name(fact.Ratio.Format(boxedObjects))))
	case a.Cores.Value > 0 && most.Value < minShare:
		p.Fine(fact.Sentence("arguments on the heap: they cost %s of the CPU at most", most))
	case len(found) == 0:
		objects, _ := boxedShare(p, &a, unclear)
		p.Unchecked("whether arguments on the heap are for calls that ignore them",
			fact.Sentence("%s of the objects are made for arguments, and CPU samples under those lines are too few to tell", objects), p.HowToGet(model.CPU))
	case share.Value < minShare:
		p.Fine(fact.Sentence("arguments on the heap: for calls that ignore them they cost %s of the CPU", share))
	default:
		p.Report(boxedFinding(p, &a, found, objects, share))
	}
}

// boxedShare returns the part of all objects that some lines make for arguments, and of the
// CPU that they cost.
func boxedShare(p *diagnosis.Pass, a *memory.Allocation, sites []memory.Site) (objects, share fact.Fact) {
	objects, bytes := a.Counts(p, "for those arguments", sites...)
	return objects, a.Price("CPU in making and collecting those arguments", objects, bytes)
}

// boxes reports whether the compiler says of a line that a variadic call's
// arguments go to the heap: their slice, or one by one the values in it.
func boxes(m *model.Model, place diagnosis.Place) bool {
	variadic, slice, value := false, false, false
	for _, e := range code.EscapesAt(m, place) {
		switch {
		case e.Variadic:
			variadic, slice = true, slice || !e.Stays
		case !e.Moved && !e.Stays && !strings.HasPrefix(e.What, "func literal"):
			value = true
		}
	}
	return slice || variadic && value
}

// useOfArguments tells how many CPU samples are on a line that boxes arguments, and how
// many below a call from it in the packages that turn values into text or write it.
// Objects that are made below it say surely that they are used.
func useOfArguments(p *diagnosis.Pass, s memory.Site) (own, below float64) {
	m := p.Model
	if onLine, made := sumUnder(m, m.Heap, m.Heap.Column("alloc_objects"), s.Place, func(string) bool { return true }); made > boxedUsed*onLine {
		return 0, 1
	}
	use, ok := cpu.UseOf(p)
	if !ok {
		return 0, 0
	}
	return sumUnder(m, use.Profile, use.Profile.Column("samples"), s.Place, usesValues)
}

// usesValues reports whether a function makes text of values or passes it on.
func usesValues(f string) bool {
	return code.StartsWith(f, []string{
		"fmt.", "strconv.", "encoding/", "os.", "io.", "bufio.", "bytes.", "strings.", "reflect.",
		"syscall.", "internal/poll.", "net.", "unicode/utf8.", "log.(*Logger).output",
	})
}

// sumUnder sums what a profile has at a line itself, the runtime's functions
// below it included, and below a call made from it in functions that match.
func sumUnder(m *model.Model, p *model.Profile, column int, place diagnosis.Place, match func(string) bool) (onLine, below float64) {
	for i := range p.Samples {
		s := &p.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		line := slices.IndexFunc(frames, func(f model.Frame) bool {
			return diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line} == place
		})
		if line < 0 {
			continue
		}
		called := slices.DeleteFunc(slices.Clone(frames[:line]), func(f model.Frame) bool { return strings.HasPrefix(f.Func, "runtime.") })
		switch {
		case len(called) == 0:
			onLine += s.Value(column)
		case code.ContainsFunc(called, match):
			below += s.Value(column)
		}
	}
	return onLine, below
}

func boxedFinding(p *diagnosis.Pass, a *memory.Allocation, found []memory.Site, objects, share fact.Fact) diagnosis.Finding {
	slices.SortStableFunc(found, func(x, y memory.Site) int { return cmp.Compare(y.Objects, x.Objects) })
	onLine := p.SampleShare("CPU on those lines, allocating left out", "cpu", p.Frames(onLines(found)))
	most := memory.AddedShares.Of("CPU on those lines", fact.Ratio, share, onLine)
	f := diagnosis.Finding{
		Evidence:   append([]fact.Fact{objects}, a.Facts()...),
		Cost:       a.CostOf(share),
		Bound:      cpu.LimitOf(most, a.Cores, "what is computed for the arguments goes, too, when nobody asks for them, and is not counted"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"the compiler says that the arguments escape and the allocs profile counts them; " +
			"that the call ignores them is concluded from no text being made or written under it"},
		RuledOut: []string{
			"a log that is on: it would leave strings and time in formatting under these lines",
			"other things allocated there: only lines are named where the compiler puts a call's arguments on the heap",
		},
		Remedy: diagnosis.Remedy{
			Text: "Ask whether the level is on before the call, or use a logger with typed fields (slog.Logger.LogAttrs, " +
				"and the like of other loggers) that makes nothing when it is off. " +
				"A call through an interface or a function value cannot be seen through by the compiler, " +
				"so that its arguments go to the heap before anybody asks.",
			Code: "if log.Enabled(ctx, slog.LevelDebug) {\n" +
				"\tlog.LogAttrs(ctx, slog.LevelDebug, \"answer\", slog.String(\"name\", name))\n}",
		},
		Experiment: codeChange(diagnosis.AllocsOp, diagnosis.CPUPerOp, "A benchmark of the function with `go test -bench NAME -benchmem` counts the same."),
	}
	// The name server's lines have a quarter of its objects; asked before, most of
	// all are gone, for texts are made of what the lines would print.
	f.Bound.Kind = diagnosis.IsDirection
	f.Say("%s of all objects are made for arguments of calls that do nothing with them, most by %s: %s of the CPU in use.",
		objects, code.Name(found[0].Place.Function), share)
	for _, b := range found[:min(boxedNamed, len(found))] {
		f.Where = append(f.Where, b.Place)
		f.Stacks = append(f.Stacks, b.Stacks...)
		f.Rest(a.SiteFacts(p, b)...)
	}
	if said := code.EscapeWords(p.Model, f.Where); said != "" {
		f.Remedy.Text += " " + said
	}
	f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	if share.Value < boxedMost*a.Cost().Value {
		f.Explains = []string{}
	}
	return f
}

// onLines matches what is on some lines themselves, outside the allocator: what
// makes the values that are passed.
func onLines(found []memory.Site) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "runtime.") })
		if i < 0 || cpu.Allocates(frames[:i]) {
			return false
		}
		place := diagnosis.Place{Function: frames[i].Func, File: frames[i].File, Line: frames[i].Line}
		return slices.ContainsFunc(found, func(b memory.Site) bool { return b.Place == place })
	}
}
