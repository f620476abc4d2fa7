package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
)

// recorded returns a recording that begins at a time.
func recorded(t *testing.T, start time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	s := recording.NewStream(&b)
	if err := s.Add("note.txt", []byte("note")); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(recording.Manifest{Schema: recording.Schema, Start: start, End: start.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRuns(t *testing.T) {
	store, err := runs.Open(t.TempDir(), runs.Options{Most: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := httptest.NewServer(RunsHandler(store, NewPlan(store, sampling.Usual, time.Now), nil, func() time.Time { return now }))
	defer s.Close()
	call := func(method, path string, body io.Reader, want int, into any) []byte {
		t.Helper()
		r, err := http.NewRequest(method, s.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != want {
			t.Errorf("%s %s: %d, want %d: %s", method, path, answer.StatusCode, want, data)
		}
		if into != nil {
			if err := json.Unmarshal(data, into); err != nil {
				t.Errorf("%s: %v", data, err)
			}
		}
		return data
	}
	data := recorded(t, now.Add(-time.Hour))
	var first, again api.Recording
	call("POST", api.RunsPath+"?service=cart&version=v2&instance=h1", bytes.NewReader(data), http.StatusCreated, &first)
	call("POST", api.RunsPath+"?service=cart", bytes.NewReader(data), http.StatusOK, &again)
	if first.ID != again.ID || again.Version != "v2" || again.Instance != "h1" || again.Duration != time.Second {
		t.Errorf("sent again: %.12s, version %q, instance %q, for %v, want %.12s, v2, h1, for 1s",
			again.ID, again.Version, again.Instance, again.Duration, first.ID)
	}
	if got := call("GET", api.RunsPath+"/"+first.ID, nil, http.StatusOK, nil); !bytes.Equal(got, data) {
		t.Errorf("%d bytes came back of %d", len(got), len(data))
	}
	call("HEAD", api.RunsPath+"/"+first.ID, nil, http.StatusOK, nil)
	for path, n := range map[string]int{"": 1, "?service=cart": 1, "?service=shop": 0, "?version=v2&from=now-2h": 1, "?from=now-30m": 0, "?until=now-2h": 0} {
		var list api.Recordings
		if call("GET", api.RunsPath+path, nil, http.StatusOK, &list); len(list.Runs) != n || list.Runs == nil {
			t.Errorf("%s: %d runs, want %d", path, len(list.Runs), n)
		}
	}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "", "no recording", http.StatusUnprocessableEntity},
		{"POST", "", strings.Repeat("x", 2<<20), http.StatusRequestEntityTooLarge},
		{"POST", "?service=%1b", string(recorded(t, now)), http.StatusUnprocessableEntity},
		{"GET", "?from=yesterday", "", http.StatusBadRequest},
		{"GET", "?limit=0", "", http.StatusBadRequest},
		{"GET", "/" + strings.Repeat("0", 64), "", http.StatusNotFound},
		{"GET", "/..%2f..%2fetc%2fpasswd", "", http.StatusNotFound},
		{"DELETE", "/" + first.ID, "", http.StatusMethodNotAllowed},
	} {
		call(c.method, api.RunsPath+c.path, strings.NewReader(c.body), c.want, nil)
	}
}

// TestManyUploads holds that there is a bound, and that who is beyond it hears so.
func TestManyUploads(t *testing.T) {
	store, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	h := &runsHandler{store: store, now: time.Now, slots: make(chan struct{}, 1)}
	slow, w := io.Pipe()
	arrived := make(chan struct{})
	var wg sync.WaitGroup
	first := httptest.NewRecorder()
	wg.Go(func() {
		r := httptest.NewRequest("POST", api.RunsPath, io.MultiReader(readerFunc(func([]byte) (int, error) {
			close(arrived)
			return 0, io.EOF
		}), slow))
		h.take(first, r)
	})
	<-arrived
	second := httptest.NewRecorder()
	h.take(second, httptest.NewRequest("POST", api.RunsPath, strings.NewReader("")))
	if second.Code != http.StatusTooManyRequests || second.Header().Get("Retry-After") == "" {
		t.Errorf("the second: %d", second.Code)
	}
	w.CloseWithError(io.ErrUnexpectedEOF)
	wg.Wait()
	if first.Code != http.StatusBadRequest {
		t.Errorf("one that breaks off: %d %s", first.Code, first.Body)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
