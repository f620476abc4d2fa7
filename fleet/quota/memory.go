package quota

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime/metrics"
	"sync/atomic"

	"github.com/gowhy/gowhy/fleet/access"
)

// A Memory refuses requests while this process has nearly as much memory as it may, so
// that the system does not end it with all requests that are under way. The collector
// holds the process below the same limit as long as it can.
type Memory struct {
	limit   int64
	used    func() int64
	refused atomic.Int64
}

// nearly is the part of the limit from which on requests are refused: those that were
// taken need the rest.
const nearly = 0.95

// NewMemory bounds this process to a number of bytes; 0 is no bound.
func NewMemory(limit int64) *Memory {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	return &Memory{limit: limit, used: used}
}

// used is what the runtime holds against GOMEMLIMIT.
func used() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// Wrap refuses what a handler would take.
func (m *Memory) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.limit < math.MaxInt64 && float64(m.used()) > nearly*float64(m.limit) {
			m.refused.Add(1)
			w.Header().Set("Retry-After", "5")
			access.Refuse(w, http.StatusTooManyRequests, "resource_exhausted", "the server has no memory for it now: send it again")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Metrics writes what it refused as Prometheus reads it.
func (m *Memory) Metrics(w io.Writer) {
	const name = "gowhy_fleet_memory_refused_total"
	fmt.Fprintf(w, "# HELP %s Requests refused because memory was short.\n# TYPE %s counter\n%s %d\n", name, name, name, m.refused.Load())
}
