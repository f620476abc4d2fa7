// Package relay passes reports on to the chart service.
package relay

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"vesselpings/internal/track"
)

// Options of the relay.
type Options struct {
	V2    bool
	Batch int
}

// Stats of the relay.
type Stats struct {
	Sent, Requests int
	Age            time.Duration
}

// Relay has a list of reports that are to be sent.
type Relay struct {
	url    string
	opts   Options
	client *http.Client

	mu    sync.Mutex
	more  *sync.Cond
	list  []track.Report
	place map[int]int
	stats Stats
}

func New(addr string, opts Options) *Relay {
	r := &Relay{url: "http://" + addr + "/positions", opts: opts, client: &http.Client{Timeout: 5 * time.Second}, place: make(map[int]int)}
	r.more = sync.NewCond(&r.mu)
	return r
}

// Offer puts a report on the list.
func (r *Relay) Offer(rep track.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.V2 {
		if i, ok := r.place[rep.Vessel]; ok {
			r.list[i] = rep
			return
		}
		r.place[rep.Vessel] = len(r.list)
	}
	r.list = append(r.list, rep)
	r.more.Signal()
}

// Run sends what is on the list.
func (r *Relay) Run() {
	for {
		batch := r.next()
		if err := r.post(batch); err != nil {
			log.Print(err)
			continue
		}
		r.mu.Lock()
		r.stats.Requests++
		r.stats.Sent += len(batch)
		r.stats.Age = time.Since(batch[0].At)
		r.mu.Unlock()
	}
}

// next takes the oldest reports from the list.
func (r *Relay) next() []track.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.list) == 0 {
		r.more.Wait()
	}
	n := min(r.opts.Batch, len(r.list))
	batch := append([]track.Report(nil), r.list[:n]...)
	clear(r.list[:n])
	r.list = r.list[n:]
	if r.opts.V2 {
		for _, rep := range batch {
			delete(r.place, rep.Vessel)
		}
		for v := range r.place {
			r.place[v] -= n
		}
	}
	return batch
}

func (r *Relay) post(batch []track.Report) error {
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	resp, err := r.client.Post(r.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// Stats returns the numbers so far.
func (r *Relay) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}
