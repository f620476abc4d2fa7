// Package web is the help desk over HTTP.
package web

import (
	"encoding/json"
	"io"
	"net/http"

	"helpdesk/internal/drafts"
	"helpdesk/internal/tickets"
)

const signature = "\n\n-- \nThis ticket was written with the form of the help desk. Please do not send passwords.\n"

// Routes returns the handler of all requests.
func Routes(desk *drafts.Desk, store *tickets.Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tickets", func(w http.ResponseWriter, r *http.Request) {
		t, err := take(desk, store, customer(r), http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(t)
	})
	mux.HandleFunc("GET /topics", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(store.Topics())
	})
	return mux
}

// take reads a text as it comes and makes a ticket of it.
func take(desk *drafts.Desk, store *tickets.Store, customer string, body io.Reader) (tickets.Ticket, error) {
	draft := desk.Open(customer)
	defer draft.Commit()
	if _, err := io.Copy(draft, body); err != nil {
		return tickets.Ticket{}, err
	}
	_, _ = io.WriteString(draft, signature)
	return store.Add(customer, draft.Text()), nil
}

func customer(r *http.Request) string {
	if name := r.URL.Query().Get("customer"); name != "" {
		return name
	}
	return "unknown"
}
