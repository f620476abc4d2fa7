package agent

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

func server(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.DefaultServeMux)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, s *httptest.Server, path string) (code int, body []byte) {
	t.Helper()
	resp, err := s.Client().Get(s.URL + prefix + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("reading %s: %v, want nil", path, err)
	}
	return resp.StatusCode, body
}

// begin asks for something long, and returns when it is on.
func begin(t *testing.T, s *httptest.Server, path string) <-chan []byte {
	t.Helper()
	resp, err := s.Client().Get(s.URL + prefix + path)
	if err != nil {
		t.Fatal(err)
	}
	body := make(chan []byte, 1)
	go func() {
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		body <- b
	}()
	return body
}

// work makes every source have something to tell, until the test ends, and
// counts its rounds. What it does between its waits is counted in steps and not
// in time: on a machine that is starved it would else wait as often and compute
// less, and the agent would be right to ration its block profile.
func work(t *testing.T) (rounds *atomic.Int64) {
	rounds = new(atomic.Int64)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var locks [2]sync.Mutex // each for two: the runtime passes over a lock that always has somebody waiting
	c := make(chan int)
	pprof.Do(context.Background(), pprof.Labels("customer", "secret name"), func(context.Context) {
		for i := 0; i < 4; i++ {
			mu := &locks[i%2]
			wg.Add(1)
			go func() {
				defer wg.Done()
				var keep []byte
				for {
					select {
					case <-stop:
						return
					case c <- 1:
					case <-c:
					case <-time.After(time.Millisecond):
					}
					keep = append(keep[:0:0], make([]byte, 10_000)...)
					compute := func(steps int) {
						for i := 0; i < steps; i++ {
							keep[i%len(keep)]++
						}
					}
					mu.Lock()
					compute(100_000)                  // a twentieth of a millisecond
					time.Sleep(10 * time.Microsecond) // so that others wait for the lock on one processor too
					mu.Unlock()
					compute(200_000)
					rounds.Add(1)
				}
			}()
		}
	})
	t.Cleanup(func() {
		close(stop)
		wg.Wait()
	})
	return rounds
}

// during gets a source that is on for some rounds of work, however long these take.
func during(t *testing.T, s *httptest.Server, path string, rounds *atomic.Int64) (body []byte) {
	t.Helper()
	answer := begin(t, s, path)
	if strings.HasPrefix(path, "record") { // its answer begins before its sources do
		until(t, "the CPU profile, the last that it claims", func() bool { return claimed("the CPU profile") })
	}
	end := rounds.Load() + 1000 // more than a tenth of a second of CPU time
	until(t, "the work", func() bool { return rounds.Load() >= end })
	get(t, s, "stop")
	return <-answer
}

// until waits a minute at most.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited a minute for %s, want less", what)
		}
	}
}

// claimed reports whether a source is in use.
func claimed(source string) bool {
	front.mu.Lock()
	defer front.mu.Unlock()
	return !front.inUse[source].IsZero()
}

func open(t *testing.T, file []byte) (*recording.Recording, map[string][]byte) {
	t.Helper()
	rec, err := recording.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, m := range rec.Members {
		f, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content[m.Name], err = io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
	}
	return rec, content
}

var everything = []string{
	recording.TraceMember, recording.CPUMember, recording.AllocsMember, recording.HeapStartMember, recording.HeapEndMember,
	recording.BlockMember, recording.MutexMember, recording.GoroutineStartMember, recording.GoroutineEndMember,
	recording.ThreadCreateMember, recording.MetricsMember, recording.BuildMember,
}

