package oracle

import (
	"bytes"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// What the two peers of the benchmarks cost for an event.
func BenchmarkAnalyze(b *testing.B) {
	var out bytes.Buffer
	if err := corpus.Synthetic(&out, corpus.Shape{Threads: 8, Events: 500_000, Cross: 10}); err != nil {
		b.Fatal(err)
	}
	tally, err := Count(bytes.NewReader(out.Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	perEvent := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tally.Events), "ns/event")
	}
	b.Run("count", func(b *testing.B) {
		defer perEvent(b)
		for b.Loop() {
			if _, err := Count(bytes.NewReader(out.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("analyze", func(b *testing.B) {
		defer perEvent(b)
		for b.Loop() {
			if _, err := Analyze(bytes.NewReader(out.Bytes()), Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
