package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Code hosts know files from the repository's root on, whatever the binary was built with.
func TestFromRoot(t *testing.T) {
	root := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	for _, dir := range []string{".git", "internal/shop"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("// the shop\nmodule \"example.com/shop\" // v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "internal"))
	files := map[string]string{
		filepath.Join(root, "internal/shop/list.go"): "internal/shop/list.go",
		"example.com/shop/internal/shop/list.go":     "internal/shop/list.go",
		"example.com/shopping/list.go":               "example.com/shopping/list.go",
		"/usr/local/go/src/sort/sort.go":             "/usr/local/go/src/sort/sort.go",
		"":                                           "",
	}
	for file, want := range files {
		d := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{Where: []diagnosis.Place{{File: file}}}}}
		if fromRoot(d); d.Findings[0].Where[0].File != want {
			t.Errorf("%q is %q, want %q", file, d.Findings[0].Where[0].File, want)
		}
	}
}
