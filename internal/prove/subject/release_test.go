package subject

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// upgradable makes a module that uses another of which there are two versions, in a proxy that is a directory.
func upgradable(t *testing.T) (dir string) {
	t.Helper()
	dir, proxy := t.TempDir(), t.TempDir()
	for version, word := range map[string]string{"v1.0.0": "old", "v1.1.0": "new"} {
		at := filepath.Join(proxy, "example.com/word/@v")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		mod := "module example.com/word\n\ngo 1.21\n"
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		for name, text := range map[string]string{"go.mod": mod, "word.go": "package word\n\nconst Is = \"" + word + "\"\n"} {
			w, err := z.Create("example.com/word@" + version + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{version + ".info": `{"Version":"` + version + `"}`, version + ".mod": mod, version + ".zip": packed.String(), "list": "v1.0.0\nv1.1.0\n"} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GONOSUMDB", "*")
	for name, text := range map[string]string{
		"go.mod":  "module example.com/app\n\ngo 1.21\n\nrequire example.com/word v1.0.0\n",
		"main.go": "package main\n\nimport \"example.com/word\"\n\nfunc main() { println(word.Is) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run(t.Context(), dir, os.Environ(), "go", "mod", "tidy"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Defaults of GODEBUG follow the go line: they are counted by name, and only where the Go is the same.
func TestDiffering(t *testing.T) {
	info := func(version, settings string) *buildinfo.BuildInfo {
		b := &buildinfo.BuildInfo{GoVersion: version}
		if settings != "" {
			b.Settings = []debug.BuildSetting{{Key: "DefaultGODEBUG", Value: settings}}
		}
		return b
	}
	for name, c := range map[string]struct {
		a, b *buildinfo.BuildInfo
		want string
	}{
		"the same":         {info("go1.26.0", "x=1,y=0"), info("go1.26.0", "y=0,x=1"), ""},
		"another value":    {info("go1.26.0", "x=1,y=0"), info("go1.26.0", "x=0,y=0"), "1 default of GODEBUG, by the go line of go.mod"},
		"fewer":            {info("go1.26.0", "x=1,y=0"), info("go1.26.0", ""), "2 defaults of GODEBUG, by the go line of go.mod"},
		"of a newer Go":    {info("go1.26.0", "x=1"), info("go1.27.0", "x=1,y=0"), "Go 1.26.0 → 1.27.0"},
		"of nothing known": {info("go1.26.0", ""), info("go1.26.0", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(differing(c.a, c.b), "; "); got != c.want {
				t.Errorf("differing() = %q, want %q", got, c.want)
			}
		})
	}
}

func TestBuildUpgraded(t *testing.T) {
	dir := upgradable(t)
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	built := func(t *testing.T, b BuildSpec) (string, error) {
		b.Dir, b.Out = dir, filepath.Join(t.TempDir(), "program")
		return BuildRevision(t.Context(), b)
	}
	asItIs, err := built(t, BuildSpec{Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		modules       []string
		says, differs string
	}{
		"a newer one": {[]string{"example.com/word@v1.1.0"}, "new", "example.com/word v1.0.0 → v1.1.0"},
		"the latest":  {[]string{"example.com/word@latest"}, "new", "example.com/word v1.0.0 → v1.1.0"},
		"that it has": {[]string{"example.com/word@v1.0.0"}, "old", ""},
		"without any": {nil, "old", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := built(t, BuildSpec{Modules: c.modules})
			if err != nil {
				t.Fatal(err)
			}
			if got := outputOf(t, path); got != c.says {
				t.Errorf("it says %q, want %q", got, c.says)
			}
			differs, err := Differing(asItIs, path)
			if got := strings.Join(differs, "; "); err != nil || got != c.differs {
				t.Errorf("Differing() = %q, %v; want %q", got, err, c.differs)
			}
		})
	}
	if after, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("go.mod was changed:\n%s", after)
	}
	for name, c := range map[string]struct {
		b    BuildSpec
		want string
	}{
		"no such version": {BuildSpec{Modules: []string{"example.com/word@v9.0.0"}}, "with example.com/word@v9.0.0 does not build"},
		"no such Go":      {BuildSpec{Go: "1.20.99"}, "with Go 1.20.99 does not build"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := built(t, c.b)
			if p := checkProblem(t, err, c.want); p.Hint == "" {
				t.Error("no hint")
			}
		})
	}
}
