package kmers

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var text = flag.Bool("text", false, "count pieces as text")

func BenchmarkCount(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	genome := make([]byte, 100000)
	for i := range genome {
		genome[i] = "ACGT"[r.IntN(4)]
	}
	for i := range genome[:60000] { // genomes repeat themselves
		genome[40000+i] = genome[i%500]
	}
	count := Count
	if *text {
		count = CountText
	}
	for b.Loop() {
		if n := len(count(genome, 40)); n < 1000 {
			b.Fatal(n)
		}
	}
}
