package web

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The names of what the collector takes, as queries have them.
var loadFlags = []struct {
	name string
	flag model.LoadFlags
}{
	{"stw", model.CountSTW}, {"background", model.CountBackground}, {"assist", model.CountAssist},
	{"sweep", model.CountSweep}, {"perproc", model.PerProc},
}

func parseFlags(s string) (flags model.LoadFlags, err error) {
	if s == "" {
		return model.CountAll, nil
	}
	for _, word := range strings.Split(s, ",") {
		i := slices.IndexFunc(loadFlags, func(f struct {
			name string
			flag model.LoadFlags
		}) bool {
			return f.name == word
		})
		if i < 0 {
			return 0, problem.New(problem.Misuse, "flags=stw,background,assist,sweep,perproc", "the collector has no load called %s", short(word))
		}
		flags |= loadFlags[i].flag
	}
	return flags, nil
}

const (
	worstShown  = 10                    // windows that api/mmu tells of one length
	usualWindow = 10 * time.Millisecond // its length when nobody asked
	lengths     = 60                    // points of the curve
	shortest    = 10 * time.Microsecond // window of the curve; a stop of the world is that long
)

// mmu answers GET api/mmu: the curve, and the worst windows of one length.
func (v *View) mmu(q url.Values) (any, error) {
	if v.Model.GC == nil {
		return nil, v.noTrace()
	}
	flags, err := parseFlags(q.Get("flags"))
	if err != nil {
		return nil, err
	}
	window, err := integer(q, "window", int64(min(usualWindow, v.duration())), 1, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	kept := v.mmuCurve(flags)
	if kept == nil {
		return nil, missing("the trace does not tell how many Ps there were", "")
	}
	curve := *kept
	curve.Worst = v.worst(flags, min(time.Duration(window), v.duration()))
	return &curve, nil
}

// mutators are what was computed of mutator utilization, which is asked for again
// with every window and every visit of the screen: the curves, and what finds worst
// windows. The latter has some 40 bytes for each change of the collector's load, so
// that only the last one is kept.
type mutators struct {
	mu      sync.Mutex
	curves  map[model.LoadFlags]*MMU
	flags   model.LoadFlags
	finders []*worstFinder
}

// mmuCurve returns the minimum mutator utilization for windows of all lengths; nil
// where the trace tells of no P. Nobody may change it.
func (v *View) mmuCurve(flags model.LoadFlags) *MMU {
	v.mutators.mu.Lock()
	defer v.mutators.mu.Unlock()
	if c, known := v.mutators.curves[flags]; known {
		return c
	}
	c := v.newCurve(flags)
	if v.mutators.curves == nil {
		v.mutators.curves = map[model.LoadFlags]*MMU{}
	}
	v.mutators.curves[flags] = c
	return c
}

// finders find the worst windows, one for each series. It is called with the lock
// held.
func (v *View) finders(flags model.LoadFlags) []*worstFinder {
	if m := &v.mutators; m.finders == nil || m.flags != flags {
		m.flags, m.finders = flags, []*worstFinder{}
		for _, s := range v.Model.GC.Utilization(flags, v.Model.Run.Procs, 0, v.duration()) {
			m.finders = append(m.finders, newWorstFinder(s))
		}
	}
	return v.mutators.finders
}

func (v *View) newCurve(flags model.LoadFlags) *MMU {
	all := v.finders(flags)
	mean := meanOf(all)
	if !finite(mean) {
		return nil
	}
	c := &MMU{Mean: mean}
	for _, w := range windowLengths(v.duration(), lengths) {
		if _, util, ok := worstOf(all, w, 0, v.duration()); ok {
			c.WindowNS, c.Util = append(c.WindowNS, int64(w)), append(c.Util, util)
		}
	}
	for _, f := range loadFlags {
		if flags&f.flag != 0 {
			c.Flags = append(c.Flags, f.name)
		}
	}
	return c
}

// meanOf returns the average utilization over all series, NaN without one.
func meanOf(all []*worstFinder) float64 {
	var sum, whole float64
	for _, f := range all {
		last := len(f.steps) - 1
		sum += f.sums[last]
		whole += float64(f.steps[last].At - f.steps[0].At)
	}
	return sum / whole
}

// worstOf returns the worst window of all series.
func worstOf(all []*worstFinder, window, from, to time.Duration) (at time.Duration, util float64, ok bool) {
	for _, f := range all {
		if t, u, found := f.worst(window, from, to); found && (!ok || u < util) {
			at, util, ok = t, u, true
		}
	}
	return at, util, ok
}

// windowLengths are n lengths up to all of the run, each as much longer than the
// one before.
func windowLengths(whole time.Duration, n int) (list []time.Duration) {
	low := min(shortest, whole)
	ratio := math.Pow(float64(whole)/float64(low), 1/float64(n-1))
	for i := range n {
		w := time.Duration(float64(low) * math.Pow(ratio, float64(i)))
		if i == n-1 {
			w = whole
		}
		if len(list) == 0 || w > list[len(list)-1] {
			list = append(list, w)
		}
	}
	return list
}

// worst returns the windows of a length in which the program had least of its Ps,
// none overlapping another, the worst first. What is left and right of a window
// that was taken is searched by itself.
func (v *View) worst(flags model.LoadFlags, window time.Duration) (list []Worst) {
	type part struct {
		from, to, at time.Duration
		util         float64
	}
	v.mutators.mu.Lock()
	all := v.finders(flags) // nobody changes them
	v.mutators.mu.Unlock()
	var parts []part
	search := func(from, to time.Duration) {
		if to-from < window || window <= 0 {
			return
		}
		if at, util, ok := worstOf(all, window, from, to); ok && util < 1 {
			parts = append(parts, part{from, to, at, util})
		}
	}
	search(0, v.duration())
	for len(parts) > 0 && len(list) < worstShown {
		i := 0
		for j := range parts {
			if parts[j].util < parts[i].util {
				i = j
			}
		}
		p := parts[i]
		parts = slices.Delete(parts, i, i+1)
		list = append(list, Worst{AtNS: int64(p.at), WindowNS: int64(window), Util: p.util})
		search(p.from, p.at)
		search(p.at+window, p.to)
	}
	return list
}
