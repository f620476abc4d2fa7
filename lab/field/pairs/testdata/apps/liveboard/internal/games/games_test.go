package games

import "testing"

func TestWatch(t *testing.T) {
	h := NewHub(true)
	w := h.Watch("final")
	h.Publish(Score{Game: "other"})
	h.Publish(Score{Game: "final", Home: 2})
	if s := <-w.Scores(); s.Home != 2 {
		t.Errorf("got %v, want the score of the final", s)
	}
	h.Leave(w)
	h.Leave(w) // it may have left
	h.Publish(Score{Game: "final"})
	if len(h.all) != 0 {
		t.Errorf("%d watch, want none", len(h.all))
	}
}
