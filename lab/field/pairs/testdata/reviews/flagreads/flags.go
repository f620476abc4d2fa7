// Package flags answers which features of a shop are switched on for whom.
package flags

import (
	"sync"
	"sync/atomic"
)

// A Feature is one of the shop's.
type Feature int

// The features.
const (
	Basket Feature = iota
	Search
	Stars
	Dark
	features
)

// Rules are those of all features.
type Rules [features]Rule

// A Rule switches a feature on for a part of all customers.
type Rule struct{ Percent, Salt uint32 }

// A Set answers for features.
type Set interface {
	On(feature Feature, customer uint32) bool
	Replace(rules Rules)
}

func on(r Rule, customer uint32) bool { return (customer^r.Salt)*2654435761>>16%100 < r.Percent }

// Locked reads its rules under a lock.
type Locked struct {
	mu    sync.RWMutex
	rules Rules
}

// On reports whether a customer has a feature.
func (l *Locked) On(feature Feature, customer uint32) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return on(l.rules[feature], customer)
}

// Replace takes other rules.
func (l *Locked) Replace(rules Rules) {
	l.mu.Lock()
	l.rules = rules
	l.mu.Unlock()
}

// Published reads the rules that were published last.
type Published struct {
	rules atomic.Pointer[Rules]
}

// On reports whether a customer has a feature.
func (p *Published) On(feature Feature, customer uint32) bool {
	return on(p.rules.Load()[feature], customer)
}

// Replace takes other rules.
func (p *Published) Replace(rules Rules) { p.rules.Store(&rules) }
