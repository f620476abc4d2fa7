package web

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/model"
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
			return 0, &Problem{What: "the collector has no load called " + short(word), Hint: "flags=stw,background,assist,sweep,perproc"}
		}
		flags |= loadFlags[i].flag
	}
	return flags, nil
}

const (
	worstShown  = 10                    // windows that api/mmu tells of one length
	usualWindow = 10 * time.Millisecond // its length when nobody asked
	lengthsMost = 60                    // points of the curve
	lengthsFew  = 12                    // of one that is dear
	stepsBudget = 40_000_000            // steps that a curve may walk: half a second
	shortest    = 10 * time.Microsecond // window of the curve; a stop of the world is that long
)

// mmu answers GET api/mmu: the curve, and the worst windows of one length.
func (v *View) mmu(q url.Values) (any, error) {
	if v.Model.GC == nil {
		return nil, noTrace()
	}
	flags, err := parseFlags(q.Get("flags"))
	if err != nil {
		return nil, err
	}
	window, err := integer(q, "window", int64(min(usualWindow, v.duration())), 1, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	curve := v.mmuCurve(flags)
	if curve == nil {
		return nil, missing("the trace does not tell how many Ps there were", "")
	}
	curve.Worst = v.worst(flags, min(time.Duration(window), v.duration()))
	return curve, nil
}

// mmuCurve is the minimum mutator utilization for windows of all lengths; nil
// where the trace tells of no P.
func (v *View) mmuCurve(flags model.LoadFlags) *MMU {
	m := v.Model
	u := m.GC.Utilization(flags, m.Run.Procs, 0, m.Run.Duration)
	mean := u.Mean()
	if !finite(mean) {
		return nil
	}
	c := &MMU{Mean: mean}
	steps := 1
	for _, s := range u {
		steps += len(s)
	}
	for _, w := range windowLengths(m.Run.Duration, min(max(stepsBudget/steps, lengthsFew), lengthsMost)) {
		if _, util := u.Worst(w); finite(util) {
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

// worst are the windows of a length in which the program had least of its Ps,
// none overlapping another, the worst first. What is left and right of a window
// that was taken is searched by itself.
func (v *View) worst(flags model.LoadFlags, window time.Duration) (list []Worst) {
	type part struct {
		from, to, at time.Duration
		util         float64
	}
	m := v.Model
	var parts []part
	search := func(from, to time.Duration) {
		if to-from < window || window <= 0 {
			return
		}
		at, util := m.GC.Utilization(flags, m.Run.Procs, from, to).Worst(window)
		if finite(util) && util < 1 {
			parts = append(parts, part{from, to, at, util})
		}
	}
	search(0, m.Run.Duration)
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
