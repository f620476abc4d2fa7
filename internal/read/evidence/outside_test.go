package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// begin is when the recordings of these tests begin.
var begin = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// loadRecording packs members as a recording of two seconds and loads it.
func loadRecording(t *testing.T, members map[string][]byte) *model.Model {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	w, err := recording.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range members {
		if err := w.Add(name, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(recording.Manifest{Start: begin, End: begin.Add(2 * time.Second), PID: 77}); err != nil {
		t.Fatal(err)
	}
	return load(t, Options{}, out)
}

func procText(samples ...proc.Sample) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.Encode(artifact.Header{Kind: artifact.ProcKind, Schema: artifact.ProcSchema})
	for _, s := range samples {
		e.Encode(s)
	}
	return b.Bytes()
}

func TestProcReachesModel(t *testing.T) {
	group := &proc.Group{Usage: 5 * time.Second, Periods: 10, Throttled: 3, ThrottledTime: time.Second}
	first := proc.Sample{Time: begin, Process: proc.Counters{User: time.Second, System: 2 * time.Second, FDs: -1},
		Machine: proc.Machine{Time: begin, CPUs: 8, Busy: time.Minute, CPUStall: -1}, Limits: proc.Limits{CPUs: 4, Quota: 1.5, Period: 100 * time.Millisecond},
		Threads: []proc.Thread{{ID: 1, Name: "a", User: 100}, {ID: 2, Name: "b", User: 50, Voluntary: 7}, {ID: 3, Name: "gone", User: 1}}}
	same := first
	same.Time, same.Threads, same.Process.User = begin.Add(time.Second), nil, 1500*time.Millisecond
	unread := same
	unread.Time, unread.Machine = begin.Add(1500*time.Millisecond), proc.Machine{}
	last := proc.Sample{Time: begin.Add(2 * time.Second), Process: proc.Counters{User: 2 * time.Second, System: 2 * time.Second, RSS: 1 << 20},
		Machine: proc.Machine{Time: begin.Add(2 * time.Second), CPUs: 8, Busy: 2 * time.Minute}, Limits: first.Limits, Group: group,
		Threads: []proc.Thread{{ID: 2, Name: "b", User: 250, Voluntary: 9}, {ID: 1, Name: "new", User: 20}, {ID: 9, Name: "c", User: 500}}}
	m := loadRecording(t, map[string][]byte{recording.ProcMember: procText(first, same, unread, last)})
	p := m.Process
	if p == nil || p.PID != 77 || len(p.Samples) != 4 || p.Samples[1].At != time.Second || p.Samples[0].FDs != -1 || p.Samples[3].RSS != 1<<20 {
		t.Fatalf("process %+v, want 4 samples of 77: no FDs at first, 1 MiB at the end", p)
	}
	// Thread 1's number was given away; thread 3 ended; thread 9 is new.
	want := []model.Thread{{ID: 9, Name: "c", User: 500}, {ID: 2, Name: "b", User: 200, Voluntary: 2}, {ID: 1, Name: "new", User: 20}}
	if !reflect.DeepEqual(p.Threads, want) {
		t.Errorf("threads %+v, want %+v", p.Threads, want)
	}
	if g := m.Machine; g.CPUs != 8 || len(g.Samples) != 2 || g.Samples[0].CPUStall != -1 || g.Samples[1].At != 2*time.Second {
		t.Errorf("machine %+v, want 8 CPUs in 2 samples, the last at 2s, and nothing of the two that did not read it", g)
	}
	if l := m.Limits; l.CPUs != 4 || l.Quota != 1.5 || len(l.Samples) != 1 || l.Samples[0].Throttled != 3 || m.Usable() != 1.5 {
		t.Errorf("limits %+v, usable %v; want a quota of 1.5 of 4 CPUs, throttled 3 times", l, m.Usable())
	}
}

func kernelResult() *kernel.Result {
	leaf := kernel.Frame{PC: 0xffffffff81000010, Func: "vfs_read", Kernel: true}
	user := kernel.Frame{PC: 0x401000, Func: "main.read", File: "main.go", Line: 7}
	inlined := kernel.Frame{PC: 0x401000, Func: "main.outer", File: "main.go", Line: 20}
	return &kernel.Result{
		Begin: begin, End: begin.Add(2 * time.Second), Hz: 100, UserOnly: true, Lost: 5, SyscallsLost: 2, OffShare: 0.25, SyscallsShare: 0.125,
		CPU: []kernel.Sample{
			{Stack: []kernel.Frame{leaf, user, inlined}, Thread: "prog", Kernel: true, Syscall: "read", Count: 3, Time: 30 * time.Millisecond},
			{Stack: []kernel.Frame{user, inlined}, Thread: "prog", Count: 1, Time: 10 * time.Millisecond},
			{Thread: "prog", Count: 1, Time: 10 * time.Millisecond}, // its stack was refused
		},
		Off:      []kernel.Sample{{Stack: []kernel.Frame{user}, Preempted: true, Count: 9, Time: time.Second}},
		Syscalls: []kernel.Syscall{{Name: "write", Count: 1, Time: 5}, {Name: "read", Count: 10, Time: 300, Errors: map[string]int64{"EAGAIN": 4}, Bytes: 4096}},
	}
}

func TestKernelReachesModel(t *testing.T) {
	res := kernelResult()
	cpu, off := artifact.KernelProfiles(res)
	var c, o bytes.Buffer
	// Write checks that the profile is whole.
	if err := errors.Join(cpu.Write(&c), off.Write(&o)); err != nil {
		t.Fatal(err)
	}
	m := loadRecording(t, map[string][]byte{recording.KernelMember: c.Bytes(), recording.OffCPUMember: o.Bytes(), recording.SyscallsMember: artifact.SyscallsJSON(res)})
	k := m.Kernel
	if k == nil || !m.Has(model.KernelCPU) || !m.Has(model.OffCPU) || m.Has(model.CPU) || !k.UserOnly || k.Lost != 5 || k.OffShare != 0.25 {
		t.Fatalf("kernel %+v, want it on and off CPU, user only, 5 lost, a share of 0.25, and no profile", k)
	}
	if len(k.CPU.Samples) != 3 || k.CPU.Duration != 2*time.Second || !k.CPU.Known || k.CPU.At != 0 {
		t.Fatalf("profile %+v, want 3 samples over 2s", k.CPU)
	}
	var total int64
	for _, s := range k.CPU.Samples {
		total += s.Values[1]
		if frames := m.Stacks.Frames(s.Stack); s.Labels["mode"] == "kernel" {
			if len(frames) != 3 || frames[0].Func != "vfs_read" || frames[1].Line != 7 || s.Labels["syscall"] != "read" || s.Labels["thread"] != "prog" {
				t.Errorf("sample %+v, frames %+v; want the read of prog: vfs_read below line 7", s, frames)
			}
		}
	}
	if total != int64(50*time.Millisecond) {
		t.Errorf("samples of %d ns in all, want 50 ms", total)
	}
	if s := k.Off.Samples[0]; s.Labels["preempted"] != "true" || s.Values[0] != 9 {
		t.Errorf("off CPU %+v, want 9 preempted", s)
	}
	if s := m.Syscalls; s.Window != 2*time.Second || s.Lost != 2 || s.Calls[0].Name != "read" || s.Call("read").Errors["EAGAIN"] != 4 || s.Call("read").Bytes != 4096 || s.Share != 0.125 || s.Exact() {
		t.Errorf("system calls %+v, want reads of 4096 bytes with 4 EAGAIN in 2s, 2 lost, a share of 0.125, not exact", s)
	}
	res.SyscallsShare = 1
	if s, _, err := artifact.ParseSyscalls(bytes.NewReader(artifact.SyscallsJSON(res))); err != nil || !s.Exact() {
		t.Errorf("all counted: %+v, %v; want it exact", s, err)
	}
}

const metricsText = `{"kind":"gowhy metrics","schema":1,"scalars":["/a:x","/b:x"],"histograms":[{"name":"/h:s","bounds":[null,1,2,null]}]}
{"t":1772600767000000000,"v":[1,null],"h":[[1,2,3]]}
{"t":1772600767500000000,"v":[2,5]}
{"t":1772600768000000000,"v":[4,6],"h":[[1,5,4]]}
`

func TestMetricsReachModel(t *testing.T) {
	m := loadRecording(t, map[string][]byte{recording.MetricsMember: []byte(metricsText)})
	want := model.Series{{At: 0, Value: 1}, {At: 500 * time.Millisecond, Value: 2}, {At: time.Second, Value: 4}}
	if got := m.Metrics.Series["/a:x"]; !reflect.DeepEqual(got, want) {
		t.Errorf("series %+v, want %+v", got, want)
	}
	if got := m.Metrics.Series["/b:x"]; len(got) != 2 || got[0].Value != 5 {
		t.Errorf("a series with a hole: %+v, want 2 values from 5 on", got)
	}
	h := m.Metrics.Histograms["/h:s"]
	if !reflect.DeepEqual(h.Counts, []uint64{0, 3, 1}) || !math.IsInf(h.Bounds[0], -1) || !math.IsInf(h.Bounds[3], 1) || h.Bounds[1] != 1 {
		t.Errorf("histogram %+v, want counts 0, 3, 1 with a bound at 1 between infinite ones", h)
	}
}

func TestMetricsDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"cut":        metricsText[:len(metricsText)-30],
		"too few":    metricsText + `{"t":1772600769000000000,"v":[1]}`,
		"backwards":  metricsText + `{"t":1,"v":[1,2]}`,
		"histograms": metricsText + `{"t":1772600769000000000,"v":[1,2],"h":[[1],[2]]}`,
	} {
		log, err := artifact.ParseMetrics(strings.NewReader(text))
		if err == nil || log == nil || len(log.Times) < 2 {
			t.Errorf("%s: ParseMetrics() = %v, want an error after 2 lines or more", name, err)
		}
	}
	// A histogram that changes its size or counts down is none.
	for _, last := range []string{`[1]`, `[0,0,0]`} {
		log, err := artifact.ParseMetrics(strings.NewReader(strings.ReplaceAll(metricsText, "[1,5,4]", last)))
		if err != nil {
			t.Fatal(err)
		}
		if m := foldMetrics(log, clock{start: begin}); len(m.Histograms) != 0 {
			t.Errorf("last histogram %s: histograms %+v, want none", last, m.Histograms)
		}
	}
}

