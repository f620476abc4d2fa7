package timeline

import (
	"slices"
	"time"
)

// An Account is what the sums tell of a goroutine, or of all that one function
// started: what a table can be filtered by, without the trace.
type Account struct {
	ID    int64    // -1 where it is many
	Names []string // in which words are looked for: the start function, where it is
	Life  time.Duration
	// Spent is the time in a state that is no wait, Reasons are the waits.
	Spent   func(State) time.Duration
	Reasons map[string]time.Duration
	// Under reports whether it waited under a function whose name, in lower
	// case, has a part.
	Under func(part string) bool
}

// Accounts reports whether sums can tell all that the filter asks for; if not, word is
// the term that they cannot.
func (f *Filter) Accounts() (word string, ok bool) { return f.termOutside(^termLabel) }

// Account reports whether an account matches. A state or a reason matches
// when any time was spent in it, a duration is that of the life.
func (f *Filter) Account(a *Account) bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.account(a) == t.not {
			return false
		}
	}
	return true
}

func (t *term) account(a *Account) bool {
	switch t.kind {
	case termFunc:
		return slices.ContainsFunc(a.Names, t.matches)
	case termID:
		return a.ID >= 0 && a.ID >= t.lo && a.ID <= t.hi
	case termDur:
		return int64(a.Life) >= t.lo && int64(a.Life) <= t.hi
	case termStack:
		return slices.ContainsFunc(t.parts, a.Under)
	case termReason:
		for r, d := range a.Reasons {
			if d > 0 && t.matches(r) {
				return true
			}
		}
	case termState:
		return t.inState(a)
	}
	return false
}

func (t *term) inState(a *Account) bool {
	for s := range State(NumStates) {
		if t.states&(1<<s) != 0 && !s.blocked() && a.Spent(s) > 0 {
			return true
		}
	}
	for r, d := range a.Reasons {
		if d > 0 && t.states&(1<<waitState(r)) != 0 {
			return true
		}
	}
	return false
}
