// Package api takes the messages of the planning system over HTTP.
package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"

	"crewroster/internal/duty"
	"crewroster/internal/wire"
)

// Server answers the planning system.
type Server struct {
	Key     []byte
	Decoder *wire.Decoder
	Board   *duty.Board
}

// Sign returns the signature of a body.
func Sign(key, body []byte) string {
	m := hmac.New(sha256.New, key)
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if !hmac.Equal([]byte(Sign(s.Key, body)), []byte(r.Header.Get("X-Signature"))) {
		http.Error(w, "bad signature", http.StatusForbidden)
		return
	}
	m, err := s.Decoder.Decode(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if m.Release != nil {
		json.NewEncoder(w).Encode(map[string]bool{"released": s.Board.Release(m.Release.Crew)})
		return
	}
	json.NewEncoder(w).Encode(s.Board.Assign(m.Assignment))
}
