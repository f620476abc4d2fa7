package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed leakedgoroutines.md
var leakedgoroutinesPage string

var leakedgoroutines = &diagnosis.Rule{
	Name:     "leakedgoroutines",
	Title:    "Goroutines that nothing can wake any more",
	Doc:      leakedgoroutinesPage,
	Needs:    []model.Source{model.Leak},
	Explains: []string{"goroutinegrowth", "heapgrowth"},
	Untimed:  true,
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
	count  int64
}

func checkLeakedgoroutines(p *diagnosis.Pass) {
	leaks := leaksBySite(p)
	if len(leaks) == 0 {
		p.Fine("goroutine leaks: the collector found no goroutine that nothing can wake; those that wait for something a global variable holds are not seen")
		return
	}
	var all, rest int64
	for i, l := range leaks {
		all += l.count
		if i >= leakedSites {
			rest += l.count
		}
	}
	for _, l := range leaks[:min(leakedSites, len(leaks))] {
		p.Report(leakedFinding(p, &l, all, rest))
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
			key = stackText(p.Model, s.Stack)
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, leak{place: place, known: known})
		}
		out[at].stacks = append(out[at].stacks, s.Stack)
		out[at].count += s.Values[0]
	}
	slices.SortStableFunc(out, func(a, b leak) int { return int(min(max(b.count-a.count, -1), 1)) })
	return out
}

// stackText is a stack by its functions and lines: the same code in another
// profile has another identity but the same text.
func stackText(m *model.Model, s model.Stack) string {
	var b strings.Builder
	for _, f := range m.Stacks.Frames(s) {
		fmt.Fprintf(&b, "%s:%d\n", f.Func, f.Line)
	}
	return b.String()
}

func leakedFinding(p *diagnosis.Pass, l *leak, all, rest int64) diagnosis.Finding {
	stuck := stuckIn(p.Model, l.stacks[0])
	alive, each, from := goroutineMemory(p.Model)
	alive = max(alive, float64(all))
	bytes := float64(l.count) * each
	start := diagnosis.Place{}
	name := root(p.Model, l.stacks[0])
	if g := group(p.Model, name); g != nil {
		start, _ = p.GroupPlace(g)
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s of %s cannot go on from %s, for ever: nothing that can still run holds what is waited for.",
			many(l.count, "goroutine"), short(groupName(name)), stuck.words),
		Where: where(l.place, start),
		Evidence: []fact.Fact{
			{Name: "goroutines leaked here", Value: float64(l.count), Unit: fact.Count, Source: "goroutineleak profile"},
			{Name: "goroutines alive", Value: alive, Unit: fact.Count, Source: "goroutine profile, metrics or trace; at least those leaked"},
			{Name: "stack of one", Value: each, Unit: fact.Bytes, Source: from},
		},
		Cost: diagnosis.Cost{Value: float64(l.count), Unit: fact.Count, Share: div(float64(l.count), alive), What: "goroutines that will never go on, of all alive"},
		Bound: diagnosis.Bound{
			Value: bytes, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Share: leakedPart(p.Model, bytes, alive*each),
			Method: fmt.Sprintf("goroutines leaked × stack of one (%s). What their stacks hold in the heap comes on top and is not known; the share is of the memory that is known to be in use", from),
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"a proof, not a sample: the garbage collector followed every pointer from whatever can still run, and did not reach what these wait for"},
		RuledOut: []string{
			"slow or idle goroutines: somebody could still wake those",
			"pools and caches that live in global variables: their goroutines count as reachable",
		},
		Groups: []string{name},
		Stacks: l.stacks,
		Remedy: diagnosis.Remedy{Text: stuck.cure, Code: stuck.code},
		Prove:  "One recording of the changed program under the same load decides, for the count is exact and needs no rounds: the comparison lists this finding as gone. Two profiles some minutes apart must both be empty.",
	}
	if grown, over, ok := grownAt(p, l.stacks); ok {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "more of them at the end than at the start", Value: float64(max(0, grown)), Unit: fact.Count, Source: "goroutine profiles at the start and the end"})
		if grown > 0 && over > 0 {
			f.Summary += fmt.Sprintf(" They become %s more an hour.", num(round3(float64(grown)/over*3600)))
			f.Reasons = append(f.Reasons, "the goroutine profiles at both ends of the run show them too, and more at the end")
		}
	}
	if rest > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "goroutines leaked at lines not listed", Value: float64(rest), Unit: fact.Count, Source: "goroutineleak profile"})
	}
	return f
}

