// Package rental hands out skates.
package rental

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"rinkrentals/internal/cards"
)

// Desk rents skates and takes deposits.
type Desk struct {
	DB    *sql.DB
	Cards *cards.Client
	V2    bool
}

// Rent takes a pair of the size and gives the reference of the deposit.
func (d *Desk) Rent(ctx context.Context, guest string, size int) (string, error) {
	var ref string
	var err error
	if d.V2 {
		if ref, err = d.Cards.Reserve(ctx, guest, deposit(size)); err != nil {
			return "", err
		}
	}
	tx, err := d.DB.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	key := fmt.Sprintf("out/%d", size)
	out, err := count(ctx, tx, key)
	if err != nil {
		return "", err
	}
	if ref == "" {
		if ref, err = d.Cards.Reserve(ctx, guest, deposit(size)); err != nil {
			return "", err
		}
	}
	if _, err := tx.ExecContext(ctx, "put", key, out+1); err != nil {
		return "", err
	}
	if _, err := tx.ExecContext(ctx, "put", "guest/"+guest, ref); err != nil {
		return "", err
	}
	return ref, tx.Commit()
}

func deposit(size int) int { return 2000 + 50*size }

func count(ctx context.Context, tx *sql.Tx, key string) (int, error) {
	var v string
	if err := tx.QueryRowContext(ctx, "get", key).Scan(&v); err != nil || v == "" {
		return 0, err
	}
	return strconv.Atoi(v)
}
