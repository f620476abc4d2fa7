// Package timing is the interface to the timing company.
package timing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

type Split struct {
	Bib   int     `json:"bib"`
	Name  string  `json:"name"`
	Club  string  `json:"club"`
	Marks []int64 `json:"marks"`
}

type Client struct {
	url string
	hc  *http.Client
}

func NewClient(url string) *Client {
	return &Client{url: url, hc: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}, Timeout: 5 * time.Second}}
}

// Splits gives the marks of all runners of an event.
func (c *Client) Splits(ctx context.Context, event int) ([]Split, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/splits?event=%d", c.url, event), nil)
	if err != nil {
		return nil, err
	}
	res, err := c.hc.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("timing: %s: %v", res.Status, err)
	}
	var out []Split
	return out, json.Unmarshal(body, &out)
}

// Server is a stand-in for the timing company; it works on twelve requests at
// once.
type Server struct {
	url   string
	docs  [][]byte
	desks chan struct{}
	asked atomic.Int64
}

func Listen(events, runners int) (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{url: "http://" + ln.Addr().String(), desks: make(chan struct{}, 12)}
	for range events {
		var list []Split
		for b := range runners {
			sp := Split{Bib: b + 1, Name: fmt.Sprintf("Runner %d", b), Club: fmt.Sprintf("TV %d", b%40)}
			at := int64(0)
			for range 4 + rand.IntN(5) {
				at += 170000 + rand.Int64N(90000)
				sp.Marks = append(sp.Marks, at)
			}
			list = append(list, sp)
		}
		doc, _ := json.Marshal(list)
		s.docs = append(s.docs, doc)
	}
	go http.Serve(ln, http.HandlerFunc(s.splits))
	return s, nil
}

func (s *Server) URL() string  { return s.url }
func (s *Server) Asked() int64 { return s.asked.Load() }

func (s *Server) splits(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	event, err := strconv.Atoi(r.FormValue("event"))
	if err != nil || event < 0 || event >= len(s.docs) {
		http.NotFound(w, r)
		return
	}
	s.desks <- struct{}{}
	time.Sleep(9*time.Millisecond + rand.N(5*time.Millisecond))
	<-s.desks
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.docs[event])
}
