package specimen

import (
	"context"
	"slices"

	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// Ask records a side into the file out and asks gowhy what it says of it. Programs
// are built in cache; beside is a command that runs meanwhile.
func (s *Specimen) Ask(ctx context.Context, bed *testbed.Bed, cache string, side Side, out string, beside []string) (*Answer, error) {
	program, err := s.Build(ctx, cache, side.Name)
	if err != nil {
		return nil, err
	}
	job := s.Job(side, program, out)
	job.Beside = beside
	if _, err := bed.Record(ctx, job); err != nil {
		return nil, err
	}
	return s.Diagnose(ctx, bed, side, out)
}

// Diagnose asks gowhy what it says of a recording of a side.
func (s *Specimen) Diagnose(ctx context.Context, bed *testbed.Bed, side Side, recording string) (*Answer, error) {
	a := &Answer{Specimen: s.Name, Side: side.Name}
	_, err := bed.Answer(ctx, a, "diagnose", "--format", "json", recording)
	a.Specimen, a.Side, a.Lines = s.Name, side.Name, len(a.Fine)
	a.Fine = slices.DeleteFunc(a.Fine, func(f Fine) bool { return !slices.Contains(s.Rules, f.Rule) })
	return a, err
}
