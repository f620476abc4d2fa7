// Package claims settles claims.
package claims

import (
	"context"
	"database/sql"

	"insurerdesk/internal/appraisal"
)

// Desk settles claims.
type Desk struct {
	DB     *sql.DB
	Office *appraisal.Client
	Next   bool
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Settle pays a claim and returns the amount.
func (d *Desk) Settle(ctx context.Context, id int) (int64, error) {
	if d.Next {
		return d.settleNext(ctx, id)
	}
	tx, err := d.DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	damage, err := load(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	cents, err := d.Office.Appraise(damage)
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "BOOK", id, cents); err != nil {
		return 0, err
	}
	return cents, tx.Commit()
}

func (d *Desk) settleNext(ctx context.Context, id int) (int64, error) {
	damage, err := load(ctx, d.DB, id)
	if err != nil {
		return 0, err
	}
	cents, err := d.Office.Appraise(damage)
	if err != nil {
		return 0, err
	}
	tx, err := d.DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "BOOK", id, cents); err != nil {
		return 0, err
	}
	return cents, tx.Commit()
}

func load(ctx context.Context, q querier, id int) (d appraisal.Damage, err error) {
	err = q.QueryRowContext(ctx, "CLAIM", id).Scan(&d.Policy, &d.Part, &d.Days)
	return d, err
}
