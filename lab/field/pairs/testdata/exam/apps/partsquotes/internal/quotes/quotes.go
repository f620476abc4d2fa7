// Package quotes works out what parts cost.
package quotes

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"partsquotes/internal/shelf"
)

// A Quote is the price of a part for a dealer.
type Quote struct {
	Part   string `json:"part"`
	Cents  int    `json:"cents"`
	Days   int    `json:"days"`
	Remark string `json:"remark"`
}

// A Desk gives quotes.
type Desk struct{ shelf *shelf.Client }

// NewDesk looks prices up in the shelf.
func NewDesk(c *shelf.Client) *Desk { return &Desk{c} }

// A Sum is about all quotes of a day.
type Sum struct{ Quotes, Shelved, Cents int }

const common = 3000

func part(n int) string { return fmt.Sprintf("P-%05d", n) }

// Prepare puts the common parts into the shelf. The rare ones, whose prices go by what the
// steel costs today, are worked out when they are asked for.
func (d *Desk) Prepare() error {
	for n := range common {
		value, err := json.Marshal(workOut(part(n)))
		if err != nil {
			return err
		}
		if err := d.shelf.Set(part(n), value); err != nil {
			return err
		}
	}
	return nil
}

func workOut(part string) Quote {
	weight := 7
	for _, r := range part {
		weight = (weight*31 + int(r)) % 9973
	}
	return Quote{part, 450 + weight*3, 1 + weight%9, "without freight, and as long as there are any"}
}

// Quote gives the price of a part, and tells whether it was in the shelf.
func (d *Desk) Quote(part string) (q Quote, shelved bool, err error) {
	value, err := d.shelf.Get(part)
	if errors.Is(err, shelf.ErrAbsent) {
		return workOut(part), false, nil
	}
	if err != nil {
		return q, false, err
	}
	return q, true, json.Unmarshal(value, &q)
}

// Open answers dealers for so long, so many a second: half of them ask for rare parts.
func (d *Desk) Open(rate int, span time.Duration) (sum Sum, err error) {
	requests := make(chan string, 64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 12 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for part := range requests {
				q, shelved, failed := d.Quote(part)
				mu.Lock()
				if failed != nil {
					err = failed
				}
				sum.Quotes++
				sum.Cents += q.Cents
				if shelved {
					sum.Shelved++
				}
				mu.Unlock()
			}
		}()
	}
	start, sent := time.Now(), 0
	for total := int(float64(rate) * span.Seconds()); sent < total; {
		for due := min(total, int(time.Since(start).Seconds()*float64(rate))); sent < due; sent++ {
			n := sent * 37 % common
			if sent%2 == 1 {
				n += 2 * common
			}
			requests <- part(n)
		}
		time.Sleep(2 * time.Millisecond)
	}
	close(requests)
	wg.Wait()
	return sum, err
}
