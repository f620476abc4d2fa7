package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(serveEnv); addr != "" {
		serve(addr) // this process is the program that a test records
		return
	}
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// programs is the directory of the programs of testdata, which are built once for all tests.
var programs = filepath.Join(os.TempDir(), fmt.Sprintf("gowhy-record-%d", os.Getpid()))

// serveEnv makes the test binary a server: "pprof" has the handlers of
// net/http/pprof with answers that are ready at once, "plain" has none,
// "exit" ends at once with code 7, "exec" executes itself anew when its input says so and "stdin" waits for the end
// of that, "collect" makes
// garbage collections beside its own output, "recorder" records a shell.
const serveEnv = "GOWHY_TEST_SERVE"

func serve(kind string) {
	switch kind {
	case "exit":
		os.Exit(7)
	case "collect":
		fmt.Fprint(os.Stderr, "prompt> ")
		for range 5 {
			runtime.GC()
		}
		fmt.Println("GODEBUG", os.Getenv("GODEBUG"))
		return
	case "exec":
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		os.Setenv(serveEnv, "stdin")
		fmt.Fprintln(os.Stderr, syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
		os.Exit(1)
	case "stdin":
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		return
	case "recorder":
		_, err := Run(context.Background(), Target{Command: []string{"sh", "-c", "echo $$ > pid; exec sleep 1000"}}, Options{Out: "run.gowhy"})
		fmt.Fprintln(os.Stderr, err)
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	if kind == "pprof" {
		mux = ready(sampleTrace(), nil)
	}
	http.Serve(ln, mux)
}

// ready is net/http/pprof without its waiting.
func ready(trace, cpu []byte) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, _ *http.Request) { w.Write(trace) })
	mux.HandleFunc("/debug/pprof/profile", func(w http.ResponseWriter, _ *http.Request) {
		if cpu == nil {
			http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
			return
		}
		w.Write(cpu)
	})
	mux.HandleFunc("/debug/pprof/allocs", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>log in</html>") })
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	return mux
}

// record records a target for no longer than answers need that are ready.
func record(t *testing.T, ctx context.Context, target Target) (string, *Result, error) {
	t.Helper()
	return recordLong(t, ctx, target, 300*time.Millisecond)
}

func recordLong(t *testing.T, ctx context.Context, target Target, d time.Duration) (string, *Result, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(ctx, target, Options{Out: out, Duration: d, Startup: 20 * time.Second, unwatched: time.Millisecond})
	if left, _ := filepath.Glob(out + ".*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	return out, res, err
}

func refused(res *Result, member string) string {
	for _, r := range res.Refused {
		if r.Member == member {
			return r.Why
		}
	}
	return ""
}

func TestRecordURL(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), cpuProfile(t)))
	defer s.Close()
	out, res, err := record(t, t.Context(), Target{URL: s.URL})
	if err != nil || !res.Written || res.ExitCode != 0 {
		t.Fatalf("Run() = %+v, %v; want a recording and exit code 0", res, err)
	}
	if why := refused(res, recording.AllocsMember); !strings.Contains(why, "web page") {
		t.Errorf("a login page instead of a profile: %q", why)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if !slices.Equal(rec.Manifest.Command, os.Args) || rec.Manifest.URL != s.URL+"/debug/pprof/" {
		t.Errorf("manifest %+v, want the command %q and the address %s", rec.Manifest, os.Args, s.URL+"/debug/pprof/")
	}
	m := load(t, evidence.Options{}, out)
	// Enough to run it once more: the server is this process.
	if here, _ := os.Getwd(); !slices.Equal(m.Run.Command, os.Args) || m.Run.Dir != here || m.Run.Recording != out || m.Run.URL != rec.Manifest.URL {
		t.Errorf("run %+v, want this command, its directory, %s and %s", m.Run, out, rec.Manifest.URL)
	}
	// The server is this very process: what is seen from outside comes too.
	if !m.Has(model.Trace) || !m.Has(model.CPU) || !m.Has(model.LiveHeap) || !m.Has(model.ProcFS) || !m.Has(model.BuildInfo) {
		t.Error("not what was recorded")
	}
	if rec.Manifest.PID != os.Getpid() || rec.Manifest.Cost == nil || rec.Manifest.Cost.RecorderCPU <= 0 || len(rec.Manifest.Clock) != 2 {
		t.Errorf("manifest %+v, want this process, what recording cost and 2 readings of the clock", rec.Manifest)
	}
	if !slices.ContainsFunc(m.Run.Coverage.Notes, func(n string) bool { return strings.Contains(n, "allocs") }) {
		t.Errorf("what was refused is not told: %q", m.Run.Coverage.Notes)
	}
}

