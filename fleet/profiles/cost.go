package profiles

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/ground/wire"
)

// What a profile costs in memory is known only when it is unpacked, and then by going
// through it once without keeping anything. It is what it takes to decode it and to keep
// its batch: maps have up to three times their entries, lists that grow twice, and a store
// has a batch encoded twice while it is written.
const (
	costString   = 100
	costFunction = 120
	costLocation = 260
	costLine     = 260 // a frame, its hash, and its number and text in a store
	costSample   = 420
	costValue    = 140
	costFrame    = 20 // of a stack: a pointer, and its number in a store

	// mostFactor is how many times its length a profile costs whose stacks are short: a
	// sample of one frame has nine bytes. Only lines and values of two bytes each cost more.
	mostFactor = 64
)

// CostBound returns an upper bound on a profile's cost, as far as can be said before it is
// unpacked: more than that only a hostile one does.
func CostBound(data []byte, l Limits) int64 {
	return 64<<10 + mostFactor*int64(UnpackedSize(data, l.OrDefault().Bytes))
}

// gzipMagic begins what is packed.
var gzipMagic = []byte{0x1f, 0x8b}

// UnpackedSize returns how long data say that they are without gzip, and most at most.
func UnpackedSize(data []byte, most int) int {
	if !bytes.HasPrefix(data, gzipMagic) || len(data) < 4 {
		return min(len(data), most)
	}
	return int(min(int64(binary.LittleEndian.Uint32(data[len(data)-4:])), int64(most)))
}

// Unpack is data without gzip. It allocates what they say at their end that they have, and
// no more than most; what has more is an error.
func Unpack(data []byte, most int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out := make([]byte, UnpackedSize(data, most))
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return nil, fmt.Errorf("%w: of %d bytes it unpacks to more than %d", ErrLong, len(data), len(out))
	} else if err != io.EOF { // the checksum
		return nil, err
	}
	return out, nil
}

// A costs is what a profile has that costs something.
type costs struct {
	strings, text, functions, locations, lines, samples, values, frames int64

	linesOf   []uint16 // of locations, by their IDs where these are small
	mostLines int64
}

// mostDense is the largest ID of a location that is looked up: those of Go are 1, 2, 3.
const mostDense = 1 << 19

// Cost returns an upper bound on the memory that an unpacked profile takes. What is wrong
// with it is found when it is decoded.
func Cost(data []byte) int64 {
	var c costs
	_ = wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case profileString:
			c.strings++
			c.text += int64(len(f.Body))
		case profileFunction:
			c.functions++
		case profileLocation:
			return c.location(f)
		}
		return nil
	})
	_ = wire.EachField(data, func(f wire.Field) error { // its locations may come after it
		if f.Number == profileSample {
			return c.sample(f)
		}
		return nil
	})
	return int64(len(data)) + costString*c.strings + 3*c.text + costFunction*c.functions + costLocation*c.locations +
		costLine*c.lines + costSample*c.samples + costValue*c.values + costFrame*c.frames
}

func (c *costs) location(of wire.Field) error {
	var id uint64
	lines := int64(0)
	err := wire.EachField(of.Body, func(f wire.Field) error {
		switch f.Number {
		case 1:
			id = f.Value
		case 4:
			lines++
		}
		return nil
	})
	lines = max(1, lines) // its address is one
	c.locations++
	c.lines += lines
	c.mostLines = max(c.mostLines, lines)
	if id < mostDense {
		for uint64(len(c.linesOf)) <= id {
			c.linesOf = append(c.linesOf, make([]uint16, max(64, len(c.linesOf)))...)
		}
		c.linesOf[id] = uint16(min(lines, 1<<16-1))
	}
	return err
}

func (c *costs) sample(of wire.Field) error {
	c.samples++
	return wire.EachField(of.Body, func(f wire.Field) error {
		switch f.Number {
		case 1:
			return f.Varints(func(id uint64) error {
				if id < uint64(len(c.linesOf)) {
					c.frames += int64(c.linesOf[id])
				} else {
					c.frames += c.mostLines
				}
				return nil
			})
		case 2:
			return f.Varints(func(uint64) error {
				c.values++
				return nil
			})
		}
		return nil
	})
}
