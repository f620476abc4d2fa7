// Package profiles decodes the profiles that clients send, in the format of pprof.
//
// It hides that format, gzip, and that a client may be hostile: all that a profile can
// make it allocate is bounded by [Limits] and in proportion to what was sent. The parser
// of google/pprof reads without limits, and tests hold this one to its sums.
package profiles

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/wire"
)

// Limits bound a profile. The zero value is [Default].
type Limits struct {
	Bytes int // unpacked
	Ratio int // how many times longer unpacked than packed, beyond 1 MiB
	Depth int // frames of a stack
	// Frames of all stacks together, and lines of all places: few bytes can name a place of
	// many lines again and again, and two make a line.
	Frames  int
	Symbol  int // bytes of a name
	Entries int // strings, functions, locations and samples, of each
}

// Default are limits that no profile of a Go program comes near: the largest of a server
// with 100,000 goroutines had 2 MiB and 60,000 samples. So many frames are 80 MB.
var Default = Limits{Bytes: 16 << 20, Ratio: 200, Depth: 1000, Frames: 2 << 20, Symbol: 64 << 10, Entries: 500_000}

// OrDefault returns the limits, or [Default] for the zero value.
func (l Limits) OrDefault() Limits {
	if l == (Limits{}) {
		return Default
	}
	return l
}

// Entry refuses the nth of something of which a profile may have a number of entries.
func (l Limits) Entry(what string, n int) error {
	if n > l.Entries {
		return fmt.Errorf("%w: more than %d %s", ErrLong, l.Entries, what)
	}
	return nil
}

// Text refuses a string that is too long; n is its number.
func (l Limits) Text(n, bytes int) error {
	if bytes > l.Symbol {
		return fmt.Errorf("%w: string %d has %d bytes, %d are the most", ErrLong, n, bytes, l.Symbol)
	}
	return nil
}

// A ValueType is what samples are of, like cpu and nanoseconds.
type ValueType struct{ Name, Unit string }

// A Profile is what was sent.
type Profile struct {
	Types    []ValueType
	Period   ValueType
	Time     time.Time // zero when it does not say
	Duration time.Duration
	Bytes    int // unpacked
	// Samples are by the index of their type: each stack once, those that are 0 left out.
	Samples [][]store.Sample
	Stacks  map[store.StackID][]*store.Frame
}

// Total returns the sum of the samples of a type.
func (p *Profile) Total(kind int) (n int64) {
	for _, s := range p.Samples[kind] {
		n = store.Add(n, s.Value)
	}
	return n
}

// ErrLong is what an error is of a profile that is beyond its limits.
var ErrLong = wire.ErrLong

// Decode reads a profile, packed or not.
func Decode(data []byte, l Limits) (*Profile, error) {
	return DecodeWithin(data, l, func(int64) error { return nil })
}

// DecodeWithin is Decode where memory is bounded: room is asked for what the profile costs
// when that is known, before it is spent.
func DecodeWithin(data []byte, l Limits, room func(bytes int64) error) (*Profile, error) {
	l = l.OrDefault()
	data, err := unpack(data, l)
	if err != nil {
		return nil, err
	}
	if err := room(Cost(data)); err != nil {
		return nil, err
	}
	d := decoder{limits: l}
	if err := d.tables(data); err != nil {
		return nil, err
	}
	p, err := d.profile(data)
	if err == nil {
		p.Bytes = len(data)
	}
	return p, err
}

// unpack returns a profile without gzip.
func unpack(data []byte, l Limits) ([]byte, error) {
	if !bytes.HasPrefix(data, gzipMagic) {
		if len(data) > l.Bytes {
			return nil, fmt.Errorf("%w: %d bytes, %d are the most", ErrLong, len(data), l.Bytes)
		}
		return data, nil
	}
	unpacked, err := Unpack(data, min(l.Bytes, max(1<<20, len(data)*l.Ratio)))
	if err != nil {
		return nil, fmt.Errorf("the profile does not unpack: %w", err)
	}
	return unpacked, nil
}

// A line is a function's, by its number in the profile.
type line struct {
	function uint64
	number   int64
}

// A function is a name and a file, by their numbers in the table of strings.
type function struct{ name, file uint64 }

type decoder struct {
	limits    Limits
	strings   []string
	functions map[uint64]function
	locations map[uint64]*Place
	raw       [][]byte // of locations, which may come before their functions
	samples   int
	lines     int // of all locations
}

// Numbers of fields in profile.proto.
const (
	profileSampleType = 1
	profileSample     = 2
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileTime       = 9
	profileDuration   = 10
	profilePeriodType = 11
)

// tables reads what samples refer to. A profile may have its parts in any order.
func (d *decoder) tables(data []byte) error {
	d.functions, d.locations = map[uint64]function{}, map[uint64]*Place{}
	err := wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case profileString:
			return d.addString(f.Body)
		case profileFunction:
			return d.addFunction(f.Body)
		case profileLocation:
			d.raw = append(d.raw, f.Body)
			return d.limits.Entry("locations", len(d.raw))
		case profileSample:
			d.samples++
			return d.limits.Entry("samples", d.samples)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, body := range d.raw {
		if err := d.addLocation(body); err != nil {
			return err
		}
	}
	return nil
}

