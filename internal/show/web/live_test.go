package web

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/watch/live"
)

// watched returns a server that watches this process, whose frames the test asks for.
func watched(t *testing.T) (h *live.History, address string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs are watched on Linux")
	}
	w, err := live.New(live.Options{PIDs: []int{os.Getpid()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	h = live.Remember(w)
	s, err := New(Options{Live: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	on := httptest.NewServer(s)
	t.Cleanup(on.Close)
	for range 3 {
		refresh(t, h)
	}
	return h, on.URL + s.prefix
}

func refresh(t *testing.T, h *live.History) {
	t.Helper()
	if _, err := h.Refresh(); err != nil {
		t.Fatal(err)
	}
}

// events follows, from the event on that it knows.
func events(t *testing.T, address, last string) (next func() (*LiveNews, string)) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"api/live?pid="+strconv.Itoa(os.Getpid()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	if got := a.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("events are %q", got)
	}
	lines := bufio.NewScanner(a.Body)
	lines.Buffer(nil, 16<<20)
	return func() (*LiveNews, string) {
		var id string
		for lines.Scan() {
			if word, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = word
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				n := &LiveNews{}
				if err := json.Unmarshal([]byte(text), n); err != nil {
					t.Fatal(err)
				}
				return n, id
			}
		}
		t.Fatal("the events end: ", lines.Err())
		return nil, ""
	}
}

// A page that follows is told all there is, then what comes; one that lost the
// connection is told what it missed, and nothing twice.
func TestFollow(t *testing.T) {
	h, address := watched(t)
	next := events(t, address, "")
	first, id := next()
	p := first.Program
	if !first.Whole || p == nil || p.PID != os.Getpid() || !strings.HasPrefix(p.Go, "go1.") || len(first.Programs) != 1 || len(first.Points) != 2 || first.Machine.CPUs < 1 {
		t.Fatalf("the first event: whole %v, program %+v of %d, %d points, %d CPUs, want true, PID %d of 1, 2, some",
			first.Whole, p, len(first.Programs), len(first.Points), first.Machine.CPUs, os.Getpid())
	}
	refresh(t, h)
	second, _ := next()
	if x := second.Points[0]; x.PSS <= 0 || x.PSS > 2*x.RSS || x.Swap < 0 { // its own program may be weighed
		t.Errorf("of %d bytes resident %d are the program's share, %d swapped out", x.RSS, x.PSS, x.Swap)
	}
	if second.Whole || len(second.Points) != 1 || second.Points[0].AtMS < first.Points[1].AtMS || second.GroupsFrom > len(first.Groups) {
		t.Errorf("the second event: whole %v, points %+v, groups from %d, "+
			"want false, one at %d ms or later, at most %d",
			second.Whole, second.Points, second.GroupsFrom, first.Points[1].AtMS, len(first.Groups))
	}
	refresh(t, h)
	refresh(t, h)
	again, _ := events(t, address, id)()
	if again.Whole || len(again.Points) != 3 || again.GroupsFrom != len(first.Groups) {
		t.Errorf("after a lost connection there are %d points, whole %v; want the three since the first event", len(again.Points), again.Whole)
	}
	if strange, _ := events(t, address, "1.2.x.4")(); !strange.Whole || len(strange.Points) != 5 {
		t.Errorf("with a number that is none there are %d points, whole %v; want all", len(strange.Points), strange.Whole)
	}
	points, counted := first.Points[1], 0
	for i := 1; i < len(points.Groups); i += 2 {
		counted += points.Groups[i]
	}
	if all := points.Running + points.Runnable + points.Syscall + points.Blocked; points.Blocked >= 0 && (counted == 0 || counted > all) {
		t.Errorf("%d goroutines are in groups, of %d", counted, all)
	}
}

// What is asked of no piece, or wrongly, is answered in words.
func TestLiveAnswers(t *testing.T) {
	_, address := watched(t)
	pid := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{http.MethodGet, "api/live/flame?pid=" + pid, http.StatusOK, `"pieces":0`},
		{http.MethodGet, "api/live/flame?pid=" + pid + "&from=5&to=4", http.StatusBadRequest, "has no length"},
		{http.MethodGet, "api/live/flame?pid=x", http.StatusBadRequest, "pid"},
		{http.MethodGet, "api/live/memory?pid=" + pid, http.StatusOK, `"rows":[]`},
		{http.MethodGet, "api/live/memory?pid=" + pid + "&from=5&to=4", http.StatusBadRequest, "has no length"},
		{http.MethodPost, "api/live/keep?pid=" + pid, http.StatusNotFound, "nothing was recorded in this window"},
		{http.MethodGet, "api/live/keep?pid=" + pid, http.StatusMethodNotAllowed, ""},
		{http.MethodPost, "api/live/trace?pid=" + pid, http.StatusOK, "next ten seconds"},
		{http.MethodPost, "api/live", http.StatusMethodNotAllowed, ""},
		{http.MethodHead, "api/live", http.StatusOK, ""},
		{http.MethodGet, "api/live/none", http.StatusNotFound, ""},
		{http.MethodGet, "api/session", http.StatusOK, `"live":true`},
	} {
		r, err := http.NewRequest(c.method, address+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s %s: %d %s, want %d and %q", c.method, c.path, a.StatusCode, text, c.status, c.says)
		}
	}
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, s.prefix+"api/live", nil)
	r.Host = "127.0.0.1"
	s.ServeHTTP(rec, r)
	if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), "gowhy view --live") {
		t.Errorf("where nothing is watched: %d %s", rec.Code, rec.Body)
	}
}

// So many pages may follow, and no more; one that goes makes room.
func TestFollowers(t *testing.T) {
	_, address := watched(t)
	var open []*http.Response
	for range maxFollowers {
		a, err := http.Get(address + "api/live")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, a)
	}
	defer func() {
		for _, a := range open {
			a.Body.Close()
		}
	}()
	status := func() int {
		a, err := http.Get(address + "api/live")
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode
	}
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("one more is answered %d, want %d", got, http.StatusServiceUnavailable)
	}
	open[0].Body.Close()
	open = slices.Delete(open, 0, 1)
	for deadline := time.Now().Add(20 * time.Second); status() != http.StatusOK; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a page that went makes no room")
		}
	}
}
