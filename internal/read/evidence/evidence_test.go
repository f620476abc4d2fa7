package evidence

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// sampleTrace is a trace of this process: eight goroutines of namedWorker that
// pass a token, and a task with a region.
var sampleTrace = sync.OnceValue(func() []byte {
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		panic(err)
	}
	ctx, task := trace.NewTask(context.Background(), "order")
	trace.WithRegion(ctx, "pay", func() {
		token := make(chan int)
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go namedWorker(&wg, token)
		}
		for i := range 1000 {
			token <- i
		}
		close(token)
		wg.Wait()
	})
	trace.Log(ctx, "paid", "yes")
	task.End()
	trace.Stop()
	return buf.Bytes()
})

func namedWorker(wg *sync.WaitGroup, token chan int) {
	defer wg.Done()
	for range token {
		runtime.Gosched()
	}
}

// cpuProfile returns a small CPU profile in the form that the runtime writes.
func cpuProfile(t testing.TB) []byte {
	f := &profile.Function{ID: 1, Name: "main.work", Filename: "work.go"}
	root := &profile.Function{ID: 2, Name: "runtime.main", Filename: "proc.go"}
	leaf := &profile.Location{ID: 1, Address: 0x10, Line: []profile.Line{{Function: f, Line: 7}}}
	top := &profile.Location{ID: 2, Address: 0x20, Line: []profile.Line{{Function: root, Line: 9}}}
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		DurationNanos: int64(2 * time.Second), TimeNanos: 1_700_000_000e9,
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Function: []*profile.Function{f, root}, Location: []*profile.Location{leaf, top},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{leaf, top}, Value: []int64{3, 3e7}},
			{Location: []*profile.Location{leaf, top}, Value: []int64{1, 1e7}, Label: map[string][]string{"route": {"/a", "/b"}}},
		},
	}
	var buf bytes.Buffer
	if err := p.Write(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func heapProfile(t testing.TB) []byte {
	var buf bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&buf, 0); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(b)
	z.Close()
	return buf.Bytes()
}

