// Package stripe has locks for many keys.
package stripe

import (
	"fmt"
	"sync"
)

// A By finds the stripe of a key.
type By func(key uint64) uint64

// LowBits takes the lowest bits of a key, which is a number in a sequence.
func LowBits(key uint64) uint64 { return key }

// Hash mixes all bits of a key, as SplitMix does.
func Hash(key uint64) uint64 {
	key ^= key >> 30
	key *= 0xbf58476d1ce4e5b9
	key ^= key >> 27
	key *= 0x94d049bb133111eb
	return key ^ key>>31
}

// Named returns a By by its name in the settings.
func Named(name string) (By, error) {
	switch name {
	case "low-bits":
		return LowBits, nil
	case "hash":
		return Hash, nil
	}
	return nil, fmt.Errorf("stripe: unknown name %q", name)
}

// Locks are a power of two of locks.
type Locks struct {
	by   By
	mask uint64
	all  []lock
}

type lock struct {
	sync.Mutex
	_ [56]byte
}

// New makes n locks, which must be a power of two.
func New(n int, by By) *Locks { return &Locks{by: by, mask: uint64(n - 1), all: make([]lock, n)} }

// LockPair takes the locks of two keys, in an order that all keep to, and returns what
// gives them back.
func (l *Locks) LockPair(a, b uint64) (unlock func()) {
	i, j := l.by(a)&l.mask, l.by(b)&l.mask
	if i > j {
		i, j = j, i
	}
	l.all[i].Lock()
	if i == j {
		return l.all[i].Unlock
	}
	l.all[j].Lock()
	return func() {
		l.all[j].Unlock()
		l.all[i].Unlock()
	}
}
