package export

import (
	"bytes"
	"testing"

	"cloudbilling/internal/rollup"
	"cloudbilling/internal/usage"
)

func TestWriter(t *testing.T) {
	var want []byte
	for _, schema := range []int{1, 2} {
		var out bytes.Buffer
		w, err := NewWriter(&out, schema)
		if err != nil {
			t.Fatal(err)
		}
		for org := range 3 {
			tree := rollup.New("org")
			for line := range usage.Lines(org, 50) {
				if err := tree.Add(line); err != nil {
					t.Fatal(err)
				}
			}
			tree.Finish()
			if err := w.Write(tree); err != nil {
				t.Fatal(err)
			}
		}
		if want == nil {
			want = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), want) || out.Len() < 3000 {
			t.Errorf("schema %d: %d bytes, want %d", schema, out.Len(), len(want))
		}
	}
}
