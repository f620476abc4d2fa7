package agenda

import (
	"net"
	"reflect"
	"testing"

	"clinicday/internal/records"
)

// store is one of a database with two visits.
func store(t *testing.T) *Store {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &records.Server{Tables: map[string]records.Table{
		"visits": {"monday": {"p1", "p2"}}, "patients": {"p1": {"Ada"}, "p2": {"Bob"}},
	}}
	go s.Serve(l)
	db := records.Open(l.Addr().String())
	t.Cleanup(func() { _ = db.Close(); _ = l.Close() })
	return &Store{DB: db}
}

func TestDay(t *testing.T) {
	s := store(t)
	want := []Visit{{"p1", "Ada"}, {"p2", "Bob"}}
	for _, s.Together = range []bool{false, true} {
		if got, err := s.Day(t.Context(), "monday"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("together %v: %v, %v; want %v", s.Together, got, err, want)
		}
	}
}
