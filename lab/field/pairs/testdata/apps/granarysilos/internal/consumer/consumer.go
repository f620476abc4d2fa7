// Package consumer moves deliveries from partitions to offices.
package consumer

import (
	"sync"
	"time"

	"granarysilos/internal/grain"
	"granarysilos/internal/sink"
	"granarysilos/internal/topic"
)

// Consumer has one office for each partition.
type Consumer struct {
	Parts   []*topic.Partition
	Offices []*sink.Office
	Batch   int
}

// Run consumes in rounds until the time has come.
func (c *Consumer) Run(end time.Time) error {
	for time.Now().Before(end) {
		if err := c.poll(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Consumer) poll() error {
	errs := make([]error, len(c.Parts))
	var wg sync.WaitGroup
	for i, p := range c.Parts {
		recs := p.Fetch(c.Batch)
		wg.Go(func() { errs[i] = c.handle(i, recs) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// RunEach consumes the partitions on their own.
func (c *Consumer) RunEach(end time.Time) error {
	errs := make([]error, len(c.Parts))
	var wg sync.WaitGroup
	for i, p := range c.Parts {
		wg.Go(func() {
			for errs[i] == nil && time.Now().Before(end) {
				errs[i] = c.handle(i, p.Fetch(c.Batch))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Consumer) handle(i int, recs []topic.Record) error {
	rows := make([]sink.Row, 0, len(recs))
	for _, r := range recs {
		d, err := grain.Parse(r.Value)
		if err != nil {
			continue
		}
		class, dry := d.Grade()
		rows = append(rows, sink.Row{Offset: r.Offset, Farm: d.Farm, Class: class, Dry: dry})
	}
	if err := c.Offices[i].Store(rows); err != nil {
		return err
	}
	c.Parts[i].Commit(recs[len(recs)-1].Offset + 1)
	return nil
}
