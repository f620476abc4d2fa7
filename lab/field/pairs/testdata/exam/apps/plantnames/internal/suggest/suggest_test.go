package suggest

import (
	"testing"

	"plantnames/internal/flora"
)

func TestSame(t *testing.T) {
	names := flora.Generate(3000)
	a, err := New("tree", names, 12)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New("shelf", names, 12)
	if err != nil {
		t.Fatal(err)
	}
	typist := flora.NewTypist(names)
	for range 500 {
		typed := typist.Next()
		x, y := a.Key(typed), b.Key(typed)
		if x != y || len(x) < 60 {
			t.Fatalf("%q: %s, %s", typed, x, y)
		}
	}
}
