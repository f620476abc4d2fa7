package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A fakeAgent speaks the agent's protocol: what lasts ends with its time or
// with stop, and is whole then.
type fakeAgent struct {
	trace, cpu []byte
	stop       chan struct{}
	once       sync.Once
	described  func() // is called when it has said what it is
}

func (a *fakeAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := filepath.Base(r.URL.Path)
	if strings.HasSuffix(r.URL.Path, "/") {
		fmt.Fprintln(w, agentGreet)
		return
	}
	lasts := func(b []byte) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush() // it has begun
		select {
		case <-a.stop:
		case <-r.Context().Done():
			return
		}
		w.Write(b)
	}
	switch name {
	case "trace":
		lasts(a.trace)
	case "profile":
		lasts(a.cpu)
	case "metrics":
		lasts([]byte(metricsText))
	case "stop":
		a.once.Do(func() { close(a.stop) })
	case "about":
		defer a.described()
		json.NewEncoder(w).Encode(recording.Manifest{Procs: 3, Rates: &recording.Rates{BlockNS: 10, Mutex: 5, MemBytes: 1}})
	case "cmdline":
		io.WriteString(w, "not this one")
	case "block", "mutex", "allocs":
		http.Error(w, "the "+name+" profile is already being recorded", http.StatusConflict)
	case "heap", "goroutine", "threadcreate":
		pprof.Handler(name).ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// An interrupt makes the agent end what it records, and nothing is lost.
func TestRecordAgentInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	agent := &fakeAgent{trace: sampleTrace(), cpu: cpuProfile(t), stop: make(chan struct{}), described: cancel} // everything is under way then
	mux := http.NewServeMux()
	mux.Handle("/debug/gowhy/", agent)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	s := httptest.NewServer(mux)
	defer s.Close()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(ctx, Target{URL: s.URL}, Options{Out: out, Duration: time.Minute, unwatched: time.Millisecond})
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v; want a recording", res, err)
	}
	for _, m := range []string{recording.TraceMember, recording.CPUMember, recording.MetricsMember, recording.HeapEndMember, recording.GoroutineStartMember} {
		if why := refused(res, m); why != "" || !slices.ContainsFunc(res.Members, func(x recording.Member) bool { return x.Name == m }) {
			t.Errorf("%s is refused or not a member: %q, want it recorded", m, why)
		}
	}
	if i := slices.IndexFunc(res.Refused, func(r artifact.Refusal) bool { return r.Member == recording.BlockMember }); i < 0 || !strings.Contains(res.Refused[i].How, "wait") {
		t.Errorf("refused %+v, want %s, with help that says to wait", res.Refused, recording.BlockMember)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if man := rec.Manifest; man.Procs != 3 || man.Rates == nil || man.Rates.Mutex != 5 || !strings.HasSuffix(man.URL, agentPath) {
		t.Errorf("manifest %+v, want 3 Ps, every 5th of the mutexes and the agent's address", man)
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.MetricsLog) || !m.Has(model.Trace) {
		t.Error("not what was recorded")
	}
}

// A profile is had in pieces when it is long, and is one in the recording.
func TestPieces(t *testing.T) {
	const pieces = 3
	stop, cancel := context.WithCancel(t.Context())
	var lengths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lengths = append(lengths, r.URL.Query().Get("d")); len(lengths) == pieces {
			defer cancel()
		}
		d, _ := time.ParseDuration(r.URL.Query().Get("d"))
		time.Sleep(d) // it is the length of the answer that is looked at
		w.Write(cpuProfile(t))
	}))
	defer s.Close()
	w, err := recording.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fetch{recorder: &recorder{w: w, clock: newWall()}, at: &endpoint{client: s.Client(), base: s.URL + "/", agent: true}, firstPiece: 5 * time.Millisecond, patience: fetchSlack}
	if err := f.pieces(&windowRequest{stop: stop, ctx: t.Context()}, "cpu", recording.CPUMember); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(w.Path(recording.CPUMember))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := profile.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	var samples int64
	for _, s := range p.Sample {
		samples += s.Value[0]
	}
	if samples != 4*pieces || p.DurationNanos != int64(2*time.Second)*pieces || !slices.Equal(lengths, []string{"5ms", "5ms", "5ms"}) {
		t.Errorf("%d samples in %v, pieces of %q; want %d in %v, 5ms each", samples, time.Duration(p.DurationNanos), lengths, 4*pieces, 2*time.Second*pieces)
	}
}

