package wire

import (
	"errors"
	"fmt"
	"testing"
)

// TestEach reads each kind of field, and what is cut or too long.
func TestEach(t *testing.T) {
	whole := AppendVarint(nil, 1, 300)
	whole = append(whole, 2<<3|5, 7, 0, 0, 0) // of four bytes, skipped
	whole = AppendFixed64(whole, 3, 8)
	whole = AppendBytes(whole, 4, []byte{1, 2, 0x80, 1})
	whole = append(whole, 5<<3|3, 1<<3, 1, 6<<3|3, 6<<3|4, 5<<3|4) // a group in a group, skipped
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
		{[]byte{0x02, 0}, "", true},            // field 0
		{[]byte{5<<3 | 4}, "", true},           // a group that ends and has not begun
		{[]byte{5<<3 | 3, 6<<3 | 4}, "", true}, // one that another ends
		{[]byte{1 << 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}, "", true},   // of more than 64 bits
		{[]byte{4<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "", true}, // as long as no slice is
		{[]byte{4<<3 | 2, 1, 0x80}, "", true},                                                 // a packed number that is cut
	} {
		got := ""
		err := EachField(c.data, func(f Field) error {
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
	packed := Field{Number: 5, Kind: Bytes, Body: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}}
	one := Field{Number: 5, Kind: Fixed64, Value: 4}
	other := Field{Number: 5, Kind: Varint, Value: 8}
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

// TestMessages takes those of a number, and no numbers for messages.
func TestMessages(t *testing.T) {
	data := AppendVarint(AppendBytes(AppendBytes(AppendBytes(nil, 1, "a"), 2, "b"), 1, "c"), 1, 7)
	got := ""
	if err := Messages(data, 1, func(body []byte) error { got += string(body); return nil }); err != nil || got != "ac" {
		t.Errorf("%q, %v", got, err)
	}
}
