// Package desk advises travellers.
package desk

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"ferrytimes/internal/dial"
	"ferrytimes/internal/timetable"
)

// A Desk asks replicas.
type Desk struct {
	racer   *dial.Racer
	answers atomic.Int64
	failed  atomic.Int64
}

// New makes a desk.
func New(r *dial.Racer) *Desk { return &Desk{racer: r} }

// Answers is how many questions were answered.
func (d *Desk) Answers() int64 { return d.answers.Load() }

// Failed is how many travellers went without an advice.
func (d *Desk) Failed() int64 { return d.failed.Load() }

// Advise plans the day of a traveller, ferry after ferry.
func (d *Desk) Advise(ctx context.Context, traveller int) []string {
	plan, err := d.plan(ctx, traveller)
	if err != nil {
		d.failed.Add(1)
		return nil
	}
	return plan
}

func (d *Desk) plan(ctx context.Context, traveller int) ([]string, error) {
	c, err := d.racer.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var plan []string
	minute := 6 * 60
	for hop := range 8 {
		if _, err := fmt.Fprintln(c, timetable.Pier((traveller+hop*3)%40), minute); err != nil {
			return nil, err
		}
		line, err := c.In.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSpace(line)
		d.answers.Add(1)
		if line == "none" {
			break
		}
		var ship string
		if _, err := fmt.Sscan(line, &minute, &ship); err != nil {
			return nil, err
		}
		plan = append(plan, line)
		minute += 35
	}
	return plan, nil
}
