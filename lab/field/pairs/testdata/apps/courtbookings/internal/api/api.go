// Package api answers the clubs' bookings as JSON.
package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"courtbookings/internal/courts"
	"courtbookings/internal/quota"
)

type request struct {
	Club string      `json:"club"`
	Slot courts.Slot `json:"slot"`
}

type answer struct {
	Booked bool   `json:"booked"`
	Free   []int  `json:"free"`
	Ticket string `json:"ticket,omitempty"`
}

// API books courts for clubs.
type API struct {
	plan  *courts.Plan
	limit func() quota.Limiter
	key   []byte

	mu    sync.RWMutex
	clubs map[string]quota.Limiter

	Booked, Refused atomic.Int64
}

// New answers for plan; limit makes the limiter of a club.
func New(plan *courts.Plan, limit func() quota.Limiter) *API {
	return &API{plan: plan, limit: limit, key: []byte("net-and-racket"), clubs: map[string]quota.Limiter{}}
}

func (a *API) limiter(club string) quota.Limiter {
	a.mu.RLock()
	l, ok := a.clubs[club]
	a.mu.RUnlock()
	if ok {
		return l
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if l, ok = a.clubs[club]; !ok {
		l = a.limit()
		a.clubs[club] = l
	}
	return l
}

// Book answers one call.
func (a *API) Book(body []byte) ([]byte, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if !a.limiter(r.Club).Allow() {
		a.Refused.Add(1)
		return []byte(`{"error":"slow down"}`), nil
	}
	var out answer
	if err := a.plan.Book(r.Slot, r.Club); err == nil {
		a.Booked.Add(1)
		out.Booked = true
		m := hmac.New(sha256.New, a.key)
		fmt.Fprintf(m, "%s %+v", r.Club, r.Slot)
		out.Ticket = hex.EncodeToString(m.Sum(nil))
	} else {
		a.plan.Cancel(r.Slot, r.Club)
	}
	out.Free = a.plan.Free(r.Slot.Court, r.Slot.Day)
	return json.Marshal(out)
}

// Close ends the limiters.
func (a *API) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.clubs {
		l.Close()
	}
}
