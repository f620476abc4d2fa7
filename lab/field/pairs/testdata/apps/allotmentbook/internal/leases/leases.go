// Package leases renews the leases of garden plots.
package leases

import (
	"context"
	"fmt"

	"allotmentbook/internal/notify"
	"allotmentbook/internal/store"
)

// Desk renews leases.
type Desk struct {
	db    *store.DB
	mail  *notify.Client
	batch bool
}

// NewDesk returns a desk.
func NewDesk(db *store.DB, mail *notify.Client, batch bool) *Desk {
	return &Desk{db: db, mail: mail, batch: batch}
}

// Renew extends the lease of a plot by a year and tells the tenant.
func (d *Desk) Renew(ctx context.Context, plot string) error {
	var letters []notify.Letter
	err := d.db.InTx(ctx, func(tx *store.Tx) error {
		row, err := tx.Get(plot)
		if err != nil {
			return err
		}
		var tenant string
		var year, fee int
		if _, err := fmt.Sscan(row, &tenant, &year, &fee); err != nil {
			return fmt.Errorf("%s: %w", plot, err)
		}
		year++
		if err := tx.Set(plot, fmt.Sprintf("%s %d %d", tenant, year, fee)); err != nil {
			return err
		}
		l := notify.Letter{To: tenant, Text: fmt.Sprintf("Your lease of %s runs until %d. The fee is %d.", plot, year, fee)}
		if d.batch {
			letters = append(letters, l)
			return nil
		}
		return d.mail.Send(ctx, l)
	})
	if err != nil {
		return err
	}
	for _, l := range letters {
		if err := d.mail.Send(ctx, l); err != nil {
			return err
		}
	}
	return nil
}
