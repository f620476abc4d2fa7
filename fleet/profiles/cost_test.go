package profiles

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// manyStacks returns a profile of so many stacks, all different, of a depth.
func manyStacks(stacks, depth, values int) []byte {
	var p, m []byte
	message := func(number protowire.Number, body []byte) {
		p = protowire.AppendBytes(protowire.AppendTag(p, number, protowire.BytesType), body)
	}
	field := func(number protowire.Number, v uint64) {
		m = protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
	}
	message(6, nil)
	for range values {
		message(1, nil)
	}
	const functions = 500
	for i := range uint64(functions) {
		message(6, fmt.Appendf(nil, "shop/orders.function%d", i))
		m = m[:0]
		field(1, i+1)
		field(2, i+1)
		message(5, m)
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 4, protowire.BytesType), protowire.AppendVarint([]byte{1 << 3}, i+1))
		field(1, i+1)
		message(4, m)
	}
	for i := range stacks {
		var ids, numbers []byte
		for d := range depth {
			ids = protowire.AppendVarint(ids, 1+uint64(i*(d*d+1)+i/functions*d)%functions)
		}
		for range values {
			numbers = protowire.AppendVarint(numbers, 7)
		}
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 1, protowire.BytesType), ids)
		m = protowire.AppendBytes(protowire.AppendTag(m, 2, protowire.BytesType), numbers)
		message(2, m)
	}
	return p
}

// TestCost holds that a profile allocates less than it says it costs, all that is garbage
// at once included, and not so much less that a server is idle for it.
func TestCost(t *testing.T) {
	for name, data := range map[string][]byte{
		"deep":        manyStacks(20_000, 40, 1),
		"shallow":     manyStacks(20_000, 2, 1),
		"many values": manyStacks(5_000, 5, 30),
		"names":       namesOnly(50_000),
	} {
		cost := Cost(data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := Decode(data, Limits{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if took > cost || cost > 8*took {
			t.Errorf("%s: %d bytes of profile said %d and allocated %d", name, len(data), cost, took)
		}
		t.Logf("%s: %d bytes of profile, %d types, said %d and allocated %d", name, len(data), len(p.Types), cost, took)
	}
}

func namesOnly(n int) (p []byte) {
	for i := range n {
		p = protowire.AppendBytes(protowire.AppendTag(p, 6, protowire.BytesType), fmt.Appendf(nil, "name%d", i))
	}
	return p
}

// What costs more than there is room for is not decoded.
func TestDecodeWithin(t *testing.T) {
	data := manyStacks(1000, 30, 1)
	var asked int64
	no := errors.New("no room")
	if _, err := DecodeWithin(data, Limits{}, func(n int64) error { asked = n; return no }); !errors.Is(err, no) || asked != Cost(data) {
		t.Errorf("%v, asked for %d, want %d", err, asked, Cost(data))
	}
	if most := CostBound(packed(data), Limits{}); most < Cost(data) {
		t.Errorf("%d bytes may cost %d and cost %d", len(data), most, Cost(data))
	}
}

// The length at the end of a gzip is believed for what it allocates, and no further.
func TestUnpack(t *testing.T) {
	text := strings.Repeat("stack", 1000)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	if out, err := Unpack(b.Bytes(), 1<<20); err != nil || string(out) != text || cap(out) > len(text)+1024 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	for end, want := range map[string]string{"\xff\xff\xff\x7f": "gzip: invalid checksum", "\x05\x00\x00\x00": "more than 5"} {
		liar := append(bytes.Clone(b.Bytes()[:b.Len()-4]), end...)
		if _, err := Unpack(liar, 1<<20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a length of %q: %v, want %s", end, err, want)
		}
	}
	if _, err := Unpack(b.Bytes(), 100); !errors.Is(err, ErrLong) {
		t.Errorf("beyond the most: %v", err)
	}
}
