package evidence

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

// What sets the runtime's variables is found in the module's own packages, whatever it is called there; what only asks,
// tests, other commands, other modules and what is vendored are left out.
func TestSetters(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/app\n",
		"main.go": `package main

import "runtime"

func main() { runtime.GOMAXPROCS(1) }

func procs() int { return runtime.GOMAXPROCS(0) }
`,
		"internal/limits/limits.go": `package limits

import rt "runtime/debug"

type Plan struct{ bytes int64 }

func (p *Plan) Apply() {
	rt.SetMemoryLimit(p.bytes)
	rt.SetGCPercent(-1)
}

func Now() int64 { return rt.SetMemoryLimit(-1) }
`,
		"internal/limits/other.go":       "package limits\n\ntype debug struct{}\n\nfunc (debug) SetGCPercent(int) {}\n\nfunc other(debug debug) { debug.SetGCPercent(5) }\n",
		"internal/limits/limits_test.go": "package limits\n\nimport \"runtime/debug\"\n\nfunc init() { debug.SetGCPercent(5) }\n",
		"internal/limits/broken.go":      "package limits\n\nfunc broken( { debug.SetGCPercent(5) }\n",
		"cmd/other/main.go":              "package main\n\nimport \"runtime/debug\"\n\nfunc main() { debug.SetGCPercent(5) }\n",
		"vendor/lib/lib.go":              "package lib\n\nimport \"runtime/debug\"\n\nfunc init() { debug.SetGCPercent(5) }\n",
		"tool/go.mod":                    "module example.org/tool\n",
		"tool/tool.go":                   "package main\n\nimport \"runtime/debug\"\n\nfunc init() { debug.SetGCPercent(5) }\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type setter struct {
		variable, in string
		line         int
	}
	var got []setter
	for _, s := range settersBelow(sourcefile.ModuleAround(root), "example.org/app") {
		got = append(got, setter{s.Variable, s.At.Func, s.At.Line})
	}
	want := []setter{
		{"GOGC", "example.org/app/internal/limits.(*Plan).Apply", 9},
		{"GOMAXPROCS", "main.main", 5},
		{"GOMEMLIMIT", "example.org/app/internal/limits.(*Plan).Apply", 8},
	}
	if len(got) != len(want) {
		t.Fatalf("settersBelow() = %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("settersBelow()[%d] = %v, want %v", i, got[i], want[i])
		}
	}
}
