// Package warden fines those who stay.
package warden

import "sync/atomic"

// A Warden counts fines.
type Warden struct{ fined atomic.Int64 }

// New makes one.
func New() *Warden { return &Warden{} }

// Visit goes to a place.
func (w *Warden) Visit(int) { w.fined.Add(1) }

// Fined is how many were.
func (w *Warden) Fined() int64 { return w.fined.Load() }
