package hostagent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	netpprof "net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A sink is a store that the test looks into.
type sink struct {
	mu      sync.Mutex
	batches []*store.Batch
}

func (s *sink) Write(_ context.Context, b *store.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, b)
	return nil
}

// sums returns the values of a service by type.
func (s *sink) sums(service string) map[store.Type]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[store.Type]int64{}
	for _, b := range s.batches {
		for _, p := range b.Profiles {
			for _, sample := range p.Samples {
				if b.Source.Service == service {
					sums[p.Type] += sample.Value
				}
			}
		}
	}
	return sums
}

// until waits for what other goroutines do.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("%s: not in a minute", what)
}

// burnt returns a CPU profile of a function.
func burnt(function string, d time.Duration) *profile.Profile {
	f := &profile.Function{ID: 1, Name: function, Filename: "a.go"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 7}}}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		TimeNanos: noon.UnixNano(), DurationNanos: int64(10 * time.Second),
		Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{1, int64(d)}}},
	}
}

// A stage is a host of which the test says what is on it.
type stage struct {
	all    []hostProgram
	unseen int
	err    error
}

func (s *stage) list() ([]hostProgram, int, error) { return s.all, s.unseen, s.err }
func (s *stage) close()                            {}

// staged returns an agent on a stage.
func staged(t *testing.T, server string, on *stage) *Agent {
	t.Helper()
	a := &Agent{o: Options{Server: server, Budget: 1, Window: time.Second, Sample: time.Second, Hz: 49, Spool: 1 << 20, Host: "h1",
		Log: slog.New(slog.DiscardHandler)}, cpus: 1, now: time.Now, host: on}
	a.listening = func(...int) map[int][]string { return nil }
	a.sample = func(context.Context, int, time.Duration, int) (*profile.Profile, error) {
		return burnt("main.work", time.Second), nil
	}
	if err := a.ready(); err != nil {
		t.Fatal(err)
	}
	return a
}

func program1() hostProgram {
	return hostProgram{pid: 1, start: 1, read: noon, claimedIdentity: claimedIdentity{service: "shop", version: "v2", goVersion: "go1.26.1", container: "c1"}}
}

