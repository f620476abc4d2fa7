// Package wire reads the messages of protocol buffers without their generated types.
//
// It hides the wire format: tags, numbers and lengths, packed lists, and that a message
// may be cut or lie about its lengths. It copies nothing and allocates nothing; what a
// field means, and how much of it may be kept, is for its callers.
package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Err is what an error is of bytes that are no message.
var Err = errors.New("the profile is no protocol buffer, or cut")

// A Field is one of a message. Kind says which of Value and Body it has.
type Field struct {
	Number int
	Kind   protowire.Type
	Value  uint64 // of VarintType and Fixed64Type
	Body   []byte // of BytesType: a part of the message
}

// Each calls each with the fields of a message. Fields of other kinds are skipped.
func Each(data []byte, each func(Field) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return Err
		}
		data = data[n:]
		f := Field{Number: int(number), Kind: kind}
		known := true
		switch kind {
		case protowire.VarintType:
			f.Value, n = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			f.Value, n = protowire.ConsumeFixed64(data)
		case protowire.BytesType:
			f.Body, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(number, kind, data)
			known = false
		}
		if n < 0 {
			return fmt.Errorf("%w: in field %d", Err, number)
		}
		data = data[n:]
		if !known {
			continue
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// Varints calls each with the numbers of a repeated field: one, or packed ones.
func (f Field) Varints(each func(uint64) error) error {
	return f.numbers(protowire.VarintType, protowire.ConsumeVarint, each)
}

// Fixed64s is like Varints for numbers of eight bytes.
func (f Field) Fixed64s(each func(uint64) error) error {
	return f.numbers(protowire.Fixed64Type, protowire.ConsumeFixed64, each)
}

func (f Field) numbers(kind protowire.Type, consume func([]byte) (uint64, int), each func(uint64) error) error {
	if f.Kind == kind {
		return each(f.Value)
	}
	for body := f.Body; len(body) > 0; {
		v, n := consume(body)
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
