package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed leakedgoroutines.md
var leakedgoroutinesPage string

var leakedgoroutines = &diagnosis.Rule{
	Name:     "leakedgoroutines",
	Title:    "Leaked goroutines that nothing can wake",
	Doc:      leakedgoroutinesPage,
	Needs:    []model.Source{model.Leak},
	Explains: []string{"goroutinegrowth", "heapgrowth"},
	Check:    checkLeakedgoroutines,
}

// leakedSites is how many places are findings of their own. Each leak has its
// own line to repair; beyond a few, the smallest say nothing new.
const leakedSites = 5

// A leak is the goroutines that are stuck at one line.
type leak struct {
	place  diagnosis.Place
	known  bool // place is
	stacks []model.Stack
	count  fact.Fact
}

func checkLeakedgoroutines(p *diagnosis.Pass) {
	leaks := leaksBySite(p)
	if len(leaks) == 0 {
		p.Fine("goroutine leaks: the collector found no goroutine that nothing can wake; " +
			"those that wait for something a global variable holds are not seen")
		return
	}
	listed := min(leakedSites, len(leaks))
	var other []model.Stack
	for _, l := range leaks[listed:] {
		other = append(other, l.stacks...)
	}
	rest := p.Samples("goroutines leaked at lines not listed", "goroutineleak", code.MatchStacks(other))
	for _, l := range leaks[:listed] {
		p.Report(leakedFinding(p, &l, rest))
	}
}

// leaksBySite adds the profile up by the user's line that waits, the most
// goroutines first.
func leaksBySite(p *diagnosis.Pass) (out []leak) {
	index := map[string]int{}
	for i := range p.Model.Leaks.Samples {
		s := &p.Model.Leaks.Samples[i]
		if len(s.Values) == 0 || s.Values[0] <= 0 {
			continue
		}
		place, known := p.UserPlace(s.Stack)
		key := fmt.Sprint(place)
		if !known {
			key = code.StackText(p.Model, s.Stack)
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, leak{place: place, known: known})
		}
		out[at].stacks = append(out[at].stacks, s.Stack)
	}
	for i := range out {
		out[i].count = p.Samples("goroutines leaked here", "goroutineleak", code.MatchStacks(out[i].stacks))
	}
	slices.SortStableFunc(out, func(a, b leak) int { return cmp.Compare(b.count.Value, a.count.Value) })
	return out
}

// hourly is a number of things in some time as a number in an hour.
var hourly = &fact.Formula{Name: "hourly", Words: "{0} ÷ {1}, in an hour", Value: func(x []float64) float64 { return statistics.Quotient(x[0], x[1]) * 3600 }}

func leakedFinding(p *diagnosis.Pass, l *leak, rest fact.Fact) diagnosis.Finding {
	stuck, each := stuckIn(p.Model, l.stacks[0]), memory.MeanStack(p)
	alive := goroutinesAlive(p).Larger(p.Samples("goroutines alive, at least those leaked", "goroutineleak", nil))
	bytes := fact.Product.Of("stacks of the leaked goroutines", fact.Bytes, l.count, each)
	start := diagnosis.Place{}
	of := code.Root(p.Model, l.stacks[0])
	if g := code.Group(p.Model, of); g != nil {
		start, _ = p.GroupPlace(g)
	}
	f := diagnosis.Finding{
		Grows:    true,
		Where:    code.Places(l.place, start),
		Evidence: []fact.Fact{l.count, alive, each},
		Cost: diagnosis.CostOf(l.count.Named("goroutines that will never go on"),
			fact.Quotient.Of("of all alive", fact.Ratio, l.count, alive).Value),
		Bound: diagnosis.Direction(bytes, diagnosis.MemoryGoal, memory.PartOf(p, bytes, alive, each).Value,
			"what their stacks hold in the heap comes on top and is not known; "+
				"the share is of the memory that is known to be in use"),
		Confidence: diagnosis.High,
		Reasons: []string{"a proof, not a sample: the garbage collector followed every pointer from whatever can still run, " +
			"and did not reach what these wait for"},
		RuledOut: []string{
			"slow or idle goroutines: somebody could still wake those",
			"pools and caches that live in global variables: their goroutines count as reachable",
		},
		Groups: []string{of},
		Stacks: l.stacks,
		Remedy: diagnosis.Remedy{Text: stuck.fix + stuck.sure, Code: stuck.code},
		Prove: "One recording of the changed program under the same load decides, for the count is exact and needs no rounds: " +
			"the comparison lists this finding as gone. Two profiles some minutes apart must both be empty.",
	}
	format := "%s of %s cannot go on from %s, for ever: nothing that can still run holds what is waited for."
	parts := []fact.Part{l.count.Things("goroutine"), code.Name(code.GroupName(of)), fact.Name(stuck.words)}
	if p.Model.Goroutines.Start != nil && p.Model.Goroutines.End != nil {
		more, over := moreAt(p, "more of them at the end than at the start", l.stacks...), snapshotWindow(p)
		f.Rest(more)
		if more.Value > 0 && over.Value > 0 {
			format += " They become %s more an hour."
			parts = append(parts, hourly.Of("more of them in an hour", fact.Count, more, over))
			f.Reasons = append(f.Reasons, "the goroutine profiles at both ends of the run show them too, and more at the end")
		}
	}
	f.Say(format, parts...)
	if rest.Value > 0 {
		f.Rest(rest)
	}
	adviseRelease(p, &f)
	return f
}

