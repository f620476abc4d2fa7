// Package catalog knows the instances of services. Whoever wants to know of changes asks
// with the index of what he has, and gets an answer when there is something newer.
package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// An Instance of a service.
type Instance struct {
	ID      string
	Addr    string
	Healthy bool
}

// A View is what a service looked like at an index.
type View struct {
	Service   string
	Index     uint64
	Instances []Instance
}

// A Scope is what a watch is on.
type Scope int

// The scopes.
const (
	Catalog Scope = iota
	Service
)

// ParseScope returns the scope of a name.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "catalog":
		return Catalog, nil
	case "service":
		return Service, nil
	}
	return 0, fmt.Errorf("catalog: no scope is called %q", name)
}

type service struct {
	index     uint64
	instances map[string]Instance
	news      *news
}

// A Store is a catalog.
type Store struct {
	scope Scope
	all   news

	mu       sync.RWMutex
	index    uint64
	services map[string]*service
}

// New makes a store.
func New(s Scope) *Store {
	return &Store{scope: s, all: news{ch: make(chan struct{})}, services: make(map[string]*service)}
}

func (s *Store) service(name string) *service {
	v := s.services[name]
	if v == nil {
		v = &service{instances: make(map[string]Instance), news: &s.all}
		if s.scope == Service {
			v.news = &news{ch: make(chan struct{})}
		}
		s.services[name] = v
	}
	return v
}

// Register adds or changes an instance.
func (s *Store) Register(name string, in Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.service(name)
	if old, ok := v.instances[in.ID]; ok && old == in {
		return
	}
	s.index++
	v.index = s.index
	v.instances[in.ID] = in
	v.news.publish()
}

// Watch returns a service when it is newer than an index.
func (s *Store) Watch(ctx context.Context, name string, after uint64) (View, error) {
	for {
		v, more := s.look(name, after)
		if v.Index > after {
			return v, nil
		}
		select {
		case <-ctx.Done():
			return View{}, ctx.Err()
		case <-more:
		}
	}
}

// look returns a service, with instances if it is newer than an index, and what tells of more.
func (s *Store) look(name string, after uint64) (View, <-chan struct{}) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := s.services[name]
	if v == nil {
		return View{Service: name}, s.all.ch
	}
	out := View{Service: name, Index: v.index}
	if v.index > after {
		out.Instances = slices.Collect(maps.Values(v.instances))
	}
	return out, v.news.ch
}
