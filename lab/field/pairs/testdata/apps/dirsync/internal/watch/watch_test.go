package watch

import (
	"slices"
	"testing"

	"dirsync/internal/directory"
)

func TestPoll(t *testing.T) {
	for _, revisions := range []bool{false, true} {
		d := directory.New(30)
		w := New(d, revisions)
		if got := w.Poll(); len(got) != 0 {
			t.Errorf("revisions %v: %v changed", revisions, got)
		}
		d.Move(7, "attic")
		if got := w.Poll(); !slices.Equal(got, []string{"person-00007"}) {
			t.Errorf("revisions %v: %v changed, want the one who moved", revisions, got)
		}
	}
}
