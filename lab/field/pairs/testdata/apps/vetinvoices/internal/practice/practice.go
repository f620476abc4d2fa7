// Package practice closes the months of the practices.
package practice

import (
	"crypto/sha256"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"vetinvoices/internal/billing"
	"vetinvoices/internal/record"
	"vetinvoices/internal/table"
)

type Closing struct {
	Mapper *record.Mapper

	Months, Invoices, Euros atomic.Int64
	seal                    atomic.Uint64
}

func (c *Closing) month(data []byte) error {
	ts, err := billing.Read(c.Mapper, data)
	if err != nil {
		return err
	}
	docs, total, err := billing.Month(ts)
	if err != nil {
		return err
	}
	for _, d := range docs {
		s := sha256.Sum256(d)
		c.seal.Add(uint64(s[0]))
	}
	c.Invoices.Add(int64(len(docs)))
	c.Euros.Add(int64(total))
	c.Months.Add(1)
	return nil
}

// Run closes months at a rate (per second) until the time is over.
func (c *Closing) Run(d time.Duration, workers, rate int) error {
	r := rand.New(rand.NewPCG(6, 60))
	var sets [][]byte
	for range 24 {
		sets = append(sets, table.Make(r, 100+r.IntN(100)))
	}
	due := make(chan []byte, 64)
	errs := make(chan error, 1)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for set := range due {
				if err := c.month(set); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		})
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); i++ {
		<-tick.C
		due <- sets[i%len(sets)]
	}
	close(due)
	wg.Wait()
	close(errs)
	return <-errs
}
