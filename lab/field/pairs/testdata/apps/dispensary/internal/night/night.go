// Package night runs the picking of a night.
package night

import (
	"encoding/json"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"dispensary/internal/journal"
	"dispensary/internal/order"
	"dispensary/internal/robot"
)

// Shift is one run.
type Shift struct {
	Journal *journal.Journal
	Orders  [][]byte

	Done, Bags, Rejected, next atomic.Int64
}

type handout struct {
	Order int
	Ward  string
	Bags  int
	At    time.Time
}

func (s *Shift) handle(arm *robot.Arm, raw []byte) error {
	o, err := order.Decode(raw)
	if err != nil {
		s.Rejected.Add(1)
		return nil
	}
	bags, err := arm.Pick(o.Doses)
	if err != nil {
		return err
	}
	body, err := json.Marshal(handout{o.ID, o.Ward, bags, time.Now()})
	if err != nil {
		return err
	}
	s.Bags.Add(int64(bags))
	s.Done.Add(1)
	return s.Journal.Append(body)
}

// Run lets the arms work until the end.
func (s *Shift) Run(arms []*robot.Arm, end time.Time) {
	var wg sync.WaitGroup
	for _, arm := range arms {
		wg.Go(func() {
			for time.Now().Before(end) {
				n := int(s.next.Add(1))
				if err := s.handle(arm, s.Orders[n%len(s.Orders)]); err != nil {
					log.Print(err)
				}
			}
		})
	}
	wg.Wait()
}
