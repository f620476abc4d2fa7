// Package sessions are those of the devices that are connected to a gateway.
package sessions

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"gatewaysettings/internal/registry"
)

// A Gateway has sessions.
type Gateway struct {
	registry *registry.Registry
	wg       sync.WaitGroup
	told     atomic.Int64
	bytes    atomic.Int64
}

// NewGateway returns a gateway without sessions.
func NewGateway(r *registry.Registry) *Gateway { return &Gateway{registry: r} }

// A session is a device of a tenant, which gets its settings as frames.
type session struct {
	tenant  string
	version int
	frame   []byte
}

// Connect begins a session, which ends with the context.
func (g *Gateway) Connect(ctx context.Context, tenant string) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		g.follow(ctx, &session{tenant: tenant})
	}()
}

// follow hands each change to the session's device.
func (g *Gateway) follow(ctx context.Context, s *session) {
	for {
		settings, err := g.registry.Next(ctx, s.tenant, s.version)
		if err != nil {
			return
		}
		s.version = settings.Version
		if err := s.push(settings); err != nil {
			return
		}
		g.told.Add(1)
		g.bytes.Add(int64(len(s.frame)))
	}
}

// push makes the frame that goes to the device.
func (s *session) push(settings registry.Settings) error {
	body, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	s.frame = append(append(s.frame[:0], byte(len(body)>>8), byte(len(body))), body...)
	return nil
}

// Wait waits for the end of all sessions.
func (g *Gateway) Wait() { g.wg.Wait() }

// Told returns how many frames there were.
func (g *Gateway) Told() int64 { return g.told.Load() }
