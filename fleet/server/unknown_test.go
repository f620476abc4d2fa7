package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
)

// onlyRecorded has a recording of a service that sends no profiles.
func onlyRecorded(t *testing.T, now time.Time) *runs.Store {
	t.Helper()
	recordings, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recordings.Close() })
	if _, _, err := recordings.Add(bytes.NewReader(recorded(t, now)), api.Recording{Service: "batch"}); err != nil {
		t.Fatal(err)
	}
	return recordings
}

// refused returns what a handler says of a request and what to do, or "" where it answers.
func refused(t *testing.T, h func(*httptest.ResponseRecorder), code int) (what, hint string) {
	t.Helper()
	w := httptest.NewRecorder()
	h(w)
	var said struct{ Error, Hint string }
	if err := json.Unmarshal(w.Body.Bytes(), &said); w.Code != code || code != 200 && err != nil {
		t.Errorf("%d %.200s, want %d", w.Code, w.Body, code)
	}
	return said.Error, said.Hint
}

// TestUnknown holds that every question about a service that nobody has ends alike, and
// that one about a service that was silent, or only recorded, does not.
func TestUnknown(t *testing.T) {
	r, now := exporting(t)
	recordings := onlyRecorded(t, now)
	ask := func(r store.Reader, tenant, question string, code int) (what, hint string) {
		t.Helper()
		return refused(t, func(w *httptest.ResponseRecorder) {
			q := httptest.NewRequest("GET", "/api/v1/"+question, nil)
			q.Header.Set("X-Scope-OrgID", tenant)
			Handler(r, func() time.Time { return now }, noPrices, recordings).ServeHTTP(w, q)
		}, code)
	}
	for _, question := range []string{"top?", "flame?", "versions?", "findings?", "folded?", "pprof?", "otlp?", "otlp.json?", "evidence?", "diff?base_version=v1&version=v2&", "flame?version=v2&base_version=v1&"} {
		if what, hint := ask(r, "", question+"from=now-2h&service=shpo", 404); what != `there is no service "shpo"` || hint != "did you mean shop?" {
			t.Errorf("%s: %q, hint %q", question, what, hint)
		}
		if what, hint := ask(r, "", question+"service=payment", 404); what != `there is no service "payment"` || hint != "gowhy fleet services --from now-24h" {
			t.Errorf("%s: %q, hint %q", question, what, hint)
		}
	}
	for _, question := range []string{"top?", "flame?", "versions?", "findings?"} {
		for _, service := range []string{"", "shop", "batch"} { // in a time when nobody sent anything
			ask(r, "", question+"from=now-1m&service="+service, 200)
		}
		// Where a part is missing nobody knows which services there are.
		ask(namesOf{Reader: r, missing: store.Missing{"shard 2"}}, "", question+"service=payment", 200)
	}
	if _, hint := ask(r, "b", "top?service=shpo", 404); strings.Contains(hint, "shop") {
		t.Errorf("another tenant's service is named: %q", hint)
	}
	if what, hint := ask(r, "", "top?service="+strings.Repeat("shop", 500), 404); len(what)+len(hint) > 300 {
		t.Errorf("%d bytes of an error", len(what)+len(hint))
	}
	if what, _ := ask(namesOf{Reader: r, err: errors.New("open /secret: denied")}, "", "top?service=payment", 500); strings.Contains(what, "secret") {
		t.Error(what)
	}
}

// namesOf is a store that cannot say which services there are.
type namesOf struct {
	store.Reader
	missing store.Missing
	err     error
}

func (n namesOf) Values(context.Context, store.Selection, store.By) (store.Values, error) {
	return store.Values{Missing: n.missing}, n.err
}
