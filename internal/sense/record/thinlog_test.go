package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of a long log the head, its first line, and all of the last are there, in order, and
// the others are spread over all of the time.
func TestThinLog(t *testing.T) {
	for _, n := range []int{0, 1, recentLines, recentLines + 1, 700, 5000, 100_000} {
		l := &thinLog{}
		fmt.Fprintln(l, "head")
		for i := range n {
			fmt.Fprintf(l, "%07d\n", i)
		}
		path := filepath.Join(t.TempDir(), "log")
		if err := l.writeTo(path); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		lines := strings.Fields(string(text))
		if lines[0] != "head" || !slices.IsSorted(lines[1:]) {
			t.Fatalf("%d lines: not in order, or without a head", n)
		}
		lines = lines[1:]
		if len(lines) < min(n, recentLines) || len(lines) > recentLines+olderLines {
			t.Errorf("of %d lines %d are kept", n, len(lines))
		}
		if n == 0 {
			continue
		}
		last := lines[len(lines)-min(n, recentLines):]
		if lines[0] != "0000000" || last[0] != fmt.Sprintf("%07d", n-len(last)) || last[len(last)-1] != fmt.Sprintf("%07d", n-1) {
			t.Errorf("of %d lines those kept are %s to %s, the last without a gap from %s", n, lines[0], last[len(last)-1], last[0])
		}
		if old := lines[:len(lines)-len(last)]; n > 5000 {
			middle := fmt.Sprintf("%07d", n/2)
			if at, _ := slices.BinarySearch(old, middle); at < len(old)/3 || at > 2*len(old)/3 {
				t.Errorf("of %d lines %d of %d older ones are of the first half", n, at, len(old))
			}
		}
	}
}
