package subject

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

func TestMain(m *testing.M) {
	if os.Getenv(CalibrateVariable) != "" {
		Calibrate()
		return
	}
	code := m.Run()
	if dir := filepath.Dir(built.path); built.path != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

var built struct {
	sync.Once
	path string
	err  error
}

// program returns the test program; see testdata.
func program(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what is measured here is Linux's")
	}
	built.Do(func() {
		built.path, built.err = BuildRevision(context.Background(), BuildSpec{Package: "./testdata/program"})
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func subjectOf(t *testing.T, s Spec) *Subject {
	t.Helper()
	j, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func runs(t *testing.T, args ...string) *Subject {
	t.Helper()
	return subjectOf(t, Spec{Program: Program{Command: append([]string{program(t)}, args...)}})
}

func sampleOf(t *testing.T, s *Subject) experiment.Sample {
	t.Helper()
	sample, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sample
}

// checkProblem returns the error's, which must be one with these words.
func checkProblem(t *testing.T, err error, words ...string) *problem.Error {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) {
		t.Fatalf("error %v is no problem with a hint", err)
	}
	for _, w := range words {
		if !strings.Contains(p.What, w) {
			t.Errorf("%q does not say %q", p.What, w)
		}
	}
	return p
}

func TestOnce(t *testing.T) {
	p := program(t)
	s := subjectOf(t, Spec{Program: Program{Command: []string{p, "-burn", "100", "-sleep", "30ms"}}, Ops: 50})
	sample := sampleOf(t, s)
	v := sample.Values
	if sample.Ops != 50 || v[diagnosis.Elapsed] < 0.03 || v[diagnosis.Elapsed] != sample.Elapsed.Seconds() {
		t.Errorf("%v operations in %v s, and %v, want 50 in 0.03 s or more, and as much",
			sample.Ops, v[diagnosis.Elapsed], sample.Elapsed)
	}
	if cpu := v[diagnosis.CPUPerOp] * 50; !(cpu > 0.005 && cpu < v[diagnosis.Elapsed]*2) {
		t.Errorf("CPU %v s of %v s", cpu, v[diagnosis.Elapsed])
	}
	if got, want := v[diagnosis.OpsPerSec], 50/sample.Elapsed.Seconds(); got != want {
		t.Errorf("%v ops/s, want %v", got, want)
	}
	if v[diagnosis.Switches] <= 0 || v[diagnosis.Faults] <= 0 {
		t.Errorf("counters %v", v)
	}
	if c := sample.Conditions; c.Others < 0 || c.Others > 1 || c.Steal < 0 || c.Steal > 1 {
		t.Errorf("others %v, steal %v, want 0 to 1", c.Others, c.Steal)
	}
}

// What a child used counts when it was waited for.
func TestChildren(t *testing.T) {
	alone, through := math.Inf(1), 0.0 // a busy machine makes any of them dearer
	for range 3 {
		alone = min(alone, sampleOf(t, runs(t, "-burn", "100")).Values[diagnosis.CPUPerOp])
		through = max(through, sampleOf(t, runs(t, "-child", "-burn 100")).Values[diagnosis.CPUPerOp])
	}
	if through < alone/2 {
		t.Errorf("%v s through a child, %v s alone", through, alone)
	}
}

func TestFails(t *testing.T) {
	_, err := runs(t, "-say", "before", "-exit", "3").Run(t.Context())
	p := checkProblem(t, err, "-exit 3", "exit code 3", "before", "this is why it failed")
	if strings.Contains(p.What, "\x1b") {
		t.Error("a terminal would obey the program's output")
	}
}

func TestTimeLimit(t *testing.T) {
	s := subjectOf(t, Spec{Program: Program{Command: []string{program(t), "-deaf", "-child", "-deaf -sleep 60s"}}, Time: 300 * time.Millisecond})
	begin := time.Now()
	_, err := s.Run(t.Context())
	checkProblem(t, err, "did not end within 300ms")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	noneLeft(t, "-deaf")
}

// noneLeft fails when a process of the test program runs on.
func noneLeft(t *testing.T, flag string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); { // a process that was killed takes some time to go
		left = nil
		running, _ := proc.Processes(procFS)
		for _, pid := range running {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if args := strings.Split(string(text), "\x00"); args[0] == built.path && slices.Contains(args, flag) {
				left = append(left, fmt.Sprint(pid))
			}
		}
		if left == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("processes %v are left", left)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := runs(t, "-sleep", "61s").Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	noneLeft(t, "61s")
}

func TestFlood(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := runs(t, "-flood", "100", "-say", "the first", "-exit", "1").Run(t.Context())
	runtime.ReadMemStats(&after)
	checkProblem(t, err, "this is why it failed")
	if used := after.Sys - before.Sys; after.Sys > before.Sys && used > 100<<20 {
		t.Errorf("%d MiB for its output", used>>20)
	}
	if sample := sampleOf(t, runs(t, "-flood", "100")); sample.Ops != 0 {
		t.Errorf("%v operations, want 0", sample.Ops)
	}
}

// A large parent must not be seen in a small child.
func TestPeak(t *testing.T) {
	ballast := make([]byte, 150<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	small := sampleOf(t, runs(t, "-touch", "30", "-sleep", "1s")).Values[diagnosis.PeakRSS]
	large := sampleOf(t, runs(t, "-touch", "400")).Values[diagnosis.PeakRSS]
	runtime.KeepAlive(ballast)
	if small < 30<<20 || small > 100<<20 {
		t.Errorf("%.0f MiB for 30", small/(1<<20))
	}
	if large < 400<<20 || large > 600<<20 {
		t.Errorf("%.0f MiB for 400", large/(1<<20))
	}
	for _, c := range []struct {
		rusage, own, seen uint64
		looks             int
		want              uint64
	}{
		{rusage: 500, own: 100, seen: 490, looks: 1, want: 500},
		{rusage: 100, own: 100, seen: 3, looks: 50, want: 3}, // inherited
		{rusage: 100, own: 100, seen: 3, looks: 2, want: 0},  // too short to be looked at
		// As it was measured: 52 kB more than we had.
		{rusage: 206<<20 + 52<<10, own: inherited(206<<20, 2, 4<<10), seen: 30 << 20, looks: 20, want: 30 << 20},
		{rusage: 212 << 20, own: inherited(206<<20, 2, 4<<10), seen: 30 << 20, looks: 20, want: 212 << 20},
	} {
		if got := truePeak(c.rusage, c.own, c.seen, c.looks); got != c.want {
			t.Errorf("truePeak(%d, %d, %d, %d) = %d, want %d", c.rusage, c.own, c.seen, c.looks, got, c.want)
		}
	}
}

const benchOutput = "goos: linux\nBenchmarkParse-2 \t 100\t 1000 ns/op\t 64 B/op\t 2 allocs/op\nBenchmarkParse-2 \t 100\t 3000 ns/op\t 64 B/op\t 2 allocs/op\nBenchmarkSize/100-2 \t 5\t 7 ns/op\t 2.5 rows/op\n"

func TestBenchOutput(t *testing.T) {
	sample := sampleOf(t, runs(t, "-say", strings.ReplaceAll(strings.TrimSpace(benchOutput), "\n", `\n`)))
	for name, want := range map[diagnosis.Metric]float64{
		"BenchmarkParse ns/op": 2000, "BenchmarkParse allocs/op": 2, "BenchmarkSize/100 rows/op": 2.5,
	} {
		if runtime.NumCPU() < 2 {
			name = "BenchmarkParse-2" + name[len("BenchmarkParse"):]
		}
		if got, ok := sample.Values[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v; there is %v", name, got, want, sample.Values)
		}
	}
	if _, ok := sample.Values[diagnosis.Elapsed]; ok {
		t.Error("the time of a benchmark's process means nothing: it chooses how much it does")
	}
}

// freePort returns one that nobody listens at now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func server(t *testing.T, load int, path string, args ...string) Spec {
	t.Helper()
	at, p := freePort(t), program(t)
	return Spec{
		Program: Program{Command: append([]string{p, "-listen", at}, args...)},
		Load:    []string{p, "-load", "http://" + at + path, "-requests", fmt.Sprint(load)},
		Ready:   "http://" + at + "/work",
	}
}

func TestServer(t *testing.T) {
	spec := server(t, 200, "/work", "-burn", "1")
	sample := sampleOf(t, subjectOf(t, spec))
	v := sample.Values
	if sample.Ops != 200 || v[diagnosis.P50] != 0.001 || v[diagnosis.P99] != 0.004 || v[diagnosis.OpsPerSec] <= 0 {
		t.Errorf("%v operations, p50 %v, p99 %v, %v ops/s, want 200, 0.001, 0.004, some",
			sample.Ops, v[diagnosis.P50], v[diagnosis.P99], v[diagnosis.OpsPerSec])
	}
	// A million steps are at least 0.1 ms, and the start of a server is no part.
	if cpu := v[diagnosis.CPUPerOp]; cpu < 0.0001 || cpu > v[diagnosis.Elapsed] {
		t.Errorf("CPU %v s per request", cpu)
	}
	if v[diagnosis.Switches] <= 0 || v[diagnosis.PeakRSS] < 1<<20 {
		t.Errorf("values %v", v)
	}
	noneLeft(t, spec.Program.Command[2])
}

// A server that is held stands until it is stopped, and is looked after.
func TestStart(t *testing.T) {
	spec := server(t, 0, "/work", "-burn", "1", "-reuse")
	spec.Load = nil
	held, err := subjectOf(t, spec).Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Stop()
	watch := Begin([]*Server{held})
	for range 50 {
		if !answers(t.Context(), spec.Ready) {
			t.Fatal("it does not answer")
		}
	}
	if c := watch.End(); c.Others < 0 || c.Others > 1 || c.RunQueue < 0 {
		t.Errorf("others %v, run queue %v, want 0 to 1, 0 or more", c.Others, c.RunQueue)
	}
	if err := held.Check(); err != nil {
		t.Error(err)
	}
	background(t, "-listen", spec.Program.Command[2], "-reuse")
	checkProblem(t, held.Check(), "is shared with")
	held.Stop()
	checkProblem(t, held.Check(), "was ended by terminated")
	noneLeft(t, "-burn")
	_, err = runs(t, "-sleep", "1s").Start(t.Context())
	checkProblem(t, err, "specify when")
}

func TestReady(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"address":   func(s *Spec) { s.Ready = s.Program.Command[2] },
		"log":       func(s *Spec) { s.Ready = "log:listening at " },
		"listening": func(s *Spec) { s.Ready = "" },
		"shell": func(s *Spec) {
			s.Program.Command = []string{"sh", "-c", strings.Join(s.Program.Command, " ") + "; true"}
		},
		"start": func(s *Spec) { s.Load = nil },
	} {
		t.Run(name, func(t *testing.T) {
			spec := server(t, 5, "/work")
			address := spec.Program.Command[2]
			change(&spec)
			sample := sampleOf(t, subjectOf(t, spec))
			if sample.Values[diagnosis.CPUPerOp] <= 0 || sample.Values[diagnosis.Elapsed] <= 0 {
				t.Errorf("%v s of CPU for each operation, %v s in all, want more than 0",
					sample.Values[diagnosis.CPUPerOp], sample.Values[diagnosis.Elapsed])
			}
			noneLeft(t, address)
		})
	}
}

func TestServerProblems(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"ends":       {func(s *Spec) { s.Program.Command = append(s.Program.Command[:1], "-say", "hello") }, "ended before it was ready"},
		"fails":      {func(s *Spec) { s.Program.Command = append(s.Program.Command[:1], "-exit", "4") }, "was to be a server and failed with exit code 4"},
		"never":      {func(s *Spec) { s.Ready, s.Startup = "log:steady as she goes", 200*time.Millisecond }, `did not print "steady as she goes" within 200ms`},
		"silent":     {func(s *Spec) { s.Ready, s.Startup = "http://"+freePort(t), 200*time.Millisecond }, "did not answer at"},
		"all failed": {func(s *Spec) { s.Load[2] = strings.Replace(s.Load[2], "/work", "/broken", 1) }, "all 5 operations"},
		"bad load":   {func(s *Spec) { s.Load = append(s.Load[:1], "-exit", "9") }, "exit code 9"},
		"too long":   {func(s *Spec) { s.Load, s.Time = append(s.Load[:1], "-sleep", "62s"), 500*time.Millisecond }, "did not end within 500ms"},
		"dies": {func(s *Spec) {
			s.Program.Command = []string{"sh", "-c", strings.Join(s.Program.Command, " ") + " & sleep 0.3; kill $!; exit 7"}
			s.Load = append(s.Load[:1], "-sleep", "63s")
		}, "exit code 7"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := server(t, 5, "/work")
			address := spec.Program.Command[2]
			c.change(&spec)
			_, err := subjectOf(t, spec).Run(t.Context())
			p := checkProblem(t, err, c.want)
			if p.Hint == "" {
				t.Error("no hint")
			}
			noneLeft(t, address)
		})
	}
}

