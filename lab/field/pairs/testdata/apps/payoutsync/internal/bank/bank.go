// Package bank is the sandbox of the partner bank.
package bank

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

type Sandbox struct {
	URL   string
	srv   *http.Server
	Calls atomic.Int64
}

type order struct {
	IBAN  string `json:"iban"`
	Cents int64  `json:"cents"`
	Ref   string `json:"ref"`
}

func Start() (*Sandbox, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Sandbox{URL: "http://" + l.Addr().String()}
	s.srv = &http.Server{Handler: http.HandlerFunc(s.serve)}
	go s.srv.Serve(l)
	return s, nil
}

func (s *Sandbox) Close() { s.srv.Close() }

func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	s.Calls.Add(1)
	var o order
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err == nil {
		err = json.Unmarshal(body, &o)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case len(o.IBAN) > 4 && o.IBAN[4] == '9':
		http.Error(w, "account under review", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, `{"ok":true}`)
	}
}