func TestWholeRecording(t *testing.T) {
	t.Setenv("GODEBUG", "x=1")
	begun := time.Now()
	body := during(t, server(t), "record?d=1m&gc=1", work(t))
	took := time.Since(begun)
	rec, content := open(t, body)
	if rec.Cut || rec.Manifest == nil {
		t.Fatalf("cut %v, manifest %+v; want a whole one", rec.Cut, rec.Manifest)
	}
	for _, r := range rec.Manifest.Refused {
		// Who blocks and who holds locks are samples and rations, and the agent
		// says where a window had too little of them.
		if r.Member != recording.BlockMember && r.Member != recording.MutexMember {
			t.Errorf("%s is refused: %s, want it recorded", r.Member, r.Why)
		}
	}
	for _, name := range everything {
		if len(content[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	man := rec.Manifest
	if d := man.End.Sub(man.Start); d <= 0 || d > took {
		t.Errorf("the window is %v, want at most the %v that the answer took", d, took)
	}
	if man.PID != os.Getpid() || man.Go != runtime.Version() || man.Procs != runtime.GOMAXPROCS(0) ||
		!slices.Equal(man.Command, os.Args) || !slices.Contains(man.Env, "GODEBUG=x=1") {
		t.Errorf("manifest %+v, want this process, its command and GODEBUG", man)
	}
	if r := man.Rates; r == nil || r.BlockNS != defaultBlockRate || r.Mutex != defaultMutexFraction || r.MemBytes != runtime.MemProfileRate {
		t.Errorf("rates %+v, want %d ns of blocking, every %d. mutex event, %d bytes", r, defaultBlockRate, defaultMutexFraction, runtime.MemProfileRate)
	}
	if runtime.GOOS == "linux" {
		if c := man.Clock; len(c) != 2 || abs(c[1].Wall.Sub(c[0].Wall)-time.Duration(c[1].Monotonic-c[0].Monotonic)) > time.Millisecond {
			t.Errorf("clock %+v, want two readings, the same time apart by both clocks", c)
		}
		if c := man.Cost; c == nil || c.TargetCPU <= 0 || c.TargetWall <= 0 {
			t.Errorf("cost %+v, want CPU and wall time", c)
		}
	}
	for name, want := range map[string]string{
		recording.TraceMember: "go 1.", recording.BuildMember: runtime.Version(), recording.MetricsMember: `{"kind":"gowhy metrics"`,
	} {
		if !bytes.Contains(content[name][:min(len(content[name]), 100)], []byte(want)) {
			t.Errorf("%s begins with %q, want %q in it", name, content[name][:min(len(content[name]), 100)], want)
		}
	}
	for name, wants := range map[string]string{
		recording.CPUMember: "agent.work", recording.AllocsMember: "agent.work", recording.BlockMember: "agent.work",
		recording.MutexMember: "agent.work", recording.GoroutineEndMember: "secret name",
	} {
		if raw, err := unpack(content[name]); err != nil || !bytes.Contains(raw, []byte(wants)) {
			t.Errorf("%s does not name %q: %v", name, wants, err)
		}
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil || len(z.File) < len(everything) {
		t.Errorf("archive/zip: %v, want %d files or more", err, len(everything))
	}
}

func abs(d time.Duration) time.Duration { return max(d, -d) }

func TestRedacted(t *testing.T) {
	work(t)
	t.Setenv("GODEBUG", "x=1")
	_, body := get(t, server(t), "record?d=150ms&redact=1")
	rec, content := open(t, body)
	if man := rec.Manifest; man == nil || !man.Redacted || man.Command != nil || man.Env != nil ||
		!slices.Equal(man.Unredacted, []string{recording.TraceMember}) {
		t.Errorf("manifest %+v, want a redacted one: no command, no environment, only the trace is not", rec.Manifest)
	}
	profiles := 0
	for name, b := range content {
		if strings.HasSuffix(name, ".pb.gz") {
			var err error
			if b, err = unpack(b); err != nil {
				t.Errorf("unpack(%s): %v, want nil", name, err)
			}
			profiles++
		}
		if name != recording.TraceMember && (bytes.Contains(b, []byte("secret name")) || bytes.Contains(b, []byte(os.Args[1]))) {
			t.Errorf("%s tells what is private", name)
		}
	}
	if profiles < 8 {
		t.Errorf("%d profiles, want 8 or more", profiles)
	}
}

func TestBuildLines(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.1", Path: "example.com/shop", Settings: []debug.BuildSetting{
		{Key: "-ldflags", Value: "-X main.token=secret"}, {Key: "CGO_CFLAGS", Value: "-Dtoken=secret"}, {Key: "GOAMD64", Value: "v3"},
	}}
	if got, want := string(buildLines("shop", info, false)), "shop: go1.26.1\n\tpath\texample.com/shop\n"+
		"\tbuild\t-ldflags=\"-X main.token=secret\"\n\tbuild\tCGO_CFLAGS=-Dtoken=secret\n\tbuild\tGOAMD64=v3\n"; got != want {
		t.Errorf("buildLines() = %q, want %q", got, want)
	}
	if got, want := string(buildLines("program", info, true)), "program: go1.26.1\n\tpath\texample.com/shop\n\tbuild\tGOAMD64=v3\n"; got != want {
		t.Errorf("redacted %q, want %q", got, want)
	}
}

func TestClientGoesAway(t *testing.T) {
	s := server(t)
	for _, path := range []string{"record?d=1m", "trace?d=1m", "metrics?d=1m", "profile?d=1m", "block?d=1m", "mutex?d=1m"} {
		ctx, cancel := context.WithCancel(context.Background())
		req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+prefix+path, nil)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if path == "record?d=1m" {
			io.ReadFull(resp.Body, make([]byte, 1000)) // the trace has begun soon after
		}
		cancel()
		resp.Body.Close()
		front.endAllGone(t)
	}
	checkRestored(t)
}

// endAllGone waits until all windows have closed by themselves.
func (d *desk) endAllGone(t *testing.T) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		var w *window
		d.mu.Lock()
		for w = range d.windows {
		}
		d.mu.Unlock()
		if w == nil {
			return
		}
		select {
		case <-w.done:
		case <-limit:
			t.Fatal("a window stays open")
		}
	}
}

