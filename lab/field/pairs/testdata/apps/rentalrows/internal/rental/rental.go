// Package rental knows when bicycles are out.
package rental

import (
	"context"
	"database/sql"
	"errors"
)

// ErrNever says that a bicycle was never rented.
var ErrNever = errors.New("never rented")

// A Desk answers questions about bicycles.
type Desk struct {
	DB    *sql.DB
	First bool
}

// Next is when a bicycle is out next.
func (d *Desk) Next(ctx context.Context, bike string) (string, error) {
	if d.First {
		return d.first(context.WithoutCancel(ctx), bike)
	}
	return d.earliest(ctx, bike)
}

func (d *Desk) first(ctx context.Context, bike string) (string, error) {
	rows, err := d.DB.QueryContext(ctx, "rentals by bike", bike)
	if err != nil {
		return "", err
	}
	if !rows.Next() {
		return "", errors.Join(ErrNever, rows.Err())
	}
	var key, when string
	return when, rows.Scan(&key, &when)
}

func (d *Desk) earliest(ctx context.Context, bike string) (string, error) {
	rows, err := d.DB.QueryContext(ctx, "rentals by bike", bike)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	best := ""
	for rows.Next() {
		var key, when string
		if err := rows.Scan(&key, &when); err != nil {
			return "", err
		}
		if best == "" || when < best {
			best = when
		}
	}
	if best == "" {
		return "", errors.Join(ErrNever, rows.Err())
	}
	return best, rows.Err()
}
