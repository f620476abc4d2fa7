// Package feed makes up the messages of a busy hospital.
package feed

import (
	"fmt"
	"math/rand"
	"time"
)

var families = []string{"Abel", "Brandt", "Castro", "Dietrich", "Engel", "Fuchs", "Gruber", "Haas", "Ito", "Jansen", "Kowalski", "Lang"}

type Source struct {
	rng  *rand.Rand
	ward string
	size int
	next int
	in   []string
	at   time.Time
}

func NewSource(ward string, seed int64, size int) *Source {
	return &Source{rng: rand.New(rand.NewSource(seed)), ward: ward, size: size, at: time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)}
}

// Next makes the next message of the ward.
func (s *Source) Next() string {
	s.at = s.at.Add(time.Duration(1+s.rng.Intn(90)) * time.Second)
	kind, id := "A08", ""
	switch {
	case len(s.in) < s.size || s.rng.Intn(10) == 0 && len(s.in) < s.size+20:
		kind = "A01"
		s.next++
		id = fmt.Sprintf("%s-%06d", s.ward, s.next)
		s.in = append(s.in, id)
	case s.rng.Intn(10) == 0:
		kind = "A03"
		i := s.rng.Intn(len(s.in))
		id = s.in[i]
		s.in[i] = s.in[len(s.in)-1]
		s.in = s.in[:len(s.in)-1]
	default:
		id = s.in[s.rng.Intn(len(s.in))]
	}
	return fmt.Sprintf("MSH|%s|%s|%s|M%08d\rPID|%s|%s^Pat\rPV1|%s|B%03d|%d\rOBX|TEMP|%d.%d\rOBX|PULSE|%d\rOBX|SPO2|%d\rOBX|NOTE|seen by duty nurse, no change\r",
		s.ward, s.at.Format("20060102150405"), kind, s.rng.Intn(1e8), id, families[s.rng.Intn(len(families))],
		s.ward, s.rng.Intn(400), 1+s.rng.Intn(5), 36+s.rng.Intn(4), s.rng.Intn(10), 50+s.rng.Intn(80), 88+s.rng.Intn(12))
}
