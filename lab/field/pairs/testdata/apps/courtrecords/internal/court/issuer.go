// Package court stands for the courts' own systems.
package court

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
)

// Issuer returns the handler that issues tokens.
func Issuer(key []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		name := r.FormValue("court")
		json.NewEncoder(w).Encode(map[string]any{"access_token": Sign(key, name), "expires_in_ms": 2600})
	})
	return mux
}

// Sign makes the token of a court.
func Sign(key []byte, name string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(name))
	return name + "." + hex.EncodeToString(m.Sum(nil))
}
