// Package station plays a substation that forwards readings.
package station

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"net"

	"meterfeeds/internal/link"
)

// Station forwards the readings of its meters.
type Station struct {
	ID  uint64
	Key []byte
}

// Forward sends windows of frames until ctx is over.
func (s *Station) Forward(ctx context.Context, addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	rng := rand.New(rand.NewPCG(s.ID, 3))
	mac := hmac.New(sha256.New, s.Key)
	var out, body []byte
	for ctx.Err() == nil {
		out = link.Append(out[:0], link.KindClock, binary.AppendUvarint(nil, rng.Uint64()>>20))
		for range 96 {
			body = body[:0]
			for range 20 + rng.IntN(16) {
				body = binary.AppendUvarint(body, s.ID<<16|rng.Uint64N(3000))
				body = binary.AppendVarint(body, rng.Int64N(900)-20)
			}
			mac.Reset()
			mac.Write(body)
			body = append(body, mac.Sum(nil)[:8]...)
			out = link.Append(out, link.KindReadings, body)
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
	}
	return nil
}
