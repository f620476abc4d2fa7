// Package wire reads the messages of protocol buffers without their generated types.
//
// It hides the wire format: tags, numbers and lengths, packed lists, and that a message
// may be cut or lie about its lengths. It copies nothing and allocates nothing; what a
// field means, and how much of it may be kept, is for its callers.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	// Err is what an error is of bytes that are no message.
	Err = errors.New("the profile is no protocol buffer, or cut")
	// ErrLong is what an error is of a message that is beyond its reader's limits.
	ErrLong = errors.New("the profile is too long")
)

// A Kind is how a field is written.
type Kind uint8

// The kinds of fields. Groups, which only old messages have, and numbers of four bytes are
// skipped.
const (
	Varint Kind = iota
	Fixed64
	Bytes
	group
	groupEnd
	fixed32
)

// A Field is one of a message. Kind says which of Value and Body it has.
type Field struct {
	Number int
	Kind   Kind
	Value  uint64 // of Varint and Fixed64
	Body   []byte // of Bytes: a part of the message
}

// EachField calls each with the fields of a message. Fields of other kinds are skipped.
func EachField(data []byte, each func(Field) error) error {
	for len(data) > 0 {
		f, n := field(data)
		if n < 0 {
			if f.Number == 0 {
				return Err
			}
			return fmt.Errorf("%w: in field %d", Err, f.Number)
		}
		data = data[n:]
		if f.Kind > Bytes {
			continue
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// Messages calls each with those that a message has as one of its fields.
func Messages(data []byte, number int, each func([]byte) error) error {
	return EachField(data, func(f Field) error {
		if f.Number != number || f.Kind != Bytes {
			return nil
		}
		return each(f.Body)
	})
}

// field returns the field that begins data, and how long it is; negative where it is none.
func field(data []byte) (f Field, n int) {
	tag, n := varint(data)
	if n < 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
		return f, -1
	}
	f = Field{Number: int(tag >> 3), Kind: Kind(tag & 7)}
	m := -1
	switch data = data[n:]; f.Kind {
	case Varint:
		f.Value, m = varint(data)
	case Fixed64:
		f.Value, m = fixed(data)
	case Bytes:
		f.Body, m = body(data)
	case fixed32:
		if len(data) >= 4 {
			m = 4
		}
	case group:
		m = groupLen(data, f.Number)
	}
	if m < 0 {
		return f, -1
	}
	return f, n + m
}

func varint(data []byte) (uint64, int) {
	if len(data) > 0 && data[0] < 0x80 { // as most are
		return uint64(data[0]), 1
	}
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, -1
	}
	return v, n
}

func fixed(data []byte) (uint64, int) {
	if len(data) < 8 {
		return 0, -1
	}
	return binary.LittleEndian.Uint64(data), 8
}

func body(data []byte) ([]byte, int) {
	length, n := varint(data)
	if n < 0 || length > uint64(len(data)-n) {
		return nil, -1
	}
	return data[n:][:length:length], n + int(length)
}

// maxGroups is how deep groups may be in each other; protocol buffers' own readers take no
// more.
const maxGroups = 10_000

// groupLen returns how long a group is that has begun, with its end.
func groupLen(data []byte, number int) (n int) {
	for open := []int{number}; len(open) > 0; {
		tag, m := varint(data[n:])
		if m < 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
			return -1
		}
		switch last := len(open) - 1; Kind(tag & 7) {
		case group:
			if open = append(open, int(tag>>3)); len(open) > maxGroups {
				return -1
			}
		case groupEnd:
			if open[last] != int(tag>>3) {
				return -1
			}
			open = open[:last]
		default:
			if _, m = field(data[n:]); m < 0 {
				return -1
			}
		}
		n += m
	}
	return n
}

// Varints calls each with the numbers of a repeated field: one, or packed ones.
func (f Field) Varints(each func(uint64) error) error { return f.numbers(Varint, varint, each) }

// Fixed64s is like Varints for numbers of eight bytes.
func (f Field) Fixed64s(each func(uint64) error) error { return f.numbers(Fixed64, fixed, each) }

func (f Field) numbers(kind Kind, first func([]byte) (uint64, int), each func(uint64) error) error {
	if f.Kind == kind {
		return each(f.Value)
	}
	for body := f.Body; len(body) > 0; {
		v, n := first(body)
		if n < 0 {
			return fmt.Errorf("%w: in field %d", Err, f.Number)
		}
		body = body[n:]
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}

// AppendVarint appends a field that is a number.
func AppendVarint(out []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(appendTag(out, number, Varint), v)
}

// AppendFixed64 appends a field that is a number of eight bytes.
func AppendFixed64(out []byte, number int, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(out, number, Fixed64), v)
}

// AppendBytes appends a field that is a text or a message.
func AppendBytes[T string | []byte](out []byte, number int, body T) []byte {
	return append(binary.AppendUvarint(appendTag(out, number, Bytes), uint64(len(body))), body...)
}

func appendTag(out []byte, number int, kind Kind) []byte {
	return binary.AppendUvarint(out, uint64(number)<<3|uint64(kind))
}