// However long it was recorded, no more than a quarter of it is lost, and no more than 8 seconds.
func TestNextPiece(t *testing.T) {
	for had, want := range map[time.Duration]time.Duration{0: time.Second, 3 * time.Second: time.Second, 6 * time.Second: 2 * time.Second, time.Hour: 8 * time.Second} {
		if got := nextPiece(firstPiece, had); got != want {
			t.Errorf("nextPiece(%v) = %v, want %v", had, got, want)
		}
	}
}

// Profiles that count since the program's start become what they counted
// meanwhile; one that nobody switched on is refused, not empty.
func TestSince(t *testing.T) {
	read := func(b []byte) *profile.Profile {
		p, err := profile.ParseData(b)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	f := &fetch{recorder: &recorder{clock: newWall()}, snapshotTimes: map[string]time.Time{"allocs": begin},
		before: map[string]*profile.Profile{"allocs": read(heapProfile(t)), "block": {}, "mutex": read(cpuProfile(t))}}
	d, err := f.since("allocs", read(heapProfile(t)))
	if err != nil || len(d.SampleType) != 2 || d.TimeNanos != begin.UnixNano() || d.DurationNanos <= 0 {
		t.Fatalf("since(allocs) = %v, %v; want 2 types, from its begin on", d, err)
	}
	for _, s := range d.Sample {
		if s.Value[0] < 0 {
			t.Errorf("values %v, want none below 0", s.Value)
		}
	}
	if _, err := f.since("block", &profile.Profile{}); !errors.Is(err, errRateOff) {
		t.Error(err)
	}
	if d, err = f.since("mutex", read(cpuProfile(t))); err != nil || len(d.Sample) != 0 {
		t.Errorf("nothing was added: %v, %v", d, err)
	}
	if _, err := f.since("none", read(cpuProfile(t))); err == nil {
		t.Error("a difference to nothing")
	}
}

func TestRecordTraceLimit(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), cpuProfile(t)))
	defer s.Close()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	limit := int64(len(sampleTrace()) / 2)
	res, err := Run(t.Context(), Target{URL: s.URL}, Options{Out: out, Duration: 300 * time.Millisecond, TraceLimit: limit,
		Only: []string{"trace", "cpu"}, unwatched: time.Millisecond})
	if err != nil || !strings.Contains(refused(res, recording.TraceMember), "reached its limit") || len(res.Members) != 2 || res.Members[0].Size != limit {
		t.Fatalf("Run() = %+v, %v; want a trace of %d bytes, which is the limit, and one more member", res, err, limit)
	}
}

