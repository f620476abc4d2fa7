package evidence

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A recording that somebody unpacked says the same as the recording, and so does one in memory.
func TestUnpackedRecording(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "run.gowhy"), filepath.Join(dir, "run")
	w, err := recording.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	const build = "p: go1.26.1\n\tpath\texample.com/p\n\tmod\texample.com/p\tv1.2.3\t\n"
	if err := w.Add(recording.BuildMember, []byte(build)); err != nil {
		t.Fatal(err)
	}
	man := recording.Manifest{Start: start, End: start.Add(4 * time.Second), PID: 77, Procs: 3, Redacted: true, Unredacted: []string{"trace"},
		Refused: []recording.Refusal{{Member: "kernel.pb.gz", Why: "not permitted"}},
		Event:   &recording.Event{Kind: "task", Task: "checkout", Time: start, Value: 2.5, Limit: 1}}
	if err := w.Finish(man); err != nil {
		t.Fatal(err)
	}
	unzip(t, file, folder)
	packed, unpacked, held := loaded(t, file), loaded(t, folder), inMemory(t, file)
	for _, m := range []*model.Model{packed, unpacked, held} {
		if r := m.Run.Refused; len(r) != 1 || r[0].Member != "kernel.pb.gz" || r[0].Source != model.KernelCPU {
			t.Errorf("%v: refused %+v, want the kernel's CPU samples", m.Run.Files, r)
		}
		notes := strings.Join(m.Run.Coverage.Notes, "\n")
		if m.Run.PID != 77 || m.Run.Procs != 3 || m.Build == nil || m.Run.Duration != 4*time.Second || !m.Run.Start.Equal(start) {
			t.Errorf("%v: run %+v, build %v; want PID 77, 3 Ps, 4s from %v on, a build", m.Run.Files, m.Run, m.Build, start)
		}
		for _, want := range []string{`task "checkout" reached 2.50, over 1`, "redacted, but for trace", "without kernel: not permitted"} {
			if !strings.Contains(notes, want) {
				t.Errorf("%v: no note %q in\n%s", m.Run.Files, want, notes)
			}
		}
	}
	if !reflect.DeepEqual(packed.Run.Coverage.Notes, unpacked.Run.Coverage.Notes) {
		t.Errorf("notes differ:\n%q\n%q", packed.Run.Coverage.Notes, unpacked.Run.Coverage.Notes)
	}
	packed.Run.Files, packed.Run.Recording = nil, "" // nothing can be read there again
	if !reflect.DeepEqual(held, packed) {
		t.Errorf("the model of the recording in memory is\n%+v, want that of its file\n%+v", held, packed)
	}
}

// inMemory reads a recording of which no file is left.
func inMemory(t *testing.T, file string) *model.Model {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(t.Context(), "a recording", rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func loaded(t *testing.T, path string) *model.Model {
	t.Helper()
	m := load(t, Options{}, path)
	return m
}

func unzip(t *testing.T, file, dir string) {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
