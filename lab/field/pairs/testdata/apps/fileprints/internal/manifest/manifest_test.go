package manifest

import (
	"bytes"
	"testing"

	"fileprints/internal/files"
)

func TestAdd(t *testing.T) {
	var lists []string
	for _, f := range []bool{false, true} {
		var b bytes.Buffer
		w := Writer{Out: &b, Formatted: f}
		for i := range 4 {
			if err := w.Add(files.Make(i)); err != nil {
				t.Fatal(err)
			}
		}
		lists = append(lists, b.String())
	}
	if lists[0] == "" || lists[0] != lists[1] {
		t.Errorf("plain\n%s\nformatted\n%s", lists[0], lists[1])
	}
}
