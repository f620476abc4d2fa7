package evidence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/modules"
)

// maxHotModules bounds the modules whose newer versions are looked at.
const maxHotModules = 16

// joinReleases finds newer releases of the modules that hot functions are of, which this machine has
// and which say to take less for them, and of those that wait or are kept in number, which say to leak no longer.
func (l *loader) joinReleases() {
	if l.opts.NoSource || l.opts.Elsewhere {
		return
	}
	finder := modules.Finder{Caches: modules.Caches()}
	asked := map[modules.Module]bool{}
	l.findReleases(&finder, asked, l.hotFunctions(), modules.Time, modules.Memory)
	l.findReleases(&finder, asked, l.keptFunctions(), modules.Leak)
	l.joinDropped(&finder)
}

// findReleases looks for releases that are better in something for the functions of some shares; asked are
// the modules whose newest version was asked for.
func (l *loader) findReleases(finder *modules.Finder, asked map[modules.Module]bool, parts map[model.Frame]float64, about ...modules.Improvement) {
	for i, hot := range hotModules(parts) {
		if i == maxHotModules {
			break
		}
		spots := make([]modules.Spot, len(hot))
		for i, f := range hot {
			spots[i] = f.Spot
		}
		if l.opts.Newest != nil && !asked[spots[0].Module] {
			asked[spots[0].Module] = true
			if err := l.opts.Newest(l.ctx, spots[0].Module); err != nil {
				l.note("%v", err)
			}
		}
		for _, c := range finder.Find(spots, about...) {
			r := model.Release{Module: spots[0].Path, Used: spots[0].Version, Version: c.Version,
				Said: c.Said, Since: c.Since, In: c.In, About: model.About(c.About)}
			for _, i := range c.Of {
				r.Funcs = append(r.Funcs, hot[i].name)
			}
			l.m.Releases = append(l.m.Releases, r)
		}
	}
}

// A hotSpot is a function of a module with enough of the CPU time or of the bytes.
type hotSpot struct {
	modules.Spot
	name string // as the stacks have it
	part float64
}

// hotFunctions returns the share that functions have of the CPU time or of the allocated bytes.
func (l *loader) hotFunctions() map[model.Frame]float64 {
	parts := map[model.Frame]float64{}
	profile := l.m.CPU
	if profile == nil && l.m.Kernel != nil {
		profile = l.m.Kernel.CPU
	}
	if profile != nil {
		_, value := profile.Columns()
		l.addFunctions(parts, profile, max(value, 0))
	}
	if l.m.Heap != nil {
		l.addFunctions(parts, l.m.Heap, l.m.Heap.Column("alloc_space"))
	}
	return parts
}

// keptFunctions returns the share that functions have of the goroutines or of the bytes in use.
func (l *loader) keptFunctions() map[model.Frame]float64 {
	parts := map[model.Frame]float64{}
	if g := l.m.Goroutines.End; g != nil {
		l.addFunctions(parts, g, 0)
	}
	if l.m.Heap != nil {
		l.addFunctions(parts, l.m.Heap, l.m.Heap.Column("inuse_space"))
	}
	l.addStarted(parts)
	return parts
}

// addStarted adds the functions that started goroutines which live on, by the trace: a program that ends
// leaves no profile of them.
func (l *loader) addStarted(parts map[model.Frame]float64) {
	if l.m.Sched == nil {
		return
	}
	all := 0
	for i := range l.m.Sched.Groups {
		all += l.m.Sched.Groups[i].Alive()
	}
	for i := range l.m.Sched.Groups {
		g := &l.m.Sched.Groups[i]
		for _, f := range slices.Concat(l.m.Stacks.Frames(g.Creator), []model.Frame{g.Start}) {
			at := model.Frame{Func: f.Func, File: f.File}
			parts[at] = max(parts[at], float64(g.Alive())/float64(max(all, 1)))
		}
	}
}

// hotModules returns the functions of each module that have enough, most first.
func hotModules(parts map[model.Frame]float64) (list [][]hotSpot) {
	by := map[modules.Module][]hotSpot{}
	for f, part := range parts {
		pkg, symbol := model.SplitSymbol(f.Func)
		if s, ok := modules.Locate(pkg, symbol, f.File); ok && part >= hotLine {
			by[s.Module] = append(by[s.Module], hotSpot{s, model.AnyTypes(f.Func), part})
		}
	}
	for _, hot := range by {
		slices.SortFunc(hot, func(a, b hotSpot) int { return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(a.name, b.name)) })
	}
	return slices.SortedFunc(maps.Values(by), func(a, b []hotSpot) int {
		return cmp.Or(cmp.Compare(b[0].part, a[0].part), cmp.Compare(a[0].name, b[0].name))
	})
}

// addFunctions adds up a profile by all functions of its stacks, without their lines.
func (l *loader) addFunctions(parts map[model.Frame]float64, profile *model.Profile, column int) {
	all := 0.0
	sums, once := map[model.Frame]float64{}, map[model.Frame]bool{}
	for i := range profile.Samples {
		s := &profile.Samples[i]
		v := s.Value(column)
		all += v
		clear(once)
		for _, f := range l.m.Stacks.Frames(s.Stack) {
			at := model.Frame{Func: f.Func, File: f.File}
			if !once[at] {
				once[at] = true
				sums[at] += v
			}
		}
	}
	for f, v := range sums {
		if all > 0 {
			parts[f] = max(parts[f], v/all)
		}
	}
}
