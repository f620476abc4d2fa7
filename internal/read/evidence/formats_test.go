package evidence

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadFixture(t *testing.T, names ...string) *model.Model {
	t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join("testdata", n))
	}
	return load(t, Options{}, paths...)
}

func noted(m *model.Model, part string) bool {
	return slices.ContainsFunc(m.Run.Coverage.Notes, func(n string) bool { return strings.Contains(n, part) })
}

// Each version of Go writes the lines in its own way; the program is the same.
func TestGodebugLogs(t *testing.T) {
	for _, tt := range []struct {
		version              string
		stacks, needs, ticks bool // what this version tells
	}{
		{"1.13", false, false, false}, {"1.17", false, false, false}, {"1.18", true, false, false},
		{"1.20", true, true, false}, {"1.24", true, true, false}, {"1.25", true, true, true}, {"1.26", true, true, true},
	} {
		text := fixture(t, "godebug-"+tt.version+".log")
		m := loadFixture(t, "godebug-"+tt.version+".log")
		torn := 0
		if tt.version == "1.17" {
			torn = 1 // the program's own output came in between
		}
		if n := bytes.Count(text, []byte(" MB goal")) - torn; len(m.GCLog) != n || n < 4 {
			t.Errorf("%s: %d collections, want %d, at least 4", tt.version, len(m.GCLog), n)
			continue
		}
		if n := bytes.Count(text, []byte("SCHED ")); len(m.SchedLog) != n || n < 4 {
			t.Errorf("%s: %d schedtrace lines, want %d, at least 4", tt.version, len(m.SchedLog), n)
			continue
		}
		last := m.GCLog[len(m.GCLog)-1]
		if last.Forced != bytes.Contains(text, []byte("(forced)")) || last.Cycle != len(m.GCLog)+torn || last.Procs != 2 || last.Aligned || last.At < 450*time.Millisecond || last.At > time.Second {
			t.Errorf("%s: the last collection is %+v, want number %d of 2 Ps, not aligned, at 450 ms to 1 s, forced if the log says so", tt.version, last, len(m.GCLog)+torn)
		}
		if last.Mark <= 0 || last.CPUBackground+last.CPUIdle+last.CPUAssist <= 0 || last.Goal < 4<<20 {
			t.Errorf("%s: phases %+v, want marking, its CPU time and a goal of 4 MiB or more", tt.version, last)
		}
		for i, s := range m.SchedLog {
			if s.Procs != 2 || s.Threads < 2 || len(s.Local) != 2 || (len(s.Ticks) == 2) != tt.ticks || (s.NeedSpinning >= 0) != tt.needs ||
				i > 0 && s.At <= m.SchedLog[i-1].At {
				t.Errorf("%s: line %+v, want 2 Ps with a queue each, 2 threads or more, ticks %v, spinning %v, later than the last", tt.version, s, tt.ticks, tt.needs)
			}
		}
		if m.Run.Procs != 2 || noted(m, "runs through were left out: 1") != (torn > 0) {
			t.Errorf("%s: run %+v, want 2 Ps, and a note only of a line that was torn", tt.version, m.Run)
		}
	}
}

func TestParseGC(t *testing.T) {
	line := "gc 17 @2.345s 3%: 0.018+1.3+12 ms clock, 0.036+0.35/1.0/3.0+0.23 ms cpu, 4->6->3 MB, 5 MB goal, 1 MB stacks, 2 MB globals, 4 P (forced)"
	e, ok := parseGC([]byte(line))
	ms := func(f float64) time.Duration { return time.Duration(f*1000) * time.Microsecond }
	want := model.GCLine{Cycle: 17, At: 2345*time.Millisecond + ms(13.318), Share: 0.03,
		SweepTerm: ms(0.018), Mark: ms(1.3), MarkTerm: ms(12), CPUSweepTerm: ms(0.036), CPUMarkTerm: ms(0.23),
		CPUAssist: ms(0.35), CPUBackground: ms(1), CPUIdle: ms(3),
		Before: 4 << 20, After: 6 << 20, Live: 3 << 20, Goal: 5 << 20, StackScan: 1 << 20, Globals: 2 << 20, Procs: 4, Forced: true}
	if !ok || e.GCLine != want {
		t.Errorf("parseGC() = %v, %+v; want\n%+v", ok, e.GCLine, want)
	}
	if _, ok := parseGC([]byte(strings.Replace(line, "3%:", "3% (checking for goroutine leaks):", 1))); !ok {
		t.Error("the form of Go 1.26 with a check for leaks is not read")
	}
	for cut := range len(line) - len(" (forced)") {
		if _, ok := parseGC([]byte(line[:cut])); ok {
			t.Errorf("cut after %q it is still read", line[:cut])
		}
	}
}

// Lines with a time in front, by themselves or in a container's JSON, are
// brought to the clock of the rest; broken lines are told of.
func TestLogAlignment(t *testing.T) {
	start := time.Unix(1_700_000_000, 0).UTC() // when the profile of the test begins
	gc := "gc %d @%.3fs 1%%: 0.1+1.0+0.1 ms clock, 0.1+0.1/0.1/0.1+0.1 ms cpu, 4->4->3 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P"
	stamped := func(wrap func(at time.Time, line string) string) []byte {
		var b strings.Builder
		b.WriteString("starting\n")
		for i := 1; i <= 3; i++ {
			began := time.Duration(i) * 500 * time.Millisecond
			late := time.Duration(i%2) * 30 * time.Millisecond
			// The program had started a second before the profile.
			at := start.Add(-time.Second).Add(began + 1200*time.Microsecond + late)
			b.WriteString(wrap(at, fmt.Sprintf(gc, i, began.Seconds())) + "\n")
			b.WriteString("gc is a word with a gc 3 @ here, ms clock, not more\n")
		}
		return []byte(b.String())
	}
	for name, log := range map[string][]byte{
		"filter": stamped(func(at time.Time, line string) string { return at.Format(time.RFC3339Nano) + " " + line }),
		"cri":    stamped(func(at time.Time, line string) string { return at.Format(time.RFC3339Nano) + " stderr F " + line }),
		"docker": stamped(func(at time.Time, line string) string {
			return `{"log":"` + strings.ReplaceAll(line, ">", `\u003e`) + `\n","stream":"stderr","time":"` + at.Format(time.RFC3339Nano) + `"}`
		}),
	} {
		dir := files(t, map[string][]byte{"cpu": cpuProfile(t), "log": log})
		m := load(t, Options{}, dir)
		if len(m.GCLog) != 3 || noted(m, "runs through") {
			t.Fatalf("%s: %d lines, notes %q; want 3 and no doubt about the clock", name, len(m.GCLog), m.Run.Coverage.Notes)
		}
		for i, want := range []time.Duration{-500 * time.Millisecond, 0, 500 * time.Millisecond} {
			if g := m.GCLog[i]; !g.Aligned || g.At != want+1200*time.Microsecond {
				t.Errorf("%s: collection %d ended at %v, want %v", name, i, g.At, want+1200*time.Microsecond)
			}
		}
		cut := load(t, Options{Window: Window{From: 100 * time.Millisecond, To: time.Second}}, dir)
		if len(cut.GCLog) != 1 || cut.GCLog[0].At != 401200*time.Microsecond || cut.Run.Duration != 900*time.Millisecond {
			t.Errorf("%s: in a window: %+v of %v, want one collection at 401.2 ms of 900 ms", name, cut.GCLog, cut.Run.Duration)
		}
	}
}

