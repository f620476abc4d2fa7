// Package filing brings manifests through the authorities.
package filing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cargodocs/internal/customs"
	"cargodocs/internal/manifest"
)

type Service struct {
	customs *customs.Client
	port    *customs.Port

	mu         sync.Mutex
	filed      int
	containers int
	value      float64
	spent      time.Duration
}

func New(c *customs.Client, p *customs.Port) *Service { return &Service{customs: c, port: p} }

// File checks, declares and announces one manifest.
func (s *Service) File(ctx context.Context, m *manifest.Manifest) error {
	begun := time.Now()
	body, digest, err := m.Canonical()
	if err != nil {
		return err
	}
	rc, err := s.customs.Declare(ctx, digest, body)
	if err != nil {
		return fmt.Errorf("declare %s: %w", m.Voyage, err)
	}
	if rc.Digest != digest {
		return fmt.Errorf("receipt %s is for another manifest", rc.MRN)
	}
	if _, err := s.port.Announce(ctx, m.Voyage, rc.MRN); err != nil {
		return fmt.Errorf("announce %s: %w", m.Voyage, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filed++
	s.containers += len(m.Containers)
	for _, c := range m.Containers {
		for _, it := range c.Items {
			s.value += it.Value
		}
	}
	s.spent += time.Since(begun)
	return nil
}

// Summary is for the report at the end of the day.
func (s *Service) Summary() (filed, containers int, value float64, spent time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filed, s.containers, s.value, s.spent
}
