// Package lookup answers visitors who ask for sheets.
package lookup

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"herbarium/internal/archive"
	"herbarium/internal/recount"
	"herbarium/internal/sheet"
)

// Desk answers.
type Desk struct {
	Archive *archive.Archive
	Census  *recount.Census

	mu    sync.Mutex
	Times []time.Duration
	Bytes int
}

type page struct {
	Sheet *sheet.Sheet `json:"sheet"`
	Count int          `json:"count"`
}

// Page prints the page of a sheet.
func (d *Desk) Page(id int) ([]byte, error) {
	s := d.Archive.Sheet(id)
	return json.Marshal(page{Sheet: s, Count: d.Census.Of(s.Name())})
}

// Visit asks for about rate pages a second until the deadline.
func (d *Desk) Visit(rate int, until time.Time) {
	rnd := rand.New(rand.NewPCG(3, 9))
	var wg sync.WaitGroup
	pause := time.Second / time.Duration(rate)
	for due := time.Now(); due.Before(until); due = due.Add(pause) {
		time.Sleep(time.Until(due))
		id, asked := rnd.IntN(1<<20), due
		wg.Go(func() {
			b, err := d.Page(id)
			if err != nil {
				return
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.Times = append(d.Times, time.Since(asked))
			d.Bytes += len(b)
		})
	}
	wg.Wait()
}

// Quantile of the times of answers.
func (d *Desk) Quantile(q float64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.Times) == 0 {
		return 0
	}
	slices.Sort(d.Times)
	return d.Times[int(float64(len(d.Times)-1)*q)]
}
