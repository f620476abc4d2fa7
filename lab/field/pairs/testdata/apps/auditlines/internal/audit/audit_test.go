package audit

import (
	"bytes"
	"testing"

	"auditlines/internal/actions"
)

func TestWrite(t *testing.T) {
	var lines []string
	for _, once := range []bool{false, true} {
		var b bytes.Buffer
		l, err := New(&b, once)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Write(actions.Generate(7)); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, b.String())
	}
	if lines[0] == "" || lines[0] != lines[1] {
		t.Errorf("the lines are %q", lines)
	}
}
