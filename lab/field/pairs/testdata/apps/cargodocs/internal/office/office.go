// Package office is a stand-in for the customs office and the port.
package office

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Listen starts both and gives their address.
func Listen() (url string, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /declarations", declare)
	mux.HandleFunc("POST /announcements", announce)
	go http.Serve(ln, mux)
	return "http://" + ln.Addr().String(), nil
}

func declare(w http.ResponseWriter, r *http.Request) {
	h := sha256.New()
	if _, err := io.Copy(h, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if sum != r.Header.Get("Digest") || r.Header.Get("X-Declarant-Sig") == "" {
		http.Error(w, "digest", http.StatusConflict)
		return
	}
	time.Sleep(3*time.Millisecond + rand.N(4*time.Millisecond))
	fmt.Fprintf(w, `{"mrn":"26IT%s","digest":%q,"risk":%d}`, sum[:14], sum, int(sum[0])%5)
}

func announce(w http.ResponseWriter, r *http.Request) {
	time.Sleep(4*time.Millisecond + rand.N(4*time.Millisecond))
	fmt.Fprintf(w, `{"Slot":%d}`, rand.IntN(96))
}
