package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a module's authors ask is what the command says: a module that is linked
// without its notice, another version of one, or a new page fails here.
func TestLicenses(t *testing.T) {
	t.Chdir(root)
	for _, p := range []program{gowhy, fleet} {
		t.Run(p.name, func(t *testing.T) { noticesOf(t, p) })
	}
}

func noticesOf(t *testing.T, p program) {
	folders, err := p.linkedFolders(t.Context())
	var want []byte
	if err == nil {
		want, err = p.licenses(t.Context(), folders)
	}
	if err != nil {
		if _, missing := command(t.Context(), []string{"GOOS=windows", "GOPROXY=off"}, "go", "list", "-deps", p.path); missing != nil {
			t.Skip("a module that only other systems link is not here, and cannot be downloaded: ", err)
		}
		t.Fatal(err)
	}
	got, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is linked now: go run ./bench/dist -licenses", p.file)
	}
	// Asked in another way: this is in it, whatever collects it.
	if len(folders) < 8 {
		t.Errorf("%d modules are linked, want those of go.mod", len(folders))
	}
	for module := range folders {
		if !bytes.Contains(got, []byte("\n"+module+"\n")) {
			t.Errorf("%s has no notice of %s", p.file, module)
		}
	}
	page, err := os.ReadFile("ui/package.json")
	if err != nil {
		t.Fatal(err)
	}
	npm, err := npmPackages(page)
	if err != nil || len(npm) != 2 {
		t.Fatalf("packages of the page %v, error %v, want preact and uplot", npm, err)
	}
	for _, n := range npm {
		if !bytes.Contains(got, []byte(n.Name+" "+n.Version+"\n")) {
			t.Errorf("%s has no notice of %s %s: cd ui && npm ci && npm run build", p.file, n.Name, n.Version)
		}
	}
	texts := []string{"Copyright (c) 2022 Leon Sorokin"}
	if p.name == gowhy.name {
		texts = append(texts, "Andrea Leofreddi")
	}
	for _, text := range texts {
		if !bytes.Contains(got, []byte(text)) {
			t.Errorf("%s does not say %q", p.file, text)
		}
	}
}

