package layout

import (
	"bytes"
	"testing"

	"schoolreports/internal/school"
)

func TestSame(t *testing.T) {
	var out [2]bytes.Buffer
	for i, name := range []string{"compact", "wide"} {
		l, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Render(&out[i], school.Generate(3, 50)); err != nil {
			t.Fatal(err)
		}
	}
	if out[0].String() != out[1].String() || out[0].Len() < 5000 {
		t.Error(out[0].String(), out[1].String())
	}
}
