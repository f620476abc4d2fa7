package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:noinline
func napFirst() { time.Sleep(20 * time.Millisecond) }

//go:noinline
func napSecond() { time.Sleep(20 * time.Millisecond) }

// recordedView returns a run of this test: one goroutine naps in one function, then in another.
func recordedView(t *testing.T) *View {
	t.Helper()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Skip("tracing is on already:", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		napFirst()
		napSecond()
	}()
	<-done
	trace.Stop()
	tr, err := exectrace.NewReaderAt(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	b := &timeline.Builder{}
	if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool { b.Add(p); return true }); err != nil {
		t.Fatal(err)
	}
	v := &View{Model: (&model.Model{}).Frozen(), Timeline: b.Timeline(tr, nil)}
	t.Cleanup(v.Timeline.Close)
	return v
}

// The flame graph of a window has what was in it, and nothing that came before or after.
func TestFlameOfWindow(t *testing.T) {
	v := recordedView(t)
	nap := func(fn string) timeline.Hit {
		f, err := timeline.ParseFilter("stack:" + fn + " state:waiting")
		if err != nil {
			t.Fatal(err)
		}
		h, err := v.Timeline.Search(t.Context(), f, 0, v.Timeline.Length(), 10)
		if err != nil || h.Pending || len(h.Hits) == 0 {
			t.Fatalf("Search(%s) = %d hits, pending %v, %v, want some, false", fn, len(h.Hits), h.Pending, err)
		}
		return h.Hits[0]
	}
	for _, c := range []struct{ in, out string }{{"napFirst", "napSecond"}, {"napSecond", "napFirst"}} {
		h := nap(c.in)
		query := fmt.Sprintf("kind=other&from=%d&to=%d", h.From, h.To)
		a, err := v.flame(asked(query))
		if err != nil {
			t.Fatal(err)
		}
		f := a.(*Flame)
		names := strings.Join(f.Names, " ")
		if f.Kind != "other" || !strings.Contains(names, c.in) || strings.Contains(names, c.out) {
			t.Errorf("%s: kind %s with %s; want %s and not %s", query, f.Kind, names, c.in, c.out)
		}
		if i := slices.IndexFunc(f.Names, func(n string) bool { return strings.HasSuffix(n, c.in) }); i >= 0 {
			sum := f.Sum[slices.Index(f.Func, int32(i))]
			if d := time.Duration(sum); d < (h.To-h.From)*9/10 || d > h.To-h.From {
				t.Errorf("%s has %v of its nap of %v", c.in, d, h.To-h.From)
			}
		}
	}
	// A bare word finds functions that no goroutine starts with.
	bare, err := timeline.ParseFilter("napSecond -id:0")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := v.Timeline.Search(t.Context(), bare, 0, v.Timeline.Length(), 10); err != nil || len(h.Hits) == 0 {
		t.Errorf("Search(napSecond) = %+v, %v; want stretches with it on the stack", h, err)
	}
	for query, status := range map[string]int{"from=5&to=1": http.StatusBadRequest, "from=0&to=9&base=1": http.StatusBadRequest} {
		if _, err := v.flame(asked(query)); statusOf(err) != status {
			t.Errorf("%s: %v, want status %d", query, err, status)
		}
	}
}

func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	_, status := explain(err)
	return status
}

// The lines of a function have what their stacks cost; the text is that of the file,
// as far as it is there, and a file that is not Go's is never read.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	text := "package a\n\nfunc Work() {\n\tx := make([]byte, n)\n\tuse(x)\n}\n\nfunc other() {}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &model.Model{CPU: &model.Profile{Types: cpuTypes}, Escapes: []model.Escaping{{File: "./a.go", Line: 4, What: "make([]byte, n)"}}}
	add := func(file string, fn string, value int64, lines ...int) {
		var frames []model.Frame
		for _, l := range lines {
			frames = append(frames, model.Frame{Func: fn, File: file, Line: l})
		}
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: m.Stacks.Add(frames), Values: []int64{1, value}})
	}
	add(file, "a.Work", 7, 4)
	add(file, "a.Work", 5, 5, 4, 4) // it calls itself: a line counts once
	add(filepath.Join(dir, "gone.go"), "a.Gone", 3, 12)
	add(filepath.Join(dir, "far.go"), "a.Far", 2, 1, 1<<30) // of a hostile profile
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(secret, "a.Secret", 1, 1)
	v := &View{Model: m.Frozen()}
	ask := func(fn string) (*SourceText, error) {
		a, err := v.source(asked("kind=cpu&fn=" + fn))
		if err != nil {
			return nil, err
		}
		return a.(*SourceText), nil
	}
	s, err := ask("a.Work")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range s.Lines {
		got = append(got, fmt.Sprintf("%d %d/%d %q %v", l.Number, l.Self, l.Sum, l.Text, l.Escapes))
	}
	want := []string{`3 0/0 "func Work() {" []`, `4 7/12 "\tx := make([]byte, n)" [make([]byte, n)]`, `5 5/5 "\tuse(x)" []`, `6 0/0 "}" []`}
	if !slices.Equal(got, want) || s.Total != 18 || s.Path != file {
		t.Errorf("source = %s of %d in %s, want %s of 18 in %s", strings.Join(got, "\n"), s.Total, s.Path, strings.Join(want, "\n"), file)
	}
	for _, fn := range []string{"a.Gone", "a.Secret"} {
		if s, err := ask(fn); err != nil || s.Missing == "" || len(s.Lines) != 1 || s.Lines[0].Text != "" {
			t.Errorf("source of %s = %+v, %v; want its line without text, and why", fn, s, err)
		}
	}
	if s, err := ask("a.Far"); err != nil || len(s.Lines) != 2 || s.Lines[1].Number != 1<<30 {
		t.Errorf("source of a.Far = %+v, %v; want its two lines", s, err)
	}
	if _, err := ask("a.Nobody"); !errors.As(err, new(*problem.Error)) {
		t.Errorf("source of a.Nobody: %v", err)
	}
}