func TestRecordSources(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), cpuProfile(t)))
	defer s.Close()
	for _, tt := range []struct {
		only, without, want []string
	}{
		{only: []string{"heap"}, want: []string{recording.HeapStartMember, recording.HeapEndMember}},
		{only: []string{"trace", "cpu", "build"}, without: []string{"trace"}, want: []string{recording.CPUMember, recording.BuildMember}},
	} {
		out := filepath.Join(t.TempDir(), "run.gowhy")
		res, err := Run(t.Context(), Target{URL: s.URL}, Options{Out: out, Duration: time.Millisecond, Only: tt.only, Without: tt.without})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range res.Members {
			if m.Name != recording.HeapCourseMember { // which is there if two collections came meanwhile
				got = append(got, m.Name)
			}
		}
		if !slices.Equal(got, tt.want) || len(res.Refused) > 0 {
			t.Errorf("%q, refused %+v; want %q", got, res.Refused, tt.want)
		}
	}
	res, err := Run(t.Context(), Target{URL: s.URL}, Options{Out: filepath.Join(t.TempDir(), "run.gowhy"), Duration: time.Millisecond, Only: []string{"cpu", "wall"}})
	if err != nil || !strings.Contains(refused(res, recording.WallMember), "the program answers") || len(res.Members) != 1 {
		t.Errorf("Run() = %+v, %v; want a CPU profile, and why there is no other", res, err)
	}
	_, err = Run(t.Context(), Target{URL: s.URL}, Options{Only: []string{"heaps"}})
	if p := (*problem.Error)(nil); !errors.As(err, &p) || p.Kind != problem.Misuse {
		t.Error(err)
	}
}

// Answers that are no evidence, each with words of its own.
func TestRecordStatus(t *testing.T) {
	for code, want := range map[int]string{http.StatusUnauthorized: "is not open to us", http.StatusForbidden: "is not open to us", http.StatusBadGateway: "cannot reach"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }))
		_, _, err := record(t, t.Context(), Target{URL: s.URL})
		if p := (*problem.Error)(nil); !errors.As(err, &p) || p.Kind != problem.Absence || !strings.Contains(p.What, want) || p.Hint == "" {
			t.Errorf("status %d: error %v, want an absence with %q and a hint", code, err, want)
		}
		s.Close()
	}
	for text, how := range map[string]string{
		"profile duration exceeds server's WriteTimeout":          "WriteTimeout",
		"Could not enable tracing: tracing is already enabled":    "wait",
		"Could not enable CPU profiling: something quite unheard": "",
	} {
		if r := explain(&statusError{http.StatusInternalServerError, text}); !strings.Contains(r.Why, text) || !strings.Contains(r.How, how) || how == "" && r.How != "" {
			t.Errorf("explain() = %+v, want %q and how: %q", r, text, how)
		}
	}
}

