package backup

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kept returns a directory like a server's.
func kept(t testing.TB) (dir string, files map[string]string) {
	t.Helper()
	dir = t.TempDir()
	files = map[string]string{
		"catalog.sqlite": "the catalog", "segments/1-samples.parquet": strings.Repeat("samples ", 1000), "segments/2-totals.parquet": "",
		"runs/0a.json": "{}\n",
	}
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

func archive(t testing.TB) (data []byte, files map[string]string) {
	t.Helper()
	dir, files := kept(t)
	if err := os.WriteFile(filepath.Join(dir, "runs", "unfinished-1"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	runs := Part{Name: "runs", Dir: filepath.Join(dir, "runs"), Keep: func(name string) bool { return !strings.HasPrefix(name, "unfinished-") }}
	others := Part{Name: ".", Dir: dir, Keep: func(name string) bool { return filepath.Dir(name) != "runs" }}
	if err := Write(&b, others, runs); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), files
}

func TestRestore(t *testing.T) {
	data, files := archive(t)
	size := 0
	for _, content := range files {
		size += len(content)
	}
	want := Contents{Files: len(files), Bytes: int64(size)}
	if c, err := Check(bytes.NewReader(data)); err != nil || c != want {
		t.Errorf("Check() = %+v, %v, want %+v", c, err, want)
	}
	for what, dir := range map[string]string{"a new directory": filepath.Join(t.TempDir(), "deep", "data"), "an empty one": t.TempDir()} {
		c, err := Restore(dir, bytes.NewReader(data))
		if err != nil || c != want {
			t.Fatalf("%s: %+v, %v, want %+v", what, c, err, want)
		}
		found := 0
		filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			found++
			name, _ := filepath.Rel(dir, file)
			if content, err := os.ReadFile(file); err != nil || string(content) != files[filepath.ToSlash(name)] {
				t.Errorf("%s has %.20q, %v", name, content, err)
			}
			return nil
		})
		if found != len(files) {
			t.Errorf("%s has %d files, want %d", what, found, len(files))
		}
		if _, err := Restore(dir, bytes.NewReader(data)); err == nil {
			t.Errorf("%s: a directory that has something is overwritten", what)
		}
	}
}

// Nothing stays of an archive that was cut anywhere, or of which a byte is another.
func TestBroken(t *testing.T) {
	data, _ := archive(t)
	parent := t.TempDir()
	try := func(what string, data []byte) {
		t.Helper()
		dir := filepath.Join(parent, "data")
		if _, err := Restore(dir, bytes.NewReader(data)); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: error %v, want ErrBroken", what, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Fatalf("%s leaves %v, %v", what, left, err)
		}
	}
	whole := bytes.LastIndexByte(data, '\n') + 1 // what fills the list's block, and ends a tar, may be missing
	for cut := 0; cut < whole; cut += 509 {
		try("a cut", data[:cut])
	}
	at := bytes.Index(data, []byte("samples samples"))
	changed := bytes.Clone(data)
	changed[at] ^= 1
	try("another byte", changed)

	made := func(headers ...tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600} }
	for _, name := range []string{"../out", "/etc/out", "a/../../out", "./a", "a//b", `a\b`, "a\nb", strings.Repeat("a", 2000)} {
		try(name, made(file(name), file(manifest)))
	}
	try("a link", made(tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc/passwd"}, file(manifest)))
	try("a directory", made(tar.Header{Typeflag: tar.TypeDir, Name: "a/"}, file(manifest)))
	try("a file twice", made(file("a"), file("a"), file(manifest)))
	try("a list of nothing", made(file(manifest)))
	try("a file behind the list", append(bytes.Clone(data[:len(data)-1024]), made(file("a"))...))
}

// A full disk is told.
func TestWriteFails(t *testing.T) {
	dir, _ := kept(t)
	if err := Write(failing{}, Part{Name: ".", Dir: dir}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if err := Write(io.Discard, Part{Name: ".", Dir: filepath.Join(dir, "none")}); err == nil {
		t.Error("a directory that is not there: no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func FuzzCheck(f *testing.F) {
	data, _ := archive(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := filepath.Join(t.TempDir(), "data")
		_, checked := Check(bytes.NewReader(data))
		_, restored := Restore(dir, bytes.NewReader(data))
		if checked != nil && restored == nil {
			t.Errorf("restored what does not pass: %v", checked)
		}
	})
}
