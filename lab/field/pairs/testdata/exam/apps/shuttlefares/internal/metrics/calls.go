// Package metrics measures calls and the process that answers them.
package metrics

import (
	"context"
	"fmt"
	"io"
	"sort"
	"sync"
	"time"

	"shuttlefares/internal/rpc"
)

var bounds = []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond}

// Calls counts calls by method and how long they took.
type Calls struct {
	mu      sync.Mutex
	methods map[string]*[5]int
}

// NewCalls returns counters of calls.
func NewCalls() *Calls { return &Calls{methods: map[string]*[5]int{}} }

// Intercept counts a call.
func (m *Calls) Intercept(next rpc.Handler) rpc.Handler {
	return func(ctx context.Context, c *rpc.Call) (any, error) {
		begun := time.Now()
		answer, err := next(ctx, c)
		m.add(c.Method, time.Since(begun))
		return answer, err
	}
}

func (m *Calls) add(method string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := m.methods[method]
	if counts == nil {
		counts = new([5]int)
		m.methods[method] = counts
	}
	counts[sort.Search(len(bounds), func(i int) bool { return bounds[i] > took })]++
}

// Report writes the counters.
func (m *Calls) Report(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for method, counts := range m.methods {
		fmt.Fprintf(w, "%s: %v\n", method, *counts)
	}
}
