package vote

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A history has x where a look has the finding.
func TestLooks(t *testing.T) {
	for history, want := range map[string]int{"": 0, ".": 0, "x": 1, "x.": 1, "xx": 2, "xxx": 3, "xxxx": 3, "xx..": 1, "xx...": 0, "xx...x": 1} {
		var v Looks
		for _, c := range history {
			v.Add(c == 'x')
		}
		if got := v.N(); got != want {
			t.Errorf("after %q N() = %d, want %d", history, got, want)
		}
	}
}

func TestKeyOf(t *testing.T) {
	f := diagnosis.Finding{Rule: "hotmutex", Where: []diagnosis.Place{{Function: "f", Line: 7}, {Function: "g"}}}
	if got, want := KeyOf(&f), (Key{"hotmutex", "f"}); got != want {
		t.Errorf("KeyOf(%v) = %v, want %v", f.Where, got, want)
	}
	moved := f
	moved.Where = []diagnosis.Place{{Function: "f", Line: 9}}
	if KeyOf(&f) != KeyOf(&moved) {
		t.Error("a finding whose line moved is another")
	}
	if got, want := KeyOf(&diagnosis.Finding{Rule: "gccost"}), (Key{Rule: "gccost"}); got != want {
		t.Errorf("KeyOf without a place = %v, want %v", got, want)
	}
}
