package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// lookWaiters is how many must wait for a lock when it is seen only once, without
// a time. Of a lock in use 72% of the time eight or more wait in 5% of looks, by
// the queue M/M/1; of one in use half of the time, in 0.2%.
const lookWaiters = 8

// doings are states as a sentence has them.
var doings = map[string]string{
	"sleep": "sleeps", "IO wait": "waits for the network", "chan send": "waits to send to a channel", "chan receive": "waits to receive from a channel",
	"select": "waits in a select", "select (no cases)": "waits in an empty select, for ever", "syscall": "is in a system call", "runnable": "waits for a P",
	model.StateRunning: "runs", model.StateWaiting: "waits", "sync.WaitGroup.Wait": "waits in WaitGroup.Wait", "sync.Cond.Wait": "waits in Cond.Wait",
	model.StateMutex: "waits for another lock", model.StateWLock: "waits for another lock", model.StateRLock: "waits for another lock",
}

func stateWords(state string) string {
	if words, ok := doings[state]; ok {
		return words
	}
	return "is in " + state
}

// standsAt says what somebody does, and in which function.
func standsAt(p *diagnosis.Pass, s *model.Standing) string {
	words := stateWords(s.State)
	if at := code.UserPlace(p, s.Stack); at.Function != "" {
		words += " in " + code.Short(at.Function)
	}
	return words
}

// ofStandings matches some of a moment's.
func ofStandings(list ...*model.Standing) func(*model.Standing) bool {
	return func(s *model.Standing) bool { return slices.Contains(list, s) }
}

// goOn is the bound of what stands still: nobody can tell what it would do.
func goOn() diagnosis.Bound {
	return diagnosis.Release(fact.Figure("known gain", 0, fact.Factor, "a moment tells who stands, and not what they would do otherwise"))
}

func stacksOf(list []*model.Standing) (stacks []model.Stack) {
	for _, s := range list {
		if !slices.Contains(stacks, s.Stack) {
			stacks = append(stacks, s.Stack)
		}
	}
	return stacks
}

func rootsOf(m *model.Model, list []*model.Standing) (names []string) {
	return code.GroupsOfStacks(m, stacksOf(list))
}
