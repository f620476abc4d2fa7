// Package visit issues therapy plans.
package visit

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"rehabplans/internal/clinic"
	"rehabplans/internal/mailgate"
)

type Service struct {
	store *clinic.Store
	mail  *mailgate.Client
	early bool

	mu       sync.Mutex
	took     []time.Duration
	sessions int
}

func New(s *clinic.Store, m *mailgate.Client, early bool) *Service {
	return &Service{store: s, mail: m, early: early}
}

// Issue makes the plan of the week for a patient and sends it.
func (s *Service) Issue(id int) error {
	begun := time.Now()
	w := s.store.Begin()
	defer w.End()
	name, focus, err := w.Patient(id)
	if err != nil {
		return err
	}
	orders, err := w.Orders(id)
	if err != nil {
		return err
	}
	if s.early {
		w.End()
	}
	doc := write(name, focus, arrange(orders))
	if err := s.mail.Send(fmt.Sprintf("p%d@patients.example", id), doc); err != nil {
		return fmt.Errorf("plan of %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, time.Since(begun))
	s.sessions += len(orders)
	return nil
}

// arrange places the orders into five days so that the load is even: it tries
// exchanges as long as they help.
func arrange(orders []clinic.Order) (days [5][]clinic.Order) {
	place := make([]int, len(orders))
	for range 40 {
		for i := range orders {
			for d := range 5 {
				old, before := place[i], uneven(orders, place)
				place[i] = d
				if uneven(orders, place) >= before {
					place[i] = old
				}
			}
		}
	}
	for i, o := range orders {
		days[place[i]] = append(days[place[i]], o)
	}
	return days
}

func uneven(orders []clinic.Order, place []int) (sum int) {
	var load [5]int
	for i, o := range orders {
		load[place[i]] += o.Minutes
	}
	for _, l := range load {
		sum += l * l
	}
	return sum
}

func write(name, focus string, days [5][]clinic.Order) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Therapy plan for %s , focus %s\n", name, focus)
	for d, list := range days {
		at := 8 * 60
		fmt.Fprintf(&b, "%s\n", time.Weekday(d+1))
		for _, o := range list {
			fmt.Fprintf(&b, "  %02d:%02d %-20s %d min\n", at/60, at%60, o.Therapy, o.Minutes)
			at += o.Minutes + 15
		}
	}
	return b.Bytes()
}

func (s *Service) Summary() (n, sessions int, mean, p99 time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.took)
	for _, t := range s.took {
		mean += t / time.Duration(len(s.took))
	}
	return len(s.took), s.sessions, mean, s.took[len(s.took)*99/100]
}
