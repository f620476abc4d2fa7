// Package supplier is the laboratory that grinds lenses, and the client for it.
package supplier

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
)

// Lens is an article of the laboratory.
type Lens struct {
	SKU      string   `json:"sku"`
	Index    float64  `json:"index"`
	Cents    int      `json:"cents"`
	Coatings []string `json:"coatings"`
}

var coatings = []string{"hard", "anti-reflex", "blue", "photochromic", "lotus", "polarised"}

func lens(sku string) Lens {
	h := fnv.New32a()
	h.Write([]byte(sku))
	s := int(h.Sum32())
	l := Lens{SKU: sku, Index: 1.5 + float64(s%5)*0.06, Cents: 4000 + s%9000}
	for i, c := range coatings {
		if s>>i&1 == 1 {
			l.Coatings = append(l.Coatings, c)
		}
	}
	return l
}

// Handler answers GET /lens?sku=… with a stream of the alternatives.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lens", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.FormValue("n"))
		if err != nil || n < 1 || n > 50 {
			http.Error(w, "bad n", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(w)
		for i := range n {
			if enc.Encode(lens(fmt.Sprintf("%s-%d", r.FormValue("sku"), i))) != nil {
				return
			}
			if i%4 == 3 {
				w.(http.Flusher).Flush()
			}
		}
	})
	return mux
}
