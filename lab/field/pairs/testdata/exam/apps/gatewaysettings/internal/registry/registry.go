// Package registry keeps the settings of tenants and tells when they change.
package registry

import (
	"context"
	"fmt"
	"maps"
	"sync"
)

// Tenant returns the name of a tenant.
func Tenant(i int) string { return fmt.Sprintf("tenant-%04d", i) }

// Settings are those of a tenant, with a version that rises. They are not changed.
type Settings struct {
	Version int               `json:"version"`
	Values  map[string]string `json:"values"`
}

// A topic is closed and made anew when something in its scope changes.
type topic struct{ changed chan struct{} }

func (t *topic) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// A Registry keeps settings by tenant.
type Registry struct {
	mu      sync.RWMutex
	tenants map[string]Settings
	topics  map[string]*topic
	scope   func(tenant string) string
}

// New returns an empty registry, whose topics are those of the table or of each tenant.
func New(scope string) (*Registry, error) {
	r := &Registry{tenants: map[string]Settings{}, topics: map[string]*topic{}}
	switch scope {
	case "table":
		r.scope = func(string) string { return "*" }
	case "tenant":
		r.scope = func(tenant string) string { return tenant }
	default:
		return nil, fmt.Errorf("registry: no scope %q", scope)
	}
	return r, nil
}

// Put changes settings of a tenant, and returns all of them.
func (r *Registry) Put(tenant string, change map[string]string) Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.tenants[tenant]
	s := Settings{old.Version + 1, maps.Clone(old.Values)}
	if s.Values == nil {
		s.Values = map[string]string{}
	}
	maps.Copy(s.Values, change)
	r.tenants[tenant] = s
	r.topic(tenant).tell()
	return s
}

// Get returns the settings of a tenant.
func (r *Registry) Get(tenant string) (Settings, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s, ok := r.tenants[tenant]
	return s, ok
}

// Next waits until the settings of a tenant are newer than the version.
func (r *Registry) Next(ctx context.Context, tenant string, version int) (Settings, error) {
	for {
		s, changed := r.look(tenant)
		if s.Version > version {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Settings{}, ctx.Err()
		}
	}
}

func (r *Registry) look(tenant string) (Settings, <-chan struct{}) {
	r.mu.RLock()
	s, t := r.tenants[tenant], r.topics[r.scope(tenant)]
	if t != nil {
		defer r.mu.RUnlock()
		return s, t.changed
	}
	r.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenants[tenant], r.topic(tenant).changed
}

// topic returns that of a tenant; the lock is held.
func (r *Registry) topic(tenant string) *topic {
	scope := r.scope(tenant)
	t := r.topics[scope]
	if t == nil {
		t = &topic{make(chan struct{})}
		r.topics[scope] = t
	}
	return t
}
