// Package inbox plays the servers of the clubs.
package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// Inbox is a few servers.
type Inbox struct {
	addrs           []string
	received, wrong atomic.Int64
}

// Start starts n servers.
func Start(n int) (*Inbox, error) {
	b := &Inbox{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /clubs/{id}/notices", b.take)
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		b.addrs = append(b.addrs, ln.Addr().String())
		go http.Serve(ln, mux)
	}
	return b, nil
}

func (b *Inbox) Addrs() []string { return b.addrs }
func (b *Inbox) Received() int64 { return b.received.Load() }
func (b *Inbox) Wrong() int64    { return b.wrong.Load() }

func (b *Inbox) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	id, err2 := strconv.Atoi(r.PathValue("id"))
	var msg map[string]any
	if err != nil || err2 != nil || json.Unmarshal(body, &msg) != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	n := b.received.Add(1)
	m := hmac.New(sha256.New, fmt.Appendf(nil, "secret-%d", id*31))
	m.Write(body)
	if hex.EncodeToString(m.Sum(nil)) != r.Header.Get("X-Seal") {
		b.wrong.Add(1)
	}
	if n%29 == 0 {
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