// Without times in the log the collections of the trace tell.
func TestMatchCycles(t *testing.T) {
	var log []gcEntry
	var cycles []model.Cycle
	at := time.Duration(0)
	for i := range 12 {
		at += time.Duration(20+13*(i*i%7)+i) * time.Millisecond
		log = append(log, gcEntry{GCLine: model.GCLine{Cycle: i + 1, SweepTerm: 50_000}, began: at.Truncate(time.Millisecond)})
		if i >= 4 && i < 9 {
			cycles = append(cycles, model.Cycle{Begin: at - 70*time.Millisecond + 300*time.Microsecond})
		}
	}
	origin, ok := matchCycles(cycles, log)
	if d := origin + 70*time.Millisecond; !ok || d.Abs() > time.Millisecond {
		t.Errorf("matchCycles() = %v, %v; want about -70 ms", origin, ok)
	}
	if _, ok := matchCycles(cycles[:2], log); ok {
		t.Error("two collections are no rhythm")
	}
	for i := range log {
		log[i].began = time.Duration(i) * 100 * time.Millisecond
	}
	for i := range cycles {
		cycles[i].Begin = time.Duration(i) * 100 * time.Millisecond
	}
	if _, ok := matchCycles(cycles, log); ok {
		t.Error("an even rhythm fits everywhere")
	}
}

func TestLogOfTwoRuns(t *testing.T) {
	log := append(fixture(t, "godebug-1.25.log"), fixture(t, "godebug-1.26.log")...)
	m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"log": log}), "log"))
	want := loadFixture(t, "godebug-1.26.log")
	if !slices.EqualFunc(m.GCLog, want.GCLog, func(a, b model.GCLine) bool { return a == b }) || !noted(m, "2 runs of a program") {
		t.Errorf("%d lines, notes %q; want the %d of the last run and a note of 2 runs", len(m.GCLog), m.Run.Coverage.Notes, len(want.GCLog))
	}
}

// Where the pieces of a large log are cut does not matter.
func TestLargeLog(t *testing.T) {
	var b bytes.Buffer
	line := strings.Repeat("nothing to see here; ", 40) + "\n"
	for i := 1; b.Len() < 3*logChunk; i++ {
		fmt.Fprintf(&b, "%sgc %d @%d.000s 0%%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->3 MB, 5 MB goal, 2 P\n", line, i, i)
	}
	m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"log": b.Bytes()}), "log"))
	if n := bytes.Count(b.Bytes(), []byte("gc ")); len(m.GCLog) != n || noted(m, "runs through") {
		t.Errorf("%d lines, notes %q; want %d and no doubt about the clock", len(m.GCLog), m.Run.Coverage.Notes, n)
	}
}

// A log whose writer took a file for a terminal says what it says without its
// colours, wherever these are, and wherever a piece of it ends.
func TestColouredLog(t *testing.T) {
	want := loadFixture(t, "godebug-1.26.log")
	var b bytes.Buffer
	for i, line := range bytes.Split(fixture(t, "godebug-1.26.log"), []byte("\n")) {
		if i%2 == 0 {
			line = bytes.ReplaceAll(line, []byte(" ms clock"), []byte(" \x1b[38;5;208mms\x1b[0m clock"))
		}
		fmt.Fprintf(&b, "\x1b[2K\x1b[1;32m%s\x1b[m\n", line)
	}
	for _, before := range []string{"", strings.Repeat("nothing to see here\n", headLen)} {
		log := append([]byte(before), b.Bytes()...)
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"log": log}), "log"))
		if !slices.EqualFunc(m.GCLog, want.GCLog, func(a, b model.GCLine) bool { return a == b }) || len(m.SchedLog) != len(want.SchedLog) {
			t.Errorf("after %d bytes: %d and %d lines, want %d and %d as without colours", len(before), len(m.GCLog), len(m.SchedLog), len(want.GCLog), len(want.SchedLog))
		}
	}
	// What is no log stays none, in whichever colour.
	var p *problem.Error
	_, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"note": []byte("\x1b[31mhello\x1b[0m\n")}), "note")}, Options{})
	if !errors.As(err, &p) || !strings.Contains(err.Error(), `"hello"`) {
		t.Errorf("a coloured note: %v, want a problem that shows its first line", err)
	}
}