// Clean returns a text as UTF-8: protocol buffers have no other, and an answer with one name that
// is none would be refused as a whole.
func Clean(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

func (d *decoder) addString(body []byte) error {
	if err := d.limits.Text(len(d.strings), len(body)); err != nil {
		return err
	}
	d.strings = append(d.strings, Clean(body))
	return d.limits.Entry("strings", len(d.strings))
}

func (d *decoder) addFunction(body []byte) error {
	var id uint64
	var of function
	err := wire.EachField(body, func(f wire.Field) error {
		switch f.Number {
		case 1:
			id = f.Value
		case 2:
			of.name = f.Value
		case 4:
			of.file = f.Value
		}
		return nil
	})
	d.functions[id] = of
	if err == nil {
		err = d.limits.Entry("functions", len(d.functions))
	}
	return err
}

func (d *decoder) addLocation(body []byte) error {
	var id, address uint64
	var lines []line
	err := wire.EachField(body, func(f wire.Field) error {
		switch f.Number {
		case 1:
			id = f.Value
		case 3:
			address = f.Value
		case 4:
			var l line
			err := wire.EachField(f.Body, func(f wire.Field) error {
				switch f.Number {
				case 1:
					l.function = f.Value
				case 2:
					l.number = int64(f.Value)
				}
				return nil
			})
			lines = append(lines, l)
			d.lines++
			if err := d.limits.Lines(d.lines); err != nil {
				return err
			}
			if len(lines) > d.limits.Depth {
				return fmt.Errorf("%w: a location has more than %d lines", ErrLong, d.limits.Depth)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	l, err := d.location(lines, address)
	if _, twice := d.locations[id]; twice && err == nil {
		err = fmt.Errorf("location %d is there twice", id)
	}
	d.locations[id] = l
	return err
}

// location names the lines of a place; what has no name is its address. The runtime writes
// such functions, in profiles of mutexes.
func (d *decoder) location(lines []line, address uint64) (*Place, error) {
	var frames []*store.Frame
	for _, x := range lines {
		f, ok := d.functions[x.function]
		if !ok {
			return nil, fmt.Errorf("a line is of function %d, which the profile does not have", x.function)
		}
		name, err := d.text(f.name)
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = Address(address)
		}
		file, err := d.text(f.file)
		if err != nil {
			return nil, err
		}
		frames = append(frames, &store.Frame{Function: name, File: file, Line: LineOf(x.number)})
	}
	if len(frames) == 0 {
		frames = []*store.Frame{{Function: Address(address)}}
	}
	return PlaceOf(frames), nil
}

func (d *decoder) text(number uint64) (string, error) {
	if number >= uint64(len(d.strings)) {
		if number == 0 {
			return "", nil
		}
		return "", fmt.Errorf("a name is string %d of %d", number, len(d.strings))
	}
	return d.strings[number], nil
}

// profile reads the samples.
func (d *decoder) profile(data []byte) (*Profile, error) {
	p := &Profile{}
	err := wire.EachField(data, func(f wire.Field) (err error) {
		switch f.Number {
		case profileSampleType:
			var t ValueType
			t, err = d.valueType(f.Body)
			p.Types = append(p.Types, t)
			if len(p.Types) > mostTypes {
				return fmt.Errorf("%w: more than %d types of samples", ErrLong, mostTypes)
			}
		case profilePeriodType:
			p.Period, err = d.valueType(f.Body)
		case profileTime:
			if int64(f.Value) > 0 {
				p.Time = time.Unix(0, int64(f.Value)).UTC()
			}
		case profileDuration:
			p.Duration = time.Duration(max(0, int64(f.Value)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sums := sums{decoder: d, profile: p, stacks: NewStacks(d.limits), values: make([]map[store.StackID]int64, len(p.Types))}
	for i := range sums.values {
		sums.values[i] = map[store.StackID]int64{}
	}
	err = wire.EachField(data, func(f wire.Field) error {
		if f.Number == profileSample {
			return sums.add(f.Body)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sums.finish()
	return p, nil
}

// mostTypes is more than any profile has: a heap profile has four.
const mostTypes = 32

func (d *decoder) valueType(body []byte) (t ValueType, err error) {
	err = wire.EachField(body, func(f wire.Field) (err error) {
		switch f.Number {
		case 1:
			t.Name, err = d.text(f.Value)
		case 2:
			t.Unit, err = d.text(f.Value)
		}
		return err
	})
	return t, err
}

// sums adds up samples by stack.
type sums struct {
	*decoder
	profile *Profile
	stacks  *Stacks
	values  []map[store.StackID]int64
	// Of the sample that is read, kept for the next.
	numbers []int64
	places  []*Place
}

func (s *sums) add(body []byte) error {
	s.numbers, s.places = s.numbers[:0], s.places[:0]
	err := wire.EachField(body, func(f wire.Field) error {
		switch f.Number {
		case 1:
			return f.Varints(func(id uint64) error {
				p, ok := s.locations[id]
				if !ok {
					return fmt.Errorf("a stack has location %d, which the profile does not have", id)
				}
				s.places = append(s.places, p)
				return s.limits.Stack(len(s.places))
			})
		case 2:
			return f.Varints(func(v uint64) error {
				s.numbers = append(s.numbers, int64(v))
				if len(s.numbers) > len(s.values) {
					return fmt.Errorf("a sample has more values than the %d types", len(s.values))
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(s.numbers) != len(s.values) {
		return fmt.Errorf("a sample has %d values of %d types", len(s.numbers), len(s.values))
	}
	id, err := s.stacks.Add(s.places)
	for i, v := range s.numbers {
		if v < 0 {
			return fmt.Errorf("a sample has the value %d: what is measured is 0 or more (a difference of two profiles is not)", v)
		}
		if v != 0 {
			s.values[i][id] = store.Add(s.values[i][id], v)
		}
	}
	return err
}

// finish makes samples of the sums, by stack, and leaves out stacks that have none.
func (s *sums) finish() {
	for _, values := range s.values {
		s.profile.Samples = append(s.profile.Samples, SamplesOf(values))
	}
	s.profile.Stacks = s.stacks.Lookup(s.profile.Samples...)
}
