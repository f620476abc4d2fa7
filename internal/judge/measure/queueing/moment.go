package queueing

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/model"
)

// doings are states as a sentence has them.
var doings = map[string]string{
	"sleep": "sleeps", "IO wait": "waits for the network", "chan send": "waits to send to a channel", "chan receive": "waits to receive from a channel",
	"select": "waits in a select", "select (no cases)": "waits in an empty select, for ever", "syscall": "is in a system call", "runnable": "waits for a P",
	model.StateRunning: "runs", model.StateWaiting: "waits", "sync.WaitGroup.Wait": "waits in WaitGroup.Wait", "sync.Cond.Wait": "waits in Cond.Wait",
	model.StateMutex: "waits for another lock", model.StateWLock: "waits for another lock", model.StateRLock: "waits for another lock",
}

// StateWords says what a goroutine in a state does, as a verb.
func StateWords(state string) string {
	if words, ok := doings[state]; ok {
		return words
	}
	return "is in " + state
}

// Activity says what somebody does, and in which function.
func Activity(p *diagnosis.Pass, s *model.Standing) string {
	words := StateWords(s.State)
	if at := code.UserPlace(p, s.Stack); at.Function != "" {
		words += " in " + code.Short(at.Function)
	}
	return words
}

// MatchStandings matches some of a moment's.
func MatchStandings(list ...*model.Standing) func(*model.Standing) bool {
	return func(s *model.Standing) bool { return slices.Contains(list, s) }
}

// StacksOf returns the stacks of some standings, none twice.
func StacksOf(list []*model.Standing) (stacks []model.Stack) {
	for _, s := range list {
		if !slices.Contains(stacks, s.Stack) {
			stacks = append(stacks, s.Stack)
		}
	}
	return stacks
}

// RootsOf returns the groups that some standings are of.
func RootsOf(m *model.Model, list []*model.Standing) (names []string) {
	return code.GroupsOfStacks(m, StacksOf(list))
}
