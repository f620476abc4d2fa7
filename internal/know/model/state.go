package model

import "strings"

// A State is what a goroutine, a P or a thread does. All that shows states, the terminal,
// the timeline, the tables and the live page, takes the words from States.
type State struct {
	Word   string // in JSON, in addresses and in filters
	Name   string // for people
	Letter string // beside its colour, so that no state is shown by its colour alone
	// Reasons are parts of the runtime's words for a wait, each of which makes a goroutine
	// that waits be in this state.
	Reasons []string
}

// States are all states, those of work first.
var States = []State{
	{Word: "running", Name: "running", Letter: "R"},
	{Word: "runnable", Name: "runnable", Letter: "Q"}, // in the run queue
	{Word: "syscall", Name: "syscall", Letter: "S"},
	{Word: "sync", Name: "lock/channel", Letter: "L", Reasons: []string{"chan", "select", "sync", "semacquire"}},
	{Word: "net", Name: "network", Letter: "N", Reasons: []string{"network", "IO wait"}},
	{Word: "wait", Name: "other wait", Letter: "W"},
	{Word: "gc", Name: "collector", Letter: "G"},
	{Word: "unknown", Name: "unknown", Letter: "?"},
}

// WaitState returns the word of the state that a goroutine is in while it waits for a
// reason in the runtime's words, whether a trace or a goroutine profile has them.
func WaitState(reason string) string {
	for _, s := range States {
		for _, part := range s.Reasons {
			if strings.Contains(reason, part) {
				return s.Word
			}
		}
	}
	return "wait"
}
