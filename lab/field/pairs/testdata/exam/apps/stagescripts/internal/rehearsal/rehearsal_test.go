package rehearsal

import (
	"slices"
	"testing"

	"stagescripts/internal/lex"
	"stagescripts/internal/script"
)

func TestSame(t *testing.T) {
	var all [][]Part
	for _, name := range []string{"stage", "screen"} {
		g, err := lex.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		c := New(g, 1)
		c.Read(script.Generate(5, 3))
		parts, err := c.Close()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parts)
	}
	if len(all[0]) < 4 || !slices.Equal(all[0], all[1]) {
		t.Error(all)
	}
}
