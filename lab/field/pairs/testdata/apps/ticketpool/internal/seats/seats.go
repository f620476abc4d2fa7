// Package seats shows which seats are free.
package seats

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
)

// A Handler shows seats.
type Handler struct{ db *sql.DB }

// NewHandler shows what a database knows.
func NewHandler(db *sql.DB) *Handler { return &Handler{db} }

func (h *Handler) free(ctx context.Context, show string) (out []string, err error) {
	rows, err := h.db.QueryContext(ctx, "seats by show", show)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key, seat string
		if err := rows.Scan(&key, &seat); err != nil {
			return nil, err
		}
		out = append(out, seat)
	}
	return out, rows.Err()
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	free, err := h.free(r.Context(), r.PathValue("show"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if len(free) == 0 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(free)
}
