package rules

import (
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// stuckFor is how long somebody must have stood at one place to be stuck. A dump
	// counts whole minutes and prints none below one; locks of programs that are well
	// are held for microseconds, and nobody waits a minute for one that is given back.
	stuckFor = time.Minute
	// stuckWatched is how long nobody may have moved, where it was watched: a call
	// over a network under a lock takes up to a few hundred milliseconds.
	stuckWatched = time.Second
)

// stuck reports whether none of them made a step for long.
func stuck(m *model.Moment, list ...*model.Standing) bool {
	for _, s := range list {
		if s.Waited < stuckFor && (m.Watched < stuckWatched || s.Still < s.Count) {
			return false
		}
	}
	return len(list) > 0
}
