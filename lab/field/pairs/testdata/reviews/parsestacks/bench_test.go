package parse

import (
	"flag"
	"fmt"
	"testing"
)

var trace = flag.Bool("trace", false, "errors know where they were made")

func BenchmarkForm(b *testing.B) {
	var fields []string
	for i := range 300 {
		switch i % 3 {
		case 0:
			fields = append(fields, fmt.Sprintf("%d.%02d", i, i%100))
		case 1:
			fields = append(fields, "  ")
		default:
			fields = append(fields, fmt.Sprint(i*7))
		}
	}
	r := &Reader{*trace}
	for b.Loop() {
		if _, empty := r.Form(fields); empty != 100 {
			b.Fatal(empty)
		}
	}
}
