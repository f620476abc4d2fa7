package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed boxedargs.md
var boxedargsPage string

var boxedargs = &diagnosis.Rule{
	Name:     "boxedargs",
	Title:    "Arguments are put on the heap for a call that throws them away",
	Doc:      boxedargsPage,
	Needs:    []model.Source{model.Heap, model.Escape},
	Explains: []string{"allocchurn", "gccost"}, // only where it is most of their cost
	Check:    checkBoxedargs,
}

const (
	// boxedObjects is the share of all objects that a line must allocate for
	// arguments of a call. A DNS server made 30 % of its objects for debug
	// lines that were off.
	boxedObjects = 0.02
	// boxedUsed is how many objects and how much CPU time in formatting and
	// writing a call that does use its arguments must leave at least: one string
	// for each handful of boxes. Of calls that are off none is ever seen under
	// the line; of a log that is on, more than half of the time is there.
	boxedUsed = 0.05
	// boxedSeen is how many CPU samples must be on a line itself to trust that
	// there would be some under it.
	boxedSeen = 10
	// boxedMost is the part of another rule's cost that this one must be to
	// explain it.
	boxedMost = 0.7
	// boxedNamed is how many lines a finding names.
	boxedNamed = 5
)

func checkBoxedargs(p *diagnosis.Pass) {
	sites := heapSites(p)
	var found, unclear []allocSite
	used := 0
	for _, s := range sites {
		if s.objects < boxedObjects || !boxes(p.Model, s.place) {
			continue
		}
		switch ignored, sure := argumentsIgnored(p.Model, s); {
		case !sure:
			unclear = append(unclear, s)
		case ignored:
			found = append(found, s)
		default:
			used++
		}
	}
	a := measureAllocation(p)
	share := boxedShare(&a, found)
	switch {
	case a.cores > 0 && len(found)+len(unclear) > 0 && boxedShare(&a, append(unclear, found...)) < minShare:
		p.Fine(fmt.Sprintf("arguments on the heap: they cost %s of the CPU at most", pct(boxedShare(&a, append(unclear, found...)))))
	case len(found) == 0 && len(unclear) > 0:
		p.Unchecked("whether arguments on the heap are for calls that ignore them",
			fmt.Sprintf("%s of the objects are made for arguments, and CPU samples under those lines are too few to tell", pct(objectsOf(unclear))), diagnosis.HowToGet(model.CPU))
	case len(found) == 0 && used > 0:
		p.Fine("arguments on the heap: the calls that they are for use them")
	case len(found) == 0:
		p.Fine(fmt.Sprintf("arguments on the heap: no line makes %s of the objects for a call that ignores them", pct(boxedObjects)))
	case share < minShare:
		p.Fine(fmt.Sprintf("arguments on the heap: for calls that ignore them they cost %s of the CPU", pct(share)))
	default:
		p.Report(boxedFinding(p, &a, found, share))
	}
}

// boxes reports whether the compiler says of a line that a variadic call's
// arguments go to the heap: their slice, or one by one the values in it.
func boxes(m *model.Model, place diagnosis.Place) bool {
	variadic, slice, value := false, false, false
	for _, e := range escapesAt(m, place) {
		switch {
		case e.Variadic:
			variadic, slice = true, slice || !e.Stays
		case !e.Moved && !e.Stays && !strings.HasPrefix(e.What, "func literal"):
			value = true
		}
	}
	return slice || variadic && value
}

