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
