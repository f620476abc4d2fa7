package words

import "testing"

func TestBad(t *testing.T) {
	list := List(50)
	p, err := NewPattern(list)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(list)
	for text, want := range map[string]bool{
		"what a nice day": false, "what a " + list[7] + "!": true, list[3] + "x is not meant": false, "BRABRABRA": true, "": false,
	} {
		if p.Bad(text) != want || s.Bad(text) != want {
			t.Errorf("%q: by the pattern %v, by words %v; want %v", text, p.Bad(text), s.Bad(text), want)
		}
	}
}
