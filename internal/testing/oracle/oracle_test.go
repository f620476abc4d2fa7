package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/gowhy/gowhy/internal/testing/corpus"
	"golang.org/x/exp/trace"
)

func analyze(t *testing.T, data []byte, o Options) *Report {
	t.Helper()
	rep, err := Analyze(bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// The faults that the reference is known for, on the traces that show them.
func TestFaultsAreKept(t *testing.T) {
	cases := make(map[string]corpus.Case)
	for _, c := range corpus.Sick() {
		cases[c.Name] = c
	}
	of := func(name string) *Report { return analyze(t, cases[name].Trace, Options{}) }

	if r := of("first-run"); len(r.Profiles[Sched]) != 0 || r.Goroutines[2].Runnable != 4000 {
		t.Errorf("first-run: sched profile %v, G2 %v; want no profile and 4000 runnable", r.Profiles[Sched], r.Goroutines[2].Stats)
	}
	if g := of("proc-reuse").Goroutines[2]; g.Syscall != 3000 || g.SyscallBlocked != 0 {
		t.Errorf("proc-reuse: G2 %v, want 3000 in system calls, never blocked there", g.Stats)
	}
	if g := of("blocked-at-start").Goroutines[3]; g.SyscallBlocked != 2000 || g.Syscall != 7001 {
		t.Errorf("blocked-at-start: G3 %v, want 7001 in system calls, 2000 of them blocked", g.Stats)
	}
	if r := of("id-reuse"); r.Goroutines[7].Running != 700 || len(r.Profiles[Syscall]) != 1 || r.Profiles[Syscall][0].Count != 1 {
		t.Errorf("id-reuse: G7 %v, syscall profile %v; want 700 running and one call", r.Goroutines[7].Stats, r.Profiles[Syscall])
	}
	if g := of("late-status").Goroutines[1]; g.Running != 10006 || g.Runnable != 993 {
		t.Errorf("late-status: G1 %v, want 10006 running and 993 runnable", g.Stats)
	}
	if g := of("straying-sweep").Goroutines[1]; Of(g.Ranges, "GC incremental sweep") != 3001 {
		t.Errorf("straying-sweep: G1 %v, want 3001 in GC incremental sweep", g.Stats)
	}
}

// With the times as written, the late status loses its effect and nothing else
// changes.
func TestRawTimes(t *testing.T) {
	for _, c := range corpus.Sick() {
		if c.Name != "late-status" {
			continue
		}
		rep := analyze(t, c.Trace, Options{RawTimes: true})
		for _, w := range c.Want {
			g := rep.Goroutines[trace.GoID(w.G)]
			var waited time.Duration
			for _, p := range g.Blocked {
				waited += p.Time
			}
			if int64(g.Running) != w.Running || int64(g.Runnable) != w.Runnable || int64(waited) != w.Waiting {
				t.Errorf("times of G%d: %v, want %+v", w.G, g.Stats, w)
			}
		}
	}
}

// Raw fails by itself where a time differs for another reason than the clamp.
func TestRawExplainsAllTimes(t *testing.T) {
	for _, s := range corpus.Specs(t) {
		t.Run(s.String(), func(t *testing.T) {
			data := read(t, corpus.Trace(t, s))
			if v1(data) {
				t.Skip("the old format has no raw times")
			}
			events, moved := 0, 0
			var most time.Duration
			err := Raw(data, func(ev *trace.Event, raw trace.Time) error {
				events++
				if d := ev.Time().Sub(raw); d > 0 && ev.Kind() != trace.EventSync {
					moved, most = moved+1, max(most, d)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			tally, err := Count(bytes.NewReader(data))
			if err != nil || int64(events) != tally.Events {
				t.Fatalf("%d events, want %d as in the bare loop: error %v", events, tally.Events, err)
			}
			written, err := RawTimes(data)
			if err != nil || len(written) == 0 {
				t.Fatalf("%d threads, error %v; want some", len(written), err)
			}
			t.Logf("%d of %d events moved, at most by %v", moved, events, most)
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func v1(data []byte) bool { return bytes.HasPrefix(data, []byte("go 1.21")) }

// The shapes that testdata/reference prints.
type refStats struct {
	Running, Runnable, Syscall, SyscallBlocked, Total time.Duration
	Blocked, Ranges                                   map[string]time.Duration
}

func (r refStats) String() string {
	s := Stats{Running: r.Running, Runnable: r.Runnable, Syscall: r.Syscall, SyscallBlocked: r.SyscallBlocked, Total: r.Total}
	for n, d := range r.Blocked {
		s.Blocked = append(s.Blocked, Part{n, d})
	}
	for n, d := range r.Ranges {
		s.Ranges = append(s.Ranges, Part{n, d})
	}
	return s.String()
}

type refReport struct {
	Goroutines map[trace.GoID]struct {
		Name                  string
		PC                    uint64
		Created, First, Ended trace.Time
		Stats                 refStats
		Regions               []struct {
			Task       trace.TaskID
			Name       string
			Begin, End trace.Time
			Stats      refStats
		}
	}
	Tasks map[trace.TaskID]struct {
		Name          string
		Parent        trace.TaskID
		Children      []trace.TaskID
		Begin, End    trace.Time
		Logs, Regions int
		Goroutines    []trace.GoID
	}
	Utilization []struct {
		Time int64
		Util float64
	}
}

// buildReference builds testdata/reference inside the local distribution.
func buildReference(t *testing.T) string {
	t.Helper()
	src, err := filepath.Abs("testdata/reference/main.go")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("go is not available:", err)
	}
	inside := filepath.Join(strings.TrimSpace(string(out)), "src", "cmd", "gowhyreference", "main.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{inside: src}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list, bin := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "reference")
	if err := os.WriteFile(list, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", list, "-o", bin, "cmd/gowhyreference")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("this distribution does not let its trace package be used: %v\n%s", err, out)
	}
	return bin
}

func TestSummaryEqualsReference(t *testing.T) {
	bin := buildReference(t)
	for _, s := range corpus.Specs(t) {
		t.Run(s.String(), func(t *testing.T) {
			path := corpus.Trace(t, s)
			out, err := exec.Command(bin, path).Output()
			if err != nil {
				if s.Toolchain == "go1.21.13" && s.Program == "cgo" {
					t.Skip("the reference cannot open it:", err)
				}
				t.Fatal(err)
			}
			var want refReport
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatal(err)
			}
			got := analyze(t, read(t, path), Options{})
			compareGoroutines(t, got, &want)
			compareTasks(t, got, &want)
		})
	}
}

func compareGoroutines(t *testing.T, got *Report, want *refReport) {
	if len(got.Goroutines) != len(want.Goroutines) || len(want.Goroutines) == 0 {
		t.Fatalf("%d goroutines, want %d", len(got.Goroutines), len(want.Goroutines))
	}
	for id, w := range want.Goroutines {
		g := got.Goroutines[id]
		if g == nil {
			t.Fatalf("G%d is missing", id)
		}
		a := fmt.Sprint(g.Name, g.PC, g.Created, g.First, g.Ended, g.Stats, len(g.Regions))
		b := fmt.Sprint(w.Name, w.PC, w.Created, w.First, w.Ended, w.Stats, len(w.Regions))
		if a != b {
			t.Fatalf("G%d:\n got %s\nwant %s", id, a, b)
		}
		for i, r := range w.Regions {
			h := g.Regions[i]
			a := fmt.Sprint(h.Task, h.Name, h.Begin, h.End, h.Stats)
			b := fmt.Sprint(r.Task, r.Name, r.Begin, r.End, r.Stats)
			if a != b {
				t.Fatalf("G%d region %d:\n got %s\nwant %s", id, i, a, b)
			}
		}
	}
}

func compareTasks(t *testing.T, got *Report, want *refReport) {
	if len(got.Tasks) != len(want.Tasks) {
		t.Fatalf("%d tasks, want %d", len(got.Tasks), len(want.Tasks))
	}
	for id, w := range want.Tasks {
		g := got.Tasks[id]
		if g == nil {
			t.Fatalf("task %d is missing", id)
		}
		var gs []trace.GoID
		for id := range g.Goroutines {
			gs = append(gs, id)
		}
		slices.Sort(gs)
		slices.Sort(w.Goroutines)
		a := fmt.Sprint(g.Name, g.Parent, g.Children, g.Begin, g.End, g.Logs, len(g.Regions), gs)
		b := fmt.Sprint(w.Name, w.Parent, w.Children, w.Begin, w.End, w.Logs, w.Regions, w.Goroutines)
		if a != b {
			t.Fatalf("task %d:\n got %s\nwant %s", id, a, b)
		}
	}
}

func TestProfilesEqualReference(t *testing.T) {
	out, err := exec.Command("go", "tool", "-n", "trace").CombinedOutput()
	if err != nil {
		t.Skipf("go tool trace is not available: %v %s", err, out)
	}
	tool := strings.TrimSpace(string(out))
	names := [profiles]string{"net", "sync", "syscall", "sched"}
	for _, s := range corpus.Specs(t) {
		switch s.Program {
		case "cgo", "files", "gc", "annotations": // each has something the others lack
		default:
			if testing.Short() || s.Toolchain != "" {
				continue
			}
		}
		t.Run(s.String(), func(t *testing.T) {
			path := corpus.Trace(t, s)
			if s.Toolchain == "go1.21.13" && s.Program == "cgo" {
				t.Skip("the reference cannot open it")
			}
			got := analyze(t, read(t, path), Options{})
			for i, name := range names {
				want := toolProfile(t, tool, name, path)
				if len(want) != len(got.Profiles[i]) {
					t.Errorf("%s: %d stacks, want %d", name, len(got.Profiles[i]), len(want))
				}
				for _, r := range got.Profiles[i] {
					if w := want[r.Key()]; w != [2]int64{r.Count, int64(r.Time)} {
						t.Errorf("%s: %d times %v, want %v at %v", name, r.Count, r.Time, w, r.Frames)
					}
				}
			}
		})
	}
}

func toolProfile(t *testing.T, tool, name, path string) map[string][2]int64 {
	t.Helper()
	out, err := exec.Command(tool, "-pprof="+name, path).Output()
	if err != nil {
		t.Fatalf("profile %s of the tool: %v, want nil", name, err)
	}
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatalf("profile %s of the tool is read: %v, want nil", name, err)
	}
	m := make(map[string][2]int64)
	for _, s := range p.Sample {
		var frames []trace.StackFrame
		for _, l := range s.Location {
			frames = append(frames, trace.StackFrame{PC: l.Address})
		}
		k := key(frames)
		m[k] = [2]int64{m[k][0] + s.Value[0], m[k][1] + s.Value[1]}
	}
	return m
}

func TestSyntheticIsValid(t *testing.T) {
	for _, threads := range []int{1, 2, 64, 300} {
		for _, minor := range []int{22, 23, 25, 26} {
			var b bytes.Buffer
			const events = 20_000
			if err := corpus.Synthetic(&b, corpus.Shape{Threads: threads, Events: events, Cross: 30, Seed: 1, Minor: minor}); err != nil {
				t.Fatal(err)
			}
			tally, err := Count(&b)
			if err != nil {
				t.Fatalf("%d threads, 1.%d: %v", threads, minor, err)
			}
			if tally.Events < events || tally.Events > 2*events {
				t.Errorf("%d threads: %d events, want %d to %d", threads, tally.Events, events, 2*events)
			}
		}
	}
}

// Nothing but the order of one thread's batches may matter.
func TestPermutedIsTheSame(t *testing.T) {
	var b bytes.Buffer
	if err := corpus.Synthetic(&b, corpus.Shape{Threads: 16, Events: 400_000, Cross: 20}); err != nil {
		t.Fatal(err)
	}
	p, err := corpus.Permute(b.Bytes(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(p, b.Bytes()) {
		t.Fatal("permuting changed nothing")
	}
	x, y := analyze(t, b.Bytes(), Options{NoProfiles: true}), analyze(t, p, Options{NoProfiles: true})
	for id, g := range x.Goroutines {
		if h := y.Goroutines[id]; h == nil || h.Running != g.Running || h.Total != g.Total {
			t.Fatalf("G%d: permuted %v, want %v", id, h, g.Stats)
		}
	}
}

func TestMain(m *testing.M) {
	if runtime.GOOS == "windows" {
		fmt.Println("the corpus needs a Unix")
		return
	}
	os.Exit(m.Run())
}
