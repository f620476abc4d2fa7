package timeline

import (
	"strings"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A State is what time is drawn as.
type State uint8

// The states, in the order of a bucket.
const (
	Running  State = iota // on a P
	Runnable              // ready, waiting for a P
	Syscall               // in a system call or cgo
	Sync                  // blocked on channels, select, mutexes, condition variables
	Net                   // blocked on the network
	Wait                  // blocked otherwise; of a P or thread: held, looking for work
	GC                    // mark workers and mark assists; cycles and pauses
	Unknown               // not known, or not certain

	NumStates = 8
)

// stateNames are the words of model.States, whose order is that of the constants.
var stateNames = func() (names [NumStates]string) {
	for i, s := range model.States {
		names[i] = s.Word
	}
	return names
}()

// String returns the word for a state, like "running".
func (s State) String() string {
	if s < NumStates {
		return stateNames[s]
	}
	return stateNames[Unknown]
}

// StateNames returns the words for all states, in order.
func StateNames() []string { return stateNames[:] }

// name returns the state's name for people.
func (s State) name() string { return model.States[min(s, Unknown)].Name }

// StateOf returns the state that a word names.
func StateOf(name string) (State, bool) {
	for i, n := range stateNames {
		if n == name {
			return State(i), true
		}
	}
	return Unknown, false
}

// blocked reports whether a state is one of waiting for something other than a P.
func (s State) blocked() bool { return s == Sync || s == Net || s == Wait }

// waitState returns the state of a wait for a reason.
func waitState(reason string) State {
	s, _ := StateOf(model.WaitState(reason))
	return s
}

// markWorker is the start function of those who mark: what they run is the
// collector's.
const markWorker = "runtime.gcBgMarkWorker"

// stateOf are the states of spans that are not waits.
var stateOf = [256]State{
	exectrace.Unknown:        Unknown,
	exectrace.Running:        Running,
	exectrace.Runnable:       Runnable,
	exectrace.Waiting:        Wait,
	exectrace.Syscall:        Syscall,
	exectrace.SyscallBlocked: Syscall,
	exectrace.Dead:           Unknown,
}

// A classifier knows the states of a piece's spans.
type classifier struct {
	reasons [256]State
}

func newClassifier(reasons []string) (c classifier) {
	for i := range c.reasons {
		c.reasons[i] = Wait
	}
	for i, r := range reasons {
		if i < len(c.reasons) {
			c.reasons[i] = waitState(r)
		}
	}
	return c
}

func (c *classifier) of(s *exectrace.Span, worker bool) State {
	switch {
	case s.State == exectrace.Waiting:
		return c.reasons[s.Reason]
	case worker && s.State == exectrace.Running:
		return GC
	}
	return stateOf[s.State]
}

// groupName returns the name of a life's group: the model's.
func groupName(name string) string {
	// The main goroutine as it is seen when recording begins while packages are
	// initialized: its stacks end below runtime.main.
	if strings.HasPrefix(name, "runtime.doInit") {
		return "main.main"
	}
	return name
}
