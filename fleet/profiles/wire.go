package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/store"
)

var errWire = errors.New("the profile is no protocol buffer, or cut")

// fields calls each with the fields of a message: a number as value, anything else as
// body. Fields of the kinds that profiles do not have are skipped.
func fields(data []byte, each func(number int, value uint64, body []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errWire
		}
		data = data[n:]
		var value uint64
		var body []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			body, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(number, kind, data)
			number = 0
		}
		if n < 0 {
			return fmt.Errorf("%w: in field %d", errWire, number)
		}
		data = data[n:]
		if number == 0 {
			continue
		}
		if err := each(int(number), value, body); err != nil {
			return err
		}
	}
	return nil
}

// eachNumber calls each with the numbers of a repeated field: one, or packed ones.
func eachNumber(value uint64, packed []byte, each func(uint64) error) error {
	if packed == nil {
		return each(value)
	}
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return errWire
		}
		packed = packed[n:]
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}

// samplesOf are the sums that are not 0, by stack, which are noted as used.
func samplesOf(values map[store.StackID]int64, used map[store.StackID]bool) []store.Sample {
	var samples []store.Sample
	for id, v := range values {
		if v != 0 {
			samples, used[id] = append(samples, store.Sample{Stack: id, Value: v}), true
		}
	}
	slices.SortFunc(samples, func(a, b store.Sample) int { return cmp.Compare(a.Stack, b.Stack) })
	return samples
}
