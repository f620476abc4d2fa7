package code

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Of many values the first four are repeated, and none twice in a row.
func TestEscapeWordsMost(t *testing.T) {
	m := &model.Model{Escapes: []model.Escaping{{File: "geo.go", Line: 1, What: "a"}, {File: "geo.go", Line: 1, What: "a"},
		{File: "geo.go", Line: 1, What: "b", Moved: true}, {File: "geo.go", Line: 1, What: "none", Stays: true}}}
	for _, what := range []string{"c", "d", "e"} {
		m.Escapes = append(m.Escapes, model.Escaping{File: "geo.go", Line: 2, What: what})
	}
	places := []diagnosis.Place{{File: "/src/geo.go", Line: 1}, {File: "/src/geo.go", Line: 2}, {File: "/src/geo.go", Line: 3}}
	const want = "The compiler says: geo.go:1 a escapes to the heap; geo.go:1 b is moved to the heap; " +
		"geo.go:2 c escapes to the heap; geo.go:2 d escapes to the heap."
	if got := EscapeWords(m, places); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
