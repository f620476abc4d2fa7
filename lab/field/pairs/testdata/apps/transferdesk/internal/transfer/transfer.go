// Package transfer plans the transfers of patients between hospitals.
package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"transferdesk/internal/partner"
)

// Request asks for a patient's transfer.
type Request struct {
	Patient   int    `json:"patient"`
	Specialty string `json:"specialty"`
	Acuity    int    `json:"acuity"`
	From      string `json:"from"`
}

// Plan is what has been arranged.
type Plan struct {
	Place struct {
		Ward string `json:"ward"`
		Bed  int    `json:"bed"`
	}
	Ride struct {
		Crew    string `json:"crew"`
		Minutes int    `json:"minutes"`
	}
	Isolation struct {
		Germ     bool `json:"germ"`
		Screened bool `json:"screened"`
	}
	Cover struct {
		Covered bool    `json:"covered"`
		Share   float64 `json:"share"`
	}
	Number int
	Sheet  string
}

// section arranges one part of a plan.
type section struct {
	name string
	plan func(ctx context.Context, r Request, p *Plan) error
}

// Desk plans transfers.
type Desk struct {
	partner  *partner.Client
	sections []section
	assemble func(ctx context.Context, r Request, p *Plan) error
}

// NewDesk returns a desk.
func NewDesk(c *partner.Client, v2 bool) *Desk {
	d := &Desk{partner: c}
	d.sections = []section{
		{"place", d.place}, {"ride", d.ride}, {"isolation", d.isolation}, {"cover", d.cover},
	}
	d.assemble = d.walk
	if v2 {
		d.assemble = d.gather
	}
	return d
}

// Plan arranges a transfer and confirms it.
func (d *Desk) Plan(ctx context.Context, r Request) (*Plan, error) {
	p := new(Plan)
	if err := d.assemble(ctx, r, p); err != nil {
		return nil, err
	}
	var ans struct{ Number int }
	if err := d.partner.Ask(ctx, "/transfers/confirm", r, &ans); err != nil {
		return nil, err
	}
	p.Number = ans.Number
	p.Sheet = sheet(r, p)
	return p, nil
}

func (d *Desk) walk(ctx context.Context, r Request, p *Plan) error {
	for _, s := range d.sections {
		if err := s.plan(ctx, r, p); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (d *Desk) gather(ctx context.Context, r Request, p *Plan) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, s := range d.sections {
		wg.Go(func() {
			if err := s.plan(ctx, r, p); err != nil {
				cancel(fmt.Errorf("%s: %w", s.name, err))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (d *Desk) place(ctx context.Context, r Request, p *Plan) error {
	return d.partner.Ask(ctx, "/beds/offer", r, &p.Place)
}

func (d *Desk) ride(ctx context.Context, r Request, p *Plan) error {
	return d.partner.Ask(ctx, "/crews/offer", r, &p.Ride)
}

func (d *Desk) isolation(ctx context.Context, r Request, p *Plan) error {
	return d.partner.Ask(ctx, "/isolation/state", r, &p.Isolation)
}

func (d *Desk) cover(ctx context.Context, r Request, p *Plan) error {
	return d.partner.Ask(ctx, "/cover/check", r, &p.Cover)
}

func sheet(r Request, p *Plan) string {
	text := fmt.Sprintf("%d|%s|%s|%d|%s|%d|%v|%v|%d", r.Patient, r.From, p.Place.Ward, p.Place.Bed,
		p.Ride.Crew, p.Ride.Minutes, p.Isolation, p.Cover, p.Number)
	h := sha256.Sum256([]byte(text))
	for range 300 {
		h = sha256.Sum256(h[:])
	}
	return text + "|" + hex.EncodeToString(h[:8])
}
