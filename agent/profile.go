package agent

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Profiles are changed here as bytes: what runtime/pprof wrote is read field by
// field, and what need not change is copied. It is less than a parser, and
// follows whatever a later runtime writes beside what is known here.

// Field numbers of pprof's profile.proto.
const (
	profileSampleType    = 1
	profileSample        = 2
	profileMapping       = 3
	profileLocation      = 4
	profileFunction      = 5
	profileString        = 6
	profileDropFrames    = 7
	profileKeepFrames    = 8
	profileTime          = 9
	profileDuration      = 10
	profilePeriodType    = 11
	profileComment       = 13
	profileDefaultSample = 14

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey     = 1
	labelString  = 2
	labelNumber  = 3
	labelUnit    = 4
	locationID   = 1
	locationAddr = 3
)

// Wire types of protocol buffers.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

var errProfile = errors.New("the profile is not as expected")

// A field is one field of a message: a number or bytes.
type field struct {
	num   int
	wire  int
	value uint64
	data  []byte
	raw   []byte // the whole field, to be copied
}

// fields calls f for each field of a message.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		x, rest := field{num: int(tag >> 3), wire: int(tag & 7)}, b[n:]
		switch x.wire {
		case wireVarint, wireBytes:
			if x.value, n = binary.Uvarint(rest); n <= 0 {
				return errProfile
			}
			if rest = rest[n:]; x.wire == wireBytes {
				if x.value > uint64(len(rest)) {
					return errProfile
				}
				x.data, rest = rest[:x.value], rest[x.value:]
			}
		case wire64, wire32:
			size := 8
			if x.wire == wire32 {
				size = 4
			}
			if len(rest) < size {
				return errProfile
			}
			rest = rest[size:]
		default:
			return errProfile
		}
		x.raw, b = b[:len(b)-len(rest)], rest
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends the values of a repeated field, packed or not.
func (x field) numbers(to []uint64) ([]uint64, error) {
	if x.wire == wireVarint {
		return append(to, x.value), nil
	}
	for b := x.data; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errProfile
		}
		to, b = append(to, v), b[n:]
	}
	return to, nil
}

func appendNumber(b []byte, num int, v uint64) []byte {
	b = binary.AppendUvarint(b, uint64(num)<<3|wireVarint)
	return binary.AppendUvarint(b, v)
}

