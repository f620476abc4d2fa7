package contacts

import "testing"

func TestFind(t *testing.T) {
	for _, keep := range []bool{false, true} {
		b := NewBook(keep)
		for i := range 100 {
			b.Add(Generate(i))
		}
		for text, want := range map[string]int{"erdos": 5, "ERDŐS-39": 1, "oeuvre": 5, "nobody": 0} {
			if got := b.Find(text, 5); len(got) != want {
				t.Errorf("keep %v: Find(%s) = %v, want %d", keep, text, got, want)
			}
		}
	}
}