// TestAgent collects on a stage, and has what it sends taken by the server's own handler.
func TestAgent(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", netpprof.Index)
	endpoints := httptest.NewServer(mux)
	defer endpoints.Close()
	var got sink
	server := httptest.NewServer(ingest.Handler(&got, ingest.Options{}))
	defer server.Close()
	other := program1()
	other.pid, other.service = 2, "secret"
	a := staged(t, server.URL, &stage{all: []hostProgram{program1(), other}, unseen: 3})
	a.o.Window = 100 * time.Millisecond // the scrapes' too
	a.listening = func(pids ...int) map[int][]string { return map[int][]string{1: {"here"}} }
	a.probe = func(context.Context, []string, bool, map[string]bool) string { return endpoints.URL + "/debug/pprof" }
	a.sample = func(_ context.Context, pid int, _ time.Duration, _ int) (*profile.Profile, error) {
		if pid == 2 {
			return nil, errors.New("not permitted")
		}
		return burnt("main.work", time.Second), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { a.Run(ctx); close(done) }()
	want := []store.Type{store.CPU, store.Goroutines, store.InuseSpace}
	until(t, "all profiles", func() bool {
		sums := got.sums("shop")
		for _, k := range want {
			if sums[k] == 0 {
				return false
			}
		}
		return true
	})
	stop()
	<-done
	source := got.batches[0].Source
	if source.Service != "shop" || source.Version != "v2" || source.Instance != "h1" {
		t.Errorf("source of service %q, version %q, instance %q, want shop, v2, h1",
			source.Service, source.Version, source.Instance)
	}
	labels := map[string]string{}
	for _, l := range source.Labels {
		labels[l.Name] = l.Value
	}
	if wantLabels := map[string]string{"container_id": "c1", "go_version": "go1.26.1", "host": "h1", "instance": "h1", "service_version": "v2"}; !maps.Equal(labels, wantLabels) {
		t.Errorf("labels %v, want %v", labels, wantLabels)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"gowhy_agent_programs 2\n", "gowhy_agent_not_visible 3\n", "gowhy_agent_dropped_total 0\n", "gowhy_agent_budget_share 1\n"} {
		if !strings.Contains(w.Body.String(), "\n"+line) {
			t.Errorf("no %q in\n%s", line, w.Body)
		}
	}
	if a.count.refused.Load() == 0 || a.count.sent.Load() == 0 {
		t.Errorf("refused %d, sent %d", a.count.refused.Load(), a.count.sent.Load())
	}
}

// TestBudget holds that beyond the budget nothing is begun, and that this is counted.
func TestBudget(t *testing.T) {
	a := staged(t, "127.0.0.1:1", &stage{all: []hostProgram{program1()}})
	clock := noon
	a.now = func() time.Time { return clock }
	a.o.Budget, a.plan.window = 0.05, time.Minute
	if err := a.ready(); err != nil {
		t.Fatal(err)
	}
	a.plan.window = time.Minute
	begun := 0
	a.sample = func(context.Context, int, time.Duration, int) (*profile.Profile, error) {
		begun++
		return &profile.Profile{}, nil
	}
	turn := func(seconds int) {
		for range seconds {
			clock = clock.Add(time.Second)
			a.turn(t.Context())
			a.work.Wait()
		}
	}
	turn(1)
	a.programs.all()[0].cores = 1
	for range 4 {
		a.elsewhere.Add(int64(time.Minute)) // as much as a CPU has
		turn(59)
	}
	if begun != 1 || !a.pause() || a.count.skippedBudget.Load() == 0 || a.count.skippedFetch.Load() == 0 {
		t.Errorf("%d sessions, want the first; %d left out; scrapes are paused: %v", begun, a.count.skippedBudget.Load(), a.pause())
	}
	turn(120) // it costs nothing any more
	if begun < 2 || a.over.Load() {
		t.Errorf("%d sessions after it is paid back", begun)
	}
}

// A host that cannot be listed is no end.
func TestScanFails(t *testing.T) {
	a := staged(t, "127.0.0.1:1", &stage{err: errors.New("no /proc")})
	a.turn(t.Context())
	if a.count.scanErrors.Load() != 1 {
		t.Error("it is not counted")
	}
}

// A pyroscope takes pushes with the code that Pyroscope generates.
type pyroscope struct {
	pushv1connect.UnimplementedPusherServiceHandler
	got []*pushv1.PushRequest
}

func (p *pyroscope) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	p.got = append(p.got, r.Msg)
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

// TestPyroscope holds that what is sent is what its own code reads.
func TestPyroscope(t *testing.T) {
	var p pyroscope
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(&p))
	server := httptest.NewServer(mux)
	defer server.Close()
	s, _, _ := sending(t, server.URL, 1<<20)
	one := &program{hostProgram: program1(), instance: "h1"}
	body, err := encode(one.labels(cpuKind), burnt("main.work", time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.push(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	if len(p.got) != 1 || len(p.got[0].Series) != 1 || len(p.got[0].Series[0].Samples) != 1 {
		t.Fatalf("%v", p.got)
	}
	series := p.got[0].Series[0]
	names := []string{}
	for _, l := range series.Labels {
		names = append(names, l.Name)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "service_name") {
		t.Errorf("labels %v", names)
	}
	prof, err := profile.ParseData(series.Samples[0].RawProfile)
	if err != nil || prof.Sample[0].Location[0].Line[0].Function.Name != "main.work" {
		t.Errorf("%v, %v", prof, err)
	}
}

// What is scraped is the same profile when a server has decoded it.
func TestProfilesOf(t *testing.T) {
	frames := []*store.Frame{{Function: "a", File: "a.go", Line: 1}, {Function: "b", File: "b.go", Line: 2}}
	id := store.IDOf(frames)
	all := profilesOf(&store.Batch{From: noon, Until: noon.Add(time.Minute), Stacks: map[store.StackID][]*store.Frame{id: frames},
		Profiles: []store.Profile{{Type: store.AllocSpace, Samples: []store.Sample{{Stack: id, Value: 5}}},
			{Type: store.InuseSpace, Samples: []store.Sample{{Stack: id, Value: 7}, {Value: 2}}}, {Type: store.Goroutines, Samples: []store.Sample{{Stack: id, Value: 1}}}}})
	if len(all) != 2 {
		t.Fatalf("%d profiles, want two", len(all))
	}
	var got sink
	h := ingest.Handler(&got, ingest.Options{})
	for kind, p := range all {
		if err := p.CheckValid(); err != nil {
			t.Error(err)
		}
		body, err := encode([]store.Label{{Name: "__name__", Value: kind}, {Name: "service_name", Value: "shop"}}, p)
		if err != nil {
			t.Fatal(err)
		}
		r, w := httptest.NewRequest("POST", ingest.PushPath, bytes.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/proto")
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
	if want := map[store.Type]int64{store.AllocSpace: 5, store.InuseSpace: 9, store.Goroutines: 1}; !maps.Equal(got.sums("shop"), want) {
		t.Errorf("%v, want %v", got.sums("shop"), want)
	}
	for _, b := range got.batches {
		if f := b.Stacks[id]; !reflect.DeepEqual(f, frames) || !b.From.Equal(noon) || !b.Until.Equal(noon.Add(time.Minute)) {
			t.Errorf("%v from %v until %v", f, b.From, b.Until)
		}
	}
}

// Each stack is there once, and what has no name is one function.
func TestPlainStacks(t *testing.T) {
	p := burnt("main.work", time.Second)
	for i := range 2 {
		l := &profile.Location{ID: uint64(i + 2), Address: uint64(0x1000 + i)}
		p.Location = append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l, p.Location[0]}, Value: []int64{1, 5}, Label: map[string][]string{"thread": {"a"}}})
	}
	got, err := plainStacks(p)
	if err != nil || len(got.Sample) != 2 || got.CheckValid() != nil {
		t.Fatalf("%v, %v", got, err)
	}
	for _, s := range got.Sample {
		if len(s.Label) > 0 || len(s.Location) == 2 && (s.Location[0].Line[0].Function.Name != unnamed || s.Value[1] != 10) {
			t.Errorf("%v", s)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Server: "ftp://a"}, {Server: "a", Budget: 2}, {Server: "a", Sample: time.Millisecond},
		{Server: "a", Sample: time.Minute, Window: time.Second}, {Server: "a", Hz: 5000}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(server %q, budget %v, sample %v, window %v, %d Hz) gives no error, want one",
				o.Server, o.Budget, o.Sample, o.Window, o.Hz)
		}
	}
}