func appendBytes(b []byte, num int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(num)<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

func appendPacked(b []byte, num int, values []int64) []byte {
	var data []byte
	for _, v := range values {
		data = binary.AppendUvarint(data, uint64(v))
	}
	return appendBytes(b, num, data)
}

// A tally is what a profile counted, by stack. The same stack has another
// number in every profile, so it is known by its addresses.
type tally struct {
	counts map[string]*count
	order  []*count // as in the profile
}

type count struct {
	values []int64
	rest   []byte // the sample without its values
}

func tallyOf(profile []byte) (*tally, error) {
	address := map[uint64]uint64{}
	err := fields(profile, func(x field) error {
		if x.num != profileLocation {
			return nil
		}
		var id, at uint64
		err := fields(x.data, func(y field) error {
			switch y.num {
			case locationID:
				id = y.value
			case locationAddr:
				at = y.value
			}
			return nil
		})
		address[id] = at
		return err
	})
	if err != nil {
		return nil, err
	}
	t := &tally{counts: map[string]*count{}}
	err = fields(profile, func(x field) error {
		if x.num != profileSample {
			return nil
		}
		return t.add(x.data, address)
	})
	return t, err
}

func (t *tally) add(sample []byte, address map[uint64]uint64) error {
	var key, rest []byte
	var values, ids []uint64
	err := fields(sample, func(x field) (err error) {
		switch x.num {
		case sampleValue:
			values, err = x.numbers(values)
			return err
		case sampleLocation:
			ids, err = x.numbers(ids)
		case sampleLabel: // the block size of a heap profile
			err = fields(x.data, func(y field) error {
				if y.num == labelNumber {
					key = binary.AppendUvarint(key, y.value)
				}
				return nil
			})
		}
		rest = append(rest, x.raw...)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		key = binary.LittleEndian.AppendUint64(key, address[id])
	}
	c := t.counts[string(key)]
	if c == nil {
		c = &count{values: make([]int64, len(values)), rest: rest}
		t.counts[string(key)] = c
		t.order = append(t.order, c)
	}
	if len(values) != len(c.values) {
		return errProfile
	}
	for i, v := range values {
		c.values[i] += int64(v)
	}
	return nil
}

// forget frees what only the end of a window needs.
func (t *tally) forget() {
	t.order = nil
	for _, c := range t.counts {
		c.rest = nil
	}
}

// profileSince returns what a profile has counted since the tally was made, of the
// stacks whose counts are possible, or all when that is nil. The result says
// when that was and for how long, in nanoseconds.
func profileSince(before *tally, profile []byte, begin, length int64, possible func([]int64) bool) ([]byte, error) {
	after, err := tallyOf(profile)
	if err != nil {
		return nil, err
	}
	for key, c := range after.counts {
		if b := before.counts[key]; b != nil && len(b.values) == len(c.values) {
			for i := range c.values {
				c.values[i] -= b.values[i]
			}
		}
	}
	var out []byte
	err = fields(profile, func(x field) error {
		switch x.num {
		case profileSample, profileTime, profileDuration:
		default:
			out = append(out, x.raw...)
		}
		return nil
	})
	for _, c := range after.order {
		grown := slices.ContainsFunc(c.values, func(v int64) bool { return v != 0 })
		if grown && (possible == nil || possible(c.values)) {
			out = appendBytes(out, profileSample, appendPacked(c.rest, sampleValue, c.values))
		}
	}
	out = appendNumber(out, profileTime, uint64(begin))
	return appendNumber(out, profileDuration, uint64(length)), err
}

// withComment returns a profile with a comment.
func withComment(profile []byte, text string) ([]byte, error) {
	index := uint64(0)
	err := fields(profile, func(x field) error {
		if x.num == profileString {
			index++
		}
		return nil
	})
	profile = appendBytes(profile, profileString, []byte(text))
	return appendNumber(profile, profileComment, index), err
}

// withoutLabels returns a profile without the labels that the program gave,
// and without their texts.
func withoutLabels(profile []byte) ([]byte, error) {
	needed, err := neededStrings(profile)
	if err != nil {
		return nil, err
	}
	var out []byte
	index := uint64(0)
	err = fields(profile, func(x field) error {
		switch x.num {
		case profileString:
			if !needed[index] {
				x.raw = appendBytes(nil, profileString, nil)
			}
			index++
		case profileSample:
			s, err := unlabelled(x.data)
			if err != nil {
				return err
			}
			x.raw = appendBytes(nil, profileSample, s)
		}
		out = append(out, x.raw...)
		return nil
	})
	return out, err
}

// texts reports whether a label is a text, rather than a number of the runtime's.
func texts(label []byte) (yes bool, err error) {
	err = fields(label, func(x field) error {
		yes = yes || x.num == labelString && x.value != 0
		return nil
	})
	return yes, err
}

func unlabelled(sample []byte) (out []byte, err error) {
	err = fields(sample, func(x field) error {
		if x.num == sampleLabel {
			if text, err := texts(x.data); text || err != nil {
				return err
			}
		}
		out = append(out, x.raw...)
		return nil
	})
	return out, err
}

// neededStrings returns the indexes of the texts that something else than a
// label of the program's refers to.
func neededStrings(profile []byte) (map[uint64]bool, error) {
	needed := map[uint64]bool{0: true}
	take := func(nums ...int) func(field) error {
		return func(x field) error {
			if slices.Contains(nums, x.num) {
				needed[x.value] = true
			}
			return nil
		}
	}
	err := fields(profile, func(x field) error {
		switch x.num {
		case profileSampleType, profilePeriodType:
			return fields(x.data, take(1, 2))
		case profileMapping:
			return fields(x.data, take(5, 6))
		case profileFunction:
			return fields(x.data, take(2, 3, 4))
		case profileDropFrames, profileKeepFrames, profileDefaultSample:
			needed[x.value] = true
		case profileComment:
			list, err := x.numbers(nil)
			for _, i := range list {
				needed[i] = true
			}
			return err
		case profileSample:
			return fields(x.data, func(y field) error {
				if y.num != sampleLabel {
					return nil
				}
				if text, err := texts(y.data); text || err != nil {
					return err
				}
				return fields(y.data, take(labelKey, labelUnit))
			})
		}
		return nil
	})
	return needed, err
}

// unpack and pack take and add the compression that pprof files have.
func unpack(file []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func pack(profile []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed) // as runtime/pprof does
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(profile); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
