package specimen

import (
	"context"

	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// Ask records a side into the file out and asks gowhy what it says of it. Programs
// are built in cache.
func (s *Specimen) Ask(ctx context.Context, bed *testbed.Bed, cache string, side Side, out string) (*Answer, error) {
	program, err := s.Build(ctx, cache, side.Name)
	if err != nil {
		return nil, err
	}
	if _, err := bed.Record(ctx, s.Job(side, program, out)); err != nil {
		return nil, err
	}
	return s.Diagnose(ctx, bed, side, out)
}

// Diagnose asks gowhy what it says of a recording of a side.
func (s *Specimen) Diagnose(ctx context.Context, bed *testbed.Bed, side Side, recording string) (*Answer, error) {
	a := &Answer{Specimen: s.Name, Side: side.Name}
	_, err := bed.Answer(ctx, a, "diagnose", "--format", "json", recording)
	a.Specimen, a.Side = s.Name, side.Name
	return a, err
}
