package compare

import (
	"cmp"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// printedFunctions is how many functions of a printed profile are compared: those with
// most under them, where small ones are left out of one side and not of the other.
const printedFunctions = 20

// printed adds what is left of profiles as text, and what was counted from outside.
func (s *side) printed(state adder) {
	groupOf := map[model.Source]string{model.CPU: "CPU", model.Heap: "memory", model.LiveHeap: "memory", model.GoroutineProfile: "goroutines"}
	for _, t := range s.m.Tables {
		group, ok := groupOf[t.Source]
		if !ok {
			group = "system"
		}
		for i := range t.Functions[:min(len(t.Functions), printedFunctions)] {
			f := &t.Functions[i]
			state(group, cmp.Or(strings.ReplaceAll(t.Type.Name, "cpu", "CPU"), "all")+" under "+f.Func, "", fact.Ratio, t.Share(f.Cum))
		}
	}
	for _, c := range s.m.Counts {
		unit, over := fact.PerSec, c.Window.Seconds()
		if over <= 0 {
			unit, over = fact.Count, 1
		}
		for _, e := range c.Calls {
			state("system", "calls of "+e.Name, "", unit, e.N/over)
		}
		for _, e := range c.Events {
			state("system", e.Name, "", unit, e.N/over)
		}
	}
}
