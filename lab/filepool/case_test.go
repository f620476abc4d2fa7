//go:build unix

package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/casetest"
)

const (
	crowd   = 1000
	handful = 8
)

// A load is small enough for seconds and large enough for its illness to be real.
type load struct{ tasks, size int }

var (
	// crowded: 1000 workers wait 20 to 30 times as long for a P as they work.
	crowded = load{tasks: 2000, size: 256 << 10}
	// churning: with fresh buffers 20 to 35 % of the CPU allocates and
	// collects, with kept ones at most 3 %; 200 samples of a CPU profile and more.
	churning = load{tasks: 3000, size: 512 << 10}
)

// A recorded run of filepool and where its evidence is.
type recorded struct {
	casetest.Run
	trace, cpu, mem string // "" when not asked for
}

// The evidence that record can ask for besides the trace. A CPU profile
// leaves its samples in the trace too.
const (
	withCPU = 1 << iota
	withAllocs
)

func record(t *testing.T, p casetest.Program, l load, with int, flags ...string) recorded {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	r := recorded{trace: filepath.Join(dir, "trace.out")}
	args := []string{"-tasks", strconv.Itoa(l.tasks), "-size", strconv.Itoa(l.size), "-dir", work, "-trace", r.trace}
	written := []string{r.trace}
	if with&withCPU != 0 {
		r.cpu = filepath.Join(dir, "cpu.pb.gz")
		args, written = append(args, "-cpuprofile", r.cpu), append(written, r.cpu)
	}
	if with&withAllocs != 0 {
		r.mem = filepath.Join(dir, "allocs.pb.gz")
		args, written = append(args, "-memprofile", r.mem), append(written, r.mem)
	}
	r.Run = p.Run(t, append(args, flags...)...)
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("filepool left %d files behind (%v)", len(left), err)
	}
	for _, name := range written {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("filepool did not write %s: %v", filepath.Base(name), err)
		}
	}
	if !strings.HasPrefix(r.Stdout, strconv.Itoa(l.tasks)+" tasks, ") {
		t.Errorf("filepool printed %q, want %d tasks", r.Stdout, l.tasks)
	}
	return r
}

// recordCrowd records the crowd at work. Now and then, on a machine with other
// work, a few workers do all tasks while the others are still being started: that
// run is not the story's, and is recorded again.
func recordCrowd(t *testing.T, p casetest.Program, gowhy casetest.Gowhy) (r recorded) {
	t.Helper()
	for range 4 {
		r = record(t, p, crowded, 0, "-workers", strconv.Itoa(crowd))
		w := gowhy.Ledger(t, r.trace)["main.worker"]
		if w.TotalNS() >= gowhy.Diagnose(t, r.trace).Trace.DurationNS*crowd/2 {
			break
		}
	}
	return r
}

// peak returns the most memory that the run had resident, in bytes.
func (r recorded) peak() float64 {
	return float64(r.State.SysUsage().(*syscall.Rusage).Maxrss) * 1024
}

func TestCase(t *testing.T) {
	attempt.Only(t, "records programs that run, and judges what is said of them")
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	sick := recordCrowd(t, program, gowhy)
	heap := record(t, program, churning, withAllocs, "-workers", strconv.Itoa(handful))
	cpu := record(t, program, churning, withCPU, "-workers", strconv.Itoa(handful))

	t.Run("1000 workers", func(t *testing.T) {
		d := gowhy.Diagnose(t, sick.trace)
		f := d.Find("oversubscribed")
		if f == nil {
			t.Fatalf("not found; found were %q", d.Rules())
		}
		if !f.PointsAt(casetest.Wants(t, "main.go", "oversubscribed")) {
			t.Errorf("points at %v, want %v", f.Where, casetest.Wants(t, "main.go", "oversubscribed"))
		}
		if f.Remedy.Text == "" || f.Prove == "" {
			t.Errorf("remedy %q, prove %q; want both", f.Remedy.Text, f.Prove)
		}
		// The least that a goroutine costs is its 2 KiB stack; the most is
		// all that the process had.
		memory := bytesOf(f)
		if memory < crowd*2048 || memory > sick.peak() {
			t.Errorf("costs %.0f bytes; want between %d and %.0f", memory, crowd*2048, sick.peak())
		}
	})

	t.Run("8 workers", func(t *testing.T) {
		for name, c := range map[string]struct {
			files []string
			churn bool
		}{
			"trace":            {[]string{heap.trace}, false},
			"trace and allocs": {[]string{heap.trace, heap.mem}, true},
			"trace and CPU":    {[]string{cpu.trace, cpu.cpu}, true},
		} {
			t.Run(name, func(t *testing.T) {
				d := gowhy.Diagnose(t, c.files...)
				if d.Find("oversubscribed") != nil {
					t.Error("8 workers are called oversubscribed")
				}
				f := d.Find("allocchurn")
				if (f != nil) != c.churn {
					t.Fatalf("found were %q; want allocchurn: %v", d.Rules(), c.churn)
				}
				if f != nil && !f.PointsAt(casetest.Wants(t, "main.go", "allocchurn")) {
					t.Errorf("points at %v, want %v", f.Where, casetest.Wants(t, "main.go", "allocchurn"))
				}
			})
		}
	})

	t.Run("ledger", func(t *testing.T) { checkLedger(t, gowhy, sick) })
}

