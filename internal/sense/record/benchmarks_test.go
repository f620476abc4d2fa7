package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchmarks(t *testing.T) {
	for args, want := range map[string]bool{
		"p.test -test.bench=. -test.v": true, "p.test -test.bench .": true, "p.test --test.bench=Parse": true,
		"p.test -test.bench=": false, "p.test -test.benchtime=2s": false, "p.test -test.bench": false, "server test.bench=.": false,
	} {
		if got := benchmarks(strings.Fields(args)); got != want {
			t.Errorf("benchmarks(%q) = %v, want %v", args, got, want)
		}
	}
}

// Of what a benchmark prints only results are kept, whatever pieces it comes in.
func TestResultLines(t *testing.T) {
	const results = "goos: linux\ncpu: AMD\nBenchmarkA-2 \t 100\t 12 ns/op\t 1 allocs/op\n"
	for _, size := range []int{1, 7, 1000} {
		path := filepath.Join(t.TempDir(), "load")
		l := &resultLines{path: path}
		in := "secret\n" + strings.Repeat("x", 3*maxResult) + "\nBenchmarkOf my own\n" + results + "PASS"
		for len(in) > 0 {
			n := min(size, len(in))
			if got, err := l.Write([]byte(in[:n])); got != n || err != nil {
				t.Fatalf("Write(%d bytes) = %d, %v", n, got, err)
			}
			in = in[n:]
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != results {
			t.Errorf("in pieces of %d bytes kept %q, want %q", size, got, results)
		}
	}
	path := filepath.Join(t.TempDir(), "load")
	if (&resultLines{path: path}).Close(); fileThere(path) {
		t.Error("a file of no results")
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
