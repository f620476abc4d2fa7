// Package agenda reads and shows the visits of a day.
package agenda

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"strings"
)

// A Visit is of one patient.
type Visit struct {
	ID      string `json:"id"`
	Patient string `json:"patient"`
}

// A Store reads visits.
type Store struct {
	DB       *sql.DB
	Together bool
}

// pairs reads the rows of a query.
func (s *Store) pairs(ctx context.Context, query, arg string) (out [][2]string, err error) {
	rows, err := s.DB.QueryContext(ctx, query, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p [2]string
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// Day is all visits of a day.
func (s *Store) Day(ctx context.Context, day string) ([]Visit, error) {
	ids, err := s.pairs(ctx, "visits by day", day)
	if err != nil {
		return nil, err
	}
	if s.Together {
		return s.joined(ctx, ids)
	}
	var out []Visit
	for _, id := range ids {
		name, err := s.patient(ctx, id[1])
		if err != nil {
			return nil, err
		}
		out = append(out, Visit{id[1], name})
	}
	return out, nil
}

func (s *Store) patient(ctx context.Context, id string) (string, error) {
	found, err := s.pairs(ctx, "patients by id", id)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0][1], nil
}

// joined reads the patients of many visits.
func (s *Store) joined(ctx context.Context, ids [][2]string) ([]Visit, error) {
	var list []string
	for _, id := range ids {
		list = append(list, id[1])
	}
	found, err := s.pairs(ctx, "patients by ids", strings.Join(list, ","))
	var out []Visit
	for _, p := range found {
		out = append(out, Visit{p[0], p[1]})
	}
	return out, err
}

// A Handler shows days.
type Handler struct{ Store *Store }

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	visits, err := h.Store.Day(r.Context(), r.PathValue("day"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(visits)
}
