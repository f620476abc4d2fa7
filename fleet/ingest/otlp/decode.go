package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/profiles/wire"
	"github.com/gowhy/gowhy/fleet/store"
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
	err := wire.Each(data, func(f wire.Field) error {
		if f.Number == 2 && f.Kind == protowire.BytesType {
			return d.add(f.Body)
		}
		return nil
	})
	if err == nil {
		err = messages(data, 1, d.resource)
	}
	return d.batches, d.out, err
}

// messages calls each with those that a message has as one of its fields.
func messages(data []byte, number int, each func([]byte) error) error {
	return wire.Each(data, func(f wire.Field) error {
		if f.Number != number || f.Kind != protowire.BytesType {
			return nil
		}
		return each(f.Body)
	})
}

// resource reads a ResourceProfiles.
func (d *decoder) resource(data []byte) error {
	of := attributes{}
	err := messages(data, 1, func(resource []byte) error {
		return messages(resource, 1, func(body []byte) error {
			a, err := d.keyValue(body)
			if err != nil {
				return wrong(err)
			}
			return of.add(a)
		})
	})
	if err != nil {
		return err
	}
	return messages(data, 2, func(scope []byte) error {
		return messages(scope, 2, func(body []byte) error {
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

// wrong is an error of a whole request.
func wrong(err error) error { return fmt.Errorf("%w: %w", errRequest, err) }

// A profile is what a Profile says beside its samples.
type profile struct {
	sample, period profiles.ValueType
	every          int64 // the period
	time, duration uint64
	id             []byte
	named          string // its kind, where an attribute says it
}

// Numbers of fields in Profile.
const (
	profileSampleType = 1
	profileSample     = 2
	profileTime       = 3
	profileDuration   = 4
	profilePeriodType = 5
	profilePeriod     = 6
	profileID         = 7
	profileAttributes = 11
)

// profile reads a Profile of a resource.
func (d *decoder) profile(of attributes, data []byte) error {
	p, err := d.head(data)
	if err != nil {
		return err
	}
	kind, times, err := p.kind()
	if err != nil {
		return err
	}
	sums := newSums(d, of, times)
	if err := messages(data, profileSample, sums.sample); err != nil {
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

func (d *decoder) head(data []byte) (p profile, err error) {
	var sample, period [5]int32
	err = wire.Each(data, func(f wire.Field) error {
		switch {
		case f.Number == profileSampleType && f.Kind == protowire.BytesType:
			return indices(f.Body, &sample)
		case f.Number == profilePeriodType && f.Kind == protowire.BytesType:
			return indices(f.Body, &period)
		case f.Number == profileTime && f.Kind == protowire.Fixed64Type:
			p.time = f.Value
		case f.Number == profileDuration && f.Kind == protowire.VarintType:
			p.duration = f.Value
		case f.Number == profilePeriod && f.Kind == protowire.VarintType:
			p.every = int64(f.Value)
		case f.Number == profileID && f.Kind == protowire.BytesType:
			p.id = f.Body
		case f.Number == profileAttributes:
			return f.Varints(func(v uint64) error {
				a, err := d.attributes.at(index(v))
				if a.name == kindAttribute {
					p.named = a.text
				}
				return err
			})
		}
		return nil
	})
	for _, t := range []struct {
		index int32
		text  *string
	}{{sample[1], &p.sample.Name}, {sample[2], &p.sample.Unit}, {period[1], &p.period.Name}, {period[2], &p.period.Unit}} {
		if err == nil {
			*t.text, err = d.strings.at(t.index)
		}
	}
	return p, err
}

// nanoseconds are the units that CPU comes in, also as UCUM writes them.
var nanoseconds = map[string]int64{"nanoseconds": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6, "seconds": 1e9, "s": 1e9}

// kind is the type of the samples, and what their values are multiplied by. Profilers that
// count samples of CPU say how much CPU one stands for.
func (p *profile) kind() (store.Type, int64, error) {
	if p.sample.Name == "" {
		return "", 0, errors.New("the profile does not say what its samples are (sample_type)")
	}
	if p.named != "" {
		t, err := ingest.TypeOf(p.named, p.sample, p.period)
		return t, 1, err
	}
	if unit := nanoseconds[p.sample.Unit]; p.sample.Name == "cpu" && unit > 0 {
		return store.CPU, unit, nil
	}
	cpu := p.period.Name == "cpu"
	if unit := nanoseconds[p.period.Unit]; cpu && unit > 0 && p.every > 0 && p.sample.Unit == "count" {
		every, ok := product(p.every, unit)
		if !ok {
			return "", 0, fmt.Errorf("a period of %d %s is out of range", p.every, p.period.Unit)
		}
		return store.CPU, every, nil
	}
	kind := ingest.KindOf(p.sample.Name)
	switch {
	case kind == "" && cpu:
		kind = "process_cpu"
	case kind == "":
		kind = p.sample.Name
	}
	t, err := ingest.TypeOf(kind, p.sample, p.period)
	return t, 1, err
}

// product is false where a*b is out of range; b is above 0.
func product(a, b int64) (int64, bool) {
	return a * b, a <= math.MaxInt64/b && a >= math.MinInt64/b
}

// span is the profile's, or else that of its samples' timestamps, or else zero.
func (p *profile) span(first, last uint64) (from, until time.Time, err error) {
	if p.time > 0 {
		first, last = p.time, p.time+p.duration
	}
	switch {
	case last > math.MaxInt64 || p.duration > math.MaxInt64 || p.time > 0 && last < first:
		return from, until, errors.New("the time of the profile is out of range")
	case last == 0:
		return from, until, nil
	}
	return time.Unix(0, int64(first)).UTC(), time.Unix(0, int64(last)).UTC(), nil
}

// content encodes what tells a profile from another of its source and span, in whatever order
// the dictionary was written.
func (p *profile) content(samples []store.Sample) []byte {
	data := binary.LittleEndian.AppendUint64(nil, p.time)
	data = binary.LittleEndian.AppendUint64(data, p.duration)
	for _, s := range samples {
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Stack))
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Value))
	}
	return append(data, p.id...)
}
