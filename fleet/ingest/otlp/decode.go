package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/wire"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// mostBatches bounds those of a request: a collector sends many hosts at once, and each
// has hundreds of processes.
const mostBatches = 10_000

// A decoder reads one ExportProfilesServiceRequest.
type decoder struct {
	*dictionary
	tenant  string
	samples int // of all profiles
	batches []*store.Batch
	out     outcome
}

// decode makes batches of a request: all that its profiles have, but for those that are
// rejected. The error is of what is no request, or beyond its limits.
func decode(tenant string, data []byte, l profiles.Limits) ([]*store.Batch, outcome, error) {
	d := &decoder{dictionary: newDictionary(l), tenant: tenant}
	err := wire.EachField(data, func(f wire.Field) error {
		if f.Number == 2 && f.Kind == wire.Bytes {
			return d.Add(f.Body)
		}
		return nil
	})
	if err == nil {
		err = wire.Messages(data, 1, d.resource)
	}
	return d.batches, d.out, err
}

// resource reads a ResourceProfiles.
func (d *decoder) resource(data []byte) error {
	of := attributes{}
	err := wire.Messages(data, 1, func(resource []byte) error {
		return wire.Messages(resource, 1, func(body []byte) error {
			a, err := d.KeyValue(body)
			if err != nil {
				return wrong(err)
			}
			return of.add(a)
		})
	})
	if err != nil {
		return err
	}
	return wire.Messages(data, 2, func(scope []byte) error {
		return wire.Messages(scope, 2, func(body []byte) error {
			d.out.profiles++
			err := d.profile(of, body)
			if err == nil || errors.Is(err, wire.Err) || errors.Is(err, errRequest) {
				return err
			}
			if d.out.rejected++; d.out.first == nil {
				d.out.first = err
			}
			return nil
		})
	})
}

// wrong returns an error of a whole request.
func wrong(err error) error { return fmt.Errorf("%w: %w", errRequest, err) }

// A profile is what a Profile says beside its samples.
type profile opentelemetry.Profile

// profile reads a Profile of a resource.
func (d *decoder) profile(of attributes, data []byte) error {
	head, err := d.Head(data)
	if err != nil {
		return err
	}
	p := profile(head)
	kind, times, err := p.kind()
	if err != nil {
		return err
	}
	sums := newSums(d, of, times)
	if err := wire.Messages(data, opentelemetry.ProfileSample, sums.sample); err != nil {
		return err
	}
	from, until, err := p.span(sums.first, sums.last)
	if err != nil {
		return err
	}
	if err := ingest.CheckSpan(from, until); err != nil {
		return err
	}
	batches := sums.batches()
	for _, b := range batches {
		b.Profiles[0].Type = kind
		b.From, b.Until = from, until
		b.ID = ingest.Identity(b.Source, string(kind), from, until, p.content(b.Profiles[0].Samples))
	}
	if d.batches = append(d.batches, batches...); len(d.batches) > mostBatches {
		return wrong(fmt.Errorf("%w: profiles of more than %d processes", profiles.ErrLong, mostBatches))
	}
	return nil
}

// kind returns the type of the samples, and what their values are multiplied by. Profilers that
// count samples of CPU say how much CPU one stands for.
func (p *profile) kind() (store.Type, int64, error) {
	sample, period := profiles.ValueType(p.Sample), profiles.ValueType(p.Period)
	if sample.Name == "" {
		return "", 0, errors.New("the profile does not say what its samples are (sample_type)")
	}
	if p.Kind != "" {
		t, err := ingest.TypeOf(p.Kind, sample, period)
		return t, 1, err
	}
	if unit := opentelemetry.Nanoseconds[sample.Unit]; sample.Name == "cpu" && unit > 0 {
		return store.CPU, unit, nil
	}
	cpu := period.Name == "cpu"
	if unit := opentelemetry.Nanoseconds[period.Unit]; cpu && unit > 0 && p.Every > 0 && sample.Unit == "count" {
		every, ok := product(p.Every, unit)
		if !ok {
			return "", 0, fmt.Errorf("a period of %d %s is out of range", p.Every, period.Unit)
		}
		return store.CPU, every, nil
	}
	kind := ingest.KindOf(sample.Name)
	switch {
	case kind == "" && cpu:
		kind = "process_cpu"
	case kind == "":
		kind = sample.Name
	}
	t, err := ingest.TypeOf(kind, sample, period)
	return t, 1, err
}

// product is false where a*b is out of range; b is above 0.
func product(a, b int64) (int64, bool) {
	return a * b, a <= math.MaxInt64/b && a >= math.MinInt64/b
}

// span returns the profile's, or else that of its samples' timestamps, or else zero.
func (p *profile) span(first, last uint64) (from, until time.Time, err error) {
	if p.Time > 0 {
		first, last = p.Time, p.Time+p.Duration
	}
	switch {
	case last > math.MaxInt64 || p.Duration > math.MaxInt64 || p.Time > 0 && last < first:
		return from, until, errors.New("the time of the profile is out of range")
	case last == 0:
		return from, until, nil
	}
	return time.Unix(0, int64(first)).UTC(), time.Unix(0, int64(last)).UTC(), nil
}

// content encodes what tells a profile from another of its source and span, in whatever order
// the dictionary was written.
func (p *profile) content(samples []store.Sample) []byte {
	data := binary.LittleEndian.AppendUint64(nil, p.Time)
	data = binary.LittleEndian.AppendUint64(data, p.Duration)
	for _, s := range samples {
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Stack))
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Value))
	}
	return append(data, p.ID...)
}