// The handlers of the standard library, with their real second.
func TestRecordNetHTTPPprof(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/admin/pprof/profile", pprof.Profile)
	mux.HandleFunc("/admin/pprof/trace", pprof.Trace)
	mux.Handle("/admin/pprof/allocs", pprof.Handler("allocs"))
	s := httptest.NewServer(mux)
	defer s.Close()
	out, res, err := recordLong(t, t.Context(), Target{URL: s.URL + "/admin/pprof"}, time.Second)
	if err != nil || refused(res, recording.TraceMember)+refused(res, recording.CPUMember)+refused(res, recording.AllocsMember) != "" {
		t.Fatalf("Run() = %+v, %v; want the trace, the CPU profile and the allocations", res, err)
	}
	if why := refused(res, recording.BlockMember); !strings.Contains(why, "does not offer") {
		t.Errorf("a handler that is not there: %q", why)
	}
	m := load(t, evidence.Options{}, out)
	if !m.Has(model.Trace) || !m.Has(model.CPU) || !m.Has(model.Heap) || m.Run.Duration < 900*time.Millisecond {
		t.Errorf("run %+v, want a trace, a CPU profile and a heap, over 900ms or more", m.Run)
	}
}

func TestRecordKeepsWhatItCan(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), nil))
	defer s.Close()
	out, res, err := record(t, t.Context(), Target{URL: s.URL})
	if err != nil || !res.Written || !strings.Contains(refused(res, recording.CPUMember), "already in use") {
		t.Fatalf("Run() = %+v, %v; want a recording without the CPU profile, which is in use", res, err)
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.Trace) || m.Has(model.CPU) {
		t.Error("not what was recorded")
	}
}

// An interrupt ends the recording; the trace is kept as far as it came.
func TestRecordInterrupted(t *testing.T) {
	part := sampleTrace()
	part = part[:len(part)*3/4]
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		w.Write(part)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "elsewhere") })
	s := httptest.NewServer(mux)
	defer s.Close()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil { // until all of it has arrived
			written, _ := filepath.Glob(out + ".partial-*/" + recording.TraceMember)
			if len(written) == 1 {
				if info, err := os.Stat(written[0]); err == nil && info.Size() == int64(len(part)) {
					cancel()
				}
			}
			runtime.Gosched()
		}
	}()
	res, err := Run(ctx, Target{URL: s.URL}, Options{Out: out, Duration: time.Minute})
	cancel()
	if err != nil || !res.Written || refused(res, recording.CPUMember) == "" || refused(res, recording.TraceMember) != "" {
		t.Fatalf("Run() = %+v, %v; want the part of the trace and no CPU profile", res, err)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	i := slices.IndexFunc(rec.Members, func(m recording.Member) bool { return m.Name == recording.TraceMember })
	if i < 0 || rec.Members[i].Size != int64(len(part)) {
		t.Errorf("members %+v, want a trace of %d bytes", rec.Members, len(part))
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.Trace) {
		t.Error("half a trace is not read")
	}
}

func TestRecordProblems(t *testing.T) {
	none := httptest.NewServer(http.NotFoundHandler())
	defer none.Close()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello", r.URL.Path) }))
	defer echo.Close()
	away := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	defer away.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	for url, want := range map[string]string{
		none.URL:     "no profiling handlers",
		echo.URL:     "no profiling handlers",
		away.URL:     "redirects to 192.0.2.1",
		closed.URL:   "cannot reach",
		"ftp://host": "not an http URL",
		"http://":    "not an http URL",
	} {
		out, res, err := record(t, t.Context(), Target{URL: url})
		var p *problem.Error
		if !errors.As(err, &p) || !strings.Contains(p.What, want) || p.Hint == "" {
			t.Errorf("%s: %+v, %v; want %q and a hint", url, res, err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a recording of nothing", url)
		}
	}
	_, _, err := record(t, t.Context(), Target{Command: []string{"./no-such-program"}})
	if err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Error(err)
	}
	_, _, err = record(t, t.Context(), Target{Command: []string{"go", "test", "./...", "-run", "a b"}})
	var p *problem.Error
	if !errors.As(err, &p) || !strings.Contains(p.Hint, "-exec") || !strings.HasSuffix(p.Hint, "./... -run 'a b'") {
		t.Error(err)
	}
}

