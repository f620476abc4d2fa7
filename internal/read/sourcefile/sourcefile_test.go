package sourcefile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPaths: names without folders are found in the module that somebody is in, and
// among downloaded ones.
func TestPaths(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	inside := filepath.Join(root, "cmd", "x")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("// a comment\nmodule \"example.com/app\"\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(root, "gone", "a.go")
	for _, c := range []struct {
		file, module, dir string
		want              []string
	}{
		{abs, "", inside, []string{abs}},
		{"example.com/app/cmd/x/main.go", "", inside, []string{filepath.Join(inside, "main.go")}},
		{"example.com/app/cmd/x/main.go", "example.com/app", inside, []string{filepath.Join(inside, "main.go")}},
		{"example.com/application/main.go", "", inside, nil},
		{"main.go", "example.com/app", root, []string{filepath.Join(root, "main.go")}},
		{"main.go", "", root, nil},
		{"github.com/Some/lib@v1.2.3/a.go", "", "", []string{filepath.Join(cache, "github.com", "!some", "lib@v1.2.3", "a.go")}},
		{"../../etc/passwd.go", "", inside, nil},
		{"example.com/app/../../secret.go", "", inside, nil},
	} {
		if got := Paths(c.file, c.module, c.dir); !slices.Equal(got, c.want) {
			t.Errorf("%s of module %q from %s: %q, want %q", c.file, c.module, c.dir, got, c.want)
		}
	}
}

func TestModuleAround(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOMODCACHE", filepath.Join(root, "cache"))
	write("app/go.mod", "module \"example.com/app\"\n\nrequire example.com/one v1.0.0\n\nrequire (\n\texample.com/Two/v2 v2.3.1 // indirect\n\texample.com/gone v0.1.0\n)\n")
	write("app/a/b/b.go", "package b")
	write("app/vendor/example.com/three/three.go", "package three")
	write("cache/example.com/one@v1.0.0/deep/deep.go", "package deep")
	write("cache/example.com/!two/v2@v2.3.1/two.go", "package two")
	m := ModuleAround(filepath.Join(root, "app", "a"))
	if m == nil || m.Path != "example.com/app" || m.Root != filepath.Join(root, "app") || len(m.Versions) != 3 {
		t.Fatalf("module %+v, want that of example.com/app with three others", m)
	}
	for pkg, want := range map[string]struct {
		dir string
		own bool
	}{
		"example.com/app":         {"app", true},
		"example.com/app/a/b":     {"app/a/b", true},
		"example.com/app/none":    {"", true},
		"example.com/application": {},
		"example.com/three":       {"app/vendor/example.com/three", false},
		"example.com/one/deep":    {"cache/example.com/one@v1.0.0/deep", false},
		"example.com/Two/v2":      {"cache/example.com/!two/v2@v2.3.1", false},
		"example.com/gone":        {},
		"../../app/a":             {},
	} {
		dir, own := m.Folder(pkg)
		if want.dir != "" {
			want.dir = filepath.Join(root, filepath.FromSlash(want.dir))
		}
		if dir != want.dir || own != want.own {
			t.Errorf("Folder(%q) = %q, %v, want %q, %v", pkg, dir, own, want.dir, want.own)
		}
	}
	if m := ModuleAround(filepath.Join(root, "cache")); m != nil {
		t.Errorf("ModuleAround() of a folder without go.mod = %+v, want nil", m)
	}
}
