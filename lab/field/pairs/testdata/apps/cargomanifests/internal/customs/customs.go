// Package customs is the office that classifies goods, reached over HTTP.
package customs

import (
	"encoding/json"
	"hash/crc32"
	"net"
	"net/http"
	"time"
)

// Ruling is the office's answer.
type Ruling struct {
	Code    string `json:"code"`
	Percent int    `json:"percent"`
	Ref     uint32 `json:"ref"`
}

// Office answers rulings.
type Office struct {
	srv *http.Server
	URL string
}

// Open starts the office on a local port.
func Open(think time.Duration) (*Office, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ruling", func(w http.ResponseWriter, r *http.Request) {
		code := r.URL.Query().Get("code")
		time.Sleep(think)
		h := crc32.ChecksumIEEE([]byte(code))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(Ruling{Code: code, Percent: int(h % 24), Ref: h})
	})
	o := &Office{srv: &http.Server{Handler: mux}, URL: "http://" + l.Addr().String()}
	go func() { _ = o.srv.Serve(l) }()
	return o, nil
}

// Close stops the office.
func (o *Office) Close() { _ = o.srv.Close() }