const busyProgram = `package main

import (
	"crypto/sha256"
	"fmt"
)

//go:noinline
func burn(b []byte) { s := sha256.Sum256(b); copy(b, s[:]) }

func main() {
	fmt.Println("begun")
	b := make([]byte, 4096)
	for {
		burn(b)
	}
}
`

// Programs are built once, whoever starts them, in directories that TestMain removes.
var (
	buildBusy, buildServing = builder(busyProgram), builder(servingProgram)
	builds                  []string
)

// builder returns what builds a program and gives its directory.
func builder(text string) func() (dir string, err error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", "gowhy-busy-")
		if err != nil {
			return "", err
		}
		builds = append(builds, dir)
		for name, text := range map[string]string{"main.go": text, "go.mod": "module example.com/busy\n\ngo 1.26\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return dir, err
			}
		}
		build := exec.Command("go", "build", "-o", "busy", ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w: %s", err, out)
		}
		return dir, nil
	})
}

// TestMain removes what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range builds {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// started starts a program, and waits until it says that it has begun.
func started(t *testing.T, build func() (dir string, err error)) *exec.Cmd {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	busy := exec.Command(filepath.Join(dir, "busy"))
	busy.Env = append(os.Environ(), "GOWHY_SERVICE=busy-test")
	out, err := busy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Process.Kill(); busy.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("it has not begun: %v", err)
	}
	return busy
}

// TestRealProgram builds a program, finds it among all others and sees what it does.
func TestRealProgram(t *testing.T) {
	attempt.Only(t, "it builds a program and samples it for seconds")
	busy := started(t, buildBusy)
	var got sink
	server := httptest.NewServer(ingest.Handler(&got, ingest.Options{}))
	defer server.Close()
	a, err := New(Options{Server: server.URL, Budget: 1, Sample: time.Second, Window: time.Second, NoScrape: true})
	if err != nil {
		t.Skipf("nothing can be collected here: %v", err)
	}
	a.host = only{a.host, busy.Process.Pid}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { a.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	until(t, "a sample", func() bool { return a.count.refused.Load() > 0 || got.sums("busy-test")[store.CPU] > 0 })
	if a.count.refused.Load() > 0 {
		t.Skip("the kernel lets nobody sample here")
	}
	functions := map[string]bool{}
	for _, b := range got.batches {
		for _, stack := range b.Stacks {
			for _, f := range stack {
				functions[f.Function] = true
			}
		}
	}
	if !functions["main.burn"] || !functions["main.main"] {
		t.Errorf("the stacks have %v", slices.Sorted(maps.Keys(functions)))
	}
}

// only is a host of which one process counts: others are none of a test's business.
type only struct {
	host
	pid int
}

func (o only) list() (all []hostProgram, unseen int, err error) {
	all, unseen, err = o.host.list()
	return slices.DeleteFunc(all, func(f hostProgram) bool { return f.pid != o.pid }), unseen, err
}
