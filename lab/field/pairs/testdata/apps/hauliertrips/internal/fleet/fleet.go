// Package fleet follows the trucks by their position reports.
package fleet

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"hauliertrips/internal/ledger"
	"hauliertrips/internal/recent"
)

type trip struct {
	mu       sync.Mutex
	lat, lon float64
	metres   float64
	fixes    int
}

// Service takes position reports.
type Service struct {
	trips  *recent.Map
	add    func(truck string, v any) any
	ledger *ledger.Client

	Failed atomic.Int64
}

// New returns a service that keeps so many trips.
func New(trips int, c *ledger.Client, v2 bool) *Service {
	s := &Service{ledger: c}
	s.trips = recent.New(trips, s)
	s.add = s.trips.Add
	if v2 {
		s.add = s.trips.Place
	}
	return s
}

// Left books the mileage of a trip that is not followed any more.
func (s *Service) Left(truck string, v any) {
	t := v.(*trip)
	t.mu.Lock()
	m := ledger.Mileage{Truck: truck, Metres: t.metres, Fixes: t.fixes}
	t.metres, t.fixes = 0, 0
	t.mu.Unlock()
	if err := s.ledger.Book(m); err != nil {
		s.Failed.Add(1)
	}
}

var errReport = errors.New("fleet: malformed report")

// Report takes a report of several fixes: truck;lat,lon;lat,lon;...
func (s *Service) Report(report string) error {
	truck, fixes, ok := strings.Cut(report, ";")
	if !ok {
		return errReport
	}
	v, ok := s.trips.Get(truck)
	if !ok {
		v = s.add(truck, new(trip))
	}
	t := v.(*trip)
	for fix := range strings.SplitSeq(fixes, ";") {
		a, b, _ := strings.Cut(fix, ",")
		lat, err := strconv.ParseFloat(a, 64)
		if err != nil {
			return errReport
		}
		lon, err := strconv.ParseFloat(b, 64)
		if err != nil {
			return errReport
		}
		t.move(lat, lon)
	}
	return nil
}

func (t *trip) move(lat, lon float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fixes > 0 {
		t.metres += distance(t.lat, t.lon, lat, lon)
	}
	t.lat, t.lon = lat, lon
	t.fixes++
}

func distance(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	s1, s2 := math.Sin((lat2-lat1)*rad/2), math.Sin((lon2-lon1)*rad/2)
	h := s1*s1 + math.Cos(lat1*rad)*math.Cos(lat2*rad)*s2*s2
	return 2 * 6371000 * math.Asin(math.Sqrt(h))
}

// Followed returns the trips that are followed and those that left.
func (s *Service) Followed() (in, left int) { return s.trips.Len() }
