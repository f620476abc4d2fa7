// Package review runs the check of a prescription as a review that a pharmacist may withdraw.
package review

import (
	"context"
	"errors"
	"sync"
	"time"

	"dosecheck/internal/chart"
	"dosecheck/internal/rules"
)

type Rx struct {
	Patient int
	Drug    string
	Mg      float64
}

type Verdict struct {
	OK    bool
	Score float64
}

type Review struct {
	ID       int
	rx       Rx
	ctx      context.Context
	withdraw context.CancelFunc
}

type chartKey struct{}

type Desk struct {
	base  context.Context
	arch  *chart.Archive
	inter *rules.Interactions
	limit time.Duration
	v2    bool

	mu   sync.Mutex
	seq  int
	open map[int]*Review
}

func NewDesk(ctx context.Context, arch *chart.Archive, limit time.Duration, v2 bool) *Desk {
	return &Desk{base: ctx, arch: arch, inter: rules.NewInteractions(), limit: limit, v2: v2, open: make(map[int]*Review)}
}

// Begin opens a review with the patient's chart at hand.
func (d *Desk) Begin(rx Rx) (*Review, error) {
	c, err := d.arch.Load(rx.Patient)
	if err != nil {
		return nil, err
	}
	ctx := context.WithValue(d.base, chartKey{}, c)
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	r := &Review{ID: d.seq, rx: rx, ctx: ctx, withdraw: cancel}
	d.open[r.ID] = r
	return r, nil
}

// Check runs the rules unless the review has ended.
func (d *Desk) Check(r *Review) (Verdict, error) {
	c, ok := r.ctx.Value(chartKey{}).(*chart.Chart)
	if !ok {
		return Verdict{}, errors.New("review: no chart")
	}
	score := r.rx.Mg / c.Kg
	for _, drug := range c.Drugs {
		if err := r.ctx.Err(); err != nil {
			return Verdict{}, err
		}
		score += d.inter.Risk(r.rx.Drug, drug) * 100 / rules.Clearance(c)
	}
	return Verdict{OK: score < 9, Score: score}, nil
}

// Finish files the review.
func (d *Desk) Finish(r *Review) {
	d.mu.Lock()
	delete(d.open, r.ID)
	d.mu.Unlock()
	if d.v2 {
		r.withdraw()
	}
}

// Withdraw ends a review before its check is complete.
func (d *Desk) Withdraw(r *Review) {
	r.withdraw()
	d.mu.Lock()
	delete(d.open, r.ID)
	d.mu.Unlock()
}

func (d *Desk) Open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}
