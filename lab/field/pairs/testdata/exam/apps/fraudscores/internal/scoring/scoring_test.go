package scoring

import (
	"context"
	"testing"
	"time"

	"fraudscores/internal/features"
	"fraudscores/internal/loader"
)

func TestScore(t *testing.T) {
	var scores [][]float64
	for _, name := range []string{"window", "inflight"} {
		p, err := loader.ParsePolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		s := New(loader.Start(ctx, features.NewStore(0), loader.Options{Policy: p, Size: 4, Window: time.Millisecond}))
		var all []float64
		for n := range 20 {
			v, err := s.Score(ctx, Sample(n))
			if err != nil || v < 0 || v > 100 {
				t.Fatalf("%f, %v", v, err)
			}
			all = append(all, v)
		}
		scores = append(scores, all)
		cancel()
	}
	for i := range scores[0] {
		if scores[0][i] != scores[1][i] {
			t.Errorf("payment %d scores %f and %f", i, scores[0][i], scores[1][i])
		}
	}
}
