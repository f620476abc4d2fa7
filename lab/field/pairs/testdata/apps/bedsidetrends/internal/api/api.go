// Package api has the handlers of the monitors' gateway.
package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"

	"bedsidetrends/internal/trend"
	"bedsidetrends/internal/ward"
)

// Key signs the monitors' reports.
var Key = []byte("gateway 7 north")

// Report is what a monitor sends.
type Report struct {
	Monitor string         `json:"monitor"`
	Vitals  []trend.Vitals `json:"vitals"`
}

// Sign returns the signature of a body.
func Sign(body []byte) string {
	m := hmac.New(sha256.New, Key)
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}

// Handler serves the ward.
func Handler(w *ward.Ward) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /vitals", func(rw http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(rw, req.Body, 64<<10))
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		if !hmac.Equal([]byte(req.Header.Get("X-Signature")), []byte(Sign(body))) {
			http.Error(rw, "signature", http.StatusForbidden)
			return
		}
		var rep Report
		if err := json.Unmarshal(body, &rep); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		r := w.Recorder(rep.Monitor)
		for _, v := range rep.Vitals {
			if !r.Record(v) {
				r = w.Recorder(rep.Monitor)
				r.Record(v)
			}
		}
		slope, score := r.Trend()
		json.NewEncoder(rw).Encode(map[string]any{"slope": slope, "score": score})
	})
	mux.HandleFunc("DELETE /monitors/{id}", func(rw http.ResponseWriter, req *http.Request) {
		w.Discharge(req.PathValue("id"))
	})
	return mux
}
