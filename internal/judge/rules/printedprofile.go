package rules

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed printedprofile.md
var printedprofilePage string

// printedprofile looks into profiles of which only the text is left. What it finds has
// rules of its own, which look at stacks: a finding has the title of that rule.
var printedprofile = &diagnosis.Rule{
	Name:  "printedprofile",
	Title: "A printed profile shows a known problem",
	Doc:   printedprofilePage,
	// No Needs: where the profile itself is, nobody misses its text.
	Check: checkPrintedprofile,
}

const (
	// printedCPU is the least CPU time that shares are taken from: a hundred samples at
	// the runtime's rate.
	printedCPU = diagnosis.ThinSamples * 10 * time.Millisecond
	// printedAlive is how many goroutines of packets must exist at one moment to have
	// piled up. One lives as long as its packet is worked on: at a hundred thousand
	// packets a second and a millisecond each, a hundred do.
	printedAlive = 1000
	// printedNetwork is the part of them that may be waiting for the network for the
	// rest to be a pile: a resolver's wait for another server.
	printedNetwork = 0.5
	// printedLocks is the part of a block profile in waits for locks, at which the
	// goroutines' waiting is for them: most.
	printedLocks = 0.5
)

const (
	// printedTimersShare is the part of the CPU in running timers from which there are too
	// many: of three public reports a service at rest had 6%, and programs that started
	// tickers again and again and stopped none 51% and 96%.
	printedTimersShare = 0.20
	// printedChoosing is the part of the CPU in choosing among channels beyond which it is more
	// than all that is done with what they bring.
	printedChoosing = 0.50
)

var (
	timerRunners  = []string{"runtime.runtimer", "runtime.runOneTimer", "runtime.timerproc", "runtime.(*timers).check", "runtime.(*timers).run"}
	withoutWaits  = []string{"runtime.selectnbrecv", "runtime.selectnbsend", "runtime.selectdefault", "runtime.Gosched"}
	printedReason = []string{"one kind of evidence, and only its text, which does not say for whom"}
)

// stackGrowers grow stacks, the outermost first; stackWalkers walk them, which growing
// does, and runtime.Callers, and the collector.
var (
	stackGrowers = []string{"runtime.morestack", "runtime.newstack", "runtime.copystack"}
	stackWalkers = []string{"runtime.gentraceback", "runtime.(*unwinder).next", "runtime.tracebackPCs", "runtime.pcvalue"}
)

func checkPrintedprofile(p *diagnosis.Pass) {
	for _, t := range p.Model.Tables {
		if p.Model.Has(t.Source) {
			continue // the profile itself says more
		}
		switch {
		case t.Source == model.CPU && t.Total >= float64(printedCPU):
			printedTimers(p, t)
			printedChannels(p, t)
			if !printedProfiler(p, t) { // whose work is counted as both
				printedStacks(p, t)
				printedGarbage(p, t)
			}
		case t.Source == model.GoroutineProfile:
			printedPackets(p, t)
		}
	}
}

// printedProof is how each of its findings is proved: by what has stacks.
const printedProof = "A recording under the same load has stacks and the lines: it finds the same, or does not, " +
	"and comes with the experiment that decides."

// lineOf returns the function of a table with most under it among some.
func lineOf(t *model.Table, functions ...string) *model.TableFunction {
	return t.Most(func(f string) bool { return slices.Contains(functions, f) })
}

// placeIn returns where a function of a table is.
func placeIn(f *model.TableFunction) diagnosis.Place {
	return diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}
}

// printedRemark returns a remark about a share of the CPU.
func printedRemark(t *model.Table, title string, share fact.Fact, rest ...fact.Fact) diagnosis.Finding {
	return diagnosis.Finding{
		Title:      title,
		Remark:     true,
		Evidence:   append([]fact.Fact{share, fact.PrintedTotal("CPU time", t)}, rest...),
		Cost:       diagnosis.CostOf(share, share.Value),
		Bound:      diagnosis.Direction(share, diagnosis.CPUGoal, share.Value, "some of it may be needed"),
		Confidence: diagnosis.Low,
		Reasons:    printedReason,
		Prove:      printedProof,
	}
}

// printedTimers reports timers that take much of the CPU.
func printedTimers(p *diagnosis.Pass, t *model.Table) {
	run := lineOf(t, timerRunners...)
	if run == nil || t.Share(run.Cum) < printedTimersShare {
		return
	}
	share := fact.PrintedShare("CPU in running timers", t, run)
	f := printedRemark(t, "Timers take much of the CPU", share)
	f.RuledOut = []string{"what the timers' own goroutines do: only finding, moving and firing timers is counted"}
	f.Remedy = diagnosis.Remedy{
		Text: "Stop each ticker where its loop ends: one that is made for each call and not stopped fires for ever, until Go 1.22 also " +
			"when nothing refers to it. Make it before the loop, not in it.",
		Code: "ticker := time.NewTicker(every)\ndefer ticker.Stop()",
	}
	f.Say("Running timers takes %s of the CPU time: mostly it is tickers that are made again and again and never stopped.", share)
	p.Report(f)
}

