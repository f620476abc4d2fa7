package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
)

// TestUploads holds what each request of an upload is answered with.
func TestUploads(t *testing.T) {
	store, err := runs.Open(t.TempDir(), runs.Options{Most: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	h := RunsHandler(store, NewPlan(store, sampling.Usual, time.Now), nil, time.Now)
	data := recorded(t, time.Now())
	hash := sha256.Sum256(data)
	path, total := api.UploadsPath+hex.EncodeToString(hash[:]), len(data)
	for _, c := range []struct {
		what, method, path, tenant string
		offset, length, kind       string
		body                       []byte
		want                       int
		at, complete               string
	}{
		{"nothing yet", "HEAD", path, "a", "", "", "", nil, 204, "0", "?0"},
		{"the first piece", "PATCH", path, "a", "0", strconv.Itoa(total), api.PieceType, data[:10], 204, "10", "?0"},
		{"how far it is", "HEAD", path, "a", "", "", "", nil, 204, "10", "?0"},
		{"another tenant sees nothing", "HEAD", path, "b", "", "", "", nil, 204, "0", "?0"},
		{"nor goes on with it", "PATCH", path, "b", "10", strconv.Itoa(total), api.PieceType, data[10:], 409, "0", "?0"},
		{"another offset", "PATCH", path, "a", "9", strconv.Itoa(total), api.PieceType, data[9:], 409, "10", "?0"},
		{"no offset", "PATCH", path, "a", "", strconv.Itoa(total), api.PieceType, data[10:], 400, "", ""},
		{"a wrong offset", "PATCH", path, "a", "-1", strconv.Itoa(total), api.PieceType, data[10:], 400, "", ""},
		{"no length", "PATCH", path, "a", "10", "", api.PieceType, data[10:], 400, "", ""},
		{"another type", "PATCH", path, "a", "10", strconv.Itoa(total), "text/plain", data[10:], 415, "", ""},
		{"no hash", "PATCH", api.UploadsPath + "x", "a", "0", strconv.Itoa(total), api.PieceType, data, 400, "", ""},
		{"too long", "PATCH", path, "a", "10", "1048577", api.PieceType, data[10:], 413, "", ""},
		{"no recording", "PATCH", api.UploadsPath + "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "a", "0", "1", api.PieceType, []byte("x"), 422, "", ""},
		{"another hash", "PATCH", api.UploadsPath + strings.Repeat("0", 64), "a", "0", "1", api.PieceType, []byte("x"), 422, "", ""},
		{"another way", "POST", path, "a", "10", strconv.Itoa(total), api.PieceType, data[10:], 405, "", ""},
		{"the rest", "PATCH", path + "?service=cart&why=w", "a", "10", strconv.Itoa(total), api.PieceType, data[10:], 201, strconv.Itoa(total), "?1"},
		{"it is whole", "HEAD", path, "a", "", "", "", nil, 204, strconv.Itoa(total), "?1"},
		{"once more", "PATCH", path, "a", strconv.Itoa(total), strconv.Itoa(total), api.PieceType, nil, 200, strconv.Itoa(total), "?1"},
	} {
		r, w := httptest.NewRequest(c.method, c.path, bytes.NewReader(c.body)), httptest.NewRecorder()
		r.Header.Set("X-Scope-OrgID", c.tenant)
		for header, value := range map[string]string{api.OffsetHeader: c.offset, api.LengthHeader: c.length, "Content-Type": c.kind} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		h.ServeHTTP(w, r)
		if w.Code != c.want || w.Header().Get(api.OffsetHeader) != c.at || w.Header().Get(api.CompleteHeader) != c.complete {
			t.Errorf("%s: %d at %q, complete %q, want %d at %q, %q: %s", c.what, w.Code, w.Header().Get(api.OffsetHeader), w.Header().Get(api.CompleteHeader), c.want, c.at, c.complete, w.Body)
		}
	}
	if list, _ := store.List(runs.Filter{Tenant: "a"}, 10); len(list) != 1 || list[0].Service != "cart" || list[0].Why != "w" {
		t.Errorf("kept %+v, want one of cart, why w", list)
	}
}

// A connection that breaks off leaves what came, and a second sender waits for the first.
func TestUploadBreaksOff(t *testing.T) {
	store, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	h := RunsHandler(store, NewPlan(store, sampling.Usual, time.Now), nil, time.Now)
	data := recorded(t, time.Now())
	hash := sha256.Sum256(data)
	path := api.UploadsPath + hex.EncodeToString(hash[:])
	send := func(body io.Reader) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("PATCH", path, body), httptest.NewRecorder()
		r.Header.Set(api.OffsetHeader, "0")
		r.Header.Set(api.LengthHeader, strconv.Itoa(len(data)))
		r.Header.Set("Content-Type", api.PieceType)
		h.ServeHTTP(w, r)
		return w
	}
	in, out := io.Pipe()
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- send(in) }()
	if _, err := out.Write(data[:7]); err != nil {
		t.Fatal(err)
	}
	if w := send(bytes.NewReader(data)); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("the second: %d %s", w.Code, w.Body)
	}
	out.CloseWithError(io.ErrUnexpectedEOF)
	if w := <-first; w.Code != http.StatusBadRequest {
		t.Errorf("the first: %d %s", w.Code, w.Body)
	}
	if w := send(bytes.NewReader(data)); w.Code != http.StatusConflict || w.Header().Get(api.OffsetHeader) != "7" {
		t.Errorf("%d at %s", w.Code, w.Header().Get(api.OffsetHeader))
	}
}

// TestPatience holds that who sends a byte a minute has a slot for half a minute, and who sends a
// large recording over a slow network for a quarter of an hour.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		sent       int64
		ago, wants time.Duration // after its begin; and until the next must have come
	}{
		{0, 0, uploadGrace}, {1, 29 * time.Second, time.Second}, {1, time.Minute, -29 * time.Second},
		{64 * uploadPace, 10 * time.Second, readTime}, {64 * uploadPace, 90 * time.Second, 4 * time.Second},
		{200 << 20, 14*time.Minute + 50*time.Second, 10 * time.Second},
	} {
		p := &patient{begin: time.Now().Add(-c.ago), n: c.sent}
		if got := time.Until(p.due()); got > c.wants+time.Second || got < c.wants-5*time.Second {
			t.Errorf("after %v and %d bytes: %v are left, want %v", c.ago, c.sent, got, c.wants)
		}
	}
}