// What was typed almost right is put right in the hint.
func TestRecordURLHints(t *testing.T) {
	s := httptest.NewServer(ready(sampleTrace(), cpuProfile(t)))
	defer s.Close()
	secure := httptest.NewTLSServer(ready(nil, nil))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	plain, err := net.Listen("tcp", "127.0.0.1:0") // says in its own way that it speaks no TLS, as servers of other languages do
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go func() {
		for conn, err := plain.Accept(); err == nil; conn, err = plain.Accept() {
			_, _ = io.WriteString(conn, "<!DOCTYPE HTML>\n")
			_ = conn.Close()
		}
	}()
	for url, want := range map[string]string{
		"https://" + plain.Addr().String(): "gowhy record --url http://" + plain.Addr().String(),
		s.URL + "/api":                     "gowhy record --url " + s.URL,
		host + "/api":                      "gowhy record --url " + s.URL,
		"https://" + host:                  "gowhy record --url " + s.URL,
		strings.Replace(secure.URL, "https", "http", 1): "gowhy record --url " + secure.URL + "/debug/pprof/",
		secure.URL:    "SSL_CERT_FILE=the-authority.pem gowhy record --url " + secure.URL,
		"localhost:1": "gowhy list   # which programs run here, and at which ports they listen",
	} {
		_, _, err := record(t, t.Context(), Target{URL: url})
		if p := (*problem.Error)(nil); !errors.As(err, &p) || p.Hint != want {
			t.Errorf("recording of %s: %+v; want the hint %q", url, p, want)
		}
	}
}

// Of a command that starts a Go program, that one is recorded.
func TestRecordThroughShell(t *testing.T) {
	argv := program(t, "pprof")
	out, res, err := record(t, t.Context(), Target{Command: []string{"sh", "-c", argv[0] + "; exit 3"}})
	if err != nil || !res.Written || res.ExitCode != 0 {
		t.Fatalf("Run() = %+v, %v; want a recording and exit code 0", res, err)
	}
	m := load(t, evidence.Options{}, out)
	if m.Run.Go == "" || !m.Has(model.BuildInfo) || !m.Has(model.Heap) {
		t.Errorf("Go %q, build %v, heap %v, want all of them; refused %+v",
			m.Run.Go, m.Has(model.BuildInfo), m.Has(model.Heap), res.Refused)
	}
	res, err = Run(t.Context(), Target{Command: []string{"sh", "-c", "true; exit 3"}}, Options{Out: out})
	if err != nil || res.ExitCode != 3 || !strings.Contains(refused(res, artifact.EndpointMember), "sh is no Go program, and started none") {
		t.Errorf("Run() = %+v, %v; want exit code 3, and that sh started no Go program", res, err)
	}
	res, err = Run(t.Context(), Target{Command: []string{"go", "version"}}, Options{Out: out})
	if err != nil || !strings.Contains(refused(res, artifact.EndpointMember), "go started no program but Go's own tools") {
		t.Errorf("Run(go version) = %+v, %v; want that go started none but Go's tools", res, err)
	}
	res, err = Run(t.Context(), Target{Command: []string{"gofmt", "record_test.go"}}, Options{Out: out, Stdout: io.Discard})
	if err != nil || !strings.Contains(refused(res, artifact.EndpointMember), "opened no port") {
		t.Errorf("Run(gofmt) = %+v, %v; want gofmt itself, which has no port", res, err)
	}
}

