// Package desk answers travellers.
package desk

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"sort"
	"sync"
	"time"

	"ferryboard/internal/harbour"
	"ferryboard/internal/timetable"
)

type Query struct {
	Route, Sailing, Adults, CarCM int
}

type Offer struct {
	Cents int
	Code  string
	Text  string
}

type Desk struct {
	board  *timetable.Board
	berths harbour.Berths
	snap   bool

	mu   sync.Mutex
	took []time.Duration
}

func New(b *timetable.Board, berths harbour.Berths, snap bool) *Desk {
	return &Desk{board: b, berths: berths, snap: snap}
}

// Quote makes an offer for a crossing.
func (d *Desk) Quote(q Query) (Offer, error) {
	begun := time.Now()
	var o Offer
	var err error
	if d.snap {
		var s timetable.Sailing
		err = d.board.View(q.Route, q.Sailing, func(live *timetable.Sailing) error {
			s = *live
			return nil
		})
		if err == nil {
			o, err = d.offer(q, &s)
		}
	} else {
		err = d.board.View(q.Route, q.Sailing, func(s *timetable.Sailing) error {
			o, err = d.offer(q, s)
			return err
		})
	}
	if err != nil {
		return Offer{}, err
	}
	o.Code = voucher(o)
	d.mu.Lock()
	d.took = append(d.took, time.Since(begun))
	d.mu.Unlock()
	return o, nil
}

func (d *Desk) offer(q Query, s *timetable.Sailing) (Offer, error) {
	berth, err := d.berths.Assign(s.ID, s.Leaves+s.Delay)
	if err != nil {
		return Offer{}, err
	}
	var o Offer
	var txt bytes.Buffer
	o.Cents = q.Adults * s.Fares[0]
	if q.CarCM > 0 {
		o.Cents += s.Fares[1+min(q.CarCM/150, 4)]
	}
	if s.Delay > 15*time.Minute {
		o.Cents -= o.Cents / 20
	}
	fmt.Fprintf(&txt, "Sailing %s leaves at %v from berth %d (lane opens %v)\n", s.ID, s.Leaves+s.Delay, berth.No, berth.Free)
	for i := range q.Adults {
		fmt.Fprintf(&txt, "  traveller %d: %6.2f EUR\n", i+1, float64(s.Fares[0])/100)
	}
	o.Text = txt.String()
	return o, nil
}

// voucher makes the code that the gates can check without a connection.
func voucher(o Offer) string {
	sum := sha256.Sum256([]byte(o.Text))
	for range 1500 {
		sum = sha256.Sum256(sum[:])
	}
	return base32.StdEncoding.EncodeToString(sum[:10])
}

func (d *Desk) Summary() (n int, mean, p99 time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = len(d.took)
	if n == 0 {
		return
	}
	sort.Slice(d.took, func(i, j int) bool { return d.took[i] < d.took[j] })
	for _, t := range d.took {
		mean += t
	}
	return n, mean / time.Duration(n), d.took[n*99/100]
}