// What the URL's user and password open is asked with them, and they are not
// in the recording; neither is a token of the query, which is sent along.
func TestRecordSecrets(t *testing.T) {
	mux := ready(sampleTrace(), cpuProfile(t))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != "me" || p != "hush" || r.URL.Query().Get("token") != "hush2" {
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	defer s.Close()
	out, res, err := record(t, t.Context(), Target{URL: strings.Replace(s.URL, "http://", "http://me:hush@", 1) + "?token=hush2"})
	if err != nil || !res.Written || refused(res, recording.CPUMember) != "" {
		t.Fatalf("Run() = %+v, %v; want a recording with the CPU profile", res, err)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if text, _ := json.Marshal(rec.Manifest); strings.Contains(string(text), "hush") {
		t.Errorf("manifest %s, want no secrets", text)
	}
}

// The runtime's lines go into the recording, everything else where it went.
func TestRecordGodebug(t *testing.T) {
	argv := program(t, "collect")
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	var stdout, stderr bytes.Buffer
	out := filepath.Join(t.TempDir(), "run.gowhy")
	var res *Result
	var m *model.Model
	err := attempt.Repeat(t, func() error { // two threads of the runtime may write into each other's lines
		stdout.Reset()
		stderr.Reset()
		var err error
		if res, err = Run(t.Context(), Target{Command: argv}, Options{Out: out, Stdout: &stdout, Stderr: &stderr, OutputLogs: true}); err != nil || res.ExitCode != 0 {
			t.Fatalf("Run() = %+v, %v; want exit code 0", res, err)
		}
		if s := stderr.String(); s != "prompt> " && !strings.HasPrefix(s, "prompt> gc ") && !strings.HasPrefix(s, "prompt> SCHED ") {
			// The first line of the runtime begins in the middle of the program's.
			return fmt.Errorf("standard error %q, want the prompt and then lines of the runtime only", s)
		}
		m = load(t, evidence.Options{}, out)
		if !m.Has(model.GCTrace) || m.GCLog[len(m.GCLog)-1].Cycle < 2 {
			return fmt.Errorf("collections %+v, want 2 or more", m.GCLog)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "GODEBUG asyncpreemptoff=1,gctrace=1,schedtrace=1000\n"; stdout.String() != want {
		t.Errorf("standard output %q, want %q", &stdout, want)
	}
	if here, _ := os.Getwd(); !slices.Equal(m.Run.Command, argv) || m.Run.Dir != here || !slices.Contains(m.Run.Env, "GODEBUG=asyncpreemptoff=1") {
		t.Errorf("command %q in %q, environment %q, want %q in %q, GODEBUG=asyncpreemptoff=1",
			m.Run.Command, m.Run.Dir, m.Run.Env, argv, here)
	}
	if !slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == recording.StdoutMember }) {
		t.Errorf("members %+v, want %s", res.Members, recording.StdoutMember)
	}
	stdout.Reset()
	if _, err = Run(t.Context(), Target{Command: argv}, Options{Out: out, NoGodebug: true, Stdout: &stdout}); err != nil || stdout.String() != "GODEBUG asyncpreemptoff=1\n" {
		t.Errorf("standard output %q, %v; want GODEBUG asyncpreemptoff=1", &stdout, err)
	}
}

// A program runs elsewhere, and is named from there.
func TestRecordElsewhere(t *testing.T) {
	argv := program(t, "collect")
	out, dir := filepath.Join(t.TempDir(), "run.gowhy"), filepath.Dir(argv[0])
	argv[0] = "./" + filepath.Base(argv[0])
	res, err := Run(t.Context(), Target{Command: argv}, Options{Out: out, Dir: dir, Env: []string{"GOGC=73"}, Stdout: io.Discard})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("Run() = %+v, %v; want exit code 0", res, err)
	}
	m := load(t, evidence.Options{}, out)
	if m.Run.Dir != dir || !slices.Equal(m.Run.Command, argv) || !slices.Contains(m.Run.Env, "GOGC=73") || m.Build == nil {
		t.Errorf("run %+v, built from %+v; want %q in %s with GOGC=73, and a build", m.Run, m.Build, argv, dir)
	}
}

// Nothing that people wrote is left by --redact, and no number is missing.
func TestRedact(t *testing.T) {
	mux := ready(sampleTrace(), cpuProfile(t))
	s := httptest.NewServer(mux)
	defer s.Close()
	secret := filepath.Join(t.TempDir(), "load.txt")
	if err := os.WriteFile(secret, []byte("Running 1s test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(t.Context(), Target{URL: s.URL}, Options{Out: out, Duration: 300 * time.Millisecond, Redact: true, Load: secret, unwatched: time.Millisecond})
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v; want a recording", res, err)
	}
	// sampleTrace has a trace.Log.
	if why := refused(res, recording.TraceMember); !strings.Contains(why, "trace.Log") {
		t.Errorf("the trace: %q, want trace.Log", why)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if man := rec.Manifest; !man.Redacted || man.Command != nil || man.Dir != "" || man.Env != nil {
		t.Errorf("manifest %+v, want a redacted one without command, directory and environment", man)
	}
	m := load(t, evidence.Options{}, out)
	var total int64
	for _, s := range m.CPU.Samples {
		if total += s.Values[1]; len(s.Labels) > 0 {
			t.Errorf("labels %v, want none", s.Labels)
		}
	}
	if total != 4e7 {
		t.Errorf("%d ns of CPU, want 40 ms", total)
	}
}

// A trace without log lines is kept.
func TestHasLogs(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	trace.Stop()
	dir := files(t, map[string][]byte{"without": b.Bytes(), "with": sampleTrace(), "none": []byte("x")})
	for name, want := range map[string]bool{"without": false, "with": true} {
		if got, err := hasLogs(filepath.Join(dir, name)); got != want || err != nil {
			t.Errorf("hasLogs(%s) = %v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := hasLogs(filepath.Join(dir, "none")); err == nil {
		t.Error("no trace, no error")
	}
}

func TestRecordLoad(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), cpuProfile(t)))
	defer s.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "result") }))
	defer page.Close()
	for from, want := range map[string]string{page.URL: "", filepath.Join(t.TempDir(), "none"): "no such file"} {
		out := filepath.Join(t.TempDir(), "run.gowhy")
		res, err := Run(t.Context(), Target{URL: s.URL}, Options{Out: out, Duration: time.Millisecond, Only: []string{"cpu"}, Load: from})
		if why := refused(res, recording.LoadMember); err != nil || !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("load from %s: %+v, %v; want %q", from, res, err, want)
		}
	}
}