// printedChannels reports a program that does little but choose among channels. One that asks
// without waiting polls; of selects that may wait the text does not tell whether they do:
// such a loop and a pipeline whose stages only hand on both have up to 97% there.
func printedChannels(p *diagnosis.Pass, t *model.Table) {
	choose, empty := lineOf(t, "runtime.selectgo"), lineOf(t, withoutWaits...)
	switch {
	case empty != nil && t.Share(empty.Cum) >= printedChoosing:
		share := fact.PrintedShare("CPU in choosing without waiting", t, empty)
		f := printedRemark(t, spinloop.Title, share)
		f.RuledOut = []string{"a look for the end of work beside each piece of it: more than half of the CPU is in asking"}
		f.Remedy = diagnosis.Remedy{Text: "Take the default out of the select, or wait in it for a timer or a channel: a loop whose select has a default " +
			"never waits."}
		f.Say("Asking channels without waiting, in %s, takes %s of the CPU time: a loop asks them again and again.", code.Name(empty.Func), share)
		p.Report(f)
	case choose != nil && t.Share(choose.Cum) >= printedChoosing:
		share := fact.PrintedShare("CPU in choosing among channels", t, choose)
		f := printedRemark(t, "Most of the CPU goes into choosing among channels", share)
		f.RuledOut = []string{"what is done with what they bring: only the choice is counted"}
		f.Remedy = diagnosis.Remedy{Text: "Take the default out of a select that stands in a loop: it never waits. Where none has one, hand on many " +
			"items at once: a choice costs more than the work for one."}
		f.Say("Choosing among channels takes %s of the CPU time: a loop whose select has a default asks them again and again, "+
			"or goroutines hand on one small thing at a time.", share)
		p.Report(f)
	}
}

// printedProfiler reports walks of stacks that are kept for a memory profile.
func printedProfiler(p *diagnosis.Pass, t *model.Table) bool {
	walk, keep := lineOf(t, stackWalkers...), lineOf(t, printedBuckets...)
	if walk == nil || keep == nil || t.Share(walk.Cum) < stackgrowthShare || t.Share(keep.Cum) < printedProfilerShare {
		return false
	}
	walking, keeping := fact.PrintedShare("CPU in walking stacks", t, walk), fact.PrintedShare("CPU in "+keep.Func, t, keep)
	f := printedRemark(t, memoryprofiler.Title, walking, keeping)
	f.RuledOut = []string{"walks whose stacks nobody keeps, as of stacks that grow or of the collector: these come with a profile's buckets"}
	f.Remedy = profilerRemedy
	f.Say("Walking goroutines' stacks takes %s of the CPU time, and keeping them for a memory profile, in %s, %s: "+
		"its rate samples far more than Go does by itself.", walking, code.Name(keep.Func), keeping)
	p.Report(f)
	return true
}

func printedStacks(p *diagnosis.Pass, t *model.Table) {
	grow, walk := lineOf(t, stackGrowers...), lineOf(t, stackWalkers...)
	used := fact.PrintedTotal("CPU time", t)
	f := diagnosis.Finding{
		Title:      stackgrowth.Title,
		Confidence: diagnosis.Medium,
		Reasons:    []string{"one kind of evidence, and only its text"},
		RuledOut:   []string{fact.Sentence("functions that the text leaves out: the share is of all %s", used)},
		Remedy:     stackRemedy(),
		Prove:      printedProof,
	}
	var share fact.Fact
	switch {
	case grow != nil && t.Share(grow.Cum) >= stackgrowthShare:
		share = fact.PrintedShare("CPU in growing and copying stacks", t, grow)
		f.Evidence = []fact.Fact{share, used}
		if walk == nil {
			f.Say("Growing and copying goroutines' stacks takes %s of the CPU time.", share)
			break
		}
		walking := fact.PrintedShare("CPU in walking stacks", t, walk)
		f.Evidence = append(f.Evidence, walking)
		f.Say("Growing and copying goroutines' stacks takes %s of the CPU time; walking stacks, for that and for others, %s.", share, walking)
	case walk != nil && t.Share(walk.Cum) >= stackgrowthShare:
		share = fact.PrintedShare("CPU in walking stacks", t, walk)
		f.Evidence = []fact.Fact{share, used}
		f.Title, f.Remark, f.Confidence = "Goroutine stacks are walked much", true, diagnosis.Low
		f.Reasons = append(f.Reasons, "who walks them the text does not say: stacks that grow, runtime.Callers of a logger or of errors, or the collector")
		f.Say("Walking goroutines' stacks takes %s of the CPU time: stacks that grow do, and loggers and errors "+
			"that ask for their callers.", share)
	default:
		return
	}
	f.Cost = diagnosis.CostOf(share, share.Value)
	f.Bound = diagnosis.Direction(share, diagnosis.CPUGoal, share.Value, "what is counted with other functions is not in it")
	p.Report(f)
}

