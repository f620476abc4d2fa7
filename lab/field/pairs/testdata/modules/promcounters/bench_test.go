// Package promcounters counts what the workers of a server do for Prometheus.
package promcounters

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

type server struct {
	bytes   prometheus.Counter
	latency prometheus.Histogram
}

func newServer() *server {
	s := &server{
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "kilobytes", Help: "Sent."}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "latency", Help: "Seconds.", Buckets: prometheus.DefBuckets}),
	}
	prometheus.NewRegistry().MustRegister(s.bytes, s.latency)
	return s
}

func (s *server) done(i int) {
	s.bytes.Add(float64(i%4000) / 1024)
	s.latency.Observe(float64(i%300) / 1000)
}

func BenchmarkDone(b *testing.B) {
	s := newServer()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			s.done(i)
		}
	})
}