// A process that dies while it is recorded still gives a recording.
func TestRecordDies(t *testing.T) {
	argv := program(t, "pprof")
	cmd := exec.Command(argv[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) // when the recording did not get so far
	ended := make(chan error, 1)
	out := filepath.Join(t.TempDir(), "run.gowhy")
	o := Options{Out: out, Duration: time.Minute, unwatched: time.Millisecond, Only: []string{"proc", "kernel", "trace"}}
	o.Progress = func(left time.Duration, seen Seen) {
		if left > 0 && seen.Bytes > 0 && cmd.ProcessState == nil {
			cmd.Process.Kill()
			ended <- cmd.Wait()
		}
	}
	res, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, o)
	if err != nil || !res.Written || res.Duration > 30*time.Second {
		t.Fatalf("Run() = %+v, %v; want a recording of at most 30s", res, err)
	}
	<-ended
	if m := load(t, evidence.Options{}, out); !m.Has(model.ProcFS) {
		t.Error("nothing is known of it")
	}
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, o); err == nil || !strings.Contains(err.Error(), "no process") {
		t.Error(err)
	}
}

// As nobody: less is recorded, and it is said.
func TestRecordAsNobody(t *testing.T) {
	if os.Getenv(nobodyEnv) != "" {
		nobody(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "gowhy-nobody-") // t.TempDir is under a directory of root's alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	const id = 65534
	binary := filepath.Join(dir, "program")
	if err := errors.Join(os.WriteFile(binary, text, 0o755), os.Chown(dir, id, id), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^TestRecordAsNobody$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), nobodyEnv+"="+fmt.Sprint(os.Getpid()), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = asUser(id)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v, want nil\n%s", err, out)
	}
}

const nobodyEnv = "GOWHY_TEST_NOBODY"

func nobody(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(serveEnv, "collect")
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(t.Context(), Target{Command: []string{self}}, Options{Out: out})
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v; want a recording", res, err)
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.ProcFS) || !m.Has(model.GCTrace) || !m.Has(model.BuildInfo) {
		t.Errorf("process %v, collections %v, build %v, want all of them; refused %+v",
			m.Has(model.ProcFS), m.Has(model.GCTrace), m.Has(model.BuildInfo), res.Refused)
	}
	for _, r := range res.Refused {
		if r.Why == "" {
			t.Errorf("%s is refused for %q, want a reason", r.Member, r.Why)
		}
	}
	// Of root's process there is next to nothing, and no failure.
	var pid int
	fmt.Sscan(os.Getenv(nobodyEnv), &pid)
	res, err = Run(t.Context(), Target{PID: pid}, Options{Out: out, Duration: 50 * time.Millisecond, unwatched: time.Millisecond})
	if p := (*problem.Error)(nil); err != nil && !errors.As(err, &p) || res == nil || len(res.Refused) == 0 {
		t.Errorf("Run() of root's process = %+v, %v; want refusals and at most a problem", res, err)
	}
}
