// Package sales stands for the store that tills write to.
package sales

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A Sale is an article that was sold.
type Sale struct {
	Seq     int    `json:"seq"`
	Shop    int    `json:"shop"`
	Kind    string `json:"kind"`
	Cents   int    `json:"cents"`
	Receipt string `json:"receipt"`
}

// A Config is what a store is like.
type Config struct {
	Shops   int
	Page    int           // most sales in an answer
	Readers int           // that look pages up at once
	Answer  time.Duration // for an answer
}

// A Store has all sales of a day.
type Store struct {
	Config
	rnd     *rand.Rand
	readers chan struct{}

	mu   sync.Mutex
	sold []Sale
}

// NewStore returns a store in the morning.
func NewStore(c Config) *Store {
	return &Store{Config: c, rnd: rand.New(rand.NewPCG(53, 59)), readers: make(chan struct{}, c.Readers)}
}

// Open lets tills sell at a rate.
func (s *Store) Open(ctx context.Context, rate int) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.Sell(int(now.Sub(began).Seconds()*float64(rate)) - s.Sold())
		}
	}
}

var kinds = []string{"bread", "dairy", "fruit", "drinks", "frozen"}

// Sell sells n articles.
func (s *Store) Sell(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		seq := len(s.sold)
		s.sold = append(s.sold, Sale{
			Seq: seq, Shop: s.rnd.IntN(s.Shops), Kind: kinds[s.rnd.IntN(len(kinds))],
			Cents: 50 + s.rnd.IntN(2000), Receipt: strconv.Itoa(100000 + seq/7),
		})
	}
}

// Sold is how many articles were sold.
func (s *Store) Sold() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sold)
}

// ServeHTTP answers with a page of sales from a number on.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 {
		http.Error(w, "from must be a number", http.StatusBadRequest)
		return
	}
	s.readers <- struct{}{}
	time.Sleep(s.Answer)
	<-s.readers
	s.mu.Lock()
	from = min(from, len(s.sold))
	page := s.sold[from:min(from+s.Page, len(s.sold))]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page) // the client has left
}
