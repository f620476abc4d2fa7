// Package depot stands for the service of a depot that is told of scans.
package depot

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"parcelscans/internal/scan"
)

// A Depot notes how far parcels have come.
type Depot struct {
	answer time.Duration

	mu        sync.Mutex
	step      map[uint64]int // the next one
	delivered int
}

// New returns a depot that takes a time to store a scan.
func New(answer time.Duration) *Depot {
	return &Depot{answer: answer, step: map[uint64]int{}}
}

// ServeHTTP takes a scan.
func (d *Depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var s scan.Scan
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if scan.Digit(s.Label) != s.Check {
		http.Error(w, "the check digit does not fit", http.StatusUnprocessableEntity)
		return
	}
	time.Sleep(d.answer)
	if !d.note(s) {
		http.Error(w, "not the step that is next", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *Depot) note(s scan.Scan) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Index(scan.Steps, s.Step) != d.step[s.Parcel] {
		return false
	}
	d.step[s.Parcel]++
	if d.step[s.Parcel] == len(scan.Steps) {
		d.delivered++
	}
	return true
}

// Parcels is how many were seen.
func (d *Depot) Parcels() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.step)
}

// Delivered is how many have left.
func (d *Depot) Delivered() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.delivered
}
