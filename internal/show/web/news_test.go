package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A slowServer reads what it is told to, as far as it is told to.
type slowServer struct {
	*Server
	progress func(read, size int64)
	end      chan error
}

func newSlowServer(t *testing.T, runs ...string) *slowServer {
	slow := &slowServer{end: make(chan error)}
	slow.Server = newTestServer(t, Options{Open: func(ctx context.Context, src RunFiles, progress func(read, size int64)) (*View, error) {
		slow.progress = progress
		select {
		case err := <-slow.end:
			return sampleView(), err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	var found Found
	for _, n := range runs {
		found.Runs = append(found.Runs, RunFiles{Name: n})
	}
	slow.Open(found, nil)
	synctest.Wait()
	return slow
}

// session asks as the page does and tells how long that took.
func (s *slowServer) session(t *testing.T, since string) (Session, time.Duration) {
	t.Helper()
	began := time.Now()
	w := get(s.Server, "api/session"+since)
	var got Session
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("api/session%s: %d %s: %v; want 200 and JSON", since, w.Code, w.Body, err)
	}
	return got, time.Since(began)
}

func since(s Session) string { return fmt.Sprintf("?since=%d", s.Change) }

// Who knows all of it already is told what happens when it does.
func TestNewsWakes(t *testing.T) {
	for _, c := range []struct {
		what   string
		happen func(*slowServer)
		is     func(Session) bool
	}{
		{"a run is read", func(s *slowServer) { s.end <- nil }, func(s Session) bool { return !s.Runs[1].Loading && s.Runs[1].Verdict != "" }},
		{"a run fails", func(s *slowServer) { s.end <- errors.New("broken") }, func(s Session) bool { return s.Runs[1].Error == "broken" }},
		{"a run is named", func(s *slowServer) { s.page.add("another", nil) }, func(s Session) bool { return len(s.Runs) == 4 }},
		{"a run is dropped", func(s *slowServer) { s.page.addView(sampleView(), nil) }, func(s Session) bool { return len(s.Runs) == 4 && !s.Runs[3].Loading }},
		{"a result comes", func(s *slowServer) { s.page.addResult(Result{}) }, func(s Session) bool { return len(s.Trials) == 1 }},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSlowServer(t, "one", "two")
				known, _ := s.session(t, "")
				if c.is(known) {
					t.Fatalf("before %s the session is %+v, want it otherwise", c.what, known)
				}
				time.AfterFunc(7*time.Millisecond, func() { c.happen(s) })
				told, took := s.session(t, since(known))
				if !c.is(told) || took != 7*time.Millisecond || told.Change == known.Change {
					t.Errorf("%s: after %v change %d, %+v, want it so after 7ms, another change than %d",
						c.what, took, told.Change, told, known.Change)
				}
			})
		})
	}
}

// Nobody waits for what has happened already, and who names no change or a wrong
// one is told at once.
func TestNewsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowServer(t, "one")
		known, _ := s.session(t, "")
		s.end <- nil
		synctest.Wait()
		for _, q := range []string{since(known), "", "?since=", "?since=-1", "?since=99999999999999999999", "?since=x"} {
			if told, took := s.session(t, q); took != 0 || told.Runs[1].Loading {
				t.Errorf("session(%q) took %v, second run %+v; want an answer at once, of a run that is loaded", q, took, told.Runs[1])
			}
		}
	})
}

// Progress is told in steps, and a page that nothing happens for hears of that.
func TestNewsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowServer(t, "one")
		known, _ := s.session(t, "")
		time.AfterFunc(time.Millisecond, func() { s.progress(1, 4) })
		told, took := s.session(t, since(known))
		if told.Loading != "one 25%" || took != progressStep || told.Change != known.Change {
			t.Errorf("loading %q after %v, change %d, want one 25%% after %v, %d",
				told.Loading, took, told.Change, progressStep, known.Change)
		}
		s.progress(10001, 40000) // not a percent more
		if told, took = s.session(t, since(told)); told.Loading != "one 25%" || took != waitForNews {
			t.Errorf("loading %q after %v, want one 25%% after %v", told.Loading, took, waitForNews)
		}
	})
}

// A page that goes away is waited for no longer, nor is one when the server ends;
// and however many wait, there is room for answers.
func TestNewsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowServer(t, "one")
		known, _ := s.session(t, "")
		const many = 20
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan bool)
		for range many {
			go func() {
				do(s.Server, "GET", "api/session"+since(known), nil, func(r *http.Request) { *r = *r.WithContext(ctx) })
				gone <- true
			}()
		}
		synctest.Wait()
		began := time.Now()
		if w := get(s.Server, "api/findings?r=0"); w.Code != http.StatusOK {
			t.Errorf("api/findings while many wait for news: %d %s, want 200", w.Code, w.Body)
		}
		leave()
		for range many {
			<-gone
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v, want 0s", took)
		}
	})
}