func checkRestored(t *testing.T) {
	t.Helper()
	front.mu.Lock()
	if len(front.inUse) > 0 {
		t.Errorf("still in use: %v", front.inUse)
	}
	front.mu.Unlock()
	if runtime.SetMutexProfileFraction(-1) != 0 {
		t.Error("the mutex fraction is not restored")
	}
	if blockProfiled() {
		t.Error("the block rate is not restored")
	}
	if err := trace.Start(io.Discard); err != nil {
		t.Error("the trace is still on:", err)
	} else {
		trace.Stop()
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Error("the CPU profile is still on:", err)
	} else {
		pprof.StopCPUProfile()
	}
}

func TestRatesAreRestored(t *testing.T) {
	s := server(t)
	get(t, s, "record?d=50ms")
	checkRestored(t)
}

func TestProgramsRatesStay(t *testing.T) {
	s := server(t)
	runtime.SetBlockProfileRate(100)
	defer runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(7)
	defer runtime.SetMutexProfileFraction(0)
	_, body := get(t, s, "record?d=50ms&sources=block,mutex")
	rec, _ := open(t, body)
	if r := rec.Manifest.Rates; r.BlockNS != -1 || r.Mutex != 7 {
		t.Errorf("rates %+v, want blocking unknown and every 7th mutex event", r)
	}
	if runtime.SetMutexProfileFraction(-1) != 7 || !blockProfiled() {
		t.Error("the program's rates are gone")
	}
}

func TestTwoAtOnce(t *testing.T) {
	s := server(t)
	done := begin(t, s, "record?d=1m")
	if code, body := get(t, s, "record?d=1s"); code != http.StatusConflict || !bytes.Contains(body, []byte("already being recorded")) {
		t.Errorf("a second recording: %d %s, want 409 and that one is being recorded", code, body)
	}
	// What is stopped is whole.
	if code, body := get(t, s, "stop"); code != 200 || string(body) != "1 ended\n" {
		t.Errorf("stop: %d %s, want 200 and 1 ended", code, body)
	}
	if rec, _ := open(t, <-done); rec.Cut || rec.Manifest.End.IsZero() {
		t.Errorf("a recording that was stopped: %+v, want a whole one with an end", rec.Manifest)
	}
	checkRestored(t)
}

// At the program's end nothing begins any more.
func TestEnding(t *testing.T) {
	d := &desk{inUse: map[string]time.Time{}, windows: map[*window]bool{}, ending: true}
	w := d.open(context.Background(), time.Hour)
	w.wait(nil)
	d.close(w)
	if release, err := d.claim("the CPU profile"); release != nil || !isBusy(err) {
		t.Errorf("claim() while the program ends: %v, want it busy", err)
	}
}