// Archives do not know in which order and when they were made, or by whom.
func TestArchives(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	files := []file{{"b/", fs.ModeDir | 0o755, nil}, {"tmp/", fs.ModeDir | fs.ModeSticky | 0o777, nil}, {"a", 0o755, []byte("one")}, {"b/c", 0o644, []byte("two")}}
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	once, err := tarball(files, at, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := tarball(backwards, at, 0); err != nil || !bytes.Equal(once, again) {
		t.Errorf("another order gives another tar, error %v", err)
	}
	r, got := tar.NewReader(bytes.NewReader(once)), []string{}
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(at) {
			t.Errorf("%s belongs to %d:%d %q, of %v", h.Name, h.Uid, h.Gid, h.Uname, h.ModTime)
		}
	}
	if want := []string{"-rwxr-xr-x a", "drwxr-xr-x b/", "-rw-r--r-- b/c", "dtrwxrwxrwx tmp/"}; !slices.Equal(got, want) {
		t.Errorf("the tar has %q, want %q", got, want)
	}
	small, err := gzipBytes(once)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if z.Name != "" || !z.ModTime.IsZero() {
		t.Errorf("gzip has the name %q and the time %v", z.Name, z.ModTime)
	}
	if whole, err := io.ReadAll(z); err != nil || !bytes.Equal(whole, once) {
		t.Errorf("what was packed is not what is unpacked, error %v", err)
	}
	once, err = zipArchive(files[2:], at)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := zipArchive(backwards[:2], at); err != nil || !bytes.Equal(once, again) {
		t.Errorf("another order gives another zip, error %v", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(once), int64(len(once)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(archive.File); n != 2 {
		t.Fatalf("the zip has %d files, want 2", n)
	}
	if f := archive.File[0]; f.Name != "a" || f.Mode() != 0o755 || !f.Modified.Equal(at) {
		t.Errorf("the zip begins with %q, mode %o, of %v, want a, mode 755, of %v", f.Name, f.Mode(), f.Modified, at)
	}
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := write(dir, name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	complains := func(about string) {
		t.Helper()
		if _, err := verify(dir); err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("verify: error %v, want one about %q", err, about)
		}
	}
	put("a", "one")
	put("b", "two")
	if n, err := sum(dir); n != 2 || err != nil {
		t.Fatalf("sum: %d files, error %v, want 2", n, err)
	}
	if n, err := verify(dir); n != 2 || err != nil {
		t.Errorf("verify: %d files, error %v, want 2", n, err)
	}
	put("c", "three")
	complains("c has no line")
	if err := makeRoom(dir); err == nil || !strings.Contains(err.Error(), "c in it") {
		t.Errorf("makeRoom: error %v, want one about c", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a of the last release is still there: %v", err)
	}
	put("a", "one")
	put(checksumsFile, digest([]byte("other"))+"  a\n")
	complains("a is not the file")
	put(checksumsFile, digest([]byte("one"))+"  ../a\n")
	complains("no checksum")
	if err := makeRoom(dir); err == nil {
		t.Error("makeRoom removes what lies outside")
	}
}

// The bill has what the binary says of itself, the page, and nothing that differs
// from run to run.
func TestBill(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Path: ownModule, Version: "v0.1.0+dirty"},
		Deps: []*debug.Module{
			{Path: "example.org/Some", Version: "v1.2.3", Sum: "h1:AAECAw=="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0"}},
		},
		Settings: []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}},
	}
	l, err := billOf(info, []byte(`{"dependencies":{"uplot":"1.6.32","preact":"11.2.0"},"devDependencies":{"speedscope":"1.25.0","vite":"8.0.0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range l.Components {
		got = append(got, c.PURL)
	}
	want := []string{"pkg:golang/std@1.26.0", "pkg:golang/example.org/Some@v1.2.3", "pkg:golang/example.org/new@v2.0.0", "pkg:npm/preact@11.2.0", "pkg:npm/uplot@1.6.32"}
	if !slices.Equal(got, want) || !slices.Equal(l.Dependencies[0].On, want) {
		t.Errorf("components %q, dependencies %q, want %q", got, l.Dependencies[0].On, want)
	}
	if l.Metadata.Component.PURL != "pkg:golang/github.com/gowhy/gowhy@v0.1.0%2Bdirty" {
		t.Errorf("gowhy itself is %q", l.Metadata.Component.PURL)
	}
	for _, s := range []string{`"bomFormat":"CycloneDX"`, `"specVersion":"1.5"`, `{"name":"go:sum:hex","value":"00010203"}`, `{"name":"go:build:CGO_ENABLED","value":"0"}`} {
		if !strings.Contains(string(text), s) {
			t.Errorf("the bill has no %s:\n%s", s, text)
		}
	}
	if strings.Contains(string(text), "serialNumber") {
		t.Errorf("the bill has a serial number:\n%s", text)
	}
}

func TestMisuse(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	for args, about := range map[string]string{
		"somewhere":                   "no flag",
		"-o " + t.TempDir():           "SOURCE_DATE_EPOCH",
		"-only linux_vax":             "linux_arm64",
		"-check " + t.TempDir():       checksumsFile,
		"-licenses -nosuch somewhere": "nosuch",
	} {
		if err := run(t.Context(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("dist %s: error %v, want one about %s", args, err, about)
		}
	}
}

// An image does not know in which order its parts were made either.
func TestImageIsReproducible(t *testing.T) {
	t.Chdir(root)
	at := time.Unix(1e9, 0).UTC()
	builds := []*build{{target: targets[0], version: "1", at: at, data: []byte("one")}, {target: targets[1], version: "1", at: at, data: []byte("two")}, {target: targets[2], version: "1", at: at}}
	once, err := image(t.Context(), builds)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // maps have another order each time
		if again, err := image(t.Context(), builds); err != nil || !bytes.Equal(once, again) {
			t.Fatalf("the same builds give another image, error %v", err)
		}
	}
}