// A program that a terminal has interrupted together with us may end in peace,
// and its exit code is its own.
func TestRecordForeground(t *testing.T) {
	for _, tt := range []struct {
		foreground bool
		sleep      string
		code       int
	}{{true, "1", 7}, {false, "10", 0}} { // the second is ended long before, however late
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		res, err := Run(ctx, Target{Command: []string{"sh", "-c", "trap 'exit 9' INT; sleep " + tt.sleep + "; exit 7"}},
			Options{Out: filepath.Join(t.TempDir(), "run.gowhy"), Foreground: tt.foreground, Only: []string{"proc"}})
		if err != nil || res.ExitCode != tt.code {
			t.Errorf("foreground %v: %+v, %v; want exit code %d", tt.foreground, res, err, tt.code)
		}
	}
}

// A program that ends has answers that end with it; that is no fault of them.
func TestPiecesEnd(t *testing.T) {
	at := func(gone, begun bool, err error) string {
		var why string
		synctest.Test(t, func(t *testing.T) {
			stop, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if gone {
				time.AfterFunc(time.Second, func() { cancel(errProgramGone) })
			}
			f := &fetch{recorder: &recorder{}, at: &endpoint{agent: true}}
			f.endsEarly(stop, recording.CPUMember, begun, err)
			for _, r := range f.refused {
				why += r.Why + "; " + r.How
			}
		})
		return why
	}
	if why := at(true, true, fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)); !strings.HasPrefix(why, "the program ended while it was recorded") || !strings.Contains(why, "agent.Finish()") {
		t.Errorf("a trace that is cut: %q, want that the program ended, and agent.Finish()", why)
	}
	if why := at(true, false, io.EOF); why != "" {
		t.Errorf("a program that ended between two pieces: %q, want nothing", why)
	}
	if why := at(true, true, &statusError{http.StatusConflict, "the CPU profile: the program is ending"}); why != "" {
		t.Errorf("a program that is ending: %q, want nothing", why)
	}
	if why := at(false, true, &statusError{http.StatusConflict, "the CPU profile is already being recorded"}); !strings.HasPrefix(why, "it ends early") || !strings.Contains(why, "wait") {
		t.Errorf("a profile that another records: %q, want that it ends early and to wait", why)
	}
}