func TestWhatTheProgramDoesItselfIsRefused(t *testing.T) {
	s := server(t)
	if err := trace.Start(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	// Others, that of blocking for one, may have a note of their own on a busy machine.
	_, body := get(t, s, "record?d=50ms&sources=trace,cpu,heap")
	rec, content := open(t, body)
	var refused []string
	for _, r := range rec.Manifest.Refused {
		refused = append(refused, r.Member)
		if !strings.Contains(r.Why, "the program already") {
			t.Errorf("%s is refused: %s", r.Member, r.Why)
		}
	}
	if !slices.Equal(refused, []string{recording.TraceMember, recording.CPUMember}) || len(content[recording.HeapEndMember]) == 0 {
		t.Errorf("refused %q, members %v", refused, rec.Members)
	}
	if code, body := get(t, s, "trace?d=50ms"); code != http.StatusServiceUnavailable || !bytes.Contains(body, []byte("traces itself")) {
		t.Errorf("a trace beside the program's: %d %s, want 503 and that it traces itself", code, body)
	}
}

func TestSingleSources(t *testing.T) {
	rounds := work(t)
	s := server(t)
	for path, want := range map[string]string{
		"profile?d=1m": "agent.work", "allocs?d=1m&gc=1": "agent.work", "block?d=1m": "agent.work", "mutex?d=1m": "agent.work",
		"heap": "inuse_space", "goroutine": "agent.work", "threadcreate": "threadcreate",
	} {
		var body []byte
		if strings.Contains(path, "d=") {
			body = during(t, s, path, rounds)
		} else {
			_, body = get(t, s, path)
		}
		if raw, err := unpack(body); err != nil || !bytes.Contains(raw, []byte(want)) {
			t.Errorf("%s has %d bytes, %v, and not %q", path, len(raw), err, want)
		}
	}
	if code, body := get(t, s, "cmdline"); code != 200 || string(body) != strings.Join(os.Args, "\x00") {
		t.Errorf("cmdline: %d %q, want 200 and %q", code, body, os.Args)
	}
	if code, body := get(t, s, "build"); code != 200 || !bytes.Contains(body, []byte(runtime.Version())) {
		t.Errorf("build: %d %q, want 200 and %s", code, body, runtime.Version())
	}
	var man recording.Manifest
	if code, body := get(t, s, "about"); code != 200 || json.Unmarshal(body, &man) != nil || man.Schema != recording.Schema || man.PID != os.Getpid() ||
		man.Rates.BlockNS != -1 || runtime.GOOS == "linux" && (len(man.Clock) != 1 || man.Cost.TargetCPU <= 0) {
		t.Errorf("about: %d %s, want 200 and this process's manifest", code, body)
	}
	if code, body := get(t, s, ""); code != 200 || !bytes.HasPrefix(body, []byte("gowhy agent 1\n")) ||
		bytes.Contains(body, []byte("goroutineleak")) != (pprof.Lookup("goroutineleak") != nil) {
		t.Errorf("index: %d %q, want 200, the agent, and goroutineleak if this Go has it", code, body)
	}
	checkRestored(t)
}

func TestRefusedRequests(t *testing.T) {
	s := server(t)
	for path, code := range map[string]int{
		"record?d=11m": 400, "record?d=-1s": 400, "record?d=x": 400, "trace?d=25h": 400, "trace?limit=1": 400, "trace?limit=99999999GiB": 400,
		"block?blockrate=0": 400, "mutex?mutexfraction=x": 400, "record?sources=x": 400, "record?redact=x": 400, "nothing": 404,
	} {
		if got, body := get(t, s, path); got != code {
			t.Errorf("%s: %d %s, want %d", path, got, body, code)
		}
	}
	resp, err := s.Client().Post(s.URL+prefix+"record", "", nil)
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST record: %+v, %v; want 405", resp, err)
	}
	req, _ := http.NewRequest("GET", s.URL+prefix+"heap", nil)
	for site, code := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200} {
		req.Header.Set("Sec-Fetch-Site", site)
		if resp, err = s.Client().Do(req); err != nil || resp.StatusCode != code {
			t.Errorf("%s: %+v, %v; want %d", site, resp, err, code)
		}
	}
	req.Header.Del("Sec-Fetch-Site")
	t.Setenv(hostsVariable, "debug.example.com,other.example.com")
	for host, code := range map[string]int{
		"evil.example.net": 403, "evil.example.net:80": 403, "127.0.0.1.example.net": 403, "evil.localhost.example.net.": 403,
		"localhost:6060": 200, "[::1]:6060": 200, "10.0.0.7": 200, "billing:6060": 200, "billing.prod.svc.cluster.local": 200, "debug.example.com:6060": 200,
	} {
		req.Host = host
		if resp, err = s.Client().Do(req); err != nil || resp.StatusCode != code {
			t.Errorf("host %s: %+v, %v; want %d", host, resp, err, code)
		}
	}
	req.Host = ""
	for origin, code := range map[string]int{s.URL: 200, "http://evil.example.net": 403, "null": 403, "http://127.0.0.1:1": 403} {
		req.Header.Set("Origin", origin)
		if resp, err = s.Client().Do(req); err != nil || resp.StatusCode != code {
			t.Errorf("origin %s: %+v, %v; want %d", origin, resp, err, code)
		}
	}
}

