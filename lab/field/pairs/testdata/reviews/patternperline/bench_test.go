package access

import (
	"flag"
	"fmt"
	"testing"
)

var each = flag.Bool("configured", false, "parse by the configured pattern")

func BenchmarkReport(b *testing.B) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf(`10.0.%d.%d - - [23/Nov/2026:10:%02d:%02d +0000] "GET /shop/item/%d HTTP/1.1" %d %d`,
			i%7, i%251, i/60%60, i%60, i*31, 200+i%3*100, i*977%50000))
	}
	for b.Loop() {
		sizes := map[int]int{}
		for _, text := range lines {
			e, err := parse(text)
			if err != nil {
				b.Fatal(err)
			}
			sizes[e.Status] += e.Size
		}
		if len(sizes) != 3 {
			b.Fatal(sizes)
		}
	}
}

func parse(text string) (Entry, error) {
	if *each {
		return ParseWith(line, text)
	}
	return Parse(text)
}
