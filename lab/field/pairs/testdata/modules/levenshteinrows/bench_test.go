package levenshteinrows

import (
	"slices"
	"testing"

	"github.com/agnivade/levenshtein"
)

var commands = []string{
	"status", "commit", "checkout", "branch", "merge", "rebase", "remote", "fetch", "push", "pull", "clone",
	"cherry-pick", "bisect", "blame", "stash", "submodule", "worktree", "describe", "format-patch",
}

// similar are the commands that somebody may have meant.
func similar(typed string) (names []string) {
	for _, c := range commands {
		if levenshtein.ComputeDistance(typed, c) < 4 {
			names = append(names, c)
		}
	}
	return names
}

func BenchmarkSimilar(b *testing.B) {
	for typed, want := range map[string]string{"comit": "commit", "chekcout": "checkout", "sumbodule": "submodule"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				if names := similar(typed); !slices.Contains(names, want) {
					b.Fatal(names)
				}
			}
		})
	}
}
