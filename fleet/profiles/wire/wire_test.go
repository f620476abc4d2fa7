package wire

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestEach reads each kind of field, and what is cut or too long.
func TestEach(t *testing.T) {
	whole := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 300)
	whole = protowire.AppendFixed32(protowire.AppendTag(whole, 2, protowire.Fixed32Type), 7) // skipped
	whole = protowire.AppendFixed64(protowire.AppendTag(whole, 3, protowire.Fixed64Type), 8)
	whole = protowire.AppendBytes(protowire.AppendTag(whole, 4, protowire.BytesType), []byte{1, 2, 0x80, 1})
	whole = append(whole, 5<<3|3, 1<<3, 1, 5<<3|4) // a group, skipped
	for _, c := range []struct {
		data []byte
		want string
		fail bool
	}{
		{nil, "", false},
		{whole, "1=300 3=8 4=[1 2 128] ", false},
		{whole[:len(whole)-1], "1=300 3=8 4=[1 2 128] ", true},
		{[]byte{4<<3 | 2, 0xff, 0xff, 0xff, 0xff, 3, 1}, "", true},
		{[]byte{0x07}, "", true},
		{[]byte{4<<3 | 2, 1, 0x80}, "", true}, // a packed number that is cut
	} {
		got := ""
		err := Each(c.data, func(f Field) error {
			if f.Number != 4 {
				got += fmt.Sprintf("%d=%d ", f.Number, f.Value)
				return nil
			}
			var list []uint64
			err := f.Varints(func(n uint64) error { list = append(list, n); return nil })
			if err == nil {
				got += fmt.Sprintf("%d=%v ", f.Number, list)
			}
			return err
		})
		if got != c.want || errors.Is(err, Err) != c.fail {
			t.Errorf("%v: %q, %v; want %q", c.data, got, err, c.want)
		}
	}
}

// TestFixed64s reads a list, packed and not.
func TestFixed64s(t *testing.T) {
	sum := uint64(0)
	add := func(n uint64) error { sum += n; return nil }
	packed := Field{Number: 5, Kind: protowire.BytesType, Body: protowire.AppendFixed64(protowire.AppendFixed64(nil, 1), 2)}
	one := Field{Number: 5, Kind: protowire.Fixed64Type, Value: 4}
	other := Field{Number: 5, Kind: protowire.VarintType, Value: 8}
	for _, f := range []Field{packed, one, other} {
		if err := f.Fixed64s(add); err != nil {
			t.Error(err)
		}
	}
	if sum != 7 {
		t.Errorf("the sum is %d, want 7", sum)
	}
	packed.Body = packed.Body[1:]
	if err := packed.Fixed64s(add); !errors.Is(err, Err) {
		t.Errorf("a cut list: %v", err)
	}
}
