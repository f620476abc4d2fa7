// Package hub takes the reports of all locks at once.
package hub

import (
	"fmt"
	"sync"
	"sync/atomic"

	"doorlocks/internal/journal"
	"doorlocks/internal/ledger"
	"doorlocks/internal/report"
)

// A Mode is what reports the hub is ready for.
type Mode int

// The modes.
const (
	Any Mode = iota
	Announced
)

// ParseMode reads a mode by its name.
func ParseMode(name string) (Mode, error) {
	switch name {
	case "any":
		return Any, nil
	case "announced":
		return Announced, nil
	}
	return 0, fmt.Errorf("no mode %q", name)
}

// A Hub takes reports.
type Hub struct {
	signer  *report.Signer
	ledger  *ledger.Ledger
	mode    Mode
	latest  atomic.Uint32
	refused atomic.Int64
}

// New makes a hub that writes into a ledger.
func New(s *report.Signer, l *ledger.Ledger, m Mode) *Hub {
	return &Hub{signer: s, ledger: l, mode: m}
}

// Round takes a report of each lock.
func (h *Hub) Round(reports [][]byte) {
	var wg sync.WaitGroup
	for _, r := range reports {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := h.take(r); err != nil {
				h.refused.Add(1)
			}
		}()
	}
	wg.Wait()
}

// Refused is how many reports were not taken.
func (h *Hub) Refused() int64 { return h.refused.Load() }

func (h *Hub) take(r []byte) error {
	body, err := h.signer.Check(r)
	if err != nil {
		return err
	}
	if h.mode == Announced {
		h.announced(body)
	} else {
		h.any(body)
	}
	return nil
}

func (h *Hub) any(body []byte) {
	var day journal.Day
	for ; len(body) >= report.Size; body = body[report.Size:] {
		day.Add(report.Decode(body))
	}
	h.ledger.Note(day.Sum())
	h.seen(day.Last())
}

func (h *Hub) announced(body []byte) {
	list := journal.NewList(len(body) / report.Size)
	for ; len(body) >= report.Size; body = body[report.Size:] {
		list.Add(report.Decode(body))
	}
	h.ledger.Note(list.Sum())
	h.seen(list.Last())
}

func (h *Hub) seen(at uint32) {
	for {
		before := h.latest.Load()
		if at <= before || h.latest.CompareAndSwap(before, at) {
			return
		}
	}
}
