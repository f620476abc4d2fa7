package record

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// checkMembers opens each member of a recording with the tool that owns its format.
func checkMembers(t *testing.T, path string) {
	t.Helper()
	if unzip, err := exec.LookPath("unzip"); err == nil {
		if out, err := exec.Command(unzip, "-t", path).CombinedOutput(); err != nil {
			t.Errorf("unzip -t: %v\n%s", err, out)
		}
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r) // it checks the sum
		if err != nil {
			t.Fatalf("reading %s: %v, want a sum that is right", f.Name, err)
		}
		loose := filepath.Join(dir, f.Name)
		if err := os.WriteFile(loose, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkMember(f.Name, loose, content); err != nil {
			t.Errorf("member %s alone: %v, want it to be read", f.Name, err)
		}
	}
	if len(z.File) < 10 {
		t.Errorf("%d members, want 10 or more", len(z.File))
	}
}

func checkMember(name, loose string, content []byte) error {
	switch {
	case strings.HasSuffix(name, ".pb.gz"):
		out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=3", loose).Output()
		if err == nil && !bytes.Contains(out, []byte("flat%")) {
			err = errors.New("go tool pprof shows no table:\n" + string(out))
		}
		return err
	case name == recording.TraceMember:
		out, err := exec.Command("go", "tool", "trace", "-pprof=sched", loose).Output()
		if err != nil {
			return err
		}
		_, err = profile.ParseData(out)
		return err
	case strings.HasSuffix(name, ".jsonl"):
		for line := range bytes.Lines(content) {
			if !json.Valid(line) {
				return errors.New("no JSON: " + string(line))
			}
		}
		return nil
	case strings.HasSuffix(name, ".json"):
		var v any
		return json.Unmarshal(content, &v)
	case name == recording.BuildMember:
		_, info, _ := strings.Cut(string(content), "\n")
		b, err := debug.ParseBuildInfo(strings.ReplaceAll("\n"+info, "\n\t", "\n")[1:])
		if err == nil && b.Path == "" {
			err = errors.New("names no package")
		}
		return err
	case name == recording.GCTraceMember:
		return everyLine(content, `gc \d+ @[\d.]+s \d+%: `)
	case name == recording.SchedTraceMember:
		return everyLine(content, `SCHED \d+ms: gomaxprocs=\d+ `)
	}
	return errors.New("nothing is known to open it")
}

func everyLine(content []byte, pattern string) error {
	want := regexp.MustCompile(pattern)
	for line := range bytes.Lines(content) {
		if !want.Match(line) {
			return errors.New("not of the runtime: " + string(line))
		}
	}
	return nil
}

// neededBy are the members without which a source is not in the model.
var neededBy = map[model.Source][]string{
	model.Trace: {recording.TraceMember}, model.CPU: {recording.CPUMember}, model.Heap: {recording.AllocsMember},
	model.LiveHeap: {recording.HeapStartMember, recording.HeapEndMember}, model.Block: {recording.BlockMember}, model.Mutex: {recording.MutexMember},
	model.GoroutineProfile: {recording.GoroutineStartMember, recording.GoroutineEndMember}, model.ThreadCreate: {recording.ThreadCreateMember},
	model.Leak: {recording.LeakMember}, model.MetricsLog: {recording.MetricsMember}, model.GCTrace: {recording.GCTraceMember},
	model.SchedTrace: {recording.SchedTraceMember}, model.BuildInfo: {recording.BuildMember}, model.ProcFS: {recording.ProcMember},
	model.Wall: {recording.WallMember}, model.KernelCPU: {recording.KernelMember}, model.OffCPU: {recording.OffCPUMember}, model.SyscallLog: {recording.SyscallsMember},
}

// A recording that is cut anywhere has what was whole before the cut.
func (a *accepted) cut(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run.gowhy")
	_, _, whole := recordFor(t, Target{Command: []string{a.agent, "worker", filepath.Join(t.TempDir(), "uses")}}, Options{Out: out, Duration: 400 * time.Millisecond})
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var places []int64
	begins, ends := map[string]int64{}, map[string]int64{}
	for _, f := range z.File {
		begin, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		begins[f.Name], ends[f.Name] = begin, begin+int64(f.CompressedSize64)
		places = append(places, begin, begin+int64(f.CompressedSize64/2), ends[f.Name])
	}
	random := rand.New(rand.NewPCG(20, 26))
	for range 100 {
		places = append(places, random.Int64N(int64(len(text))))
	}
	first := slices.Min(places[:3*len(z.File)])
	for _, at := range places {
		path := filepath.Join(t.TempDir(), "cut.gowhy")
		if err := os.WriteFile(path, text[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := evidence.Load(t.Context(), []string{path}, evidence.Options{})
		var none []model.Source
		var want []model.Source
		for s, members := range neededBy {
			if whole.Has(s) && !slices.ContainsFunc(members, func(name string) bool { return ends[name] == 0 || ends[name] > at }) {
				want = append(want, s)
				if err == nil && !m.Has(s) {
					none = append(none, s)
				}
			}
		}
		var p *problem.Error
		switch {
		case err != nil && (len(want) > 0 || !errors.As(err, &p)):
			t.Errorf("cut at %d of %d (members from %d): %v; want a problem, or if a member is whole no error: %q", at, len(text), first, err, want)
		case err == nil && len(none) > 0:
			t.Errorf("cut at %d of %d: %q are whole and not in the model", at, len(text), none)
		}
		if err == nil && at >= ends[recording.CPUMember] && len(m.CPU.Samples) != len(whole.CPU.Samples) {
			t.Errorf("cut at %d: %d samples, want %d", at, len(m.CPU.Samples), len(whole.CPU.Samples))
		}
	}
	t.Logf("%d cuts of %d bytes, members %v", len(places), len(text), begins)
}
