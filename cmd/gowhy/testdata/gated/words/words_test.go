package words

import (
	"strings"
	"testing"
)

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("to be or not to be ", 100)
	b.ReportAllocs()
	for b.Loop() {
		Count(text)
	}
}
