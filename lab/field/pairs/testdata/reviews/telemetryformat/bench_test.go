package telemetry

import (
	"flag"
	"testing"
)

var formatted = flag.Bool("formatted", false, "encode field by field")

func BenchmarkBatch(b *testing.B) {
	var points []Point
	for i := range 1000 {
		points = append(points, Point{i % 50, "temperature", 20 + float64(i)/8, 1700000000000 + int64(i)*250, i%99 == 0, i%10 == 0})
	}
	var e Encoder = Appended{}
	if *formatted {
		e = Formatted{}
	}
	var buf []byte
	for b.Loop() {
		buf = Batch(buf[:0], e, points)
		b.SetBytes(int64(len(buf)))
	}
}
