package translate

import (
	"testing"

	"phrasebook/internal/dictionary"
)

func TestSentence(t *testing.T) {
	s := dictionary.Shelf{Phrases: 10}
	if err := s.Load("l01"); err != nil {
		t.Fatal(err)
	}
	tr, err := New(&s, "l01")
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.Sentence("w1  w2 other"); got != "l01-31 l01-62 other" {
		t.Errorf("Sentence() = %q", got)
	}
	if _, err := New(&s, "l02"); err == nil {
		t.Error("a language that was not loaded can be had")
	}
}
