package otelattributeset

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

type request struct {
	method, route string
	status        int
}

// key is what measurements of a request are summed under.
func key(r *request) attribute.Distinct {
	set := attribute.NewSet(
		attribute.String("http.method", r.method),
		attribute.String("http.route", r.route),
		attribute.Int("http.status_code", r.status),
		attribute.Bool("error", r.status >= 500),
	)
	return set.Equivalent()
}

func BenchmarkSums(b *testing.B) {
	requests := []request{{"GET", "/", 200}, {"POST", "/cart", 201}, {"GET", "/articles/:id", 404}, {"PUT", "/cart/:id", 500}}
	sums := map[attribute.Distinct]int{}
	i := 0
	for b.Loop() {
		sums[key(&requests[i%len(requests)])]++
		i++
	}
}
