package cpu

import (
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// schedulingKinds are what the scheduler works at, by functions of package runtime whose
// names contain one of some words. The first that a stack has is its kind: a timer that
// is found while looking for work is a timer.
var schedulingKinds = []struct {
	kind  fact.Name
	words []string
}{
	{Timers, []string{"imer", "timeSleep", "resetForSleep"}},
	{"starting and ending goroutines", []string{"newproc", "goexit", "gfget", "gfput", "malg"}},
	{"polling the network", []string{"netpoll"}},
	{"waking and parking threads", []string{"futex", "semasleep", "semawakeup", "notewakeup", "notesleep", "startm", "stopm", "wakep", "pthread_cond"}},
	{"looking for work on other Ps", []string{"stealWork", "runqsteal", "runqgrab", "findRunnable", "findrunnable", "osyield", "usleep", "procyield"}},
}

// Timers is the kind that has a fix of its own.
const Timers fact.Name = "timers"

// schedulingKind returns that of a stack, "" for what is of none.
func schedulingKind(frames []model.Frame) fact.Name {
	for _, k := range schedulingKinds {
		if code.ContainsFunc(frames, func(f string) bool {
			function, ok := strings.CutPrefix(f, "runtime.")
			return ok && containsAny(function, k.words)
		}) {
			return k.kind
		}
	}
	return ""
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// LargestScheduling returns the kind with most of the scheduler's part, and its share of the CPU.
func LargestScheduling(p *diagnosis.Pass, s *Use) (kind fact.Name, most fact.Fact) {
	for _, k := range schedulingKinds {
		share := s.ShareIn("CPU in scheduling: "+string(k.kind), func(frames []model.Frame) bool {
			return model.CPUPartOf(frames) == model.Scheduling && schedulingKind(frames) == k.kind
		})
		if share.Value > most.Value {
			kind, most = k.kind, share
		}
	}
	return kind, most
}
