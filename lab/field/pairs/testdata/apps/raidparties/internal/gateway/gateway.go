// Package gateway takes the requests of parties.
package gateway

import (
	"errors"
	"sync/atomic"
	"time"

	"raidparties/internal/keep"
	"raidparties/internal/party"
	"raidparties/internal/queue"
)

// Gateway answers parties.
type Gateway struct {
	Queue  *queue.Queue
	Warden *keep.Warden

	Matched, Left, Failed, Bytes atomic.Int64
}

// Raid handles one request.
func (g *Gateway) Raid(body []byte) {
	p, err := party.Decode(body)
	if err != nil {
		g.Failed.Add(1)
		return
	}
	m, err := g.Queue.Wait(g.Queue.Join(p), 400*time.Millisecond)
	if errors.Is(err, queue.ErrLeft) {
		g.Left.Add(1)
		return
	}
	pass, err := g.Warden.Pass(m)
	if err != nil {
		g.Failed.Add(1)
		return
	}
	g.Matched.Add(1)
	g.Bytes.Add(int64(len(pass)))
}
