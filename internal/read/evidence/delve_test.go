package evidence

import (
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestDelve: Delve's list is a dump of goroutines, with or without their stacks; of two lists
// the last is read, and stacks are believed more than words.
func TestDelve(t *testing.T) {
	for _, c := range []struct {
		file   string
		frames int // of the goroutine that sends
	}{{"list.txt", 1}, {"stacks.txt", 4}} {
		t.Run(c.file, func(t *testing.T) {
			m := loadFixture(t, "delve/"+c.file)
			if m.Moment == nil {
				t.Fatal("no moment was read")
			}
			states := map[string]int64{}
			for _, s := range m.Goroutines.End.Samples {
				frames := m.Stacks.Frames(s.Stack)
				states[s.Labels[stateLabel]] += s.Values[0]
				if s.Labels[stateLabel] != "chan send" {
					continue
				}
				at, ok := model.UserFrame(frames)
				if !ok || at.Func != "main.send" || at.Line == 0 || len(frames) < c.frames {
					t.Errorf("a goroutine that sends has %d frames and is at %+v, want at least %d and main.send with its line", len(frames), at, c.frames)
				}
			}
			if states["chan send"] != 3 || states["chan receive"] != 1 || states["running"] != 1 {
				t.Errorf("states = %v, want 3 that send, one that receives and the one that panicked", states)
			}
			if noted(m, "in Delve's words") != (c.frames == 1) {
				t.Errorf("notes = %q, want that words may be wrong where there are no stacks", m.Run.Coverage.Notes)
			}
		})
	}
}
