package whatif

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
)

// Menu replays the usual changes, each alone, and returns them with the
// largest gain first: where a cure would bring most. They are the locks that
// were waited for most, taken away and held half as long; half and twice the
// Ps; the groups and functions with most work, twice as fast, unless one does
// all of it; the collector for half of its cost.
func (p *Program) Menu(ctx context.Context, progress func(done, of int)) ([]Result, error) {
	list := p.usual()
	results := make([]Result, len(list))
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	room := make(chan struct{}, 2) // each replay takes the memory of its goroutines
	for i, e := range list {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			results[i], errs[i] = p.Run(e)
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(list))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(results, func(a, b Result) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return results, nil
}

// How many of each sort the menu has, and how much of the work a part must
// have: what has less cannot bring more.
const (
	menuLocks     = 4
	menuGroups    = 4
	menuFunctions = 4
	worthTrying   = 0.01
	// allOfIt is the share of the work above which a group or function is the program: that
	// half of its work is half of the time tells nobody anything.
	allOfIt = 0.9
)

func (p *Program) usual() (list []Edit) {
	for i, l := range p.worstLocks() {
		if i == menuLocks {
			break
		}
		list = append(list, WithLock(l.Site, 0), WithLock(l.Site, 0.5))
	}
	if p.Procs > 1 {
		list = append(list, WithProcs(p.Procs/2))
	}
	if p.Cores == 0 || 2*p.Procs <= p.Cores {
		list = append(list, WithProcs(2*p.Procs))
	}
	all := float64(p.Work + p.GC)
	groups := p.UserGroups()
	for _, g := range groups[:min(len(groups), menuGroups)] {
		if g.Name != "" && float64(g.Work) > worthTrying*all && float64(g.Work) < allOfIt*all {
			list = append(list, WithScale(g.Name, 0.5))
		}
	}
	n := 0
	for _, f := range p.Functions {
		if n == menuFunctions || f.Share < worthTrying {
			break
		}
		if p.group(f.Name) < 0 && f.Share < allOfIt && !strings.HasPrefix(f.Name, "runtime.") {
			list = append(list, WithScale(f.Name, 0.5))
			n++
		}
	}
	if float64(p.GC) > worthTrying*all {
		list = append(list, WithGC(0.5))
	}
	return list
}
