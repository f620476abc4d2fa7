package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/modules"
)

const (
	// descentPart is the share of the CPU time or of the bytes under a descent from which it is looked at: what
	// rules ask for before they accuse.
	descentPart = 0.1
	// maxDescents bounds those of one profile that are looked at, and keptDescents those that are kept of a module.
	maxDescents, keptDescents = 64, 4
)

// A descent is what a function of a module comes to on stacks, as these have it.
type descent struct {
	outer, inner model.Frame // without their lines
}

// A descentSum is what goes through a descent, and its functions.
type descentSum struct {
	modules.Descent
	part  float64
	depth int // how many functions of the module are before its outer one
}

// joinDropped finds newer releases of modules in which a function of hot stacks no longer comes to another
// one, under which much of the CPU time or of the bytes is.
func (l *loader) joinDropped(finder *modules.Finder) {
	profile := l.m.CPU
	if profile == nil && l.m.Kernel != nil {
		profile = l.m.Kernel.CPU
	}
	if profile != nil {
		_, value := profile.Columns()
		l.addDropped(finder, l.descents(profile, max(value, 0)), model.AboutTime)
	}
	if l.m.Heap != nil {
		l.addDropped(finder, l.descents(l.m.Heap, l.m.Heap.Column("alloc_space")), model.AboutMemory)
	}
}

// addDropped adds the releases that drop some descents: of each module those of different inner functions, the one
// under which most is first.
func (l *loader) addDropped(finder *modules.Finder, sums map[descent]*descentSum, about model.About) {
	list := slices.DeleteFunc(slices.Collect(maps.Keys(sums)), func(d descent) bool { return sums[d].part < descentPart })
	slices.SortFunc(list, func(a, b descent) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(y.part, x.part), cmp.Compare(y.depth, x.depth), cmp.Compare(len(x.Through), len(y.Through)),
			cmp.Compare(a.outer.Func, b.outer.Func), cmp.Compare(a.inner.Func, b.inner.Func))
	})
	kept := map[modules.Module][]string{}
	for _, d := range list[:min(len(list), maxDescents)] {
		s := sums[d]
		had := kept[s.Outer.Module]
		if len(had) == keptDescents || slices.Contains(had, d.inner.Func) {
			continue
		}
		if version := finder.Dropped(s.Descent); version != "" {
			kept[s.Outer.Module] = append(had, d.inner.Func)
			l.m.Releases = append(l.m.Releases, model.Release{Module: s.Outer.Path, Used: s.Outer.Version, Version: version,
				About: about, Funcs: []string{model.AnyTypes(d.outer.Func)}, Without: model.AnyTypes(d.inner.Func)})
		}
	}
}

// descents adds up a profile by what functions of modules come to: another function of the module, or the one of
// another package that the last of them calls.
func (l *loader) descents(profile *model.Profile, column int) map[descent]*descentSum {
	parts := map[model.Frame]float64{}
	l.addFunctions(parts, profile, column)
	sums, once := map[descent]*descentSum{}, map[descent]bool{}
	all := 0.0
	for i := range profile.Samples {
		s := &profile.Samples[i]
		all += s.Value(column)
		clear(once)
		for _, d := range descentsOf(l.m.Stacks.Frames(s.Stack), parts) {
			of := sums[d.descent]
			if of == nil {
				of = &descentSum{Descent: d.Descent(), depth: d.at}
				sums[d.descent] = of
			}
			if !once[d.descent] {
				once[d.descent] = true
				of.part += s.Value(column)
			}
		}
	}
	for _, s := range sums {
		s.part /= max(all, 1)
	}
	return sums
}

// A stackDescent is a descent on one stack: run are the functions of the module there, outermost first.
type stackDescent struct {
	descent
	run   []modules.Spot
	at    int // the outer one
	inner modules.Spot
}

// Descent returns it as package modules has it.
func (d *stackDescent) Descent() modules.Descent {
	return modules.Descent{Outer: d.run[d.at], Through: d.run[d.at+1:], Inner: d.inner}
}

// descentsOf returns those of one stack, leaf first, between functions that have enough of a profile.
func descentsOf(frames []model.Frame, parts map[model.Frame]float64) (list []stackDescent) {
	var run []modules.Spot
	var at []model.Frame // of run
	for _, f := range slices.Backward(frames) {
		pkg, symbol := model.SplitSymbol(f.Func)
		spot, ok := modules.Locate(pkg, symbol, f.File)
		inside := ok && (len(run) == 0 || spot.Module == run[0].Module)
		f = model.Frame{Func: f.Func, File: f.File}
		hot := parts[f] >= descentPart && (ok || model.IsStd(f.Func) && pkg != "runtime" && !strings.HasPrefix(pkg, "internal/"))
		if inside && !slices.Contains(at, f) {
			run, at = append(run, spot), append(at, f)
		}
		inner := spot
		if !ok {
			inner.Symbol = symbol
		}
		for i, outer := range at {
			if hot && outer != f && parts[outer] >= descentPart {
				list = append(list, stackDescent{descent{outer, f}, run, i, inner})
			}
		}
		switch {
		case inside:
		case ok:
			run, at = []modules.Spot{spot}, []model.Frame{f}
		default:
			run, at = nil, nil
		}
	}
	return list
}