// bytesOf returns the memory that a finding says its illness costs, wherever it says so.
func bytesOf(f *casetest.Finding) (most float64) {
	for _, figure := range []casetest.Figure{f.Cost, f.Bound} {
		if figure.Unit == "bytes" {
			most = max(most, figure.Value)
		}
	}
	for _, fact := range f.Evidence {
		if fact.Unit == "bytes" {
			most = max(most, fact.Value)
		}
	}
	return most
}

// checkLedger looks for the table of the story: the groups, what each did, and
// the special ranges.
func checkLedger(t *testing.T, gowhy casetest.Gowhy, sick recorded) {
	groups := gowhy.Ledger(t, sick.trace)
	for _, name := range []string{"main.main", "main.worker", "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"} {
		if groups[name].Count == 0 {
			t.Errorf("no group %s", name)
		}
	}
	w := groups["main.worker"]
	if w.Count != crowd {
		t.Errorf("%d workers, want %d", w.Count, crowd)
	}
	if waits, works := w.RunnableNS, w.RunningNS+w.SyscallNS; works <= 0 || waits < 5*works {
		t.Errorf("workers wait for a P for %d ns and work for %d ns: not oversubscribed", waits, works)
	}
	for name, g := range groups {
		if name != "main.worker" && g.RunningNS > w.RunningNS {
			t.Errorf("%s runs longer than the workers", name)
		}
	}
	// Every worker exists almost from the first moment to the last.
	window := gowhy.Diagnose(t, sick.trace).Trace.DurationNS
	if whole := window * crowd; w.TotalNS() > whole || w.TotalNS() < whole/2 {
		t.Errorf("the workers' parts add up to %d ns; their lives to at most %d", w.TotalNS(), whole)
	}
	if unknown := w.UnknownNS; unknown*100 > w.TotalNS() {
		t.Errorf("%d of %d ns are unknown", unknown, w.TotalNS())
	}
	for _, kind := range []string{"GC incremental sweep", "GC mark assist"} {
		if w.Ranges[kind] <= 0 {
			t.Errorf("the workers have no time in %q", kind)
		}
	}
	var stops []string
	for _, g := range groups {
		for kind, ns := range g.Ranges {
			if strings.HasPrefix(kind, "stop-the-world") && ns > 0 {
				stops = append(stops, kind)
			}
		}
	}
	for _, kind := range []string{"stop-the-world (GC mark termination)", "stop-the-world (GC sweep termination)"} {
		if !slices.Contains(stops, kind) {
			t.Errorf("no group has time in %q", kind)
		}
	}
}

// TestFlags needs no gowhy: the flags do what they say.
func TestFlags(t *testing.T) {
	program := casetest.Build(t)
	r := record(t, program, load{20, 1 << 10}, withCPU|withAllocs, "-workers", "3", "-procs", "1", "-reuse")
	if !strings.Contains(r.Stdout, "20 tasks, 3 workers: ") {
		t.Errorf("printed %q, want 20 tasks and 3 workers", r.Stdout)
	}
}

// TestBuffers: a task allocates its two buffers when they are fresh and next
// to nothing when they are kept.
func TestBuffers(t *testing.T) {
	const size = 1 << 20
	name := filepath.Join(t.TempDir(), "file")
	allocated := func(do func(string, int, byte) error) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for id := range byte(10) {
			if err := do(name, size, id); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 10
	}
	if n := allocated(fresh); n < 2*size {
		t.Errorf("a task with fresh buffers allocates %d bytes, want at least %d", n, 2*size)
	}
	if n := allocated(keeping(size)); n > size/100 {
		t.Errorf("a task with kept buffers allocates %d bytes, want at most %d", n, size/100)
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "4096": 4096, "3KB": 3000, "3KiB": 3072, "2MB": 2e6, "2MiB": 2 << 20, "1024MiB": 1 << 30,
	} {
		var s byteSize
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q is %d (%v), want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "-1", "MiB", "1025MiB", "2GiB", "1e3", "99999999999999999999"} {
		var s byteSize
		if err := s.Set(text); err == nil {
			t.Errorf("%q is accepted as %d", text, s)
		}
	}
}

func TestReused(t *testing.T) {
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		n := 0.0
		for id := range 1000 {
			if (pool{reused: share}).keeps(id) {
				n++
			}
		}
		if n != share*1000 {
			t.Errorf("%v of 1000 tasks keep their buffers, want %v", n, share*1000)
		}
	}
}

func TestWorkerReportsFailure(t *testing.T) {
	err := pool{workers: 3, tasks: 5, size: 10, dir: filepath.Join(t.TempDir(), "missing")}.run()
	if err == nil {
		t.Error("a missing directory is no error")
	}
	for _, p := range []pool{{workers: 0, tasks: 1}, {workers: 1, reused: 1.1}, {workers: 1, reused: math.NaN()}} {
		if err := p.run(); err == nil {
			t.Errorf("run() of %d workers, %d tasks, reused %v gives no error, want one", p.workers, p.tasks, p.reused)
		}
	}
}
