package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// TestDiscover has settings that find a target while the server runs, and others that end
// the first ones' search.
func TestDiscover(t *testing.T) {
	scraped := make(chan string, 100)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scraped <- r.URL.Path
		w.WriteHeader(http.StatusNotFound)
	}))
	defer target.Close()
	found := make(chan struct{}) // closed when there is a target
	targets := func(path string) func() ([]scrape.Target, error) {
		return func() ([]scrape.Target, error) {
			select {
			case <-found:
				return []scrape.Target{{URL: target.URL + path, Profiles: []string{"goroutines"}}}, nil
			default:
				return nil, nil
			}
		}
	}
	ended := make(chan struct{})
	said := new(screen)
	url := startedWith(t, new(storetest.Reference), Options{
		Log: slog.New(slog.NewTextHandler(said, nil)),
		Settings: Settings{Targets: targets("/first"), Discover: func(ctx context.Context, changed func(error)) {
			defer close(ended)
			changed(errors.New("the list is away"))
			close(found)
			changed(nil)
			<-ctx.Done()
			changed(nil) // which hurts nobody
		}},
		Load: func() (Settings, error) { return Settings{Targets: targets("/second")}, nil },
	})
	if path := <-scraped; path != "/first/goroutine" {
		t.Error(path)
	}
	if !strings.Contains(said.String(), "the list is away") {
		t.Errorf("the log: %s", said)
	}
	if a, body := do(t, http.DefaultClient, "POST", url+"/-/reload", "", "", nil); a.StatusCode != 200 {
		t.Fatal(body)
	}
	<-ended
	if path := <-scraped; path != "/second/goroutine" {
		t.Error(path)
	}
}
