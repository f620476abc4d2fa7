// Package bank stands for the other side.
package bank

import (
	"encoding/json"
	"net/http"
	"sync"
)

// A Ledger takes each payout once.
type Ledger struct {
	mu   sync.Mutex
	paid map[string]int
}

// NewLedger makes an empty one.
func NewLedger() *Ledger { return &Ledger{paid: map[string]int{}} }

func (l *Ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var p struct {
		ID    string `json:"id"`
		Cents int    `json:"cents"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&p); err != nil || p.ID == "" {
		http.Error(w, "no payout", http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	_, again := l.paid[p.ID]
	l.paid[p.ID] = p.Cents
	l.mu.Unlock()
	if again {
		w.WriteHeader(http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"status":"booked"}`))
}
