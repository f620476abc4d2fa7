package opentelemetry

import (
	"math"

	"github.com/gowhy/gowhy/internal/ground/wire"
)

// Numbers of fields in Profile.
const (
	ProfileSampleType = 1
	ProfileSample     = 2
	ProfileTime       = 3
	ProfileDuration   = 4
	ProfilePeriodType = 5
	ProfilePeriod     = 6
	ProfileID         = 7
	ProfileAttributes = 11
)

// KindAttribute is the first part of a type, at profiles of which the rest does not say it:
// contentions are of mutexes and of blocking alike.
const KindAttribute = "gowhy.profile.kind"

// A ValueType is what samples are of, like cpu and nanoseconds.
type ValueType struct{ Name, Unit string }

// A Profile is what one says beside its samples.
type Profile struct {
	Sample, Period ValueType
	Every          int64 // the period
	Time, Duration uint64
	ID             []byte
	Kind           string // where an attribute says it
}

// Nanoseconds are the units of time by how long they are, also as UCUM writes them.
var Nanoseconds = map[string]int64{"nanoseconds": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6, "seconds": 1e9, "s": 1e9}

// Head reads a Profile without its samples.
func (d *Dictionary[Place, Stack]) Head(data []byte) (p Profile, err error) {
	var sample, period [5]int32
	err = wire.EachField(data, func(f wire.Field) error {
		switch {
		case f.Number == ProfileSampleType && f.Kind == wire.Bytes:
			return indices(f.Body, &sample)
		case f.Number == ProfilePeriodType && f.Kind == wire.Bytes:
			return indices(f.Body, &period)
		case f.Number == ProfileTime && f.Kind == wire.Fixed64:
			p.Time = f.Value
		case f.Number == ProfileDuration && f.Kind == wire.Varint:
			p.Duration = f.Value
		case f.Number == ProfilePeriod && f.Kind == wire.Varint:
			p.Every = int64(f.Value)
		case f.Number == ProfileID && f.Kind == wire.Bytes:
			p.ID = f.Body
		case f.Number == ProfileAttributes:
			return f.Varints(func(v uint64) error {
				a, err := d.Attribute(index(v))
				if a.Name == KindAttribute {
					p.Kind = a.Text
				}
				return err
			})
		}
		return nil
	})
	for _, t := range []struct {
		index int32
		text  *string
	}{{sample[1], &p.Sample.Name}, {sample[2], &p.Sample.Unit}, {period[1], &p.Period.Name}, {period[2], &p.Period.Unit}} {
		if err == nil {
			*t.text, err = d.String(t.index)
		}
	}
	return p, err
}

// A Sample is a stack and what was measured there. First and Last are of its timestamps.
type Sample struct {
	Stack              int32
	Sum                int64 // of its values; the largest number where it is out of range
	Negative           bool  // one of its values is
	Values, Timestamps int
	First, Last        uint64
}

// ReadSample reads a Sample and calls attribute with each of its indices of attributes.
func ReadSample(data []byte, attribute func(int32) error) (s Sample, err error) {
	s.First = math.MaxUint64
	err = wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case 1:
			if f.Kind == wire.Varint {
				s.Stack = index(f.Value)
			}
		case 2:
			return f.Varints(func(v uint64) error { return attribute(index(v)) })
		case 4:
			return f.Varints(func(v uint64) error {
				s.add(int64(v))
				return nil
			})
		case 5:
			return f.Fixed64s(func(v uint64) error {
				s.First, s.Last = min(s.First, v), max(s.Last, v)
				s.Timestamps++
				return nil
			})
		}
		return nil
	})
	if s.Values == 0 {
		s.Sum = int64(s.Timestamps)
	}
	return s, err
}

// add adds a value up. A sample without values is one for each of its timestamps.
func (s *Sample) add(value int64) {
	s.Values++
	s.Negative = s.Negative || value < 0
	if s.Sum += value; s.Sum < 0 && !s.Negative {
		s.Sum = math.MaxInt64
	}
}
