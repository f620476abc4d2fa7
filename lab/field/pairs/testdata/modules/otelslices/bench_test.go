package otelslices

import (
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

type match struct {
	players []string
	scores  []int64
	times   []float64
	winners []bool
}

func matches(n int) (all []match) {
	for i := range n {
		m := match{}
		for p := range 4 + i%5 {
			m.players = append(m.players, "player-"+strconv.Itoa(i*31+p))
			m.scores = append(m.scores, int64(i*p%97))
			m.times = append(m.times, float64(i%60)/float64(p+1))
			m.winners = append(m.winners, p == i%4)
		}
		all = append(all, m)
	}
	return all
}

// describe are the attributes of a match.
func describe(m *match) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.StringSlice("players", m.players),
		attribute.Int64Slice("scores", m.scores),
		attribute.Float64Slice("times", m.times),
		attribute.BoolSlice("winners", m.winners),
	}
}

func BenchmarkDescribe(b *testing.B) {
	all, i, n := matches(500), 0, 0
	for b.Loop() {
		n += len(describe(&all[i%len(all)]))
		i++
	}
	if n == 0 {
		b.Fatal("there are no attributes")
	}
}
