package agent

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestImport measures what the package comment says about the import alone.
func TestImport(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil || testing.Short() {
		t.Skip("builds two programs with the go command")
	}
	dir := t.TempDir()
	size := func(name string) int64 {
		out := filepath.Join(dir, name+".exe")
		if text, err := exec.Command(goTool, "build", "-o", out, "./testdata/import/"+name).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", name, err, text)
		}
		info, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before, after := size("without"), size("with")
	if more := after - before; more < 100_000 || more > 2_500_000 {
		t.Errorf("the import makes a program of %d bytes larger by %d, want 100,000 to 2,500,000", before, more)
	}
	cmd := exec.Command(filepath.Join(dir, "with.exe"))
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || string(out) != "1\n" {
		t.Errorf("goroutines of the program with the import = %q, %v; want 1", out, err)
	}
	for _, line := range strings.SplitAfter(stderr.String(), "\n") {
		var at, clock float64
		var bytes, allocs int
		n, _ := fmt.Sscanf(line, "init github.com/gowhy/gowhy/agent @%f ms, %f ms clock, %d bytes, %d allocs", &at, &clock, &bytes, &allocs)
		if n == 4 && (bytes > 10_000 || allocs > 100) {
			t.Errorf("%s\nwant at most 10,000 bytes in 100 allocations", line)
		}
		if n == 4 {
			return
		}
	}
	t.Errorf("no time of init in\n%s", stderr.String())
}