func FuzzProcLog(f *testing.F) {
	f.Add(procText(proc.Sample{Time: begin, Threads: []proc.Thread{{ID: 1}}}, proc.Sample{Time: begin.Add(time.Second), Threads: []proc.Thread{{ID: 1, User: 5}}}))
	f.Add([]byte(`{"kind":"gowhy proc","schema":1}` + "\n" + `{"t":"9999-12-31T23:59:59Z","process":{"user_ns":-9223372036854775808}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		samples, _ := artifact.ParseProc(bytes.NewReader(text))
		if len(samples) == 0 {
			return
		}
		l := newLoader(t.Context(), Options{})
		l.foldProc(clock{start: begin}, samples)
		if len(l.m.Process.Samples) != len(samples) {
			t.Error("samples were lost")
		}
	})
}

func FuzzMetricsLog(f *testing.F) {
	f.Add([]byte(metricsText))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, _ := artifact.ParseMetrics(bytes.NewReader(text))
		if log == nil {
			return
		}
		for name, s := range foldMetrics(log, clock{start: begin}).Series {
			if len(s) > len(log.Times) {
				t.Errorf("%s has more points than there are lines", name)
			}
		}
	})
}

func FuzzSyscalls(f *testing.F) {
	f.Add(artifact.SyscallsJSON(kernelResult()))
	f.Fuzz(func(t *testing.T, text []byte) {
		calls, _, err := artifact.ParseSyscalls(bytes.NewReader(text))
		if err == nil && (calls.Window < 0 || calls.Lost < 0 || calls.Share < 0 || calls.Share > 1) {
			t.Errorf("ParseSyscalls() = %+v, want nothing negative and a share of at most 1", calls)
		}
	})
}
