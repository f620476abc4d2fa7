// Package desk reads tariffs and quotes them.
package desk

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"tariffdesk/internal/quote"
	"tariffdesk/internal/wire"
)

// Options are the settings of the store.
type Options struct {
	MaxOpen int
	Paired  bool
}

// Store reads tariffs.
type Store struct{ db *sql.DB }

// OpenStore opens the store.
func OpenStore(c *wire.Connector, o Options) *Store {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(o.MaxOpen)
	db.SetConnMaxLifetime(30 * time.Minute)
	if o.Paired {
		db.SetMaxIdleConns(o.MaxOpen)
	}
	return &Store{db: db}
}

// Close closes the store.
func (s *Store) Close() error { return s.db.Close() }

// Bands returns the price bands of a route.
func (s *Store) Bands(ctx context.Context, route string) ([]quote.Band, error) {
	rows, err := s.db.QueryContext(ctx, "TARIFF", route)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []quote.Band
	for rows.Next() {
		var name, price string
		if err := rows.Scan(&name, &price); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(price)
		if err != nil {
			return nil, err
		}
		out = append(out, quote.Band{Name: name, Cents: n})
	}
	return out, rows.Err()
}

// Quote prices a parcel on a route.
func (s *Store) Quote(ctx context.Context, route string, kg int) (quote.Quote, error) {
	bands, err := s.Bands(ctx, route)
	if err != nil {
		return quote.Quote{}, err
	}
	return quote.Make(route, kg, bands), nil
}
