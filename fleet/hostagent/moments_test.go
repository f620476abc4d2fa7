package hostagent

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/server"
)

// TestMoments uploads what appears in a directory, once, and gets over a server that is
// away and a file that is no recording.
func TestMoments(t *testing.T) {
	store, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	h, pieces, away := server.RunsHandler(store, server.NewPlan(store, sampling.Options{}, time.Now), nil, time.Now), 0, true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		if r.ContentLength > 0 {
			pieces++
		}
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	dir := t.TempDir()
	put := func(name string, data []byte) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		old := noon.Add(-time.Minute)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w := recording.NewStream(&b)
	if err := w.Add("note.txt", []byte("note")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(recording.Manifest{Schema: recording.Schema, Start: noon, End: noon.Add(time.Second), Command: []string{"/srv/shop"}}); err != nil {
		t.Fatal(err)
	}
	put("a.gowhy", b.Bytes())
	put("event.partial", b.Bytes()) // is still written
	a := staged(t, s.URL, &stage{})
	a.o.Moments, a.now = dir, func() time.Time { return noon }
	m := &moments{a: a, done: map[momentFile]bool{}}
	if err := m.look(t.Context()); err == nil {
		t.Error("a server that is away is no error")
	}
	away = false
	put("b.gowhy", []byte("no recording"))
	for range 2 {
		if err := m.look(t.Context()); err != nil {
			t.Error(err)
		}
	}
	list, _ := store.List(runs.Filter{}, 10)
	if len(list) != 1 || list[0].Service != "shop" || list[0].Instance != "h1" || pieces != 2 {
		t.Errorf("kept %+v after %d pieces, want one of shop on h1 after 2", list, pieces)
	}
	if a.count.moments.Load() != 1 || a.count.momentErrors.Load() != 1 {
		t.Errorf("%d uploaded, %d refused", a.count.moments.Load(), a.count.momentErrors.Load())
	}
	// An agent that begins anew sends nothing that is there.
	again := &moments{a: a, done: map[momentFile]bool{}}
	if err := again.look(t.Context()); err != nil || pieces != 3 { // the one that is no recording
		t.Errorf("%d pieces, %v", pieces, err)
	}
	// What was written a moment ago may not be whole.
	put("c.gowhy", b.Bytes())
	if err := os.Chtimes(filepath.Join(dir, "c.gowhy"), noon, noon); err != nil {
		t.Fatal(err)
	}
	if err := m.look(t.Context()); err != nil || len(m.done) != 2 {
		t.Errorf("%d are done, %v", len(m.done), err)
	}
}
