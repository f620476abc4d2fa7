// Package desk settles claims.
package desk

import (
	"context"
	"errors"
	"sync/atomic"

	"claimsdesk/internal/claim"
	"claimsdesk/internal/tariff"
)

// ErrClosing is returned for claims that are not settled before the desk closes.
var ErrClosing = errors.New("desk: closing")

// Desk settles claims until its context ends.
type Desk struct {
	base    context.Context
	tariff  *tariff.Tariff
	tracked bool
	paid    atomic.Int64
	open    atomic.Int64
}

// New returns a desk that lives as long as base.
func New(base context.Context, t *tariff.Tariff, tracked bool) *Desk {
	return &Desk{base: base, tariff: t, tracked: tracked}
}

// Paid returns the sum of what was paid in cents.
func (d *Desk) Paid() int64 { return d.paid.Load() }

// file is a claim in work.
type file struct {
	claim   *claim.Claim
	aborted atomic.Bool
	closers []func() bool
}

func (f *file) abort() { f.aborted.Store(true) }

// openFile starts the work on a claim, which is aborted when the desk closes.
func (d *Desk) openFile(raw []byte) (*file, error) {
	c, err := claim.Decode(raw)
	if err != nil {
		return nil, err
	}
	f := &file{claim: c}
	stop := context.AfterFunc(d.base, f.abort)
	if d.tracked {
		f.closers = append(f.closers, stop)
	}
	d.open.Add(1)
	return f, nil
}

func (d *Desk) closeFile(f *file) {
	for _, c := range f.closers {
		c()
	}
	d.open.Add(-1)
}

// Settle checks a claim and returns what is paid.
func (d *Desk) Settle(raw []byte) (int64, error) {
	f, err := d.openFile(raw)
	if err != nil {
		return 0, err
	}
	defer d.closeFile(f)

	if err := f.claim.Verify(); err != nil {
		return 0, err
	}
	sum, err := d.tariff.Pay(f.claim)
	if err != nil {
		return 0, err
	}
	if f.aborted.Load() {
		return 0, ErrClosing
	}
	d.paid.Add(sum)
	return sum, nil
}
