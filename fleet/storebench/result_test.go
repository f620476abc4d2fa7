package main

import (
	"encoding/json"
	"fmt"
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

// TestSizing holds the table of docs/fleet-setup.md to the newest runs on record.
func TestSizing(t *testing.T) {
	files, err := filepath.Glob("runs/*/results.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("runs are %q, %v", files, err)
	}
	found := map[string]float64{}
	for _, file := range files { // the oldest first
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, f := range r.Figures {
			found[f.Name] = f.Value
		}
	}
	// What the measurement keeps is two hours of a hundred processes.
	rows := found["rows of ingest"] * 12 / 100
	cores := rows / found["rows kept by a second of CPU, segments and merges included"] / (24 * 60 * 60)
	disk := found["disk of a process and day"] / 1000
	document, err := os.ReadFile("../../docs/fleet-setup.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []struct {
		text      string
		processes float64
	}{{"100", 100}, {"1,000", 1000}, {"10,000", 10_000}} {
		want := fmt.Sprintf("| %s | %s cores | %.2g GB | %.0f GB |\n", n.text, strings.TrimRight(fmt.Sprintf("%.2g", n.processes*cores), "0"), n.processes*disk, 30*n.processes*disk)
		if !strings.Contains(string(document), want) {
			t.Errorf("docs/fleet-setup.md does not have the line of the newest runs: %s", want)
		}
	}
}
