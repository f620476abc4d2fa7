// Package lot keeps the lots and accepts bids.
package lot

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"auctionroom/internal/bus"
)

var ErrLow = errors.New("lot: bid too low")

type lot struct {
	mu    sync.Mutex
	price int64
	seq   int
	chain [32]byte
}

type House struct {
	lots []lot
	bus  *bus.Bus
	mu   sync.Mutex
	text map[int]string
}

func NewHouse(n int, b *bus.Bus) *House {
	return &House{lots: make([]lot, n), bus: b, text: make(map[int]string)}
}

// Title is made once for each lot.
func (h *House) Title(n int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.text[n]
	if !ok {
		s = fmt.Sprintf("Lot %d, a pair of candlesticks, %d", n, 1700+n*3)
		h.text[n] = s
	}
	return s
}

// Bid accepts a bid, links it to the lot's chain of bids and publishes it.
func (h *House) Bid(n, bidder int, raise int64) error {
	if raise <= 0 {
		return ErrLow
	}
	l := &h.lots[n]
	l.mu.Lock()
	l.price += raise
	l.seq++
	var b [64]byte
	copy(b[:], l.chain[:])
	binary.LittleEndian.PutUint64(b[32:], uint64(l.price))
	binary.LittleEndian.PutUint64(b[40:], uint64(bidder))
	for range 60 {
		l.chain = sha256.Sum256(b[:])
		copy(b[:], l.chain[:])
	}
	e := bus.Event{Lot: n, Bidder: bidder, Cents: l.price, Seq: l.seq}
	l.mu.Unlock()
	h.bus.Publish(n, e)
	return nil
}
