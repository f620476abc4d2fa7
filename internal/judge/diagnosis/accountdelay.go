package diagnosis

import (
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Contention profiles count the time that goroutines waited, summed over all of them.
// That ranks places; what a program would save is another number, for those who wait
// wait at the same time.

// noSaving ends the sentence of both.
const noSaving = " Such time ranks places; it is no saving."

// mutexAccount lists who held what others waited for: the stacks are those that unlocked.
func mutexAccount(p fact.Meter) *Account {
	total := p.Samples("waiting", "mutex", nil)
	rows := largestIn(p, "mutex", total)
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		rows[i].Note = "held by it"
	}
	share, name := mostOf(rows)
	text := fact.Sentence("%s of waiting for locks%s; for %s of it %s held the lock.", total, atOnce(p.Model.Mutex, total), share, name)
	if inside := p.SampleShare("inside maps", "mutex", p.Frames(InSyncMap)); inside.Value >= mapShare {
		text = fact.Sentence("%s of waiting for locks%s; %s of it for those inside a sync.Map, most for %s.", total, atOnce(p.Model.Mutex, total), inside, name)
		for i := range rows {
			rows[i].Note = "called the map"
		}
	}
	return &Account{Text: text + noSaving, Rows: rows}
}

// mapShare is the part of all waiting from which the locks inside sync.Map are said to be
// what was waited for: its callers share them, each with little.
const mapShare = 0.5

// InSyncMap reports whether a stack goes through a sync.Map: its locks have no name of
// their own, and the compiler inlines what gives them back.
func InSyncMap(frames []model.Frame) bool {
	for _, f := range frames {
		if strings.HasPrefix(f.Func, "internal/sync.(*HashTrieMap") || strings.HasPrefix(f.Func, "sync.(*Map).") {
			return true
		}
	}
	return false
}

// blockAccount lists what goroutines waited for, by the lock or channel and its line.
func blockAccount(p fact.Meter) *Account {
	total := p.Samples("blocked", "block", nil)
	rows := rowsOf(p, "block", total, byWait)
	if len(rows) == 0 {
		return nil
	}
	var kinds []string
	of := func(s *model.Sample) string { return waitedFor(p.Model.Stacks.Frames(s.Stack)) }
	for _, kind := range p.Largest("block", of) {
		part := p.SampleShare("part", "block", func(s *model.Sample) bool { return of(s) == kind })
		if part.Value < kindShare || len(kinds) == accountRows {
			break
		}
		kinds = append(kinds, fact.Sentence(kind+" %s", part))
	}
	text := fact.Sentence("%s of waiting%s: %s; most of it in %s.", total, atOnce(p.Model.Block, total), fact.Name(strings.Join(kinds, ", ")), fact.Name(rows[0].Name))
	return &Account{Text: text + noSaving, Rows: rows}
}

// kindShare is the part of all waiting below which a kind of it is left out.
const kindShare = 0.01

// atOnce returns how many waited on average, by Little's law, where the profile tells over
// which time it was taken.
func atOnce(profile *model.Profile, total fact.Fact) fact.Name {
	if profile.Duration <= 0 {
		return ""
	}
	over := fact.Name(fact.Seconds.Format(profile.Duration.Seconds()))
	goroutines := fact.Name(fact.Count.Format(total.Value / profile.Duration.Seconds()))
	return fact.Name(fact.Sentence(" in %s, %s goroutines at once on average", over, goroutines))
}

// byWait returns the program's function that waits, and for what.
func byWait(frames []model.Frame) owner {
	o := byFunction(frames)
	o.with = waitedFor(frames)
	return o
}

// waitedFor names what a stack of the block profile waits for, by the function of
// package sync or of the runtime that blocks.
func waitedFor(frames []model.Frame) string {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.Func, "sync.(*RWMutex).RLock"), strings.HasPrefix(f.Func, "sync.(*RWMutex).rLock"):
			return "RWMutex.RLock"
		case strings.HasPrefix(f.Func, "sync.(*RWMutex)."):
			return "RWMutex.Lock"
		case strings.HasPrefix(f.Func, "sync.(*WaitGroup).Wait"): // Go is under all that it starts
			return "WaitGroup.Wait"
		case strings.HasPrefix(f.Func, "sync.(*Cond)."):
			return "Cond.Wait"
		case strings.HasPrefix(f.Func, "runtime.chanrecv"):
			return "channel receive"
		case strings.HasPrefix(f.Func, "runtime.chansend"):
			return "channel send"
		case strings.HasPrefix(f.Func, "runtime.selectgo"), strings.HasPrefix(f.Func, "runtime.block"):
			return "select"
		case strings.HasPrefix(f.Func, "internal/poll.(*fdMutex)."):
			return "lock of a file or socket"
		}
	}
	if InSyncMap(frames) {
		return "lock inside a sync.Map"
	}
	for _, f := range frames {
		if strings.HasPrefix(f.Func, "sync.(*Mutex).") || strings.HasPrefix(f.Func, "internal/sync.(*Mutex).") {
			return "Mutex.Lock"
		}
	}
	return "other waits"
}
