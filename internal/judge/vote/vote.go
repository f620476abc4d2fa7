// Package vote decides by several looks at a program whether a finding is there.
//
// It hides when looks agree: what one look says may be an accident of its moment, so a
// finding is shown when [Quorum] have it, and it is gone when none of the last [Voters] has.
// It neither looks nor keeps anything.
package vote

import "github.com/gowhy/gowhy/internal/judge/diagnosis"

const (
	// Voters is how many of the last looks decide whether a finding is still there.
	Voters = 3
	// Quorum is how many looks have a finding before it is shown.
	Quorum = 2
)

// A Key tells findings apart. The line is not in it: it moves with each version.
type Key struct{ Rule, Function string }

// GrowingHeap are the rules that accuse a heap that grows: the second is the first with the holder,
// where somebody looked for one.
var GrowingHeap = []string{"heapgrowth", "heldmemory"}

// KeyOf returns the key of a finding.
func KeyOf(f *diagnosis.Finding) Key {
	k := Key{Rule: f.Rule}
	if len(f.Where) > 0 {
		k.Function = f.Where[0].Function
	}
	return k
}

// Looks are the last ones, the newest last: whether each has the finding.
type Looks [Voters]bool

// Add notes whether the newest look has it.
func (l *Looks) Add(has bool) {
	copy(l[:], l[1:])
	l[Voters-1] = has
}

// N returns how many of the last looks have it.
func (l *Looks) N() (n int) {
	for _, has := range l {
		if has {
			n++
		}
	}
	return n
}
