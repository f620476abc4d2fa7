package main

import (
	"math/rand"
	randv2 "math/rand/v2"
	"sync"
	"time"
)

// A random makes the random numbers of weighted choices.
type random struct {
	how    string
	mu     sync.Mutex
	shared *rand.Rand // guarded by mu
}

func newRandom(how string) *random {
	return &random{how: how, shared: rand.New(rand.NewSource(time.Now().UnixNano()))}
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int {
	switch r.how {
	case "shared":
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.shared.Intn(n)
	case "fresh":
		return rand.New(rand.NewSource(time.Now().UnixNano())).Intn(n) // want freshrand
	default:
		return randv2.IntN(n)
	}
}
