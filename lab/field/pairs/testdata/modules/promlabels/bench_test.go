package promlabels

import (
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

type shop struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newShop() *shop {
	labels := []string{"method", "path", "status"}
	return &shop{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total", Help: "Requests."}, labels),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "request_seconds", Help: "Time."}, labels),
	}
}

// count notes a request that was answered.
func (s *shop) count(method, path string, code int, seconds float64) {
	status := strconv.Itoa(code)
	s.requests.WithLabelValues(method, path, status).Inc()
	s.seconds.WithLabelValues(method, path, status).Observe(seconds)
}

func BenchmarkCount(b *testing.B) {
	s, i := newShop(), 0
	paths := []string{"/", "/cart", "/checkout", "/articles", "/search"}
	for b.Loop() {
		s.count("GET", paths[i%len(paths)], 200, float64(i%100)/1000)
		i++
	}
}
