// Package tariff prices passages.
package tariff

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

type Rate struct{ Base, PerAxle int }

type Table struct {
	mu       sync.RWMutex
	revision int
	rates    map[string]Rate
}

func NewTable() *Table {
	t := &Table{rates: make(map[string]Rate)}
	for i, class := range []string{"moto", "car", "van", "coach", "truck"} {
		t.rates[class] = Rate{120 + 90*i, 35 + 10*i}
	}
	return t
}

// Quote prices a passage written as "plate;class;axles".
func (t *Table) Quote(passage string) int {
	_, rest, _ := strings.Cut(passage, ";")
	class, n, _ := strings.Cut(rest, ";")
	axles, _ := strconv.Atoi(n)
	t.mu.RLock()
	defer t.mu.RUnlock()
	rate := t.rates[class]
	return rate.Base + rate.PerAxle*axles
}

// Revise bumps the table and returns it encoded for the lanes.
func (t *Table) Revise() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revision++
	return json.Marshal(map[string]any{"revision": t.revision, "rates": t.rates})
}