func printedGarbage(p *diagnosis.Pass, t *model.Table) {
	malloc, mark := lineOf(t, "runtime.mallocgc"), lineOf(t, "runtime.gcBgMarkWorker")
	if malloc == nil {
		return
	}
	allocating := fact.PrintedShare("CPU in allocating", t, malloc)
	whole := allocating
	f := diagnosis.Finding{
		Title:    allocchurn.Title,
		Evidence: []fact.Fact{allocating, fact.PrintedTotal("CPU time", t)},
	}
	if mark != nil { // workers have stacks of their own
		collecting := fact.PrintedShare("CPU in the collector's workers", t, mark)
		f.Evidence = append(f.Evidence, collecting)
		whole = fact.Sum.Of("CPU in allocating and collecting", fact.Ratio, allocating, collecting)
	}
	if whole.Value < churnCPU {
		return
	}
	f.Cost = diagnosis.CostOf(whole, whole.Value)
	f.Bound = diagnosis.Direction(whole, diagnosis.CPUGoal, whole.Value, "some of it the program needs")
	f.Remark, f.Confidence = true, diagnosis.Low
	f.Reasons = []string{"one kind of evidence, and only its text, which does not say which lines allocate"}
	f.RuledOut = []string{"marking that allocations assist with: it is counted once, under them"}
	f.Remedy = diagnosis.Remedy{Text: "Find the lines that allocate by an allocs profile: reuse what they make, give slices their size when they are made, " +
		"and keep values that nobody else needs on the stack."}
	f.Prove = printedProof
	if callers := malloc.Callers; len(callers) > 0 {
		f.Say("Allocating and collecting takes %s of the CPU time, most of it for %s.", whole, code.Name(callers[0].Func))
	} else {
		f.Say("Allocating and collecting takes %s of the CPU time.", whole)
	}
	p.Report(f)
}

// packetStarts are functions that servers start as a goroutine for each packet.
var packetStarts = []string{"(*Server).serveUDPPacket"}

func printedPackets(p *diagnosis.Pass, t *model.Table) {
	start := t.Most(func(f string) bool {
		return slices.ContainsFunc(packetStarts, func(s string) bool { return strings.HasSuffix(f, s) })
	})
	if start == nil || start.Cum < printedAlive {
		return
	}
	if net := lineOf(t, "internal/poll.runtime_pollWait", "runtime.netpollblock"); net != nil && net.Cum >= printedNetwork*start.Cum {
		return
	}
	alive := fact.PrintedUnder("goroutines of packets at one moment", t, start)
	f := diagnosis.Finding{
		Title:      packetgoroutine.Title,
		Where:      code.Places(placeIn(start)),
		Evidence:   []fact.Fact{alive},
		Cost:       diagnosis.CostOf(fact.PrintedShare("part of all goroutines", t, start), t.Share(start.Cum)),
		Bound:      noSaving(fact.Bytes, diagnosis.MemoryGoal, "how many would wait with a reader that answers itself is not in a profile"),
		Remark:     true,
		Confidence: diagnosis.Low,
		Reasons:    []string{"one kind of evidence, and only its text"},
		RuledOut:   []string{"waiting for another server: less than half of them wait for the network, as far as the text shows"},
		Remedy: diagnosis.Remedy{Text: "Let the reader handle the packet and answer, as many readers as cores, on one socket each with SO_REUSEPORT. " +
			"Where work may block, hand it to a fixed few goroutines, and drop packets when these are behind: " +
			"nothing bounds how many wait now."},
		Prove: printedProof,
	}
	if locks, total := printedLocksOf(p.Model); locks.Value > 0 {
		f.Evidence = append(f.Evidence, locks, total)
		f.Remark, f.Confidence, f.Grows = false, diagnosis.Medium, true
		f.Reasons = []string{"two kinds of evidence, of which only the text is left"}
		f.Say("%s goroutines of packets exist at one moment: each packet has its own, and %s of the waiting is for one lock.", alive, locks)
	} else {
		f.Say("%s goroutines of packets exist at one moment: each packet has its own.", alive)
	}
	p.Report(f)
}

// printedLocksOf returns the part of a printed block profile that is in waits for the lock with
// most, and all waiting in it, where most is for locks.
func printedLocksOf(m *model.Model) (share, total fact.Fact) {
	for _, t := range m.Tables {
		if t.Source != model.Block {
			continue
		}
		sum := 0.0
		var most *model.TableFunction
		for i := range t.Functions {
			if f := &t.Functions[i]; f.Flat > 0 && lockFunction(f.Func) {
				if sum += f.Flat; most == nil || f.Flat > most.Flat {
					most = f
				}
			}
		}
		if t.Share(sum) >= printedLocks {
			return fact.PrintedShare("waiting for the lock with most", t, most), fact.PrintedTotal("all waiting", t)
		}
	}
	return share, total
}

func lockFunction(f string) bool {
	return strings.HasSuffix(f, "Mutex).Lock") || strings.HasSuffix(f, "Mutex).RLock") || strings.HasSuffix(f, "Mutex).lockSlow") || f == "internal/poll.(*fdMutex).rwlock"
}
