package fact

import (
	"strings"
	"testing"
)

// A count of observations always has its noun: "913 s" of 913 samples was read as seconds.
func TestObservationsHaveNouns(t *testing.T) {
	for _, k := range Kinds {
		if text := (Origin{Kind: k, N: 913, Tree: "cpu"}).String(); strings.HasSuffix(text, " s") {
			t.Errorf("%s: %q", k, text)
		}
	}
}
