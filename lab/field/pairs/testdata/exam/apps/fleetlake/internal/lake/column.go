package lake

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// magic is at the beginning and end of a file.
const magic = "FLK1"

// A block has the rows of a file, by column.
type block struct{ columns [5][]int64 }

func (b *block) add(r Row) {
	for i, v := range [...]int64{r.Vehicle, r.At, r.Speed, r.Fuel, r.Driven} {
		b.columns[i] = append(b.columns[i], v)
	}
}

func (b *block) rows() int { return len(b.columns[0]) }

func (b *block) reset() {
	for i := range b.columns {
		b.columns[i] = b.columns[i][:0]
	}
}

// An encoder makes files out of blocks.
type encoder struct {
	out  bytes.Buffer
	raw  []byte
	pack *flate.Writer
}

// encode packs each column as differences, and puts their places and bounds at the end.
func (e *encoder) encode(b *block) ([]byte, error) {
	e.out.Reset()
	e.out.WriteString(magic)
	var footer []byte
	footer = binary.AppendUvarint(footer, uint64(b.rows()))
	for _, column := range b.columns {
		begin := e.out.Len()
		low, high, last := column[0], column[0], int64(0)
		e.raw = e.raw[:0]
		for _, v := range column {
			low, high = min(low, v), max(high, v)
			e.raw = binary.AppendVarint(e.raw, v-last)
			last = v
		}
		if err := e.deflate(); err != nil {
			return nil, err
		}
		footer = binary.AppendUvarint(footer, uint64(begin))
		footer = binary.AppendVarint(footer, low)
		footer = binary.AppendVarint(footer, high)
	}
	footer = binary.BigEndian.AppendUint32(footer, crc32.ChecksumIEEE(e.out.Bytes()))
	e.out.Write(footer)
	e.out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(footer))))
	e.out.WriteString(magic)
	return e.out.Bytes(), nil
}

func (e *encoder) deflate() (err error) {
	if e.pack == nil {
		if e.pack, err = flate.NewWriter(&e.out, flate.DefaultCompression); err != nil {
			return err
		}
	} else {
		e.pack.Reset(&e.out)
	}
	if _, err := e.pack.Write(e.raw); err != nil {
		return err
	}
	return e.pack.Close()
}