func zipped(t testing.TB, members map[string][]byte) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, b := range members {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(b)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// files writes files into a new directory and returns it.
func files(t testing.TB, content map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range content {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, o Options, paths ...string) *model.Model {
	t.Helper()
	m, err := Load(t.Context(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTraceReachesModel(t *testing.T) {
	dir := files(t, map[string][]byte{"x": sampleTrace()})
	m := load(t, Options{Keep: -1}, filepath.Join(dir, "x"))
	if !m.Has(model.Trace) || m.Has(model.Heap) || m.Run.Duration <= 0 || m.Run.Procs != runtime.GOMAXPROCS(0) {
		t.Fatalf("run %+v, want a trace of some time on %d Ps, and no heap", m.Run, runtime.GOMAXPROCS(0))
	}
	want := strings.Join(strings.Split(runtime.Version(), ".")[:2], ".")
	if minor, ok := model.GoMinor(want); ok && minor > 26 {
		want = "go1.26" // its traces have the format, and the header, of that
	}
	if m.Run.Go != want {
		t.Errorf("Go version %q, want %q", m.Run.Go, want)
	}
	var g *model.Group
	for i := range m.Sched.Groups {
		if strings.HasSuffix(m.Sched.Groups[i].Name, ".namedWorker") {
			g = &m.Sched.Groups[i]
		}
	}
	if g == nil || g.Count != 8 || g.Created != 8 || g.Ended != 8 || g.System {
		t.Fatalf("group of namedWorker = %+v, want 8 goroutines, created and ended, of the program", g)
	}
	if g.Running <= 0 || g.Runnable <= 0 || g.Blocked["chan receive"] <= 0 {
		t.Errorf("times of namedWorker = %+v, want some running, runnable and receiving", g.Times)
	}
	if f := m.Stacks.Frames(g.Creator); len(f) == 0 || !strings.Contains(f[0].Func, "evidence") || f[0].Line == 0 {
		t.Errorf("creator of namedWorker = %+v, want a line of a function of evidence", f)
	}
	if len(m.Tasks.Tasks) != 1 || m.Tasks.Tasks[0].Name != "order" || m.Tasks.Tasks[0].Complete != 1 ||
		len(m.Tasks.Regions) != 1 || m.Tasks.Regions[0].Name != "pay" || len(m.Tasks.Logs) != 1 {
		t.Errorf("tasks %+v, want one order that is complete, one region pay and one log", m.Tasks)
	}
	if c := m.Run.Coverage; c.Bytes != int64(len(sampleTrace())) || c.Events == 0 || c.LostBytes != 0 || c.Generations == 0 {
		t.Errorf("coverage %+v, want events and generations of %d bytes, nothing lost", c, len(sampleTrace()))
	}
}

// However a trace comes, it is the same trace.
func TestEveryWayIsTheSame(t *testing.T) {
	raw := sampleTrace()
	dir := files(t, map[string][]byte{
		"plain": raw, "packed.gz": gzipped(raw), "artifact.zip": zipped(t, map[string][]byte{"out/trace.out": raw, "log.txt": []byte("ok\n")}),
	})
	only := files(t, map[string][]byte{"trace.out": raw, "README": []byte("notes\n"), "image.png": {0x89, 'P', 'N', 'G', 0, 0}})
	w, err := recording.Create(filepath.Join(dir, "run.gowhy"))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(w.Path(recording.TraceMember), raw, 0o600)
	if err := w.Finish(recording.Manifest{End: time.Now()}); err != nil {
		t.Fatal(err)
	}
	want := load(t, Options{}, filepath.Join(dir, "plain"))
	for name, got := range map[string]*model.Model{
		"gzip":      load(t, Options{}, filepath.Join(dir, "packed.gz")),
		"zip":       load(t, Options{}, filepath.Join(dir, "artifact.zip")),
		"recording": load(t, Options{}, filepath.Join(dir, "run.gowhy")),
		"directory": load(t, Options{}, only),
		"stdin":     load(t, Options{Stdin: bytes.NewReader(raw)}, "-"),
		"stdin gz":  load(t, Options{Stdin: bytes.NewReader(gzipped(raw))}, "-"),
	} {
		if !reflect.DeepEqual(got.Sched, want.Sched) || !reflect.DeepEqual(got.GC, want.GC) || got.Run.Duration != want.Run.Duration {
			t.Errorf("%s: another model than from the plain file", name)
		}
	}
}

func TestProfiles(t *testing.T) {
	dir := files(t, map[string][]byte{"a": cpuProfile(t), "b": heapProfile(t)})
	m := load(t, Options{}, dir)
	if !m.Has(model.CPU) || !m.Has(model.Heap) || m.Has(model.Trace) || m.CPU.FromTrace {
		t.Fatalf("CPU %v, heap %v; want profiles of both and no trace", m.CPU, m.Heap)
	}
	s := m.CPU.Samples
	if len(s) != 2 || s[0].Stack != s[1].Stack || s[0].Values[1] != 3e7 || s[1].Labels["route"] != "/a,/b" || s[0].Group != "runtime.main" {
		t.Fatalf("samples %+v, want 2 of one stack, the first 30 ms of runtime.main, the second of /a and /b", s)
	}
	if f := m.Stacks.Frames(s[0].Stack); len(f) != 2 || f[0].Func != "main.work" || f[0].Line != 7 || f[0].PC != 0x10 {
		t.Errorf("frames %+v, want main.work:7 at 0x10 and one more", f)
	}
	if m.CPU.Duration != 2*time.Second || m.Run.Duration != 2*time.Second || m.Run.Start.Unix() != 1_700_000_000 {
		t.Errorf("duration %v, run %+v; want 2s from 1,700,000,000 on", m.CPU.Duration, m.Run)
	}
}

func TestSamplesKeepOnlyGroupsOfTheTrace(t *testing.T) {
	dir := files(t, map[string][]byte{"cpu": cpuProfile(t), "trace": sampleTrace()})
	m := load(t, Options{}, dir)
	known := false
	for i := range m.Sched.Groups {
		known = known || m.Sched.Groups[i].Name == "runtime.main"
	}
	if got := m.CPU.Samples[0].Group; (got == "runtime.main") != known {
		t.Errorf("group of a sample = %q, want runtime.main only if it is in the trace: %v", got, known)
	}
}

func TestWindow(t *testing.T) {
	dir := files(t, map[string][]byte{"x": sampleTrace()})
	path := filepath.Join(dir, "x")
	whole := load(t, Options{}, path).Run.Duration
	half := Window{To: whole / 2}
	if got := load(t, Options{Window: half}, path).Run.Duration; got != whole/2 {
		t.Errorf("a window of %v covers %v, want all of the window", whole/2, got)
	}
	if got := load(t, Options{Window: half, Stdin: bytes.NewReader(sampleTrace())}, "-").Run.Duration; got != whole/2 {
		t.Errorf("of a stream: a window of %v covers %v, want all of the window", whole/2, got)
	}
	if got := load(t, Options{Window: Window{From: whole / 4}}, path).Run.Duration; got != whole-whole/4 {
		t.Errorf("an open window covers %v, want %v", got, whole-whole/4)
	}
	for _, w := range []Window{{From: whole + 1}, {From: 2, To: 1}, {From: -1}} {
		_, err := Load(t.Context(), []string{path}, Options{Window: w})
		var p *problem.Error
		if !errors.As(err, &p) || p.Kind != problem.Misuse {
			t.Errorf("Load(window %v): error %v, want misuse", w, err)
		}
	}
}

func TestEachStretchAddsUpToTheLedger(t *testing.T) {
	dir := files(t, map[string][]byte{"x": sampleTrace()})
	path := filepath.Join(dir, "x")
	m := load(t, Options{Keep: -1}, path)
	want, got := map[int64]time.Duration{}, map[int64]time.Duration{}
	groups := map[int64]string{}
	for i := range m.Sched.Goroutines {
		if g := &m.Sched.Goroutines[i]; g.Running > 0 {
			want[g.ID] += g.Running
			groups[g.ID] = g.Group
		}
	}
	named := false
	err := EachStretch(t.Context(), []string{path}, Options{}, func(r Stretch) bool {
		if r.Begin < 0 || r.End > m.Run.Duration || r.Proc < 0 {
			t.Fatalf("run %+v, want it in the trace's %v on some P", r, m.Run.Duration)
		}
		if r.Group != "" && r.Group != groups[r.Goroutine] {
			t.Errorf("a run of goroutine %d is of %q, want %q as in the ledger", r.Goroutine, r.Group, groups[r.Goroutine])
		}
		named = named || r.Group != ""
		if !r.Syscall {
			got[r.Goroutine] += r.End - r.Begin
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 8 || !named {
		t.Fatalf("%d goroutines ran, any with a name: %t; want 8 or more, one with a name", len(want), named)
	}
	for id, w := range want {
		if got[id] != w {
			t.Errorf("runs of goroutine %d add up to %v, want %v", id, got[id], w)
		}
	}
}

func TestProblems(t *testing.T) {
	var block bytes.Buffer
	pprof.Lookup("block").WriteTo(&block, 0)
	cpu := cpuProfile(t)
	bomb := append(sampleTrace()[:16], make([]byte, 128<<20)...)
	many := map[string][]byte{}
	for i := range 1001 {
		many[fmt.Sprint("note", i)] = []byte("x")
	}
	dir := files(t, map[string][]byte{
		"empty":      nil,
		"page.html":  []byte("<!DOCTYPE html><title>502 Bad Gateway</title>"),
		"text":       []byte("404 page not found\n"),
		"cut.gz":     cpu[:len(cpu)/2],
		"cuthead.gz": cpu[:5],
		"cutheader":  []byte("go 1.2"),
		"noise":      bytes.Repeat([]byte{0xfe, 0x01, 0x99}, 500),
		"header":     sampleTrace()[:16],
		"stub":       sampleTrace()[:30],
		"program":    []byte("\x7fELF\x02\x01\x01"),
		"thrice.gz":  gzipped(gzipped(gzipped(sampleTrace()))),
		"bomb.gz":    gzipped(bomb),
		"bomb.zip":   zipped(t, map[string][]byte{"trace": bomb}),
		"block":      block.Bytes(),
		"zip":        zipped(t, map[string][]byte{"notes.txt": []byte("hello\n")}),
		"badzip":     []byte("PK\x03\x04 is how archives begin"),
		"many":       zipped(t, many),
		"a.trace":    sampleTrace(), "b.trace": sampleTrace(),
		"evil\x1b[2J": nil,
	})
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		files string
		what  string // part of the message
		kind  problem.Kind
	}{
		{"missing", "no such file", problem.Absence},
		{"empty", "is empty", problem.Absence},
		{"page.html", "is a web page", problem.Absence},
		{"text", "404 page not found", problem.Absence},
		{"cut.gz", "cut short", problem.Failure},
		{"cuthead.gz", "cut short", problem.Failure},
		{"cutheader", "is a text file", problem.Absence},
		{"noise", "neither a trace nor a profile", problem.Absence},
		{"program", "is a program", problem.Absence},
		{"header", "nothing after it", problem.Absence},
		{"stub", "none of its 30 bytes", problem.Absence},
		{"thrice.gz", "packed three times", problem.Failure},
		{"bomb.gz", "no evidence: it unpacks to more than 200 times", problem.Failure},
		{"bomb.zip", "no evidence: it unpacks to more than 200 times", problem.Failure},
		{"block", "with nothing in it", problem.Absence},
		{"zip", "holds no trace", problem.Absence},
		{"badzip", "zip archive and is none", problem.Absence},
		{"many", "archive of more files than a recording has: more than 1000 members", problem.Absence},
		{"nothing", "holds no trace", problem.Absence},
		{"a.trace b.trace", "two traces", problem.Misuse},
	}
	for _, tt := range tests {
		var paths []string
		for _, f := range strings.Fields(tt.files) {
			paths = append(paths, filepath.Join(dir, f))
		}
		_, err := Load(t.Context(), paths, Options{})
		var p *problem.Error
		if !errors.As(err, &p) {
			t.Errorf("Load(%s): error %v, want a problem with %q", tt.files, err, tt.what)
			continue
		}
		if !strings.Contains(p.What, tt.what) || p.Hint == "" || p.Kind != tt.kind {
			t.Errorf("Load(%s): problem %+v, want %v with %q and a hint", tt.files, p, tt.kind, tt.what)
		}
	}
	if _, err := Load(t.Context(), []string{filepath.Join(dir, "evil\x1b[2J")}, Options{}); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("a file name reaches the message unquoted: %q", err)
	}
	if _, err := Load(t.Context(), nil, Options{}); err == nil {
		t.Error("no files: no error")
	}
}

// A location that is named often makes a small file large; memory must not follow.
func TestFrameBomb(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "f"}
	loc := &profile.Location{ID: 1, Line: make([]profile.Line, 10_000)}
	for i := range loc.Line {
		loc.Line[i] = profile.Line{Function: f, Line: int64(i)}
	}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
		Function: []*profile.Function{f}, Location: []*profile.Location{loc}}
	for n := range 1 + maxProfileFrames/maxStackFrames {
		locs := make([]*profile.Location, 1+n%maxStackFrames)
		for i := range locs {
			locs[i] = loc
		}
		p.Sample = append(p.Sample, &profile.Sample{Location: locs[:1+n%16], Value: []int64{1}})
	}
	l := newLoader(t.Context(), Options{})
	if err := l.foldProfile(&pprofFile{Profile: p, name: "bomb"}); err != nil {
		t.Fatal(err)
	}
	if n := len(l.m.Stacks.Frames(1)); n != maxStackFrames {
		t.Errorf("a stack of %d frames, want %d", n, maxStackFrames)
	}
	if n := l.m.Stacks.Len(); n != 2 {
		t.Errorf("%d stacks of 16 that are equal as far as they are read, want 1", n-1)
	}
}

// A compressed trace that is cut keeps what is before the cut.
func TestCutGzip(t *testing.T) {
	packed := gzipped(sampleTrace())
	whole := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": packed}), "x"))
	damaged := slices.Clone(packed)
	damaged[len(damaged)-8]++ // the checksum
	for name, data := range map[string][]byte{"cut": packed[:len(packed)*3/4], "sum": damaged} {
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": data}), "x"))
		if c := m.Run.Coverage; c.Events == 0 || name == "sum" && c.Events != whole.Run.Coverage.Events {
			t.Errorf("%s: %d events; want some, and of a sum all %d", name, c.Events, whole.Run.Coverage.Events)
		}
		if !slices.ContainsFunc(m.Run.Coverage.Notes, func(n string) bool { return strings.Contains(n, "cut short or damaged") }) {
			t.Errorf("%s: not told: %q", name, m.Run.Coverage.Notes)
		}
	}
}

// Reading ends with its context while standard input keeps silent.
func TestCancelSilentStream(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		w.Write(sampleTrace()[:1000])
		cancel()
	}()
	if _, err := Load(ctx, []string{"-"}, Options{Stdin: r}); !errors.Is(err, context.Canceled) {
		t.Errorf("Load() of a stopped recording: error %v, want %v", err, context.Canceled)
	}
}

func TestPump(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 100_000)
	got, err := io.ReadAll(pump(t.Context(), iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(want)))))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("pump() gave %d bytes, %v; want the %d of its source", len(got), err, len(want))
	}
	broken := errors.New("broken")
	if got, err := io.ReadAll(pump(t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)))); err != broken || string(got) != "x" {
		t.Errorf("pump() of a broken source gave %q, %v; want x and %v", got, err, broken)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := files(t, map[string][]byte{"x": sampleTrace()})
	if _, err := Load(ctx, []string{dir}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Add([]byte("PK\x03\x04"))
	f.Add(cpuProfile(f))
	f.Add(gzipped([]byte("<html>")))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p *problem.Error
		m, err := Load(t.Context(), []string{"-"}, Options{Stdin: io.MultiReader(bytes.NewReader(b))})
		if err == nil && m == nil || err != nil && !errors.As(err, &p) {
			t.Fatalf("Load() = %v, %v; want a model or a problem", m, err)
		}
	})
}

// Where no temporary file can be made a stream is read all the same, and what that lacks is said.
func TestStreamWithoutSpool(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	m := load(t, Options{Stdin: bytes.NewReader(sampleTrace())}, "-")
	if m.Sched == nil || len(m.Sched.Groups) == 0 || !slices.ContainsFunc(m.Run.Coverage.Notes, func(n string) bool { return strings.Contains(n, "operations were not followed") }) {
		t.Errorf("notes %q, want the trace, and that operations were not followed", m.Run.Coverage.Notes)
	}
}

// traceHere records a trace of the test from here on. What it returns ends that and writes the file, whose name it gives.
func traceHere(t *testing.T) (recorded func() string) {
	t.Helper()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Skip(err)
	}
	return func() string {
		trace.Stop()
		file := filepath.Join(t.TempDir(), "trace.out")
		if err := os.WriteFile(file, buf.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
}
