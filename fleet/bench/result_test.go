package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A figure's median counts, with its extremes and its bar.
func TestResult(t *testing.T) {
	r := &Result{Schema: schema, Date: "2026-03-02", Machine: Machine{OS: "linux", Arch: "amd64", Cores: 2, CPU: "A (b)"}, Rounds: 3}
	for round, value := range []float64{40, 5, 20} {
		r.Runs = append(r.Runs,
			Figure{Name: "flame", Unit: "ms", Round: round + 1, Value: value, Bar: 10},
			Figure{Name: "rows", Unit: "rows/s", Round: round + 1, Value: value * 1e6, Bar: 3e6, AtLeast: true},
		)
	}
	r.summarize()
	parent := t.TempDir()
	for range 2 { // another run of the day keeps its own directory
		if _, err := r.save(parent); err != nil {
			t.Fatal(err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(parent, "2026-03-02-linux-amd64-2-a-b*", "README.md"))
	if err != nil || len(dirs) != 2 {
		t.Fatalf("runs are %q, %v", dirs, err)
	}
	report, err := os.ReadFile(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| flame | 20 ms | 5 to 40 | ≤ 10 | missed |",
		"| rows | 20.00 M rows/s | 5.00 M to 40.00 M | ≥ 3.00 M | met |",
	} {
		if !strings.Contains(string(report), line+"\n") {
			t.Errorf("%q is not in\n%s", line, report)
		}
	}
}
