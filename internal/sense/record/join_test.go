package record

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// Pieces of a busy program's time say together what they say one by one.
func TestJoin(t *testing.T) {
	if testing.Short() {
		t.Skip("records a program")
	}
	busy := exec.Command("sh", "-c", "while :; do kill -0 $$; done")
	if err := busy.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { busy.Process.Kill(); busy.Wait() }()
	dir := t.TempDir()
	var pieces []string
	var samples, calls float64
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprintf("%d.gowhy", i))
		o := Options{Out: path, Duration: 400 * time.Millisecond, Only: []string{"proc", "kernel", "offcpu", "syscalls"}, Piece: true}
		if _, err := Run(t.Context(), Target{PID: busy.Process.Pid}, o); err != nil {
			t.Skip(err) // no /proc here
		}
		pieces = append(pieces, path)
		m := load(t, evidence.Options{}, path)
		samples, calls = samples+cpuOf(m), calls+callsOf(m)
	}
	out := filepath.Join(dir, "all.gowhy")
	if err := Join(out, pieces); err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	if d := m.Run.Duration; d < 1200*time.Millisecond || d > time.Minute {
		t.Errorf("it is of %v, want the time from the first to the last", d)
	}
	if _, _, ok := m.Process.Window(); !ok || len(m.Process.Threads) == 0 {
		t.Errorf("process %+v, want counters of it and of its threads", m.Process)
	}
	if m.Kernel != nil && (cpuOf(m) != samples || len(m.Kernel.Moments) == 0 && samples > 0) {
		t.Errorf("%v ns of samples and %d times of them, want %v ns", cpuOf(m), len(m.Kernel.Moments), samples)
	}
	// What was called between the pieces is added by what was called in them.
	if got := callsOf(m); got < math.Floor(calls) {
		t.Errorf("%v system calls, want %v or more", got, calls)
	}
	for _, note := range m.Run.Coverage.Notes {
		if strings.Contains(note, "left out") || strings.Contains(note, "cannot be read") {
			t.Error(note)
		}
	}
}

func cpuOf(m *model.Model) (ns float64) {
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return 0
	}
	_, column := m.Kernel.CPU.Columns()
	for i := range m.Kernel.CPU.Samples {
		ns += m.Kernel.CPU.Samples[i].Value(column)
	}
	return ns
}

func callsOf(m *model.Model) (n float64) {
	if m.Syscalls == nil {
		return 0
	}
	for _, c := range m.Syscalls.Calls {
		n += float64(c.Count)
	}
	return n
}

// What only some pieces have, and what cannot be joined, is left out and named.
func TestJoinUnlike(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	piece := func(i int, members map[string]string) string {
		path := filepath.Join(dir, fmt.Sprintf("%d.gowhy", i))
		w, err := recording.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range members {
			if err := w.Add(name, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		begin := at.Add(time.Duration(i) * time.Second)
		if err := w.Finish(recording.Manifest{Start: begin, End: begin.Add(time.Second), Cost: &recording.Cost{RecorderCPU: 1}}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	syscalls := func(from, to int) string {
		return fmt.Sprintf(`{"kind":"gowhy syscalls","schema":1,"begin":"2026-03-01T12:00:%02dZ","end":"2026-03-01T12:00:%02dZ","calls":[{"name":"read","count":10,"time_ns":100,"errors":{"EAGAIN":4}}]}`, from, to)
	}
	a := piece(0, map[string]string{recording.TraceMember: "go 1.26 trace", recording.BuildMember: "x: go1.26\n", recording.SyscallsMember: syscalls(0, 1)})
	b := piece(3, map[string]string{recording.BuildMember: "x: go1.26\n", recording.SyscallsMember: syscalls(3, 4), recording.MetricsMember: "{}\n"})
	out := filepath.Join(dir, "out.gowhy")
	if err := Join(out, []string{a, b}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, m := range r.Members {
		names = append(names, m.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{recording.BuildMember, recording.SyscallsMember}) {
		t.Errorf("it has %q, want what both have and can be joined", names)
	}
	if len(r.Manifest.Refused) != 2 || !r.Manifest.Start.Equal(at) || !r.Manifest.End.Equal(at.Add(4*time.Second)) || r.Manifest.Cost.RecorderCPU != 2 {
		t.Errorf("%d refused, from %v to %v, recorder %v s of CPU, want 2, %v to %v, 2",
			len(r.Manifest.Refused), r.Manifest.Start, r.Manifest.End, r.Manifest.Cost.RecorderCPU, at,
			at.Add(4*time.Second))
	}
	m := load(t, evidence.Options{}, out)
	if c := m.Syscalls.Calls[0]; c.Count != 40 || c.Errors["EAGAIN"] != 16 || m.Syscalls.Window != 4*time.Second || m.Syscalls.Share != 0.5 {
		t.Errorf("ten calls in two of four seconds are %+v, want forty of a half", m.Syscalls)
	}
	if err := Join(filepath.Join(dir, "no.gowhy"), []string{piece(5, map[string]string{recording.TraceMember: "x"}), b}); err == nil {
		t.Error("pieces without evidence in common are joined")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+recording.Unfinished+"*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
