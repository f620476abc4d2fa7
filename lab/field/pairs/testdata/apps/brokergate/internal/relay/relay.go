// Package relay gives publications to subscribers.
package relay

import (
	"context"
	"encoding/hex"
	"log/slog"
	"sync"

	"brokergate/internal/packet"
	"brokergate/internal/topics"
)

// Relay is one shard of the broker.
type Relay struct {
	log      *slog.Logger
	checked  bool
	mu       sync.Mutex
	tree     topics.Tree
	retained map[string][]byte
	scratch  []*topics.Subscriber
	seen     map[uint32]uint16
	taken    int64
	dropped  int64
}

// New returns a relay.
func New(log *slog.Logger, checked bool) *Relay {
	return &Relay{log: log, checked: checked, retained: make(map[string][]byte), seen: make(map[uint32]uint16)}
}

// Subscribe adds a subscriber.
func (r *Relay) Subscribe(filter string, s *topics.Subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tree.Add(filter, s)
}

// Accept takes a frame from a device.
func (r *Relay) Accept(frame []byte) error {
	p, err := packet.Parse(frame)
	if err != nil {
		r.log.Warn("bad frame", "size", len(frame), "err", err)
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.seen[p.Device]; ok && last == p.Seq {
		r.dropped++
		return nil
	}
	r.seen[p.Device] = p.Seq
	if p.Retain {
		r.retained[p.Topic] = append(r.retained[p.Topic][:0], p.Payload...)
	}
	r.scratch = r.tree.Match(r.scratch[:0], p.Topic)
	for _, s := range r.scratch {
		s.Count++
		s.Bytes += int64(copy(s.Last[:], p.Payload))
	}
	r.taken++
	if !r.checked || r.log.Enabled(context.Background(), slog.LevelDebug) {
		r.trace(p)
	}
	return nil
}

func (r *Relay) trace(p *packet.Packet) {
	names := make([]string, len(r.scratch))
	for i, s := range r.scratch {
		names[i] = s.Name
	}
	r.log.Debug("relayed",
		slog.String("packet", p.String()),
		slog.String("payload", hex.EncodeToString(p.Payload)),
		slog.Any("subscribers", names),
		slog.Group("shard", "taken", r.taken, "dropped", r.dropped, "retained", len(r.retained)))
}

// Counts says what the relay did.
func (r *Relay) Counts() (taken, dropped int64, retained int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken, r.dropped, len(r.retained)
}
