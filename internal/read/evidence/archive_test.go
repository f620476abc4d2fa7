package evidence

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

func tarred(t testing.TB, members map[string][]byte) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(members[name])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(members[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tree writes files at paths below a new directory.
func tree(t *testing.T, members map[string][]byte) string {
	dir := t.TempDir()
	for name, b := range members {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Evidence is found at any depth of what a tool for support wrote.
func TestNestedEvidence(t *testing.T) {
	members := map[string][]byte{"debug/host.json": []byte(`{"a":1}`), "debug/nodes/1/cpu.pprof": cpuProfile(t), "debug/nodes/1/dump.txt": fixture(t, "text-1.26/dump.txt"),
		"debug/nodes/1/trace.out": sampleTrace()}
	for name, path := range map[string]string{
		"directory": tree(t, members),
		"zip":       filepath.Join(files(t, map[string][]byte{"x": zipped(t, members)}), "x"),
		"tar":       filepath.Join(files(t, map[string][]byte{"x": tarred(t, members)}), "x"),
		"tar.gz":    filepath.Join(files(t, map[string][]byte{"x": gzipped(tarred(t, members))}), "x"),
		"tar in it": filepath.Join(files(t, map[string][]byte{"x": zipped(t, map[string][]byte{"y.tgz": gzipped(tarred(t, members))})}), "x"),
	} {
		m := load(t, Options{}, path)
		if !m.Has(model.CPU) || !m.Has(model.GoroutineProfile) || !m.Has(model.Trace) {
			t.Errorf("%s: CPU %v, goroutines %v, trace %v; want all", name, m.Has(model.CPU), m.Has(model.GoroutineProfile), m.Has(model.Trace))
		}
	}
	// Beside evidence the directories below are somebody's source tree.
	if m := load(t, Options{}, tree(t, map[string][]byte{"cpu.pprof": cpuProfile(t), "testdata/cpu.pprof": cpuProfile(t), ".git/cpu.pprof": cpuProfile(t)})); !m.Has(model.CPU) {
		t.Error("the profile beside directories is not read")
	}
	cut := gzipped(tarred(t, members))
	if m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": cut[:len(cut)-len(cut)/3]}), "x")); !m.Has(model.CPU) || !noted(m, "cut short") {
		t.Errorf("of a cut archive: CPU %v, notes %q; want what there is, and a note", m.Has(model.CPU), m.Run.Coverage.Notes)
	}
	var p *problem.Error
	if _, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": tarred(t, map[string][]byte{"a.txt": []byte("nothing\n")})}), "x")}, Options{}); !errors.As(err, &p) || !strings.Contains(p.What, "holds no trace") {
		t.Errorf("an archive without evidence: %v", err)
	}
}

// Of several nodes each is named, and the hint is a command that is taken.
func TestSeveralNodes(t *testing.T) {
	heap := heapProfile(t)
	for source, members := range map[string]map[string][]byte{
		"CPU":        {"d/1/cpu.pprof": cpuProfile(t), "d/2/cpu.pprof": cpuProfile(t), "d/3/cpu.pprof": cpuProfile(t)},
		"heaps":      {"d/1/heap": heap, "d/2/heap": heap, "d/3/heap": heap},
		"goroutines": {"d/1/g.txt": fixture(t, "text-1.26/dump.txt"), "d/2/g.txt": fixture(t, "text-1.26/dump.txt"), "d/3/g": fixture(t, "text-1.26/dump.txt")},
	} {
		for name, path := range map[string]string{
			"directory": tree(t, members),
			"zip":       filepath.Join(files(t, map[string][]byte{"x.zip": zipped(t, members)}), "x.zip"),
			"tar":       filepath.Join(files(t, map[string][]byte{"x.tar.gz": gzipped(tarred(t, members))}), "x.tar.gz"),
		} {
			var p *problem.Error
			_, err := Load(t.Context(), []string{path}, Options{})
			if !errors.As(err, &p) || p.Kind != problem.Misuse || !strings.Contains(p.What, `"d/1", "d/2" and "d/3"`) {
				t.Errorf("%s of %s: error %v, want one that names three directories", name, source, err)
				continue
			}
			command, _, _ := strings.Cut(strings.TrimPrefix(p.Hint, "gowhy "), "   #")
			if _, err := Load(t.Context(), []string{command}, Options{}); err != nil {
				t.Errorf("%s of %s: what the hint says, %q: %v", name, source, command, err)
			}
		}
	}
	flat := filepath.Join(files(t, map[string][]byte{"x.zip": zipped(t, map[string][]byte{"a-cpu": cpuProfile(t), "b-cpu": cpuProfile(t)})}), "x.zip")
	var p *problem.Error
	if _, err := Load(t.Context(), []string{flat}, Options{}); !errors.As(err, &p) {
		t.Fatalf("two CPU profiles: %v", err)
	}
	command, _, _ := strings.Cut(strings.TrimPrefix(p.Hint, "gowhy "), "   #")
	if m := load(t, Options{}, command); !m.Has(model.CPU) {
		t.Errorf("what the hint says, %q, has no CPU profile", command)
	}
	if _, err := Load(t.Context(), []string{flat + ":c-cpu"}, Options{}); !errors.As(err, &p) || !strings.Contains(p.What, "holds nothing called") {
		t.Errorf("a member that is not there: %v", err)
	}
}

// Profiles and archives are read as they are packed, and a damaged one says so.
func TestPacked(t *testing.T) {
	profile := cpuProfile(t)
	packed := func(b []byte) []byte {
		var out bytes.Buffer
		w, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	bz, err := os.ReadFile("testdata/godebug-1.26.log.bz2")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		has  model.Source
	}{
		"a profile by zstd":       {packed(profile), model.CPU},
		"an archive by zstd":      {packed(tarred(t, map[string][]byte{"a/cpu": profile})), model.CPU},
		"one in an archive":       {tarred(t, map[string][]byte{"cpu.zst": packed(profile)}), model.CPU},
		"lines of a log by bzip2": {bz, model.GCTrace},
	} {
		path := filepath.Join(files(t, map[string][]byte{"x": c.data}), "x")
		if m := load(t, Options{}, path); !m.Has(c.has) {
			t.Errorf("%s: there is no %s", name, c.has)
		}
	}
	for name, data := range map[string][]byte{
		"cut":        packed(profile)[:40],
		"damaged":    append([]byte("\x28\xb5\x2f\xfd"), "nothing that zstd writes"...),
		"bzip2, cut": bz[:30],
	} {
		var p *problem.Error
		_, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": data}), "x")}, Options{})
		if !errors.As(err, &p) || p.Kind != problem.Failure {
			t.Errorf("%s: error %v, want a problem", name, err)
		}
	}
	// A small file that unpacks to far more is given up at once.
	bomb := filepath.Join(files(t, map[string][]byte{"x": packed(make([]byte, 1<<29))}), "x")
	if _, err := Load(t.Context(), []string{bomb}, Options{}); err == nil {
		t.Error("half a gigabyte of zeros is read")
	}
}

// What people bring by mistake is refused with what helps.
func TestForeignFiles(t *testing.T) {
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 60)...)
	core := bytes.Clone(elf)
	binary.LittleEndian.PutUint16(core[16:], 4)
	binary.LittleEndian.PutUint16(elf[16:], 2)
	for name, c := range map[string]struct {
		head       []byte
		what, hint string
	}{
		"core":       {core, "a core dump", "dlv core PROGRAM "},
		"program":    {elf, "is a program", "gowhy record"},
		"perf.data":  {[]byte("PERFILE2\x68\x00"), "perf record", "perf script -i "},
		"heapdump":   {[]byte("go1.5 heap dump\n\x06\x00"), "Go 1.6 or older", "debug/pprof/heap"},
		"jfr":        {[]byte("FLR\x00\x00\x02"), "Flight Recorder", "jfr summary"},
		"cpuprofile": {[]byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}]}`), "JavaScript", "DevTools"},
		"xz":         {[]byte("\xfd7zXZ\x00\x00"), "packed by xz", "xz -dc "},
		"lz4":        {[]byte("\x04\x22\x4d\x18\x64"), "packed by lz4", "lz4 -dc "},
		"gperftools": {[]byte("heap profile:    144:  8498176 [   144:  8498176] @ heapz_v2/524288\n     1:  1024 [     1:  1024] @ 0x1 0x2\n"), "gperftools", "go tool pprof -top"},
		"packed":     {gzipped(core), "a core dump", "dlv core"},
	} {
		var p *problem.Error
		_, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": c.head}), "x")}, Options{})
		if !errors.As(err, &p) || p.Kind != problem.Absence || !strings.Contains(p.What, c.what) || !strings.Contains(p.Hint, c.hint) {
			t.Errorf("%s: error %v, %+v; want %q with the hint %q", name, err, p, c.what, c.hint)
		}
	}
}

// What curl -i saved has the server's headers before it.
func TestBehindHeaders(t *testing.T) {
	const ok, moved = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"
	for name, body := range map[string][]byte{"profile": cpuProfile(t), "zip": zipped(t, map[string][]byte{"cpu": cpuProfile(t)})} {
		for _, head := range []string{ok, moved + ok} {
			if m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": append([]byte(head), body...)}), "x")); !m.Has(model.CPU) {
				t.Errorf("%s behind %q is not read", name, head)
			}
		}
	}
}

// FuzzTar feeds the reader of archives.
func FuzzTar(f *testing.F) {
	f.Add(tarred(f, map[string][]byte{"a/cpu": cpuProfile(f), "b/cpu": cpuProfile(f)}))
	f.Add(tarred(f, map[string][]byte{"a.tar": tarred(f, map[string][]byte{"b.tar": tarred(f, nil)})}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p *problem.Error
		l := newLoader(t.Context(), Options{})
		l.arg = "x"
		if err := l.tar(source{name: "x", r: bytes.NewReader(b)}); err != nil && !errors.As(err, &p) {
			t.Fatal(err)
		}
	})
}