// Wherever what is read is cut, the text is the same.
func TestPlainReader(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[31mb\x1b[0mc":   "abc",
		"a\x1b[38;5;1":         "a",
		"a\x1b[1\nb":           "a\nb", // no letter ended it
		"a\x1bb":               "ab",
		"\x1b\x1b[mx[1m":       "x[1m",
		"é\x1b[4@\x1b[~ü\x1b[": "éü",
	} {
		got, err := io.ReadAll(&plainReader{r: iotest.OneByteReader(strings.NewReader(in))})
		whole, err2 := io.ReadAll(&plainReader{r: strings.NewReader(in)})
		if string(got) != want || string(whole) != want || err != nil || err2 != nil {
			t.Errorf("%q is %q, and %q at once, %v, %v; want %q", in, got, whole, err, err2, want)
		}
	}
}

func TestSchedDetail(t *testing.T) {
	m := loadFixture(t, "scheddetail-1.13.log")
	if n := bytes.Count(fixture(t, "scheddetail-1.13.log"), []byte("SCHED ")); len(m.SchedLog) != n || n == 0 {
		t.Fatalf("%d lines, want %d", len(m.SchedLog), n)
	}
	for _, s := range m.SchedLog {
		if s.Procs != 2 || len(s.Local) != 2 || s.Threads < 3 || s.Goroutines["GC sweep wait"]+s.Goroutines["sleep"] == 0 {
			t.Errorf("line %+v, want 2 Ps with their queues, 3 threads or more, and what goroutines wait for", s)
		}
	}
}

// Who reports a problem leaves out of a line what seems not to matter.
func TestElidedLines(t *testing.T) {
	m := load(t, Options{}, files(t, map[string][]byte{"log": []byte("as one can see:\n" +
		"> SCHED 2952ms: ... runqueue=3 [26 11 0]\n> SCHED 3053ms: gomaxprocs=3 … runqueue=0 [ 0 4 0 ]\n> SCHED 3100ms: ... runqueue=4\n" +
		"SCHED 10ms: gomaxprocs=3 idleprocs=0 threads=40 spinningthreads=1 idlethreads=1 runqueue=20 [20 20 20]\n" +
		"gc 30 @3.727s 1%: ..., 67->71->45 MB, 76 MB goal, 12 P\ngc 31 @3.784s … 79->84->55 MB, 90 MB goal ...\n" +
		"gc 31 @ ... MB goal\n")}))
	if len(m.SchedLog) != 2 || m.SchedLog[0].Queued() != 40 || m.SchedLog[0].Procs != 3 || m.SchedLog[0].IdleProcs != -1 || m.SchedLog[1].Queued() != 4 {
		t.Errorf("lines of the scheduler %+v, want the two of one run with 40 and 4 that wait, idle Ps not known", m.SchedLog)
	}
	want := []model.GCLine{
		{Cycle: 30, At: 3727 * time.Millisecond, Share: 0.01, Before: 67 << 20, After: 71 << 20, Live: 45 << 20, Goal: 76 << 20, Procs: 12, Elided: true},
		{Cycle: 31, At: 3784 * time.Millisecond, Before: 79 << 20, After: 84 << 20, Live: 55 << 20, Goal: 90 << 20, Elided: true},
	}
	if !slices.Equal(m.GCLog, want) {
		t.Errorf("collections %+v, want %+v", m.GCLog, want)
	}
	if !noted(m, "2 runs") {
		t.Errorf("notes %q, want that there are two runs", m.Run.Coverage.Notes)
	}
}

func snapshotOf(t testing.TB, name string, edit func(*profile.Profile)) []byte {
	t.Helper()
	var buf, out bytes.Buffer
	if err := pprof.Lookup(name).WriteTo(&buf, 0); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(p)
	}
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func total(p *model.Profile, column string) (n int64) {
	i := slices.IndexFunc(p.Types, func(v model.ValueType) bool { return v.Name == column })
	for _, s := range p.Samples {
		n += s.Values[i]
	}
	return n
}

// heapOf makes a heap profile of one stack.
func heapOf(t testing.TB, at time.Time, alloc, inuse int64) []byte {
	return snapshotOf(t, "heap", func(p *profile.Profile) {
		f := &profile.Function{ID: 1, Name: "main.grow", Filename: "grow.go"}
		g := &profile.Function{ID: 2, Name: "main.shrink", Filename: "grow.go"}
		p.Function = []*profile.Function{f, g}
		p.Location = []*profile.Location{{ID: 1, Line: []profile.Line{{Function: f, Line: 3}}}, {ID: 2, Line: []profile.Line{{Function: g, Line: 5}}}}
		p.Sample = []*profile.Sample{
			{Location: p.Location[:1], Value: []int64{alloc / 10, alloc, inuse / 10, inuse}},
			{Location: p.Location[1:], Value: []int64{1000 - alloc, 1000 - alloc, 0, 0}},
		}
		p.Mapping, p.TimeNanos, p.DurationNanos = nil, at.UnixNano(), 0
	})
}

func TestHeapSnapshots(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	first, last := heapOf(t, at, 100, 70), heapOf(t, at.Add(3*time.Second), 600, 20)
	one := load(t, Options{}, files(t, map[string][]byte{"a": last}))
	if total(one.Heap, "alloc_space") != 1000 || one.LiveHeap.Start != nil || total(one.LiveHeap.End, "inuse_space") != 20 {
		t.Errorf("one snapshot: heap %+v, live %+v; want 1000 bytes allocated and 20 in use at the end only", one.Heap, one.LiveHeap)
	}
	// The names are against the times.
	m := load(t, Options{}, files(t, map[string][]byte{"a": last, "b": first}))
	if got := total(m.Heap, "alloc_space"); got != 500 || len(m.Heap.Samples) != 1 || m.Heap.Duration != 3*time.Second {
		t.Errorf("allocated %d in %v by %+v, want 500 in 3s by one sample", got, m.Heap.Duration, m.Heap.Samples)
	}
	if m.Heap.Samples[0].Stack != m.LiveHeap.End.Samples[0].Stack || m.Stacks.Frames(m.Heap.Samples[0].Stack)[0].Func != "main.grow" {
		t.Errorf("allocated %+v, live %+v; want one stack, main.grow", m.Heap.Samples, m.LiveHeap.End.Samples)
	}
	if total(m.LiveHeap.Start, "inuse_space") != 70 || total(m.LiveHeap.End, "inuse_space") != 20 || !m.LiveHeap.End.Known || m.LiveHeap.End.At != 3*time.Second {
		t.Errorf("live %+v, want 70 bytes at first and 20 at 3s", m.LiveHeap)
	}
	if m.Run.Duration != 3*time.Second || !m.Run.Start.Equal(at) {
		t.Errorf("run %+v, want 3s from %v on", m.Run, at)
	}
	delta := snapshotOf(t, "heap", func(p *profile.Profile) { p.TimeNanos, p.DurationNanos = at.UnixNano(), 2e9 })
	with := load(t, Options{}, files(t, map[string][]byte{"a": last, "b": first, "c": delta}))
	if with.Heap.Duration != 2*time.Second || with.LiveHeap.Start == nil {
		t.Errorf("a delta of %v, want the 2s of the run, and a snapshot at its start", with.Heap.Duration)
	}
	allocs := load(t, Options{}, files(t, map[string][]byte{"a": last, "c": snapshotOf(t, "allocs", nil)}))
	if allocs.LiveHeap.Start != nil || allocs.LiveHeap.End == nil || allocs.Heap == allocs.LiveHeap.End {
		t.Error("a profile of allocation is no second snapshot of the heap")
	}
	var p *problem.Error
	if _, err := Load(t.Context(), []string{files(t, map[string][]byte{"a": last, "b": first, "c": first})}, Options{}); !errors.As(err, &p) || p.Kind != problem.Misuse || !strings.Contains(p.What, "heap profiles") {
		t.Errorf("three heap profiles: error %v, want misuse with \"heap profiles\"", err)
	}
}

// In a recording of ours the names tell the ends, whatever the clocks say.
func TestMembersBreakTies(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	var empty profile.Profile
	empty.SampleType = []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	var none bytes.Buffer
	if err := empty.Write(&none); err != nil {
		t.Fatal(err)
	}
	// Of a program of which nothing was in use at any moment.
	course := snapshotOf(t, "heap", func(p *profile.Profile) { p.Sample, p.Location, p.Function, p.Mapping = nil, nil, nil, nil })
	path := filepath.Join(t.TempDir(), "run.gowhy")
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		recording.HeapStartMember: heapOf(t, at.Add(time.Hour), 100, 70), recording.HeapEndMember: heapOf(t, at, 600, 20),
		recording.HeapCourseMember: course, recording.MutexMember: none.Bytes(), recording.StdoutMember: []byte("hello\n"),
	} {
		if err := os.WriteFile(w.Path(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	man := recording.Manifest{Start: at, End: at.Add(5 * time.Second), Go: "go1.26.1", PID: 17, Procs: 3,
		Command: []string{"./server", "-listen", ":80"}, Dir: "/srv/app", Env: []string{"GOGC=50", "SECRET=x"},
		Rates: &recording.Rates{BlockNS: 10, Mutex: 5, MemBytes: 512 << 10}, Cost: &recording.Cost{RecorderCPU: 0.25},
		Refused: []recording.Refusal{{Member: recording.TraceMember, Why: "not asked"}}}
	if err := w.Finish(man); err != nil {
		t.Fatal(err)
	}
	m := load(t, Options{}, path)
	if total(m.Heap, "alloc_space") != 500 || total(m.LiveHeap.End, "inuse_space") != 20 {
		t.Errorf("allocated %d, in use %d; want 500 and 20", total(m.Heap, "alloc_space"), total(m.LiveHeap.End, "inuse_space"))
	}
	if !m.Has(model.Mutex) || m.Has(model.Block) {
		t.Error("an empty mutex profile is known by its name")
	}
	r := m.Run
	if r.PID != 17 || r.Procs != 3 || r.Go != "go1.26.1" || r.Duration != 5*time.Second || !r.Start.Equal(at) ||
		r.Rates == nil || r.Rates.Block != 10 || r.Rates.Mutex != 5 || r.Overhead.Recorder != 250*time.Millisecond || len(r.Refused) != 1 {
		t.Errorf("run %+v, want what the manifest says", r)
	}
	if r.Recording != path || !slices.Equal(r.Command, man.Command) || r.Dir != man.Dir || !slices.Equal(r.Env, []string{"GOGC=50"}) {
		t.Errorf("what to run once more: %+v, want %q in %s with GOGC=50", r, man.Command, man.Dir)
	}
	if !maps.Equal(m.Build.Environment, map[string]string{"GOGC": "50"}) {
		t.Errorf("environment %v, want GOGC=50 only", m.Build.Environment)
	}
	if noted(m, "hello") {
		t.Errorf("notes %q, want none of the program's output", m.Run.Coverage.Notes)
	}
}

// A program that ends by itself sends no heap profile of the end: what was in use
// at the start, and by how much that grew meanwhile, make one.
func TestHeapOfTheEnd(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	grown, err := profile.ParseData(heapOf(t, at, 600, 50))
	if err != nil {
		t.Fatal(err)
	}
	grown.DurationNanos = int64(3 * time.Second)
	var delta bytes.Buffer
	if err := grown.Write(&delta); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.gowhy")
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{recording.HeapStartMember: heapOf(t, at, 100, 70), recording.AllocsMember: delta.Bytes()} {
		if err := os.WriteFile(w.Path(name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(recording.Manifest{Start: at, End: at.Add(3 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	m := load(t, Options{}, path)
	if start, end := m.LiveHeap.Start, m.LiveHeap.End; start == nil || total(start, "inuse_space") != 70 || total(end, "inuse_space") != 120 {
		t.Errorf("in use %+v, want 70 at first and 120 at the end", m.LiveHeap)
	}
	if start, end := m.LiveHeap.Start, m.LiveHeap.End; !start.Known || !end.Known || end.At-start.At != 3*time.Second {
		t.Errorf("taken at %v and %v, want 3s between", start.At, end.At)
	}
	if total(m.Heap, "alloc_space") != 1000 {
		t.Errorf("allocated %d, want 1000", total(m.Heap, "alloc_space"))
	}
}

// contend makes goroutines of this process wait for a lock and a channel.
var contend = sync.OnceFunc(func() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	var mu sync.RWMutex
	var plain sync.Mutex
	var wg sync.WaitGroup
	turn := make(chan int)
	for range 4 {
		wg.Go(func() {
			for range turn {
				mu.Lock()
				plain.Lock()
				runtime.Gosched()
				plain.Unlock()
				mu.Unlock()
				mu.RLock()
				mu.RUnlock()
			}
		})
	}
	for i := range 2000 {
		turn <- i
	}
	close(turn)
	wg.Wait()
	runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(0)
})

func TestContention(t *testing.T) {
	contend()
	block, mutex := snapshotOf(t, "block", nil), snapshotOf(t, "mutex", nil)
	m := load(t, Options{}, files(t, map[string][]byte{"a": mutex, "b": block}))
	if !m.Has(model.Block) || !m.Has(model.Mutex) {
		t.Fatalf("a block profile: %v, a mutex profile: %v; want both", m.Block != nil, m.Mutex != nil)
	}
	leaf := func(p *model.Profile, part string) bool {
		return slices.ContainsFunc(p.Samples, func(s model.Sample) bool { return strings.Contains(m.Stacks.Frames(s.Stack)[0].Func, part) })
	}
	if !leaf(m.Block, "runtime.chan") || leaf(m.Mutex, "runtime.chan") {
		t.Error("block and mutex are exchanged")
	}
	both := load(t, Options{}, files(t, map[string][]byte{"a": block, "b": snapshotOf(t, "block", func(p *profile.Profile) {
		p.TimeNanos += 1e9
		for _, s := range p.Sample {
			s.Value[0]++
			s.Value[1] += 10
		}
	})}))
	if n := int64(len(both.Block.Samples)); n == 0 || total(both.Block, "contentions") != n || total(both.Block, "delay") != 10*n {
		t.Errorf("%d contentions and %d ns in %d samples, want 1 and 10 ns in each", total(both.Block, "contentions"), total(both.Block, "delay"), n)
	}
}

// A name says which of the two a profile is; stacks only where there is none.
func TestContentionByName(t *testing.T) {
	leaf := func(function string) []byte {
		return snapshotOf(t, "mutex", func(p *profile.Profile) {
			f := &profile.Function{ID: 1, Name: function}
			p.Function, p.Location, p.Mapping = []*profile.Function{f}, []*profile.Location{{ID: 1, Line: []profile.Line{{Function: f, Line: 3}}}}, nil
			p.Sample = []*profile.Sample{{Location: p.Location, Value: []int64{2, 3000}}}
		})
	}
	inlined, waiting, unlocking := leaf("internal/sync.(*HashTrieMap[...]).Swap"), leaf("sync.(*Mutex).Lock"), leaf("sync.(*Mutex).Unlock")
	for name, c := range map[string]struct {
		files map[string][]byte
		want  model.Source
	}{
		"a name":             {map[string][]byte{"mutex.pb.gz": waiting}, model.Mutex},
		"the other name":     {map[string][]byte{"heavy-block.pprof": unlocking}, model.Block},
		"a member":           {map[string][]byte{"block.zip": zipped(t, map[string][]byte{"x/mutex": waiting})}, model.Mutex},
		"both names":         {map[string][]byte{"block-or-mutex": unlocking}, model.Mutex},
		"no name, inlined":   {map[string][]byte{"x": inlined}, model.Mutex},
		"no name, waiting":   {map[string][]byte{"x": waiting}, model.Block},
		"no name, unlocking": {map[string][]byte{"x": unlocking}, model.Mutex},
	} {
		if m := load(t, Options{}, files(t, c.files)); !m.Has(c.want) || m.Has(model.Block) && m.Has(model.Mutex) {
			t.Errorf("%s: block %v, mutex %v; want %s alone", name, m.Has(model.Block), m.Has(model.Mutex), c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "run.gowhy")
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{recording.MutexMember, recording.BlockMember} {
		if err := os.WriteFile(w.Path(name), inlined, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(recording.Manifest{}); err != nil {
		t.Fatal(err)
	}
	if m := load(t, Options{}, path); !m.Has(model.Block) || !m.Has(model.Mutex) {
		t.Errorf("of a recording: block %v, mutex %v; want both, as its members are called", m.Has(model.Block), m.Has(model.Mutex))
	}
}

// Stores and agents give a CPU profile one value: the other follows from the period.
func TestProfilesOfOneValue(t *testing.T) {
	of := func(period string, every int64, values []int64, types ...string) []byte {
		p, err := profile.ParseData(cpuProfile(t))
		if err != nil {
			t.Fatal(err)
		}
		p.PeriodType, p.Period, p.SampleType = &profile.ValueType{Type: period, Unit: "nanoseconds"}, every, nil
		for i := 0; i < len(types); i += 2 {
			p.SampleType = append(p.SampleType, &profile.ValueType{Type: types[i], Unit: types[i+1]})
		}
		for _, s := range p.Sample {
			s.Value = values
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		file           []byte
		source         model.Source
		samples, nanos int64 // of both stacks together; -1 is unknown
	}{
		"time":                   {of("cpu", 1e7, []int64{3e7}, "cpu", "nanoseconds"), model.CPU, 6, 6e7},
		"time without a period":  {of("cpu", 0, []int64{3e7}, "cpu", "nanoseconds"), model.CPU, -1, 6e7},
		"samples":                {of("cpu", 1e7, []int64{3}, "samples", "count"), model.CPU, 6, 6e7},
		"both":                   {of("cpu", 1e7, []int64{3, 5e7}, "samples", "count", "cpu", "nanoseconds"), model.CPU, 6, 10e7},
		"fgprof":                 {of("wallclock", 1e7, []int64{3, 3e7}, "samples", "count", "time", "nanoseconds"), model.Wall, 6, 6e7},
		"samples of the wall":    {of("wall", 1e7, []int64{3}, "samples", "count"), model.Wall, 6, 6e7},
		"the wall's time, alone": {of("", 0, []int64{3e7}, "wall", "nanoseconds"), model.Wall, -1, 6e7},
	} {
		m := load(t, Options{}, files(t, map[string][]byte{"x": c.file}))
		p := m.CPU
		if c.source == model.Wall {
			p = m.Wall
		}
		if !m.Has(c.source) || m.Has(model.CPU) && m.Has(model.Wall) {
			t.Errorf("%s: CPU %v, wall %v; want %s alone", name, m.Has(model.CPU), m.Has(model.Wall), c.source)
			continue
		}
		count, nanos := p.Columns()
		sum := []int64{-1, -1}
		for i, column := range []int{count, nanos} {
			if column >= 0 {
				sum[i] = p.Samples[0].Values[column] + p.Samples[1].Values[column]
			}
		}
		if sum[0] != c.samples || sum[1] != c.nanos || p.Counted() != (c.samples >= 0) {
			t.Errorf("%s: %d samples and %d ns, want %d and %d", name, sum[0], sum[1], c.samples, c.nanos)
		}
	}
	// What says nothing of a period stays what it is.
	if _, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": of("", 0, []int64{3}, "samples", "count")}), "x")}, Options{}); err == nil || !strings.Contains(err.Error(), "is not read") {
		t.Errorf("samples of nothing: error %v", err)
	}
}

func TestGoroutineProfiles(t *testing.T) {
	first := snapshotOf(t, "goroutine", func(p *profile.Profile) { p.TimeNanos = 1_700_000_000e9 })
	last := snapshotOf(t, "goroutine", func(p *profile.Profile) { p.TimeNanos = 1_700_000_005e9 })
	m := load(t, Options{}, files(t, map[string][]byte{"a": first, "b": last, "c": snapshotOf(t, "threadcreate", nil)}))
	if !m.Has(model.GoroutineProfile) || m.Goroutines.Start == nil || m.Goroutines.End.At != 5*time.Second || total(m.Goroutines.End, "goroutine") < 2 {
		t.Fatalf("goroutines %+v, want two at least, at two times 5 s apart", m.Goroutines)
	}
	if !m.Has(model.ThreadCreate) || total(m.ThreadCreate, "threadcreate") < 1 {
		t.Errorf("threads %+v, want one at least", m.ThreadCreate)
	}
	leak := snapshotOf(t, "goroutine", func(p *profile.Profile) { p.SampleType[0].Type = "goroutineleak" })
	if m := load(t, Options{}, files(t, map[string][]byte{"a": leak})); !m.Has(model.Leak) || m.Has(model.GoroutineProfile) {
		t.Error("a profile of leaks is not read as one")
	}
}

func TestTextProfiles(t *testing.T) {
	for _, v := range []string{"1.13", "1.26"} {
		dir := "text-" + v
		m := loadFixture(t, dir+"/heap.txt", dir+"/block.txt", dir+"/mutex.txt", dir+"/goroutine.txt", dir+"/threadcreate.txt")
		for _, src := range []model.Source{model.Heap, model.LiveHeap, model.Block, model.Mutex, model.GoroutineProfile, model.ThreadCreate} {
			if !m.Has(src) {
				t.Errorf("%s: no %s", v, src)
			}
		}
		if n := total(m.Goroutines.End, "goroutine"); n != 5 {
			t.Errorf("%s: %d goroutines, want 5", v, n)
		}
		// Sampled every 512 KiB, 64 KiB pieces are scaled up some eight times.
		if space, objects := total(m.Heap, "alloc_space"), total(m.Heap, "alloc_objects"); space < 32<<20 || objects == 0 {
			t.Errorf("%s: %d bytes in %d objects, want 32 MiB or more in some", v, space, objects)
		}
		waits := m.Block.Samples[0]
		if d := time.Duration(waits.Values[1]); waits.Values[0] < 100 || d < 100*time.Millisecond || d > 5*time.Second {
			t.Errorf("%s: %d waits of %v together, want 100 or more of 100 ms to 5 s", v, waits.Values[0], d)
		}
		f := m.Stacks.Frames(m.Mutex.Samples[0].Stack)
		if len(f) < 2 || f[0].Func != "sync.(*Mutex).Unlock" || f[1].Func != "main.allocate" || !strings.HasSuffix(f[1].File, "main.go") || f[1].Line != 32 || f[1].PC == 0 {
			t.Errorf("%s: frames %+v, want Unlock called at line 32 of main.go in main.allocate", v, f)
		}
	}
}

// The text form of a profile says the same as the other.
func TestTextProfileIsTheProfile(t *testing.T) {
	contend()
	for _, name := range []string{"mutex", "goroutine"} {
		var text bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&text, 1); err != nil {
			t.Fatal(err)
		}
		a := load(t, Options{}, files(t, map[string][]byte{"x": text.Bytes()}))
		b := load(t, Options{}, files(t, map[string][]byte{"x": snapshotOf(t, name, nil)}))
		pa, pb := a.Mutex, b.Mutex
		if name == "goroutine" {
			pa, pb = a.Goroutines.End, b.Goroutines.End
		}
		for _, v := range pb.Types {
			got, want := total(pa, v.Name), total(pb, v.Name)
			if d := got - want; d < -want/100-1 || d > want/100+1 || want == 0 {
				t.Errorf("%s: %s is %d in text, want %d within a hundredth", name, v.Name, got, want)
			}
		}
	}
}

// TestTallyBounds: labels that never repeat are dropped, and nothing of the sums.
func TestTallyBounds(t *testing.T) {
	sums := newTally(samplesOnly)
	sums.most = 3
	for i := range 10 {
		sums.add(1, map[string]string{"thread": strconv.Itoa(i)}, 1, 1)
	}
	if last := sums.p.Samples[len(sums.p.Samples)-1]; len(sums.p.Samples) != 4 || last.Labels != nil || last.Values[0] != 7 {
		t.Errorf("samples %+v, want 4, the last of 7 without labels", sums.p.Samples)
	}
}

// TestMatchCyclesBounded: logs of one rhythm fit everywhere, and cost no more
// than others.
func TestMatchCyclesBounded(t *testing.T) {
	var cycles []model.Cycle
	var log []gcEntry
	for i := range 200_000 {
		at := time.Duration(i) * 10 * time.Millisecond
		log = append(log, gcEntry{began: at})
		if i < 100_000 {
			cycles = append(cycles, model.Cycle{Begin: at})
		}
	}
	// The rhythm breaks after most of a thousand, for each place anew.
	for i := 999; i < len(log); i += 1000 {
		log[i].began += 5 * time.Millisecond
	}
	begin := time.Now()
	if _, ok := matchCycles(cycles, log); ok {
		t.Error("matched in one place")
	}
	if d := time.Since(begin); d > 30*time.Second { // where each place is compared with each it is hours
		t.Errorf("took %v, want at most 30s", d)
	}
}

func TestGoroutineDump(t *testing.T) {
	for v, state := range map[string]string{"1.13": "semacquire", "1.26": "sync.Mutex.Lock"} {
		m := loadFixture(t, "text-"+v+"/dump.txt")
		if n := total(m.Goroutines.End, "goroutine"); n != 5 {
			t.Errorf("%s: %d goroutines, want 5", v, n)
		}
		found := false
		for _, s := range m.Goroutines.End.Samples {
			f := m.Stacks.Frames(s.Stack)
			last := f[len(f)-1]
			found = found || s.Labels["state"] == state && last.Func == "main.allocate" && last.Line == 29 && s.Group == "main.allocate"
			if strings.Contains(last.Func, "created by") || last.File == "" || last.Line == 0 {
				t.Errorf("%s: frames %+v, want the last to be a function with its file and line", v, f)
			}
		}
		if !found {
			t.Errorf("%s: the goroutines are %+v, want one in %q in line 29 of main.allocate",
				v, m.Goroutines.End.Samples, state)
		}
	}
	// A dump beside a profile in text form is the same moment, not another end.
	if m := loadFixture(t, "text-1.26/dump.txt", "text-1.26/goroutine.txt"); m.Goroutines.Start != nil || m.Goroutines.End.Samples[0].Labels["state"] == "" || !noted(m, "only that is used") {
		t.Errorf("goroutines %+v, notes %q; want the dump alone and a note", m.Goroutines, m.Run.Coverage.Notes)
	}
	// Two dumps are two ends, in the order in which they were given.
	if m := loadFixture(t, "text-1.13/dump.txt", "text-1.26/dump.txt"); m.Goroutines.Start == nil || !noted(m, "taken as given") {
		t.Errorf("goroutines %+v, notes %q; want two ends and a note", m.Goroutines, m.Run.Coverage.Notes)
	}
	for header, want := range map[string]map[string]string{
		"goroutine 7 [chan receive, 12 minutes, locked to thread]:":   {"state": "chan receive", "minutes": "12"},
		`goroutine 8 [select, 3 minutes labels:{"job": "a]b, c"}]:`:   {"state": "select", "minutes": "3", "job": "a]b, c"},
		`goroutine 3 [sleep] {route: /orders, "user name": "a \"b"}:`: {"state": "sleep", "route": "/orders", "user name": `a "b`},
		`goroutine 4 [running] {route: /a, "cut": "of`:                {"state": "running", "route": "/a"},
		`goroutine 5 [chan send (nil chan) (leaked)] {state: mine}:`:  {"state": "chan send (nil chan) (leaked)"},
		"goroutine 1 gp=0xc000002380 m=nil [sync.WaitGroup.Wait]:":    {"state": "sync.WaitGroup.Wait"},
		"goroutine 0 gp=0x5b4 m=0 mp=0x5b5 [idle]:":                   {"state": "idle"},
		"goroutine 9 [IO wait (scan), 2 minutes]:":                    {"state": "IO wait", "minutes": "2"},
	} {
		text := "SIGQUIT: quit\nPC=0x4 m=0\n\n" + header + "\nmain.(*T).wait(0x1, {0x2?})\n\t/src/t.go:5 +0x1\n\nrax 0x0\n"
		m := load(t, Options{}, files(t, map[string][]byte{"x": []byte(text)}))
		s := m.Goroutines.End.Samples
		if len(s) != 1 || !maps.Equal(s[0].Labels, want) || m.Stacks.Frames(s[0].Stack)[0] != (model.Frame{Func: "main.(*T).wait", File: "/src/t.go", Line: 5}) {
			t.Errorf("%q: samples %+v, want one of main.(*T).wait with %v", header, s, want)
		}
	}
}

func TestBuildInfo(t *testing.T) {
	b := loadFixture(t, "build-1.26.txt").Build
	if b == nil || b.Path != "example.com/program" || b.Module != "example.com/program" || b.Version != "(devel)" || b.Go != "go1.26.8" ||
		b.Settings["-trimpath"] != "true" || b.Settings["GOAMD64"] != "v1" || !strings.HasPrefix(b.Settings["DefaultGODEBUG"], "asynctimerchan=1,") {
		t.Errorf("build %+v, want example.com/program by go1.26.8 with its settings", b)
	}
	if m := loadFixture(t, "build-1.18.txt"); m.Run.Go != "go1.18.10" || m.Build.Settings["CGO_CFLAGS"] != "" || m.Build.Settings["GOOS"] != "linux" {
		t.Errorf("build %+v, want linux by go1.18.10, no CGO_CFLAGS", m.Build)
	}
	twice := append(fixture(t, "build-1.26.txt"), fixture(t, "build-1.18.txt")...)
	if m := load(t, Options{}, files(t, map[string][]byte{"x": twice})); m.Build.Go != "go1.26.8" || !noted(m, "more than one program") {
		t.Errorf("build %+v, notes %q; want the first, go1.26.8, and a note", m.Build, m.Run.Coverage.Notes)
	}
	quoted := "p: go1.26\n\tpath\tp\n\tbuild\t-ldflags=\"-s -w\"\n\tbuild\t-gcflags=`-l \"x\"`\n"
	if b := load(t, Options{}, files(t, map[string][]byte{"x": []byte(quoted)})).Build; b.Settings["-ldflags"] != "-s -w" || b.Settings["-gcflags"] != `-l "x"` {
		t.Errorf("settings %+v, want -ldflags \"-s -w\" and -gcflags '-l \"x\"'", b.Settings)
	}
}

func TestEscape(t *testing.T) {
	want := []model.Escaping{{File: "main.go", Line: 38, What: "v"}, {File: "main.go", Line: 43, What: `name + ".txt"`}}
	for _, name := range []string{"escape-1.13.txt", "escape-1.26.txt"} {
		m := loadFixture(t, name)
		for _, w := range want {
			if !slices.ContainsFunc(m.Escapes, func(e model.Escaping) bool {
				return strings.HasSuffix(e.File, w.File) && e.Line == w.Line && e.What == w.What && !e.Moved
			}) {
				t.Errorf("%s: the escapes are %+v, want %+v among them", name, m.Escapes, w)
			}
		}
		if slices.ContainsFunc(m.Escapes, func(e model.Escaping) bool {
			return strings.Contains(e.What, " does not") || strings.Contains(e.What, " in ")
		}) {
			t.Errorf("%s: messages %+v, want no explanations among them", name, m.Escapes)
		}
	}
	text := "# x\n./a b.go:3:2: moved to heap: buf\n../d/e.go:7:13: ... argument escapes to heap\n../d/e.go:7:13: ... argument escapes to heap\n../d/e.go:7:13: ... argument escapes to heap:\n../d/e.go:9:13: ... argument does not escape\n../d/e.go:9:15: x does not escape\n"
	got := load(t, Options{}, files(t, map[string][]byte{"x": []byte(text)})).Escapes
	if !slices.Equal(got, []model.Escaping{{File: "a b.go", Line: 3, What: "buf", Moved: true}, {File: "d/e.go", Line: 7, What: "... argument", Variadic: true}, {File: "d/e.go", Line: 9, What: "... argument", Variadic: true, Stays: true}}) {
		t.Errorf("escapes %+v, want buf moved to the heap, an argument that escapes and one that stays", got)
	}
}

func TestPerfScript(t *testing.T) {
	m := loadFixture(t, "perf-clock.txt")
	text := fixture(t, "perf-clock.txt")
	if n := int64(bytes.Count(text, []byte("cpu-clock"))); total(m.CPU, "samples") != n || total(m.CPU, "cpu") != n*2004008 || n == 0 {
		t.Errorf("%d samples, want %d; %d ns, want %d", total(m.CPU, "samples"), n, total(m.CPU, "cpu"), n*2004008)
	}
	if m.CPU.Duration <= 0 || m.CPU.Duration > 2*time.Second {
		t.Errorf("the profile covers %v, want more than 0 and at most 2s", m.CPU.Duration)
	}
	kernel := 0
	for _, s := range m.CPU.Samples {
		f := m.Stacks.Frames(s.Stack)
		if (s.Labels["mode"] == "kernel") != (f[0].PC >= 1<<63) || s.Labels["thread"] != "program" {
			t.Errorf("sample %+v at %+v, want the thread program, in kernel mode if the address is the kernel's", s, f[0])
		}
		if s.Labels["mode"] == "kernel" {
			kernel++
		}
		if last := f[len(f)-1]; strings.HasSuffix(last.Func, ".abi0") || strings.Contains(last.Func, "+0x") || strings.Contains(last.Func, "/srv") {
			t.Errorf("frame %+v, want a Go function without its ABI, offset and path", last)
		}
	}
	if kernel == 0 || !slices.ContainsFunc(m.CPU.Samples, func(s model.Sample) bool { return strings.HasPrefix(s.Group, "main.") }) {
		t.Errorf("%d samples in the kernel; no group of the program's", kernel)
	}
	m = loadFixture(t, "perf-faults.txt")
	if len(m.CPU.Types) != 1 || total(m.CPU, "samples") < 5 || !noted(m, "which are no time") {
		t.Errorf("types %v, notes %q; want a count of 5 samples or more and a note", m.CPU.Types, m.Run.Coverage.Notes)
	}
}

// Of several events the one that says most of time is read; what is no time is counted.
func TestPerfEvents(t *testing.T) {
	sample := func(period, event, function string) string {
		return fmt.Sprintf("app  7/8   10.%06d:  %s %s: \n\t    2e35a %s+0x2 (/app)\n\n", len(function), period, event, function)
	}
	for name, c := range map[string]struct {
		text    string
		samples int64
		nanos   int64 // -1 is no time
		leaf    string
		note    string
	}{
		"cycles":           {sample("2000", "cycles:P", "main.a") + sample("9000", "cycles:P", "main.a"), 2, -1, "main.a", "which are no time"},
		"without a period": {sample("", "cpu-clock", "main.a"), 1, -1, "main.a", "perf script -F +period"},
		"a clock first":    {sample("5", "instructions", "main.b") + sample("4", "cycles", "main.b") + sample("3000000", "cpu-clock:u", "main.a"), 1, 3e6, "main.a", "1 of \"instructions\", 1 of \"cycles\""},
		"cycles second":    {sample("5", "instructions", "main.b") + sample("5", "instructions", "main.b") + sample("4", "cycles", "main.a"), 1, -1, "main.a", "2 of \"instructions\""},
	} {
		m := load(t, Options{}, files(t, map[string][]byte{"x": []byte(c.text)}))
		count, nanos := m.CPU.Columns()
		got := []int64{0, -1}
		for _, s := range m.CPU.Samples {
			got[0] += s.Values[count]
			if nanos >= 0 {
				got[1] = max(0, got[1]) + s.Values[nanos]
			}
		}
		if got[0] != c.samples || got[1] != c.nanos || m.Stacks.Frames(m.CPU.Samples[0].Stack)[0].Func != c.leaf || !noted(m, c.note) {
			t.Errorf("%s: %d samples and %d ns, notes %q; want %d and %d in %s, and %q", name, got[0], got[1], m.Run.Coverage.Notes, c.samples, c.nanos, c.leaf, c.note)
		}
	}
}

func TestFolded(t *testing.T) {
	text := "main.main;main.work;runtime.mallocgc 12\nmain.main;main.work;runtime.mallocgc 3\nmain.main;write with blanks;do_syscall_64_[k] 7\nidle 1\n"
	m := load(t, Options{}, files(t, map[string][]byte{"x": []byte(text)}))
	if len(m.CPU.Samples) != 3 || total(m.CPU, "samples") != 23 || m.CPU.Samples[0].Values[0] != 15 || m.CPU.Samples[0].Group != "main.main" {
		t.Fatalf("CPU profile %+v, want 3 samples of 23, the first 15 of main.main", m.CPU)
	}
	k := m.CPU.Samples[1]
	if f := m.Stacks.Frames(k.Stack); k.Labels["mode"] != "kernel" || f[0].Func != "do_syscall_64" || f[1].Func != "write with blanks" {
		t.Errorf("frames %+v, labels %v; want do_syscall_64 in the kernel, called by \"write with blanks\"", f, k.Labels)
	}
	for _, other := range []string{"a sentence; with 12\nand more\n", "one 1\ntwo 2\n", "{\"a\":1;} 3x\n"} {
		if isFolded([]byte(other)) {
			t.Errorf("%q is taken for stacks", other)
		}
	}
}

// Every line of the table is found by content: each fixture by its own.
func TestTextFormats(t *testing.T) {
	for name, want := range map[string]string{
		"godebug-1.13.log": "log", "scheddetail-1.13.log": "log", "build-1.18.txt": "build info", "build-1.26.txt": "build info",
		"escape-1.13.txt": "escape analysis", "escape-1.26.txt": "escape analysis",
		"perf-clock.txt": "perf script", "perf-faults.txt": "perf script",
		"text-1.13/dump.txt": "goroutine dump", "text-1.26/dump.txt": "goroutine dump",
		"text-1.13/heap.txt": "profile in text form", "text-1.26/mutex.txt": "profile in text form",
		"program/main.go": "log", "README": "log",
	} {
		head := fixture(t, name)
		if got := textFormat(head[:min(len(head), headLen)]); got.what != want {
			t.Errorf("textFormat(%s) = %q, want %q", name, got.what, want)
		}
	}
	for text, want := range map[string]string{
		`{"kind":"gowhy metrics","schema":1}`:         "metrics log",
		"{ \"kind\" : \"gowhy proc\", \"schema\": 1}": "process log",
		`{"kind":"gowhy syscalls"}`:                   "system call log",
		`{"kind":"gowhy","schema":1}`:                 "log",
	} {
		if got := textFormat([]byte(text)); got.what != want {
			t.Errorf("textFormat(%s) = %q, want %q", text, got.what, want)
		}
	}
}

// A log of benchmarks and a load result come to the model on its clock.
func TestLoadResults(t *testing.T) {
	bench := strings.Repeat("some build output that is long enough to be a log\n", 1000) +
		"goos: linux\nBenchmarkPut-2   \t    1000\t      1234 ns/op\t      16 B/op\nPASS\n"
	m := load(t, Options{}, files(t, map[string][]byte{"log": []byte(bench)}))
	if !m.Has(model.LoadResult) || len(m.Load.Benchmarks) != 1 || m.Load.Benchmarks[0].Values["ns/op"] != 1234 || m.Load.Known {
		t.Errorf("load %+v, want one benchmark of 1234 ns/op", m.Load)
	}
	at := time.Unix(1_700_000_000, 0).UTC() // the CPU profile's
	var k6 strings.Builder
	k6.WriteString(`{"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time"},"metric":"http_req_duration"}` + "\n")
	for i := range 30 {
		when := at.Add(time.Second + time.Duration(i)*100*time.Millisecond).Format(time.RFC3339Nano)
		fmt.Fprintf(&k6, `{"type":"Point","data":{"time":%q,"value":1,"tags":{}},"metric":"http_reqs"}`+"\n", when)
		fmt.Fprintf(&k6, `{"type":"Point","data":{"time":%q,"value":%d,"tags":{}},"metric":"http_req_duration"}`+"\n", when, 5+i)
	}
	dir := files(t, map[string][]byte{"cpu": cpuProfile(t), "points.json": []byte(k6.String())})
	m = load(t, Options{}, dir)
	if m.Load == nil || m.Load.Tool != "k6" || m.Load.Ops != 30 || !m.Load.Known || m.Load.Start < 900*time.Millisecond || m.Load.Start > 1100*time.Millisecond {
		t.Fatalf("load %+v, want 30 operations of k6, from about 1 s on", m.Load)
	}
	if len(m.Load.Over) > 0 && m.Load.Over[0].At < m.Load.Start-time.Second {
		t.Errorf("first interval %+v, want none long before the load, at %v", m.Load.Over[0], m.Load.Start)
	}
	var p *problem.Error
	if _, err := Load(t.Context(), []string{dir, dir}, Options{}); !errors.As(err, &p) || p.Kind != problem.Misuse {
		t.Errorf("twice: %v", err)
	}
}

// What gowhy's own generator says of itself comes to the model too, with the
// backlog on its clock.
func TestLoadOfGowhy(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC() // the CPU profile's
	r := &loadresult.Result{Tool: "gowhy", Start: at.Add(time.Second), Duration: 4 * time.Second, Ops: 4000, Rate: 1000, Offered: 2000, Planned: 8000, Sent: 4000,
		CPU: 1.5, Procs: 2, Generator: "it used all of its CPU", Backlog: []loadresult.Level{{At: time.Second, N: 1000}, {At: 3 * time.Second, N: 3000}}}
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	m := load(t, Options{}, files(t, map[string][]byte{"cpu": cpuProfile(t), "load.json": b.Bytes()}))
	if m.Load == nil || m.Load.Generator != (model.Generator{Limit: r.Generator, CPU: 1.5, Procs: 2}) || m.Load.Closed || m.Load.Offered != 2000 {
		t.Fatalf("load %+v, want an open one of 2000/s and the limit of its generator", m.Load)
	}
	if n := len(m.Load.Backlog); n != 2 || m.Load.Backlog[1].Value != 3000 || m.Load.Backlog[1].At-m.Load.Backlog[0].At != 2*time.Second || m.Load.Backlog[0].At-m.Load.Start != time.Second {
		t.Errorf("backlog %+v from %v, want 2 levels, 1 s and 3 s after the start, the last of 3000", m.Load.Backlog, m.Load.Start)
	}
}

// A CPU profile with a Go 1.24 trace: nothing tells the trace's wall time but
// the recording's clock.
func TestAnchoredTrace(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	l := newLoader(t.Context(), Options{})
	l.m.Sched = &model.Sched{}
	l.m.Run.Duration = time.Second
	l.traceStart = 5_000_000_000
	l.anchors = []recording.Anchor{{Wall: at, Monotonic: 3_000_000_000}}
	l.recordedRange = timeRange{at, at.Add(10 * time.Second)}
	c, err := l.clock()
	if err != nil || !c.start.Equal(at.Add(2*time.Second)) {
		t.Errorf("clock() = %v, %v; want %v", c.start, err, at.Add(2*time.Second))
	}
	l.m.Run.Start = time.Time{}
	l.recordedRange = timeRange{at.Add(time.Hour), at.Add(2 * time.Hour)}
	if c, _ := l.clock(); !c.start.IsZero() {
		t.Errorf("a clock that is another one is believed: %v", c.start)
	}
}

// A saved diagnosis is handed to who wants one, alone, and refused by all others.
func TestSavedDiagnosis(t *testing.T) {
	const saved = "{\n \"schema\": 1,\n \"verdict\": \"healthy\"}"
	dir := files(t, map[string][]byte{"cpu": cpuProfile(t), "why.json": []byte(saved), "other.json": []byte(`{"a": "schema"}`)})
	why := filepath.Join(dir, "why.json")
	var got []byte
	read := func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	}
	if m, err := Load(t.Context(), []string{why}, Options{Diagnosis: read}); err != nil || string(got) != saved || m.Sched != nil || m.CPU != nil {
		t.Errorf("Load() = %+v, %v, handed over %s; want the saved diagnosis and no evidence", m, err, got)
	}
	for _, c := range []struct {
		files []string
		read  func(io.Reader) error
		want  string
	}{
		{[]string{why}, nil, "is a saved diagnosis and no evidence"},
		{[]string{why, filepath.Join(dir, "cpu")}, read, "is a saved diagnosis and no evidence"},
		{[]string{why}, func(io.Reader) error { return errors.New("schema 9") }, "is a saved diagnosis that cannot be read: schema 9"},
		{[]string{filepath.Join(dir, "other.json")}, read, "is JSON, but no saved diagnosis"},
	} {
		if _, err := Load(t.Context(), c.files, Options{Diagnosis: c.read}); err == nil || !strings.Contains(err.Error(), c.want) || !problem.Is(err, problem.Absence) {
			t.Errorf("Load(%q): error %v, want %s", c.files, err, c.want)
		}
	}
}

// Each source but a trace, which its first bytes tell, is that of a format, or comes with another's.
func TestSourcesHaveFormats(t *testing.T) {
	with := map[model.Source]model.Source{model.LiveHeap: model.Heap, model.SchedTrace: model.GCTrace, model.ShortageLog: model.GCTrace}
	for _, src := range model.Sources() {
		if src == model.Trace {
			continue
		}
		of := cmp.Or(with[src], src)
		if !slices.ContainsFunc(formats(), func(f format) bool { return f.source == of }) {
			t.Errorf("no format is of %s", of)
		}
	}
}

// A profile of several moments becomes one of each, and where nothing else says it, the ends.
func TestHeapCourse(t *testing.T) {
	course := func(edit func(*profile.Profile)) []byte {
		return snapshotOf(t, "heap", func(p *profile.Profile) {
			for len(p.Sample) < 3 { // a small program has few
				s := *p.Sample[0]
				p.Sample = append(p.Sample, &s)
			}
			for i, s := range p.Sample {
				s.NumLabel = map[string][]int64{"moment": {time.Unix(int64(100+i%3), 0).UnixNano()}}
			}
			if edit != nil {
				edit(p)
			}
		})
	}
	m := load(t, Options{}, files(t, map[string][]byte{"course": course(func(p *profile.Profile) { p.Sample[2].NumLabel = nil; p.Sample = p.Sample[:3] })}))
	if len(m.HeapCourse) != 2 || m.LiveHeap.Start != m.HeapCourse[0] || m.LiveHeap.End != m.HeapCourse[1] {
		t.Errorf("%d moments, the ends %v, want two that are the ends", len(m.HeapCourse), m.LiveHeap)
	}
	if a, b := m.HeapCourse[0], m.HeapCourse[1]; b.At-a.At != time.Second || len(a.Samples) != 1 {
		t.Errorf("%d samples at %v, and the second at %v; want one, and a second between", len(a.Samples), a.At, b.At)
	}
	_, err := Load(t.Context(), []string{files(t, map[string][]byte{"course": course(func(p *profile.Profile) {
		for i := range maxMoments + 1 {
			s := *p.Sample[0]
			s.NumLabel = map[string][]int64{"moment": {int64(i + 1)}}
			p.Sample = append(p.Sample, &s)
		}
	})})}, Options{})
	if err == nil || !strings.Contains(err.Error(), "more than 256 moments") {
		t.Errorf("of too many moments: %v, want an error", err)
	}
}
