// Package board keeps the occupancy boards of the wards.
package board

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"wardboard/internal/hl7"
)

type Stay struct {
	Patient  string    `json:"patient"`
	Family   string    `json:"family"`
	Given    string    `json:"given"`
	Bed      string    `json:"bed"`
	Acuity   int       `json:"acuity"`
	Admitted time.Time `json:"admitted"`
	Fever    string    `json:"temp,omitempty"`
}

func order(a, b *Stay) int {
	return cmp.Or(
		cmp.Compare(b.Acuity, a.Acuity),
		a.Admitted.Compare(b.Admitted),
		strings.Compare(a.Family, b.Family),
		strings.Compare(a.Patient, b.Patient),
	)
}

// Ward is the board of one ward: the most urgent first.
type Ward struct {
	mu        sync.Mutex
	placed    bool
	stays     []*Stay
	byPatient map[string]*Stay
}

type Hospital struct {
	wards map[string]*Ward
}

func New(names []string, placed bool) *Hospital {
	h := &Hospital{wards: make(map[string]*Ward)}
	for _, n := range names {
		h.wards[n] = &Ward{placed: placed, byPatient: make(map[string]*Stay)}
	}
	return h
}

// Apply brings the board up to date with a message.
func (h *Hospital) Apply(m *hl7.Message) bool {
	w := h.wards[m.Ward]
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.byPatient[m.Patient]
	if s != nil && w.placed {
		w.take(s)
	}
	if m.Kind == hl7.Discharge {
		if s == nil {
			return false
		}
		delete(w.byPatient, m.Patient)
		if !w.placed {
			w.stays = slices.DeleteFunc(w.stays, func(o *Stay) bool { return o == s })
		}
		return true
	}
	fresh := s == nil
	if fresh {
		s = &Stay{Patient: m.Patient, Admitted: m.At}
		w.byPatient[m.Patient] = s
	}
	s.Family, s.Given, s.Bed, s.Acuity = m.Family, m.Given, m.Bed, m.Acuity
	s.Fever = m.Notes["TEMP"]
	if w.placed {
		w.put(s)
		return true
	}
	if fresh {
		w.stays = append(w.stays, s)
	}
	w.arrange()
	return true
}

func (w *Ward) arrange() {
	slices.SortStableFunc(w.stays, order)
}

func (w *Ward) take(s *Stay) {
	if i, ok := slices.BinarySearchFunc(w.stays, s, order); ok {
		w.stays = slices.Delete(w.stays, i, i+1)
	}
}

func (w *Ward) put(s *Stay) {
	i, _ := slices.BinarySearchFunc(w.stays, s, order)
	w.stays = slices.Insert(w.stays, i, s)
}

// Top gives the n most urgent stays of a ward.
func (h *Hospital) Top(ward string, n int) []Stay {
	w := h.wards[ward]
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Stay, 0, n)
	for _, s := range w.stays[:min(n, len(w.stays))] {
		out = append(out, *s)
	}
	return out
}

// Occupied counts the stays in all wards.
func (h *Hospital) Occupied() (n int) {
	for _, w := range h.wards {
		w.mu.Lock()
		n += len(w.stays)
		w.mu.Unlock()
	}
	return n
}
