package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

var update = flag.Bool("update", false, "rewrite the expected outcomes in testdata")

// TestTiny plants every fault in a package of which one knows what its tests
// notice.
func TestTiny(t *testing.T) {
	r := tryAll(t, "testdata/tiny.txt", "./testdata/tiny")
	for _, m := range r.Mutants {
		if (m.Excuse != "") != (m.name() == "tiny/sick.go share: 1 → 2 * 1") {
			t.Errorf("%s has the excuse %q, want one only of share: 1 → 2 * 1", m, m.Excuse)
		}
	}
	if !slices.Equal(r.Stale, []string{"tiny/sick.go gone: a < b → a > b"}) {
		t.Errorf("stale excuses %q, want that of sick.go", r.Stale)
	}
}

// TestRooms plants faults in a package that another one uses: the tests of both notice them, and a
// constant is one where the other package uses it.
func TestRooms(t *testing.T) {
	attempt.Only(t, "builds and runs the tests of two packages for every fault")
	tryAll(t, "testdata/rooms.txt", "./testdata/rooms/...")
}

// tryAll plants every fault in packages and compares what became of each with a file.
func tryAll(t *testing.T, golden, packages string) (r result) {
	t.Helper()
	var out bytes.Buffer
	args := []string{"-all", "-json", "-timeout", "1s", "-excuses", "testdata/excuses.txt", "-first", "^TestFixtures$/^FILE$", packages}
	err := run(context.Background(), args, &out)
	if err == nil || !strings.HasPrefix(err.Error(), "the tests notice ") {
		t.Fatalf("run(): error %v, want a complaint about the rate", err)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, m := range r.Mutants {
		fmt.Fprintf(&got, "%-8s %-10s %s\n", m.Outcome, m.Kind, m)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
	return r
}

// TestSample: the same seed gives the same mutants, and no file or kind is left
// out while another gives twice.
func TestSample(t *testing.T) {
	var list []*mutant
	for _, file := range []string{"a.go", "b.go", "c.go"} {
		for i, k := range kinds {
			for n := range 10 * (i + 1) {
				list = append(list, &mutant{File: file, Kind: k, Func: fmt.Sprint(n), id: len(list)})
			}
		}
	}
	once := sample(list, 3*len(kinds), 7)
	if !slices.Equal(once, sample(list, 3*len(kinds), 7)) {
		t.Error("two samples of one seed differ")
	}
	if slices.Equal(once, sample(list, 3*len(kinds), 8)) {
		t.Error("two seeds give one sample")
	}
	fewer := sample(slices.DeleteFunc(slices.Clone(list), func(m *mutant) bool { return m == once[0] }), 3*len(kinds), 7)
	if kept := len(slices.DeleteFunc(fewer, func(m *mutant) bool { return !slices.Contains(once, m) })); kept != len(once)-1 {
		t.Errorf("one mutant less leaves %d of %d in the sample, want all others", kept, len(once))
	}
	files, of := map[string]int{}, map[kind]int{}
	for _, m := range once {
		files[m.File]++
		of[m.Kind]++
	}
	for _, n := range files {
		if n != len(kinds) {
			t.Errorf("samples of the files %v, want %d of each", files, len(kinds))
		}
	}
	for _, n := range of {
		if n != 3 {
			t.Errorf("samples of the kinds %v, want 3 of each", of)
		}
	}
	if n := len(sample(list, 1e6, 7)); n != len(list) {
		t.Errorf("a sample of %d mutants, want all %d", n, len(list))
	}
}

// TestOnly: the files are named, or patterns of their names, between commas.
func TestOnly(t *testing.T) {
	for _, tt := range []struct {
		only, file string
		want       bool
	}{
		{"", "heap.go", true},
		{"heap.go", "heap.go", true},
		{"heap.go", "tinyheap.go", false},
		{"check.go,*account.go", "check.go", true},
		{"check.go,*account.go", "cpuaccount.go", true},
		{"check.go,*account.go", "accountload.go", false},
	} {
		if got := (&options{only: tt.only}).isOf(tt.file); got != tt.want {
			t.Errorf("isOf(%s) of -only %q = %v, want %v", tt.file, tt.only, got, tt.want)
		}
	}
}