// Half an answer must not look like a whole one.
func TestBrokenAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		newConn(w, r).serve(handler{f: func(c *conn, o options) error {
			c.begin(binaryType, "half")
			c.Write([]byte("half"))
			return errors.New("the rest could not be had")
		}}, options{})
	}))
	defer s.Close()
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%q came without an error", body)
	}
}

// The handlers work under any prefix and behind writers that know no flushing.
func TestOwnMux(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle(method()+"/", http.NotFoundHandler())
	mux.Handle(method()+"/internal/why/", Handler())
	w := httptest.NewRecorder()
	mux.ServeHTTP(struct{ http.ResponseWriter }{w}, httptest.NewRequest("GET", "http://localhost/internal/why/record?d=20ms&sources=heap,metrics", nil))
	if rec, content := open(t, w.Body.Bytes()); w.Code != 200 || rec.Cut || len(content[recording.MetricsMember]) == 0 {
		t.Errorf("record on its own mux: %d %+v, want 200, nothing cut, and metrics", w.Code, rec)
	}
}

func TestServersTimeoutsDoNotCount(t *testing.T) {
	s := httptest.NewUnstartedServer(http.DefaultServeMux)
	s.Config.WriteTimeout = settleTime / 2        // over before a mutex profile has begun
	s.Config.ReadTimeout = 500 * time.Millisecond // the request itself has to be read in it
	s.Start()
	defer s.Close()
	if code, body := get(t, s, "mutex?d=700ms"); code != 200 || len(body) == 0 {
		t.Errorf("a mutex profile beyond the server's timeouts: %d %s, want 200 and a profile", code, body)
	}
	code, body := get(t, s, "record?d=700ms")
	if rec, _ := open(t, body); code != 200 || rec.Cut {
		t.Errorf("a recording beyond the server's timeouts: %d %+v, want 200, nothing cut", code, rec)
	}
}

func TestTraceLimit(t *testing.T) {
	tr := &tracer{limit: 1 << 20}
	if err := tr.start(); err != nil {
		t.Fatal(err)
	}
	tr.Write(make([]byte, 1<<19)) // as if the runtime had
	select {
	case <-tr.quit:
		t.Error("it ends before its limit")
	default:
	}
	tr.Write(make([]byte, 1<<20))
	<-tr.quit
	tr.end()
	var out bytes.Buffer
	if err := tr.copyTo(&out); err != nil || out.Len() < 3<<19 || !strings.Contains(tr.endReason(), "limit of 1 MiB") {
		t.Errorf("a trace at its limit: %d bytes, %v, %q; want %d or more and the limit of 1 MiB", out.Len(), err, tr.endReason(), 3<<19)
	}
	checkRestored(t)
}

// A reader that never reads costs maxQueue and no more.
func TestSlowReader(t *testing.T) {
	tr := &tracer{limit: 1 << 40}
	if err := tr.start(); err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for i := 0; i < 40; i++ {
		tr.Write(piece)
	}
	<-tr.quit
	tr.end()
	kept := tr.queued
	if kept > maxQueue || !strings.Contains(tr.endReason(), "too slowly") {
		t.Errorf("%d bytes kept, %q; want at most %d, and that it was read too slowly", kept, tr.endReason(), maxQueue)
	}
	// What follows a gap is of no use.
	used, _ := tr.next(nil)
	if tr.Write(piece[:1]); tr.queued != kept-len(used) {
		t.Error("there is a gap in the trace")
	}
}

func TestRecordOutlivesTheTracesLimit(t *testing.T) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		for ctx := context.Background(); ; {
			select {
			case <-stop:
				return
			default:
				trace.Log(ctx, "text", strings.Repeat("x", 900))
			}
		}
	}()
	s := server(t)
	// Others, that of blocking for one, may have a note of their own on a busy machine.
	done := begin(t, s, "record?d=1m&limit=1MiB&sources=trace,cpu")
	until(t, "the CPU profile, which begins after the trace", func() bool { return claimed("the CPU profile") })
	until(t, "the end of the trace", func() bool { return !trace.IsEnabled() })
	time.Sleep(10 * time.Millisecond) // the others go on
	get(t, s, "stop")
	rec, content := open(t, <-done)
	if len(rec.Manifest.Refused) != 1 || !strings.Contains(rec.Manifest.Refused[0].Why, "limit of 1 MiB") || rec.Cut {
		t.Errorf("manifest %+v, want only the trace refused, at its limit of 1 MiB, nothing cut", rec.Manifest)
	}
	if len(content[recording.TraceMember]) < 1<<20 || len(content[recording.CPUMember]) == 0 {
		t.Errorf("members %v, %+v; want the trace up to its limit, and the CPU profile", rec.Members, rec.Manifest)
	}
}