func TestParseURL(t *testing.T) {
	for in, want := range map[string][3]string{
		":6060":                                {"http://localhost:6060/debug/pprof/", "http://localhost:6060/debug/gowhy/", ""},
		"localhost:6060":                       {"http://localhost:6060/debug/pprof/", "http://localhost:6060/debug/gowhy/", ""},
		"http://h:1/":                          {"http://h:1/debug/pprof/", "http://h:1/debug/gowhy/", ""},
		"https://h/x/":                         {"https://h/x/debug/pprof/", "https://h/x/debug/gowhy/", ""},
		"http://h/debug/pprof":                 {"http://h/debug/pprof/", "http://h/debug/gowhy/", ""},
		"http://h/a/pprof/":                    {"http://h/a/pprof/", "http://h/a/gowhy/", ""},
		"http://h/a/gowhy/record?d=10s":        {"", "http://h/a/gowhy/", ""},
		"http://h/debug/pprof/trace?seconds=5": {"http://h/debug/pprof/", "http://h/debug/gowhy/", ""},
		"http://user:pw@h/debug/pprof/profile?seconds=3#x": {"http://user:pw@h/debug/pprof/", "http://user:pw@h/debug/gowhy/", ""},
		"http://h/debug/pprof/?token=a%26b&debug=1":        {"http://h/debug/pprof/", "http://h/debug/gowhy/", "token=a%26b"},
	} {
		pprof, agent, query, err := parseURL(in)
		if got := [3]string{pprof, agent, query.Encode()}; got != want || err != nil {
			t.Errorf("parseURL(%s) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// program starts this test binary as a program that is not called like a test.
func program(t *testing.T, kind string) []string {
	t.Helper()
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip("ports are found through Linux's /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv(serveEnv, kind)
	return []string{path}
}

func TestRecordCommand(t *testing.T) {
	argv := program(t, "pprof")
	out, res, err := record(t, t.Context(), Target{Command: argv})
	if err != nil || !res.Written || res.ExitCode != 0 {
		t.Fatalf("Run() = %+v, %v; want a recording and exit code 0", res, err)
	}
	rec, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if rec.Manifest.Go != runtime.Version() || !slices.Equal(rec.Manifest.Command, argv) {
		t.Errorf("manifest %+v, want %s and the command %q", rec.Manifest, runtime.Version(), argv)
	}
}

// A program that cannot be asked is still seen from outside, to its end.
func TestRecordCommandWithoutEndpoint(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(t.Context(), Target{Command: program(t, "exit")}, Options{Out: out})
	if err != nil || !res.Written || res.ExitCode != 7 {
		t.Fatalf("Run() = %+v, %v; want a recording and exit code 7", res, err)
	}
	if why := refused(res, "endpoint"); !strings.Contains(why, "opened no port") {
		t.Errorf("the endpoint is refused for %q, want opened no port", why)
	}
	if m := load(t, evidence.Options{}, out); !m.Run.Ended || !m.Run.Untold || !slices.ContainsFunc(m.Run.Coverage.Notes, func(n string) bool { return strings.Contains(n, "exit status 7") }) {
		t.Errorf("ended %v, untold %v, notes %q, want a program that ended by itself with exit status 7, and told nothing", m.Run.Ended, m.Run.Untold, m.Run.Coverage.Notes)
	}
	argv := program(t, "plain")
	for _, startup := range []time.Duration{600 * time.Millisecond, 3 * time.Second, 15 * time.Second} { // longer where a busy machine did not start it in time
		res, err = Run(t.Context(), Target{Command: argv}, Options{Out: out, Duration: 500 * time.Millisecond, Startup: startup})
		if err != nil || !strings.Contains(refused(res, "endpoint"), "opened no port") {
			break
		}
	}
	if err != nil || res.ExitCode != 0 || !strings.Contains(refused(res, "endpoint"), "serves no /debug/pprof/ at 127.0.0.1:") {
		t.Errorf("Run() = %+v, %v; want exit code 0 and no /debug/pprof/ at 127.0.0.1", res, err)
	}
	m := load(t, evidence.Options{}, out)
	if !m.Has(model.ProcFS) || !m.Has(model.BuildInfo) || m.Has(model.Trace) {
		t.Error("not what was recorded")
	}
	if m.Run.Ended {
		t.Error("it ended by itself, want that gowhy ended it")
	}
	if _, _, ok := m.Process.Window(); !ok {
		t.Errorf("process %+v, want a window", m.Process)
	}
}

func TestRecordTestBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !testBinary(self) {
		t.Skipf("%s is not named like a test binary", self)
	}
	out, res, err := record(t, t.Context(), Target{Command: []string{self, "-test.run=^TestSniff$"}})
	if err != nil || res.ExitCode != 0 || len(res.Refused) > 0 {
		t.Fatalf("Run() = %+v, %v; want exit code 0 and nothing refused", res, err)
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.Trace) || !m.Has(model.Heap) {
		t.Error("not what was recorded")
	}
	// What the user asked the test for stays where it was asked for.
	theirs := filepath.Join(t.TempDir(), "their.trace")
	out, res, err = record(t, t.Context(), Target{Command: []string{self, "-test.run=^TestNoSuch$", "-test.trace", theirs}})
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v; want a recording", res, err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
	if m := load(t, evidence.Options{}, out); !m.Has(model.Trace) {
		t.Error("the user's trace is not in the recording")
	}
	_, res, err = record(t, t.Context(), Target{Command: []string{self, "-test.nosuchflag"}})
	if res == nil || res.ExitCode != 2 {
		t.Errorf("Run() = %+v, %v; want exit code 2", res, err)
	}
}

func TestFlagValue(t *testing.T) {
	for _, tt := range []struct {
		args, want string
		ok         bool
	}{
		{"-test.trace=a", "a", true},
		{"--test.trace a", "a", true},
		{"-test.v -test.trace a -test.trace=b", "b", true},
		{"-test.tracer=a", "", false},
		{"-x -- -test.trace=a", "", false},
	} {
		if got, ok := flagValue(strings.Fields(tt.args), "test.trace"); got != tt.want || ok != tt.ok {
			t.Errorf("flagValue(%s) = %q, %v; want %q, %v", tt.args, got, ok, tt.want, tt.ok)
		}
	}
}
