package report

import (
	"flag"
	"fmt"
	"io"
	"testing"
)

var largest = flag.Int("largest", 0, "the largest buffer that is kept")

func BenchmarkRender(b *testing.B) {
	var entries []Entry
	for i := range 200 {
		entries = append(entries, Entry{fmt.Sprintf("Payment to the shop at the corner, number %d", i), 100 + i*37})
	}
	r := NewRenderer(*largest)
	for b.Loop() {
		if err := r.Render(io.Discard, "CH93 0076", entries); err != nil {
			b.Fatal(err)
		}
	}
}
