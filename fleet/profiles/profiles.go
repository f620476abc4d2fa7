// Package profiles decodes the profiles that clients send, in the format of pprof.
//
// It hides that format, gzip, and that a client may be hostile: all that a profile can
// make it allocate is bounded by [Limits] and in proportion to what was sent. The parser
// of google/pprof reads without limits, and tests hold this one to its sums.
package profiles

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Limits bound a profile. The zero value is [Default].
type Limits struct {
	Bytes   int // unpacked
	Ratio   int // how many times longer unpacked than packed, beyond 1 MiB
	Depth   int // frames of a stack
	Symbol  int // bytes of a name
	Entries int // strings, functions, locations and samples, of each
}

// Default are limits that no profile of a Go program comes near: the largest of a server
// with 100,000 goroutines had 2 MiB and 60,000 samples.
var Default = Limits{Bytes: 16 << 20, Ratio: 200, Depth: 1000, Symbol: 64 << 10, Entries: 500_000}

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
	Stacks  map[store.StackID][]store.Frame
}

// Total is the sum of the samples of a type.
func (p *Profile) Total(kind int) (n int64) {
	for _, s := range p.Samples[kind] {
		n += s.Value
	}
	return n
}

// ErrLong is what an error is of a profile that is beyond its limits.
var ErrLong = errors.New("the profile is too long")

// Decode reads a profile, packed or not.
func Decode(data []byte, l Limits) (*Profile, error) {
	if l == (Limits{}) {
		l = Default
	}
	data, err := unpack(data, l)
	if err != nil {
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

// unpack is a profile without gzip.
func unpack(data []byte, l Limits) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if len(data) > l.Bytes {
			return nil, fmt.Errorf("%w: %d bytes, %d are the most", ErrLong, len(data), l.Bytes)
		}
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the profile does not unpack: %w", err)
	}
	most := min(l.Bytes, max(1<<20, len(data)*l.Ratio))
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("the profile does not unpack: %w", err)
	}
	if n > int64(most) {
		return nil, fmt.Errorf("%w: of %d bytes it unpacks to more than %d", ErrLong, len(data), most)
	}
	return out.Bytes(), nil
}

// A line is a function's, by its number in the profile.
type line struct {
	function uint64
	number   int64
}

// A location is a place on a stack: the lines that were inlined into each other there,
// with the hashes of their frames.
type location struct {
	frames []store.Frame
	hashes []uint64
}

// A function is a name and a file, by their numbers in the table of strings.
type function struct{ name, file uint64 }

