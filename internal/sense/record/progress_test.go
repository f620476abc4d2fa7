package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
)

// The last whole line is found wherever the file is being written.
func TestLastLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if got := lastLine(path); got != nil {
		t.Errorf("of no file: %q", got)
	}
	long := strings.Repeat("x", lineLimit)
	for text, want := range map[string]string{"": "", "a": "", "a\n": "a", "a\nbc\n": "bc", "a\nbc\nd": "bc", "\n": "", long + "\nlast\nhalf": "last", long: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := string(lastLine(path)); got != want {
			t.Errorf("of %.20q: %q, want %q", text, got, want)
		}
	}
}

// What is seen is what the members say, as they grow.
func TestSeen(t *testing.T) {
	rw, err := recording.Create(filepath.Join(t.TempDir(), "run.gowhy"))
	if err != nil {
		t.Fatal(err)
	}
	defer rw.Discard()
	r := &recorder{w: rw}
	w := &watcher{r: r, cores: -1, cycles: -1}
	if s := w.look(); s.Cores >= 0 || s.Goroutines >= 0 || s.Collections >= 0 {
		t.Errorf("look() of nothing = %v cores, %d goroutines, %d collections, want less than 0 of each",
			s.Cores, s.Goroutines, s.Collections)
	}
	write := func(member, text string) {
		t.Helper()
		f, err := os.OpenFile(r.w.Path(member), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	sample := func(second float64, cpu int64) string {
		return fmt.Sprintf(`{"t":"2026-01-02T03:04:%09.6fZ","process":{"user_ns":%d}}`+"\n", second, cpu)
	}
	write("proc.jsonl", `{"gowhy":"proc"}`+"\n"+sample(5, 1e9))
	write("metrics.jsonl", `{"scalars":["/gc/cycles/total:gc-cycles","/sched/goroutines:goroutines"]}`+"\n"+`{"t":1,"v":[40,7]}`+"\n")
	if s := w.look(); s.Cores >= 0 || s.Goroutines != 7 || s.Collections != 0 || s.Bytes == 0 {
		t.Errorf("at first: %+v, want 7 goroutines and no collection since", s)
	}
	write("proc.jsonl", sample(6, 25e8)+`{"t":"20`)
	write("metrics.jsonl", `{"t":2,"v":[43,null]}`+"\n")
	if s := w.look(); s.Cores != 1.5 || s.Goroutines >= 0 || s.Collections != 3 {
		t.Errorf("a second later: %+v, want 1.5 cores and 3 collections", s)
	}
}