// A sticking is a way to be stuck: what is sure when nothing can wake who is, its fix, and
// that in code.
type sticking struct{ words, sure, fix, code string }

// stickings are known by the function of the runtime or of package sync that
// the goroutine waits in, the innermost first.
var stickings = []struct {
	funcs []string
	sticking
}{
	{[]string{"runtime.selectgo", "runtime.block"}, sticking{"a select", "",
		"Give the select a case that always ends: the Done channel of a context that the one who started the goroutine " +
			"cancels on every path.",
		"select {\ncase v := <-in:\n\thandle(v)\ncase <-ctx.Done():\n\treturn\n}"}},
	{[]string{"runtime.chansend", "runtime.chansend1"}, sticking{"a send",
		" Whoever should have received has gone, most often after an error or a timeout.",
		"Give the channel room for the one value (make(chan T, 1)), so that the sender ends alone, or send in a select " +
			"beside ctx.Done().",
		"result := make(chan T, 1) // the sender ends even if nobody receives"}},
	{[]string{"runtime.chanrecv", "runtime.chanrecv1", "runtime.chanrecv2"}, sticking{"a receive",
		" Nobody who could send or close the channel is left.",
		"Close it where the last sender ends, on every path, or receive in a select beside ctx.Done(): " +
			"the only way where it is a Ticker's or a Timer's channel, which Stop does not close.",
		"defer close(out) // in the sender: a range over out ends"}},
	{[]string{"sync.(*WaitGroup).Wait"}, sticking{"WaitGroup.Wait",
		" One of the goroutines it waits for never called Done, or Add was called once too often.",
		"Start them with WaitGroup.Go (Go 1.25), which cannot be forgotten, or put defer wg.Done() first.",
		"wg.Go(func() { work() })"}},
	{[]string{"sync.(*Cond).Wait"}, sticking{"Cond.Wait",
		" Nobody is left to call Signal or Broadcast.",
		"Call Broadcast also where the one who signals ends, and let the loop around Wait see that it has.", ""}},
	{[]string{"sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock"}, sticking{"Lock",
		" Who holds the lock returned without unlocking it, or waits for it himself.",
		"Put defer mu.Unlock() right behind Lock.",
		"mu.Lock()\ndefer mu.Unlock()"}},
}

// anyWait is a wait of which nothing more is known.
const anyWait = "a wait"

// stuckIn tells what a stack waits in, by its frames below the user's code.
func stuckIn(m *model.Model, s model.Stack) sticking {
	best, at := sticking{anyWait, "", "End the wait on every path: a channel that is closed, a context that is cancelled, a lock that is given back.", ""}, -1
	for i, f := range m.Stacks.Frames(s) {
		for _, k := range stickings {
			if slices.Contains(k.funcs, f.Func) && i > at {
				best, at = k.sticking, i
			}
		}
		if !code.IsMachinery(f.Func) {
			break
		}
	}
	return best
}