type decoder struct {
	limits    Limits
	strings   []string
	functions map[uint64]function
	locations map[uint64]*location
	raw       [][]byte // of locations, which may come before their functions
	samples   int
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
	d.functions, d.locations = map[uint64]function{}, map[uint64]*location{}
	err := fields(data, func(number int, value uint64, body []byte) error {
		switch number {
		case profileString:
			return d.addString(body)
		case profileFunction:
			return d.addFunction(body)
		case profileLocation:
			d.raw = append(d.raw, body)
			return d.bounded("locations", len(d.raw))
		case profileSample:
			d.samples++
			return d.bounded("samples", d.samples)
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

func (d *decoder) bounded(what string, n int) error {
	if n > d.limits.Entries {
		return fmt.Errorf("%w: more than %d %s", ErrLong, d.limits.Entries, what)
	}
	return nil
}

func (d *decoder) addString(body []byte) error {
	if len(body) > d.limits.Symbol {
		return fmt.Errorf("%w: string %d has %d bytes, %d are the most", ErrLong, len(d.strings), len(body), d.limits.Symbol)
	}
	d.strings = append(d.strings, string(body))
	return d.bounded("strings", len(d.strings))
}

func (d *decoder) addFunction(body []byte) error {
	var id uint64
	var f function
	err := fields(body, func(number int, value uint64, _ []byte) error {
		switch number {
		case 1:
			id = value
		case 2:
			f.name = value
		case 4:
			f.file = value
		}
		return nil
	})
	d.functions[id] = f
	if err == nil {
		err = d.bounded("functions", len(d.functions))
	}
	return err
}

func (d *decoder) addLocation(body []byte) error {
	var id, address uint64
	var lines []line
	err := fields(body, func(number int, value uint64, sub []byte) error {
		switch number {
		case 1:
			id = value
		case 3:
			address = value
		case 4:
			var l line
			err := fields(sub, func(number int, value uint64, _ []byte) error {
				switch number {
				case 1:
					l.function = value
				case 2:
					l.number = int64(value)
				}
				return nil
			})
			lines = append(lines, l)
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

// location names the lines of a place; without any it is its address.
func (d *decoder) location(lines []line, address uint64) (*location, error) {
	l := &location{}
	for _, x := range lines {
		f, ok := d.functions[x.function]
		if !ok {
			return nil, fmt.Errorf("a line is of function %d, which the profile does not have", x.function)
		}
		name, err := d.text(f.name)
		if err != nil {
			return nil, err
		}
		file, err := d.text(f.file)
		if err != nil {
			return nil, err
		}
		l.frames = append(l.frames, store.Frame{Function: name, File: file, Line: int32(max(0, min(x.number, 1<<31-1)))})
	}
	if len(l.frames) == 0 {
		l.frames = []store.Frame{{Function: "0x" + strconv.FormatUint(address, 16)}}
	}
	for _, f := range l.frames {
		l.hashes = append(l.hashes, f.Hash())
	}
	return l, nil
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
	p := &Profile{Stacks: map[store.StackID][]store.Frame{}}
	err := fields(data, func(number int, value uint64, body []byte) (err error) {
		switch number {
		case profileSampleType:
			var t ValueType
			t, err = d.valueType(body)
			p.Types = append(p.Types, t)
			if len(p.Types) > mostTypes {
				return fmt.Errorf("%w: more than %d types of samples", ErrLong, mostTypes)
			}
		case profilePeriodType:
			p.Period, err = d.valueType(body)
		case profileTime:
			if int64(value) > 0 {
				p.Time = time.Unix(0, int64(value)).UTC()
			}
		case profileDuration:
			p.Duration = time.Duration(max(0, int64(value)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sums := sums{decoder: d, profile: p, values: make([]map[store.StackID]int64, len(p.Types))}
	for i := range sums.values {
		sums.values[i] = map[store.StackID]int64{}
	}
	err = fields(data, func(number int, _ uint64, body []byte) error {
		if number == profileSample {
			return sums.add(body)
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
	err = fields(body, func(number int, value uint64, _ []byte) (err error) {
		switch number {
		case 1:
			t.Name, err = d.text(value)
		case 2:
			t.Unit, err = d.text(value)
		}
		return err
	})
	return t, err
}

// sums adds up samples by stack.
type sums struct {
	*decoder
	profile *Profile
	values  []map[store.StackID]int64
	// Of the sample that is read, kept for the next.
	numbers  []int64
	ids      []uint64
	hashes   []uint64
	retained int
}

func (s *sums) add(body []byte) error {
	s.numbers, s.ids, s.hashes = s.numbers[:0], s.ids[:0], s.hashes[:0]
	err := fields(body, func(number int, value uint64, packed []byte) error {
		switch number {
		case 1:
			return eachNumber(value, packed, func(v uint64) error {
				s.ids = append(s.ids, v)
				if len(s.ids) > s.limits.Depth {
					return fmt.Errorf("%w: a stack has more than %d frames", ErrLong, s.limits.Depth)
				}
				return nil
			})
		case 2:
			return eachNumber(value, packed, func(v uint64) error {
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
	id, err := s.stack()
	for i, v := range s.numbers {
		if v != 0 {
			s.values[i][id] += v
		}
	}
	return err
}

// stack is the ID of the sample's stack, whose frames it keeps.
func (s *sums) stack() (store.StackID, error) {
	for _, id := range s.ids {
		l, ok := s.locations[id]
		if !ok {
			return 0, fmt.Errorf("a stack has location %d, which the profile does not have", id)
		}
		s.hashes = append(s.hashes, l.hashes...)
		if len(s.hashes) > s.limits.Depth {
			return 0, fmt.Errorf("%w: a stack has more than %d frames", ErrLong, s.limits.Depth)
		}
	}
	id := store.IDOfHashes(s.hashes)
	if _, known := s.profile.Stacks[id]; known || id == 0 {
		return id, nil
	}
	// Few bytes can name a location of many lines again and again.
	if s.retained += len(s.hashes); s.retained > mostFrames {
		return 0, fmt.Errorf("%w: more than %d frames in all stacks", ErrLong, mostFrames)
	}
	frames := make([]store.Frame, 0, len(s.hashes))
	for _, id := range s.ids {
		frames = append(frames, s.locations[id].frames...)
	}
	s.profile.Stacks[id] = frames
	return id, nil
}

// mostFrames bounds the frames of all stacks together: 80 MB of them.
const mostFrames = 2 << 20

// finish makes samples of the sums, by stack, and leaves out stacks that have none.
func (s *sums) finish() {
	used := map[store.StackID]bool{}
	for _, values := range s.values {
		s.profile.Samples = append(s.profile.Samples, samplesOf(values, used))
	}
	for id := range s.profile.Stacks {
		if !used[id] {
			delete(s.profile.Stacks, id)
		}
	}
}