// leakedPart is bytes relative to the program's memory: what is resident where
// that was read, and at least the heap and the stacks.
func leakedPart(m *model.Model, bytes, stacks float64) float64 {
	heap, resident := largestHeap(m), 0.0
	if m.Metrics != nil {
		if v := m.Metrics.Series["/memory/classes/heap/objects:bytes"].Max(); v > heap {
			heap = v
		}
	}
	if m.Process != nil {
		for i := range m.Process.Samples {
			resident = max(resident, float64(m.Process.Samples[i].RSS))
		}
	}
	return min(1, div(bytes, max(resident, heap+max(stacks, bytes))))
}

// grownAt is by how many the goroutines at the stacks' lines have become more
// between the two goroutine profiles, and over how many seconds; ok is false
// without two.
func grownAt(p *diagnosis.Pass, stacks []model.Stack) (n int64, seconds float64, ok bool) {
	start, end := p.Model.Goroutines.Start, p.Model.Goroutines.End
	if start == nil || end == nil {
		return 0, 0, false
	}
	same := map[string]bool{}
	for _, s := range stacks {
		same[stackText(p.Model, s)] = true
	}
	count := func(of *model.Profile) (n int64) {
		for i := range of.Samples {
			if s := &of.Samples[i]; len(s.Values) > 0 && same[stackText(p.Model, s.Stack)] {
				n += s.Values[0]
			}
		}
		return n
	}
	return count(end) - count(start), snapshotSeconds(p), true
}

// snapshotSeconds is the time between the two goroutine profiles, the window
// where they do not say.
func snapshotSeconds(p *diagnosis.Pass) float64 {
	start, end := p.Model.Goroutines.Start, p.Model.Goroutines.End
	if start.Known && end.Known && end.At > start.At {
		return (end.At - start.At).Seconds()
	}
	return p.Seconds()
}

// A sticking is a way to be stuck and its cure.
type sticking struct{ words, cure, code string }

// stickings are known by the function of the runtime or of package sync that
// the goroutine waits in, the innermost first.
var stickings = []struct {
	funcs []string
	sticking
}{
	{[]string{"runtime.selectgo", "runtime.block"}, sticking{"a select",
		"Give the select a case that always ends: the Done channel of a context that the one who started the goroutine cancels on every path.",
		"select {\ncase v := <-in:\n\thandle(v)\ncase <-ctx.Done():\n\treturn\n}"}},
	{[]string{"runtime.chansend", "runtime.chansend1"}, sticking{"a send",
		"Whoever should have received has gone, most often after an error or a timeout. Give the channel room for the one value (make(chan T, 1)), so that the sender ends alone, or send in a select beside ctx.Done().",
		"result := make(chan T, 1) // the sender ends even if nobody receives"}},
	{[]string{"runtime.chanrecv", "runtime.chanrecv1", "runtime.chanrecv2"}, sticking{"a receive",
		"Nobody who could send or close the channel is left. Close it where the last sender ends, on every path, or receive in a select beside ctx.Done().",
		"defer close(out) // in the sender: a range over out ends"}},
	{[]string{"sync.(*WaitGroup).Wait"}, sticking{"WaitGroup.Wait",
		"One of those that are waited for never called Done, or Add was called once too often. Start them with WaitGroup.Go (Go 1.25), which cannot be forgotten, or put defer wg.Done() first.",
		"wg.Go(func() { work() })"}},
	{[]string{"sync.(*Cond).Wait"}, sticking{"Cond.Wait",
		"Nobody is left to call Signal or Broadcast. Call Broadcast also where the one who signals ends, and let the loop around Wait see that it has.", ""}},
	{[]string{"sync.(*Mutex).Lock", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock"}, sticking{"Lock",
		"Who holds the lock returned without unlocking it, or waits for it himself. Put defer mu.Unlock() right behind Lock.",
		"mu.Lock()\ndefer mu.Unlock()"}},
}

// stuckIn tells what a stack waits in, by its frames below the user's code.
func stuckIn(m *model.Model, s model.Stack) sticking {
	best, at := sticking{"a wait", "End the wait on every path: a channel that is closed, a context that is cancelled, a lock that is given back.", ""}, -1
	for i, f := range m.Stacks.Frames(s) {
		for _, k := range stickings {
			if slices.Contains(k.funcs, f.Func) && i > at {
				best, at = k.sticking, i
			}
		}
		if !machinery(f.Func) {
			break
		}
	}
	return best
}