// background starts the test program for the time of a test.
func background(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestForeignListener(t *testing.T) {
	spec := server(t, 5, "/work", "-reuse")
	at := spec.Program.Command[2]
	other := background(t, "-listen", at, "-reuse")
	_, err := subjectOf(t, spec).Run(t.Context())
	p := checkProblem(t, err, fmt.Sprintf("is held by process %d (program): it would be measured instead", other.Process.Pid))
	if want := fmt.Sprintf("kill %d", other.Process.Pid); !strings.HasPrefix(p.Hint, want) {
		t.Errorf("hint %q", p.Hint)
	}
	// When nothing says beforehand which port it will be, it is seen afterwards.
	spec.Ready = "log:listening"
	_, err = subjectOf(t, spec).Run(t.Context())
	checkProblem(t, err, "TCP port", "is shared with", fmt.Sprintf("process %d", other.Process.Pid))
}

func TestForeignPackets(t *testing.T) {
	at := freePort(t)
	other := background(t, "-packets", at, "-reuse")
	s := subjectOf(t, Spec{Program: Program{Command: []string{program(t), "-packets", at, "-reuse"}}, Ready: "log:receiving", Load: []string{program(t), "-sleep", "10ms"}})
	_, err := s.Run(t.Context())
	checkProblem(t, err, "UDP port", "is shared with", fmt.Sprintf("process %d", other.Process.Pid))
	other.Process.Kill()
	other.Wait()
	if _, err := s.Run(t.Context()); err != nil {
		t.Errorf("alone: %v", err)
	}
}

// Somebody who comes later shares the port, too.
func TestForeignLater(t *testing.T) {
	spec := server(t, 5, "/work", "-reuse")
	at := spec.Program.Command[2]
	said := filepath.Join(t.TempDir(), "said")
	spec.Load = []string{"sh", "-c", fmt.Sprintf("setsid %s -listen %s -reuse -sleep 0 >%s 2>&1 & until grep -qs 'listening at' %s; do sleep 0.05; done", program(t), at, said, said)}
	_, err := subjectOf(t, spec).Run(t.Context())
	checkProblem(t, err, "is shared with")
	for _, c := range func() []claim { _, c := claims(procFS, nil, local("127.0.0.1", strings.Split(at, ":")[1])); return c }() {
		if o, err := os.FindProcess(c.pid); err == nil && c.pid > 0 {
			o.Kill()
		}
	}
}
