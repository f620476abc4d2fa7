package hostagent

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// whole returns a recording of a few bytes.
func whole(t testing.TB, at time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	w := recording.NewStream(&b)
	if err := w.Add("note.txt", []byte("note")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(recording.Manifest{Schema: recording.Schema, Start: at, End: at.Add(time.Second), Command: []string{"/srv/shop"}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A studio is a server, and an agent with a clock of its own that records for it.
type studio struct {
	*recorder
	clock time.Time
	kept  *runs.Store
	plan  *sampling.Plan
	made  []string // services, in the order of their recordings
	held  []bool
	fail  error
	away  bool
}

func newStudio(t *testing.T, o sampling.Options) *studio {
	t.Helper()
	kept, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	s := &studio{clock: noon, kept: kept}
	now := func() time.Time { return s.clock }
	s.plan = server.NewPlan(kept, o, now)
	h := server.RunsHandler(kept, s.plan, nil, now)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.away {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	other := program1()
	other.pid, other.service, other.cpu = 2, "cart", time.Hour
	first := program1()
	first.cpu = time.Hour
	a := staged(t, web.URL, &stage{all: []hostProgram{first, other}})
	a.now, a.o.RecordingShare, a.o.RecordingBytes = now, 0.01, 100<<20
	a.send.wait = func(context.Context, time.Duration) {}
	a.scan(t.Context(), noon)
	s.recorder = newRecorder(a)
	s.dir = t.TempDir()
	s.own = func() time.Duration { return 0 }
	s.free = func(string) (uint64, bool) { return 1 << 40, true }
	s.recorder.record = func(_ context.Context, p *recordable, o record.Options) (*record.Result, error) {
		if s.fail != nil {
			return &record.Result{}, s.fail
		}
		if !o.Redact {
			t.Error("command lines are in it")
		}
		if o.HolderBudget != holderBudget {
			t.Errorf("holders may take %d bytes, want %d", o.HolderBudget, holderBudget)
		}
		s.made, s.held = append(s.made, p.service), append(s.held, o.Holders == record.Looks)
		if err := os.WriteFile(o.Out, whole(t, s.clock), 0o600); err != nil {
			t.Error(err)
		}
		return &record.Result{Written: true, Duration: o.Duration}, nil
	}
	return s
}

// after has a turn some time later.
func (s *studio) after(t *testing.T, d time.Duration) {
	t.Helper()
	s.clock = s.clock.Add(d)
	s.turn(t.Context())
	if left, _ := os.ReadDir(s.dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// left returns how often a recording that was wanted was not made.
func (s *studio) left(why string) int64 {
	return s.a.count.notRecorded[slices.Index(reasons[:], why)].Load()
}

// TestRecordings has a server's plan followed, one program after the other, and within the
// budget.
func TestRecordings(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: 3 * time.Second, Most: 4})
	s.after(t, time.Minute) // the pause counts from the begin
	if w, ok := s.plan.Wish(sampling.Subject{Service: "other"}); !ok || w.Agents || len(s.made) != 0 {
		t.Errorf("after a minute Wish(other) has agents %v, %v, and %q are made, want false, true, none",
			w.Agents, ok, s.made)
	}
	s.after(t, leastPause)
	s.after(t, time.Minute)
	s.after(t, leastPause)
	s.after(t, leastPause)
	if want := []string{"shop", "cart"}; !slices.Equal(s.made, want) {
		t.Errorf("made %v, want %v", s.made, want)
	}
	list, _ := s.kept.List(runs.Filter{}, 10)
	if len(list) != 2 || list[0].Service != "cart" || list[0].Version != "v2" || list[0].Instance != "h1" || list[0].Why != "no recording yet" {
		t.Errorf("kept %+v, want two, of cart v2 on h1 first, why no recording yet", list)
	}
	if s.a.count.recordings.Load() != 2 || s.a.count.recordingErrors.Load() != 0 {
		t.Errorf("%d recordings, %d errors", s.a.count.recordings.Load(), s.a.count.recordingErrors.Load())
	}
	if w, ok := s.plan.Wish(sampling.Subject{Service: "shop"}); !ok || !w.Agents || w.Not != "" {
		t.Errorf("Wish(shop) has agents %v, not %q, %v, want true, none, true", w.Agents, w.Not, ok)
	}
	s.plan.Growing("", []sampling.Subject{{Service: "shop", Version: list[1].Version}})
	s.after(t, leastPause)
	if len(s.made) != 3 || s.made[2] != "shop" || !slices.Equal(s.held, []bool{false, false, true}) {
		t.Errorf("made %v with holders %v, want shop at the end, whose heap grows", s.made, s.held)
	}
	// A server that is away takes nothing from anybody.
	s.away = true
	s.after(t, time.Hour)
	if len(s.made) != 3 || s.a.count.recordingErrors.Load() != 1 {
		t.Errorf("made %v, %d errors", s.made, s.a.count.recordingErrors.Load())
	}
	w := httptest.NewRecorder()
	s.a.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"gowhy_agent_recordings_total 3\n", `gowhy_agent_skipped_total{what="recording",why="host"} 0` + "\n"} {
		if !strings.Contains(w.Body.String(), "\n"+line) {
			t.Errorf("no %q in\n%s", line, w.Body)
		}
	}
}

// TestLeftOut holds that each part of the budget keeps a recording from being made, and is
// counted.
func TestLeftOut(t *testing.T) {
	for why, over := range map[string]func(s *studio){
		overHost:  func(s *studio) { s.ledger.rate = 0; s.ledger.saved = -1 },
		overBytes: func(s *studio) { s.ledger.sent = []amount{{s.clock, s.ledger.daily}} },
		overDisk:  func(s *studio) { s.free = func(string) (uint64, bool) { return 1, true } },
		overProgram: func(s *studio) {
			for _, p := range *s.a.recordables.Load() {
				p.cpu = 0
			}
		},
		notRecorded: func(s *studio) {
			for _, p := range *s.a.recordables.Load() {
				s.failed[p.process] = s.clock.Add(time.Hour)
			}
		},
	} {
		s := newStudio(t, sampling.Usual)
		over(s)
		s.after(t, leastPause)
		if len(s.made) != 0 || s.left(why) != 2 {
			t.Errorf("%s: made %v, %d were left out", why, s.made, s.left(why))
		}
	}
	s := newStudio(t, sampling.Usual)
	s.a.over.Store(true) // the minute's
	s.after(t, leastPause)
	if len(s.made) != 0 || s.left(overHost) != 2 {
		t.Errorf("made %v, %d were left out", s.made, s.left(overHost))
	}
	// What is longer than one thought is not sent.
	s = newStudio(t, sampling.Usual)
	s.ledger.daily, s.ledger.mean = 100, cost{host: 1, bytes: 1}
	s.after(t, leastPause)
	if list, _ := s.kept.List(runs.Filter{}, 1); len(s.made) != 1 || len(list) != 0 || s.left(overBytes) != 1 {
		t.Errorf("made %v, kept %d, %d were left out", s.made, len(list), s.left(overBytes))
	}
}

// TestRecordingFails leaves a program alone that cannot be recorded, and gives up what the
// server does not take.
func TestRecordingFails(t *testing.T) {
	s := newStudio(t, sampling.Usual)
	s.fail = errors.New("not permitted")
	s.after(t, leastPause)
	s.fail = nil
	s.after(t, leastPause)
	s.after(t, 2*leastPause)
	if want := []string{"cart"}; !slices.Equal(s.made, want) || s.a.count.recordingErrors.Load() != 1 {
		t.Errorf("made %v, want %v; %d errors", s.made, want, s.a.count.recordingErrors.Load())
	}
	p := (*s.a.recordables.Load())[0]
	s.recorder.record = func(_ context.Context, _ *recordable, o record.Options) (*record.Result, error) {
		return &record.Result{Written: true}, os.WriteFile(o.Out, []byte("no recording"), 0o600)
	}
	s.make(t.Context(), p, &api.Order{Length: time.Hour})
	if s.a.count.recordingsRefused.Load() != 1 || s.length != mostLength {
		t.Errorf("%d refused; recorded for %v", s.a.count.recordingsRefused.Load(), s.length)
	}
	s.away = true
	s.recorder.record = func(_ context.Context, _ *recordable, o record.Options) (*record.Result, error) {
		return &record.Result{Written: true}, os.WriteFile(o.Out, whole(t, noon), 0o600)
	}
	s.make(t.Context(), p, &api.Order{})
	if s.a.count.recordingsRefused.Load() != 2 || s.length != leastLength {
		t.Errorf("%d refused; recorded for %v", s.a.count.recordingsRefused.Load(), s.length)
	}
}

// A server may name only what was offered, and can have nothing else done.
func TestChosen(t *testing.T) {
	s := newStudio(t, sampling.Usual)
	s.clock = s.clock.Add(leastPause)
	all := *s.a.recordables.Load()
	s.failed[all[0].process] = s.clock.Add(time.Hour)
	offers := s.offers(all)
	for _, o := range []api.Order{{Service: "shop", Version: "v2", Instance: "h1"}, {Service: "cart", Version: "v2"}, {Service: "cart", Version: "v3", Instance: "h1"}} {
		if p := s.choose(all, offers, &o); p != nil {
			t.Errorf("chosen(%s %s on %q) = process %d, want none", o.Service, o.Version, o.Instance, p.pid)
		}
	}
	if p := s.choose(all, offers, &api.Order{Service: "cart", Version: "v2", Instance: "h1"}); p == nil || p.pid != 2 {
		t.Errorf("chosen() of what was offered = %+v, want process 2", p)
	}
}

// A server that plans nothing is asked again later, and that is no error.
func TestUnplanned(t *testing.T) {
	s := newStudio(t, sampling.Usual)
	asked := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.NotFound(w, r)
	}))
	defer web.Close()
	to, err := client.New(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	s.a.send.to = to
	for range 3 {
		s.after(t, leastPause)
	}
	if asked != 1 || s.a.count.recordingErrors.Load() != 0 {
		t.Errorf("asked %d times, %d errors", asked, s.a.count.recordingErrors.Load())
	}
	if s.after(t, unplanned); asked != 2 {
		t.Errorf("asked %d times after an hour", asked)
	}
}

// What killed agents left goes, and nothing else.
func TestClean(t *testing.T) {
	s := newStudio(t, sampling.Usual)
	for name, age := range map[string]time.Duration{tempPrefix + "1": 3 * time.Hour, tempPrefix + "2": time.Minute, "other": 3 * time.Hour} {
		dir := filepath.Join(s.dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, noon, noon.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	s.clean()
	left, _ := os.ReadDir(s.dir)
	if len(left) != 2 || left[0].Name() != tempPrefix+"2" || left[1].Name() != "other" {
		t.Errorf("left: %v", left)
	}
}

const servingProgram = `package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"sync"
)

var mu sync.Mutex

//go:noinline
func burn(b []byte) {
	mu.Lock()
	defer mu.Unlock()
	s := sha256.Sum256(b)
	copy(b, s[:])
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("listens")
	go http.Serve(l, nil)
	for range 2 {
		go func() {
			for b := make([]byte, 1<<16); ; {
				burn(b)
			}
		}()
	}
	select {}
}
`

// TestRecordReal has an agent record a program that serves net/http/pprof, and one that
// does not, for a server that diagnoses what comes.
func TestRecordReal(t *testing.T) {
	attempt.Only(t, "it builds programs and records them for seconds")
	for name, c := range map[string]struct {
		build   func() (dir string, err error)
		serves  bool
		members []string // one of these
	}{
		"with net/http/pprof": {buildServing, true, []string{recording.TraceMember, recording.CPUMember}},
		"without":             {buildBusy, false, []string{recording.KernelMember, recording.ProcMember}},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := runs.Open(t.TempDir(), runs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer kept.Close()
			plan := server.NewPlan(kept, sampling.Options{Every: time.Hour, Length: 2 * time.Second, Most: 1}, time.Now)
			mux := http.NewServeMux()
			mux.Handle("/api/", server.RunsHandler(kept, plan, nil, time.Now))
			var got sink
			mux.Handle("/", ingest.Handler(&got, ingest.Options{}))
			web := httptest.NewServer(mux)
			defer web.Close()
			busy := started(t, c.build)
			a, err := New(Options{Server: web.URL, Budget: 1, Host: "h1"})
			if err != nil {
				t.Skipf("nothing can be collected here: %v", err)
			}
			a.host = only{a.host, busy.Process.Pid}
			a.programs.every = time.Second
			a.recorder.dir, a.recorder.every = t.TempDir(), 100*time.Millisecond
			a.recorder.ledger.pause, a.recorder.ledger.saved, a.recorder.ledger.share = 0, time.Minute, 100
			wanted := func() bool { // the kernel's view would come before the endpoint is known
				all := a.recordables.Load()
				return all != nil && len(*all) == 1 && ((*all)[0].url != "") == c.serves
			}
			wait := a.send.wait
			a.send.wait = func(ctx context.Context, d time.Duration) {
				for wait(ctx, d); ctx.Err() == nil && !wanted(); wait(ctx, d) {
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { a.Run(ctx); close(done) }()
			defer func() { stop(); <-done }()
			var run api.Recording
			for begun := time.Now(); run.Diagnosis.State != api.Done; time.Sleep(50 * time.Millisecond) {
				if list, _ := kept.List(runs.Filter{}, 10); len(list) > 0 {
					run = list[0]
				}
				if run.Diagnosis.State == api.Failed || time.Since(begun) > 5*time.Minute {
					t.Fatalf("after %v the diagnosis is %q, why %q, want %q within 5m",
						time.Since(begun), run.Diagnosis.State, run.Diagnosis.Why, api.Done)
				}
			}
			if run.Service != "busy-test" || run.Instance != "h1" || run.Why != "no recording yet" || run.Duration < time.Second {
				t.Errorf("recorded %s on %s for %v, why %q, want busy-test on h1 for 1s or more, why no recording yet",
					run.Service, run.Instance, run.Duration, run.Why)
			}
			f, _, err := kept.File("", run.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rec, err := recording.Open(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Close()
			has := false
			for _, m := range rec.Members {
				has = has || slices.Contains(c.members, m.Name)
			}
			if !has {
				t.Errorf("it has %v, none of %v", rec.Members, c.members)
			}
			l := a.recorder.ledger
			t.Logf("%d bytes; it took %v of this process and %v of the program; verdict %s, %v", run.Bytes, l.mean.host, l.spent, run.Diagnosis.Verdict, run.Diagnosis.Findings)
		})
	}
}
