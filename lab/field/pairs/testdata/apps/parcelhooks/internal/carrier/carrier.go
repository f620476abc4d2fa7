// Package carrier is the partner's end: it takes notices over https.
package carrier

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"parcelhooks/internal/events"
)

// Endpoint takes notices.
type Endpoint struct {
	secret []byte
	commit time.Duration
	scans  atomic.Int64
	mu     sync.Mutex
	states map[string]int64
}

// New returns an endpoint that takes commit to make a notice durable.
func New(secret []byte, commit time.Duration) *Endpoint {
	return &Endpoint{secret: secret, commit: commit, states: make(map[string]int64)}
}

func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	m := hmac.New(sha256.New, e.secret)
	m.Write(body)
	want, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Parcel-Signature"))
	if err != nil || !hmac.Equal(want, m.Sum(nil)) {
		http.Error(w, "signature", http.StatusForbidden)
		return
	}
	var n events.Notice
	if err := json.Unmarshal(body, &n); err != nil {
		http.Error(w, "notice", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	for i := range n.Scans {
		e.states[n.Scans[i].State]++
	}
	e.mu.Unlock()
	e.scans.Add(int64(len(n.Scans)))
	time.Sleep(e.commit)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"serial": n.Serial, "taken": len(n.Scans)})
}

// Scans says how many scans have come.
func (e *Endpoint) Scans() int64 { return e.scans.Load() }

// Start listens on 127.0.0.1 and returns the address.
func (e *Endpoint) Start(cert tls.Certificate) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/notices", e)
	srv := &http.Server{Handler: mux, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, ErrorLog: log.New(io.Discard, "", 0)}
	go srv.ServeTLS(ln, "", "")
	return "https://" + ln.Addr().String(), nil
}
