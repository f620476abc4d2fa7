// Package dispatch tells a depot of scans over several lanes.
package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"parcelscans/internal/scan"
)

// A Placement says which of some lanes a parcel is on.
type Placement func(parcel uint64, lanes int) int

// PlacementOf returns the placement of a name.
func PlacementOf(name string) (Placement, error) {
	switch name {
	case "id":
		return byID, nil
	case "hash":
		return byHash, nil
	}
	return nil, fmt.Errorf("placement %q: want id or hash", name)
}

func byID(parcel uint64, lanes int) int { return int(parcel % uint64(lanes)) }

func byHash(parcel uint64, lanes int) int {
	return int((parcel * 0x9e3779b97f4a7c15 >> 32) % uint64(lanes))
}

// A Router has lanes, each of which tells of one scan after the other.
type Router struct {
	client *http.Client
	url    string
	place  Placement
	lanes  []chan scan.Scan
	wg     sync.WaitGroup

	mu    sync.Mutex
	first error
}

// NewRouter returns a router whose lanes are open.
func NewRouter(client *http.Client, url string, lanes int, place Placement) *Router {
	r := &Router{client: client, url: url, place: place}
	for range lanes {
		lane := make(chan scan.Scan, 32)
		r.lanes = append(r.lanes, lane)
		r.wg.Add(1)
		go r.drive(lane)
	}
	return r
}

// Put puts a scan on the lane of its parcel.
func (r *Router) Put(s scan.Scan) error {
	if err := r.err(); err != nil {
		return err
	}
	r.lanes[r.place(s.Parcel, len(r.lanes))] <- s
	return nil
}

// Close waits until all lanes are empty.
func (r *Router) Close() error {
	for _, lane := range r.lanes {
		close(lane)
	}
	r.wg.Wait()
	return r.err()
}

func (r *Router) drive(lane <-chan scan.Scan) {
	defer r.wg.Done()
	var body bytes.Buffer
	for s := range lane {
		body.Reset()
		if err := r.tell(&body, s); err != nil {
			r.mu.Lock()
			r.first = err
			r.mu.Unlock()
		}
	}
}

// tell sends a scan.
func (r *Router) tell(body *bytes.Buffer, s scan.Scan) error {
	if err := json.NewEncoder(body).Encode(s); err != nil {
		return err
	}
	resp, err := r.client.Post(r.url, "application/json", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("parcel %d: %s: %s", s.Parcel, resp.Status, said)
	}
	return nil
}

func (r *Router) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}