// argumentsIgnored reports whether nothing is done with what a line boxes:
// no object is made below a call from it, and no time goes into the packages
// that turn values into text or write it. sure is false without enough samples
// on the line to have seen some.
func argumentsIgnored(m *model.Model, s allocSite) (ignored, sure bool) {
	own, below := under(m, m.Heap, m.Heap.Column("alloc_objects"), s.place, func(string) bool { return true })
	if below > boxedUsed*own {
		return false, true
	}
	cpu, ok := spentCPU(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if !ok {
		return false, false
	}
	ownCPU, belowCPU := under(m, cpu.profile, cpu.profile.Column("samples"), s.place, usesValues)
	return belowCPU <= boxedUsed*ownCPU, ownCPU >= boxedSeen
}

// usesValues reports whether a function makes text of values or passes it on.
func usesValues(f string) bool {
	for _, pkg := range []string{"fmt.", "strconv.", "encoding/", "os.", "io.", "bufio.", "bytes.", "strings.", "reflect.", "syscall.", "internal/poll.", "net.", "unicode/utf8.", "log.(*Logger).output"} {
		if strings.HasPrefix(f, pkg) {
			return true
		}
	}
	return false
}

// under sums what a profile has at a line itself, the runtime's functions
// below it included, and below a call made from it in functions that match.
func under(m *model.Model, p *model.Profile, column int, place diagnosis.Place, match func(string) bool) (own, below float64) {
	for i := range p.Samples {
		s := &p.Samples[i]
		frames := m.Stacks.Frames(s.Stack)
		line := slices.IndexFunc(frames, func(f model.Frame) bool {
			return f.Func == place.Function && f.File == place.File && f.Line == place.Line
		})
		if line < 0 {
			continue
		}
		called := slices.DeleteFunc(slices.Clone(frames[:line]), func(f model.Frame) bool { return strings.HasPrefix(f.Func, "runtime.") })
		switch {
		case len(called) == 0:
			own += s.Value(column)
		case slices.ContainsFunc(called, func(f model.Frame) bool { return match(f.Func) }):
			below += s.Value(column)
		}
	}
	return own, below
}

func objectsOf(sites []allocSite) (share float64) {
	for _, s := range sites {
		share += s.objects
	}
	return min(1, share)
}

func boxedShare(a *allocation, found []allocSite) (share float64) {
	for _, b := range found {
		share += a.share(b)
	}
	return min(1, share)
}

func boxedFinding(p *diagnosis.Pass, a *allocation, found []allocSite, share float64) diagnosis.Finding {
	slices.SortStableFunc(found, func(x, y allocSite) int { return cmp.Compare(y.objects, x.objects) })
	objects := objectsOf(found)
	most := min(1, share+linesCPU(p.Model, found))
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s of all objects are made for arguments of calls that do nothing with them, most by %s: %s of the CPU in use.",
			pct(objects), short(found[0].place.Function), pct(share)),
		Evidence: []fact.Fact{
			{Name: "share of objects", Value: objects, Unit: fact.Ratio, Source: "allocs profile, at lines where the compiler says that arguments escape"},
			{Name: "CPU in the allocator", Value: a.malloc, Unit: fact.Ratio, Source: a.priceFrom()},
			{Name: "CPU in the garbage collector", Value: a.collect, Unit: fact.Ratio, Source: a.priceFrom()},
			{Name: "CPU in use", Value: a.cores, Unit: fact.Cores, Source: a.priceFrom()},
		},
		Cost: diagnosis.Cost{Value: share * a.cores, Unit: fact.Cores, Share: share, What: "CPU in making and collecting those arguments"},
		Bound: diagnosis.Bound{
			Value: most * a.cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: most,
			Method: "Amdahl: the lines' share of the objects × the allocator's share of the CPU, plus their share of the bytes × the collector's, plus what else the CPU profile shows on these lines. What is computed for the arguments goes, too, when nobody asks for them, and is not counted",
			// The name server's lines have a quarter of its objects; asked before,
			// 87 % of all are gone, for texts are made of what the lines would print.
			Partial: true,
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the compiler says that the arguments escape and the allocs profile counts them; that the call ignores them is concluded from no text being made or written under it"},
		RuledOut: []string{
			"a log that is on: it would leave strings and time in formatting under these lines",
			"other things allocated there: only lines are named where the compiler puts a call's arguments on the heap",
		},
		Remedy: diagnosis.Remedy{
			Text: "Ask whether the level is on before the call, or use a logger with typed fields (slog.Logger.LogAttrs, and the like of other loggers) that makes nothing when it is off. A call through an interface or a function value cannot be seen through by the compiler, so that its arguments go to the heap before anybody asks.",
			Code: "if log.Enabled(ctx, slog.LevelDebug) {\n\tlog.LogAttrs(ctx, slog.LevelDebug, \"answer\", slog.String(\"name\", name))\n}",
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.AllocsOp, Else: diagnosis.CPUPerOp,
			Note: "A benchmark of the function with `go test -bench NAME -benchmem` counts the same.",
		},
	}
	for _, b := range found[:min(boxedNamed, len(found))] {
		f.Where = append(f.Where, b.place)
		f.Stacks = append(f.Stacks, b.stacks...)
		f.Evidence = append(f.Evidence, fact.Fact{
			Name: fmt.Sprintf("objects allocated by %s:%d", short(b.place.Function), b.place.Line), Value: b.objects, Unit: fact.Ratio, Source: "allocs profile",
		})
	}
	if said := escapeWords(p.Model, f.Where); said != "" {
		f.Remedy.Text += " " + said
	}
	f.Groups = groupsOfStacks(p.Model, f.Stacks)
	if share < boxedMost*(a.malloc+a.collect) {
		f.Explains = []string{}
	}
	return f
}

// linesCPU is the share of the CPU profile on the lines themselves, outside
// the allocator: what makes the values that are passed.
func linesCPU(m *model.Model, found []allocSite) float64 {
	if m.CPU == nil {
		return 0
	}
	nanos := m.CPU.Column("cpu")
	var all, own float64
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		all += s.Value(nanos)
		frames := m.Stacks.Frames(s.Stack)
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "runtime.") })
		if i < 0 || slices.ContainsFunc(frames[:i], func(f model.Frame) bool { return isMalloc(f.Func) }) {
			continue
		}
		place := diagnosis.Place{Function: frames[i].Func, File: frames[i].File, Line: frames[i].Line}
		if slices.ContainsFunc(found, func(b allocSite) bool { return b.place == place }) {
			own += s.Value(nanos)
		}
	}
	return div(own, all)
}

// priceFrom is where the CPU shares come from.
func (a *allocation) priceFrom() string {
	if a.measured {
		return a.costFrom
	}
	return "trace: heap growth and collector"
}
