package levenshteinrows

import (
	"testing"

	"github.com/agnivade/levenshtein"
)

var commands = []string{
	"status", "commit", "checkout", "branch", "merge", "rebase", "remote", "fetch", "push", "pull", "clone",
	"cherry-pick", "bisect", "blame", "stash", "submodule", "worktree", "describe", "format-patch",
}

// nearest is the command that somebody may have meant.
func nearest(typed string) (best string) {
	least := 4
	for _, c := range commands {
		if d := levenshtein.ComputeDistance(typed, c); d < least {
			best, least = c, d
		}
	}
	return best
}

func BenchmarkNearest(b *testing.B) {
	for typed, want := range map[string]string{"comit": "commit", "chekcout": "checkout", "sumbodule": "submodule"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				if got := nearest(typed); got != want {
					b.Fatal(got)
				}
			}
		})
	}
}
