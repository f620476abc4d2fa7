package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage: the page is what the file of verdicts gives.
func TestPage(t *testing.T) {
	to := filepath.Join(t.TempDir(), "page.md")
	if err := writePage("read.txt", to); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../MATCHES.md")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(to)
	if !bytes.Equal(have, want) {
		t.Error("MATCHES.md is old: go run ./bench/patterns/matches -page bench/patterns/MATCHES.md")
	}
}

// TestScan: calls and operators of a source are looked up as stacks would have them.
func TestScan(t *testing.T) {
	dir := t.TempDir()
	source := `package x
import ("bufio"; "regexp")
func f(lines []string, b *bufio.Scanner, m map[string]int) (n int) {
	s := ""
	for _, l := range lines {
		s += l
		if regexp.MustCompile("a+").MatchString(l) { n++ }
	}
	for b.Scan() {
		n += m[b.Text()]
	}
	return n + len(s)
}`
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := scanAll([]string{dir}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"concat-loop\t", "x.go:6", "regexp-per-call\t", "x.go:7", "line-as-string\t", "x.go:10", "13 lines 1 packages concat-loop=1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// TestRecord: what is no verdict is an error with its line.
func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "read.txt")
	if err := os.WriteFile(name, []byte("right concat-loop a.go:1\nperhaps concat-loop a.go:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecord(name); err == nil || !strings.Contains(err.Error(), "read.txt:2") {
		t.Errorf("error %v, want one of line 2", err)
	}
}
