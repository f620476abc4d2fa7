package httpd

import (
	"encoding/json"
	"net/http"

	"heatmeters/internal/readings"
)

// Routes returns the handler of all requests.
func Routes(book *readings.Book) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /houses/{house}/readings", func(w http.ResponseWriter, r *http.Request) {
		var batch []readings.Reading
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&batch); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(book.Add(r.PathValue("house"), batch))
	})
	return mux
}
