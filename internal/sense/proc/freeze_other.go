//go:build !linux

package proc

import (
	"errors"
	"time"
)

// ErrStopped is that somebody else has stopped a process already.
var ErrStopped = errors.New("somebody else has")

// A Freeze keeps a process from running.
type Freeze struct{ By string }

// Stop cannot stop a process of this system.
func Stop(int, time.Duration) (*Freeze, error) {
	return nil, errors.New("a process is stopped on Linux only")
}

// Thaw lets the process run.
func (f *Freeze) Thaw() (time.Duration, bool, error) { return 0, false, nil }
