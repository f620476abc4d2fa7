package routing

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Table is a directory that is replaced as a whole by each change.
type Table struct {
	mu     sync.Mutex
	routes atomic.Pointer[map[string]Route]
}

// NewTable makes a table of routes.
func NewTable(routes map[string]Route) *Table {
	t := &Table{}
	t.routes.Store(&routes)
	return t
}

// Lookup finds the route of a postcode.
func (t *Table) Lookup(postcode, service string) (Route, bool) {
	return longest(*t.routes.Load(), service, postcode)
}

// Set changes a route.
func (t *Table) Set(service string, route Route) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := maps.Clone(*t.routes.Load())
	next[service+"/"+route.Prefix] = route
	t.routes.Store(&next)
}
