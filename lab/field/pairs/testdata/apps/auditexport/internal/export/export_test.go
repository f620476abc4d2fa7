package export

import (
	"bufio"
	"bytes"
	"testing"

	"auditexport/internal/trail"
)

// written is what an exporter writes of a trail of a thousand entries.
func written(t *testing.T, cursor bool) (string, int) {
	t.Helper()
	tr := trail.New()
	for i := range 1000 {
		tr.Append(trail.Entry{Actor: "somebody", Action: trail.Actions[i%4], Object: i})
	}
	var b bytes.Buffer
	e := Exporter{Trail: tr, Page: 17, Cursor: cursor}
	n, err := e.Write(bufio.NewWriter(&b), "delete")
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), n
}

func TestWrite(t *testing.T) {
	pages, n := written(t, false)
	all, m := written(t, true)
	if n != 250 || m != n || pages != all {
		t.Errorf("by pages %d entries, by a cursor %d, the same: %v; want 250 twice", n, m, pages == all)
	}
}
