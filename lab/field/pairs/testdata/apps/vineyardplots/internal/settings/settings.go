// Package settings holds what the growers set for their estates.
package settings

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Estate is the setting of one estate.
type Estate struct {
	Name       string
	Thresholds map[string]float64
	Varieties  []string
	Contacts   map[string]string
}

// Clone returns a copy that shares nothing.
func (e *Estate) Clone() *Estate {
	return &Estate{
		Name:       e.Name,
		Thresholds: maps.Clone(e.Thresholds),
		Varieties:  slices.Clone(e.Varieties),
		Contacts:   maps.Clone(e.Contacts),
	}
}

// Registry gives out settings.
type Registry struct {
	mu      sync.RWMutex
	estates map[string]*Estate
	frozen  bool
}

// NewRegistry returns the settings of n estates.
func NewRegistry(n int, frozen bool) *Registry {
	r := &Registry{estates: map[string]*Estate{}, frozen: frozen}
	for i := range n {
		e := &Estate{Name: fmt.Sprintf("estate-%02d", i), Thresholds: map[string]float64{}, Contacts: map[string]string{}}
		for k, name := range []string{"frost", "heat", "mildew", "botrytis", "drought", "wind", "hail", "sunburn"} {
			e.Thresholds[name] = float64(10+k) + float64(i)/10
		}
		for k := range 5 {
			e.Varieties = append(e.Varieties, fmt.Sprintf("variety %d", (i+k)%20))
			e.Contacts[fmt.Sprintf("worker-%d", k)] = fmt.Sprintf("+33 6 %08d", i*100+k)
		}
		r.estates[e.Name] = e
	}
	return r
}

// Get returns the settings of an estate.
func (r *Registry) Get(name string) *Estate {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.estates[name]
	if e == nil || r.frozen {
		return e
	}
	return e.Clone()
}

// Change applies f to an estate's settings.
func (r *Registry) Change(name string, f func(*Estate)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.estates[name]; e != nil {
		e = e.Clone()
		f(e)
		r.estates[name] = e
	}
}
