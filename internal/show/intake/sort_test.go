package intake

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/show/web"
)

// evidenceFiles writes what begins as evidence does.
func evidenceFiles(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{"trace.out": "go 1.25 trace\x00\x00\x00", "evil.out": "go 1.25 trace\x00\x00\x00", "heap.pprof": "\x1f\x8b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What a run's members are can be had as it was recorded.
func TestViewMembers(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	for _, path := range []string{filepath.Join(dir, "heap.pprof"), dir} {
		list, get := members([]string{path})
		i := slices.IndexFunc(list, func(m web.Member) bool { return m.Name == "heap.pprof" })
		if i < 0 {
			t.Fatalf("members(%s) = %+v, want heap.pprof among them", path, list)
		}
		f, err := get("heap.pprof")
		if err != nil {
			t.Fatal(err)
		}
		have, err := io.ReadAll(f)
		want, _ := os.ReadFile(filepath.Join(dir, "heap.pprof"))
		if err != nil || !bytes.Equal(have, want) || list[i].Bytes != int64(len(want)) || f.Close() != nil {
			t.Errorf("%s: %d bytes, want %d: %v", path, len(have), len(want), err)
		}
		if _, err := get("../heap.pprof"); err == nil {
			t.Errorf("%s: a path got a file", path)
		}
	}
	// What gowhy records has its words, whatever it lies in.
	build := filepath.Join(dir, "build.txt")
	if err := os.WriteFile(build, []byte("p: go1.26.1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, _ := members([]string{build, filepath.Join(dir, "heap.pprof")}); len(list) != 2 || list[0].What == "" || list[1].What != "" {
		t.Errorf("members(build.txt, heap.pprof) = %+v, want words for the first", list)
	}
}

func TestSortFiles(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	t.Chdir(dir)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"sub", "other"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(d, "x.gowhy"), "PK\x03\x04")
	}
	write("capacity.json", `{"kind":"gowhy capacity","schema":1,"low":10,"high":0,"why":"no \u001b[31m limit","tolerance":0.05,"steps":[]}`)
	write("load.json", `{"kind":"gowhy load","schema":1,"target":"GET http://localhost/"}`)
	for _, k := range []struct{ files, want string }{
		{"load.json sub/x.gowhy", "x.gowhy=sub/x.gowhy,load.json"},
		{"sub/x.gowhy load.json heap.pprof", "x.gowhy=sub/x.gowhy load.json + heap.pprof=load.json,heap.pprof"},
		{"sub/x.gowhy other/x.gowhy load.json", "sub/x.gowhy=sub/x.gowhy other/x.gowhy=other/x.gowhy load.json=load.json"},
		{"trace.out heap.pprof", "trace.out + heap.pprof=trace.out,heap.pprof"},
		{"heap.pprof trace.out", "trace.out + heap.pprof=trace.out,heap.pprof"},
		{"trace.out evil.out heap.pprof", "trace.out=trace.out evil.out=evil.out heap.pprof=heap.pprof"},
		{"sub/x.gowhy other/x.gowhy", "sub/x.gowhy=sub/x.gowhy other/x.gowhy=other/x.gowhy"},
		{"sub other/x.gowhy capacity.json", "sub=sub x.gowhy=other/x.gowhy capacity:capacity.json"},
		{"-", "standard input=-"},
		{"", ""},
	} {
		found, err := Sort(strings.Fields(k.files))
		if err != nil {
			t.Fatal(k.files, err)
		}
		var got []string
		for _, r := range found.Runs {
			got = append(got, r.Name+"="+strings.Join(r.Files, ","))
		}
		for _, r := range found.Results {
			got = append(got, r.Kind+":"+r.Name)
			if strings.Contains(r.Summary, "\x1b") || !json.Valid(r.JSON) {
				t.Errorf("%q %s", r.Summary, r.JSON)
			}
		}
		if strings.Join(got, " ") != k.want {
			t.Errorf("%s: %q, want %q", k.files, got, k.want)
		}
	}
	write("damaged.json", `{"kind": "gowhy trial", "schema": 1, "rounds": 7}`)
	if _, err := Sort([]string{"damaged.json"}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// Of a directory with several recordings each is one by itself; one alone stays with what lies
// beside it.
func TestUnfold(t *testing.T) {
	t.Chdir(t.TempDir())
	record := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		w, err := recording.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(recording.Manifest{}); err != nil {
			t.Fatal(err)
		}
	}
	record("several/b.gowhy")
	record("several/a.gowhy")
	record("several/below/c.gowhy")
	record("one/a.gowhy")
	evidenceFiles(t, "several")
	evidenceFiles(t, "one")
	got := strings.Join(Unfold([]string{"one", "several", "absent", "-", "one/a.gowhy"}), " ")
	if want := "one several/a.gowhy several/b.gowhy absent - one/a.gowhy"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
