// Package rounds reads all meters.
package rounds

import (
	"sync"

	"meterround/internal/headend"
	"meterround/internal/patience"
)

// A Round reads meters over several lines.
type Round struct {
	Dial     func() (*headend.Client, error)
	Lines    int
	Patience patience.Policy
}

// A Sum is what a round brought.
type Sum struct{ Read, KWh, Gone int }

// Read reads the meters 1 to n.
func (r *Round) Read(n int) (total Sum, err error) {
	meters := make(chan uint32)
	sums := make([]Sum, r.Lines)
	errs := make(chan error, r.Lines)
	var wg sync.WaitGroup
	for i := range r.Lines {
		c, err := r.Dial()
		if err != nil {
			errs <- err
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer c.Close()
			for meter := range meters {
				sums[i].add(r.one(c, meter))
			}
		}()
	}
	if len(errs) > 0 {
		err = <-errs
	} else {
		for meter := range n {
			meters <- uint32(meter + 1)
		}
	}
	close(meters)
	wg.Wait()
	for _, s := range sums {
		total.Read += s.Read
		total.KWh += s.KWh
		total.Gone += s.Gone
	}
	return total, err
}

// one reads a meter; one that cannot be read goes on a list for the fitters.
func (r *Round) one(c *headend.Client, meter uint32) (reading headend.Reading, err error) {
	err = r.Patience.Do(func() error {
		reading, err = c.Read(meter)
		return err
	})
	return reading, err
}

func (s *Sum) add(r headend.Reading, err error) {
	if err != nil {
		s.Gone++
		return
	}
	s.Read++
	s.KWh += int(r.Wh) / 1000
}
