// Package service prints pages.
package service

import (
	"context"
	"time"
)

// A Quota is what a client may.
type Quota interface{ Take() bool }

// A Service has clients.
type Service struct{ quotas []Quota }

// New makes a quota for each client.
func New(clients int, make func() Quota) *Service {
	s := &Service{}
	for range clients {
		s.quotas = append(s.quotas, make())
	}
	return s
}

// Work takes pages of clients at a rate, until it is over.
func (s *Service) Work(ctx context.Context, rate int) (printed, refused int) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return printed, refused
		case <-tick.C:
		}
		for range rate / 100 {
			if s.quotas[n*7919%len(s.quotas)].Take() {
				printed++
			} else {
				refused++
			}
			n++
		}
	}
}