func TestMetrics(t *testing.T) {
	s := server(t)
	resp, err := s.Client().Get(s.URL + prefix + "metrics?d=1m")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var lines []string
	for r := bufio.NewReader(resp.Body); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil {
			t.Fatalf("after %d lines: %v, want nil", len(lines), err)
		}
		if lines = append(lines, line); len(lines) == 4 {
			get(t, s, "stop") // which takes one more
		}
	}
	if resp.StatusCode != 200 || len(lines) < 5 {
		t.Fatalf("metrics: %d, %d lines; want 200 and 5 or more", resp.StatusCode, len(lines))
	}
	var head struct {
		Kind       string
		Schema     int
		Scalars    []string
		Histograms []struct {
			Name   string
			Bounds []*float64
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Kind != "gowhy metrics" || head.Schema != 1 ||
		!slices.Contains(head.Scalars, "/sched/goroutines:goroutines") {
		t.Fatalf("head of the metrics: %v %.200s, want gowhy metrics of schema 1 with goroutines", err, lines[0])
	}
	last := int64(0)
	for i, l := range lines[1:] {
		var line struct {
			T int64
			V []*float64
			H [][]uint64
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil || len(line.V) != len(head.Scalars) || line.T <= last {
			t.Fatalf("line %d: %v %.200s, want %d values, later than before", i, err, l, len(head.Scalars))
		}
		last = line.T
		if turn, end := i%histogramsEvery == 0, i == len(lines)-2; (turn || end) != (line.H != nil) {
			t.Errorf("line %d: histograms %v, want %v", i, line.H != nil, turn || end)
		}
		for j, h := range line.H {
			if len(h)+1 != len(head.Histograms[j].Bounds) {
				t.Errorf("%s: %d counts, want %d", head.Histograms[j].Name, len(h), len(head.Histograms[j].Bounds)-1)
			}
		}
	}
	if abs(time.Since(time.Unix(0, last))) > 10*time.Second {
		t.Errorf("the last sample is of %v, want about now", time.Unix(0, last))
	}
}

func TestMetricsDoNotAllocate(t *testing.T) {
	s := newSampler()
	now := time.Now()
	s.sample(now, true)
	if n := leastAllocs(func() { s.sample(now, true) }); n > 0 {
		t.Errorf("%v allocations for each sample, want 0", n)
	}
}

// leastAllocs returns the least of three counts: goroutines of the server and of the
// runtime allocate, too, and are counted.
func leastAllocs(f func()) float64 {
	least := testing.AllocsPerRun(50, f)
	for i := 0; i < 2; i++ {
		least = min(least, testing.AllocsPerRun(50, f))
	}
	return least
}

func BenchmarkMetrics(b *testing.B) {
	s := newSampler()
	now := time.Now()
	b.ReportAllocs()
	n := 0
	for i := 0; i < b.N; i++ {
		b.SetBytes(int64(len(s.sample(now, n%histogramsEvery == 0))))
		n++
	}
}

// What a wait costs while the block profile is on: two goroutines do nothing
// but hand a value to and fro.
func BenchmarkBlockRate(b *testing.B) {
	for _, rate := range []int{0, defaultBlockRate, 10 * defaultBlockRate} {
		b.Run(time.Duration(rate).String(), func(b *testing.B) {
			runtime.SetBlockProfileRate(rate)
			defer runtime.SetBlockProfileRate(0)
			there, back := make(chan int), make(chan int)
			defer close(there)
			go func() {
				for range there {
					back <- 1
				}
			}()
			for i := 0; i < b.N; i++ {
				there <- 1
				<-back
			}
		})
	}
}

// What a contended lock costs while the mutex profile is on.
func BenchmarkMutexFraction(b *testing.B) {
	for _, fraction := range []int{0, 1, defaultMutexFraction, 100} {
		b.Run(fmt.Sprint(fraction), func(b *testing.B) {
			runtime.SetMutexProfileFraction(fraction)
			defer runtime.SetMutexProfileFraction(0)
			var mu sync.Mutex
			x := 0.0
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mu.Lock()
					for i := 0; i < 20; i++ {
						x = math.Sqrt(x + 1)
					}
					mu.Unlock()
				}
			})
		})
	}
}

func BenchmarkBlockProbe(b *testing.B) {
	for i := 0; i < b.N; i++ {
		blockProfiled()
	}
}
