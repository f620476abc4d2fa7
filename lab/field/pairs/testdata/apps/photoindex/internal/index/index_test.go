package index

import (
	"testing"

	"photoindex/internal/album"
)

func TestBuild(t *testing.T) {
	var different []int
	for _, readers := range []bool{false, true} {
		b := Builder{Album: album.New(40), Readers: 3, PrintByReaders: readers}
		x, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		different = append(different, x.Different())
	}
	if different[0] == 0 || different[0] != different[1] {
		t.Errorf("different are %v, want the same", different)
	}
	if _, err := (&Builder{Album: album.New(0)}).Build(); err == nil {
		t.Error("an empty album has an index")
	}
}
