// Package customs talks to the authorities.
package customs

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
	"sync"
)

// Signer stamps the requests of one declarant. The office wants every request
// to carry a number that was not used before and a signature over it.
type Signer struct {
	V2 bool

	base http.RoundTripper

	mu  sync.Mutex
	seq uint64
	mac hash.Hash
	buf []byte
}

func NewSigner(key []byte, base http.RoundTripper) *Signer {
	return &Signer{base: base, mac: hmac.New(sha256.New, key)}
}

// RoundTrip implements http.RoundTripper.
func (s *Signer) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if s.V2 {
		s.mu.Lock()
		s.stamp(out)
		s.mu.Unlock()
		return s.base.RoundTrip(out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamp(out)
	return s.base.RoundTrip(out)
}

func (s *Signer) stamp(r *http.Request) {
	s.seq++
	s.mac.Reset()
	s.buf = append(s.buf[:0], r.Method...)
	s.buf = append(s.buf, r.URL.Path...)
	s.buf = append(s.buf, r.Header.Get("Digest")...)
	s.buf = strconv.AppendUint(s.buf, s.seq, 10)
	s.mac.Write(s.buf)
	s.buf = s.mac.Sum(s.buf[:0])
	r.Header.Set("X-Declarant-Seq", strconv.FormatUint(s.seq, 10))
	r.Header.Set("X-Declarant-Sig", hex.EncodeToString(s.buf))
}
