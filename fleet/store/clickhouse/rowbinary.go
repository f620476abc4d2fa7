package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/fleet/memory"
)

// Bounds of what a server may answer.
const (
	mostAnswer = 512 << 20 // bytes of one answer
	mostText   = mostBatch // bytes of one string: none that was written is longer
	mostArray  = mostBatch // entries of one array
)

// What an answer takes: each byte that comes wireCopies times, as it was read, as the answer has
// it, and twice while that is written; each value with its part of the rows, maps and lists that
// it gets into valueBytes, a row rowBytes. TestAnswersPay holds them to what is allocated.
const (
	wireCopies = 4
	valueBytes = 48
	rowBytes   = 64
)

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func appendTexts[T any](to []byte, from []T, text func(T) string) []byte {
	to = binary.AppendUvarint(to, uint64(len(from)))
	for _, entry := range from {
		to = appendText(to, text(entry))
	}
	return to
}

func appendInts[T any](to []byte, from []T, value func(T) int64) []byte {
	to = binary.AppendUvarint(to, uint64(len(from)))
	for _, entry := range from {
		to = appendInt64(to, value(entry))
	}
	return to
}

func appendUint64(to []byte, value uint64) []byte { return binary.LittleEndian.AppendUint64(to, value) }

func appendInt64(to []byte, value int64) []byte {
	return appendUint64(to, uint64(value))
}

func appendInt32(to []byte, value int32) []byte {
	return binary.LittleEndian.AppendUint32(to, uint32(value))
}

// mark is the first column of each row that is asked for. Where an error is in the middle
// of an answer that began well, its text stands where a row would begin.
const mark = 1

// A decoder reads rows of RowBinary, and takes memory for them. Once a value is not there it
// has an error and gives zeros.
type decoder struct {
	from *bufio.Reader
	pays *memory.Bill
	err  error
}

func newDecoder(ctx context.Context, from io.Reader) *decoder {
	from = memory.Reader(ctx, io.LimitReader(from, mostAnswer+1), wireCopies)
	return &decoder{from: bufio.NewReaderSize(from, 64<<10), pays: memory.NewBill(ctx)}
}

// pay takes memory for what is decoded.
func (d *decoder) pay(bytes int64) {
	if d.err == nil {
		d.err = d.pays.Add(bytes)
	}
}

// each calls a function for each row, until the end or an error.
func (d *decoder) each(row func()) error {
	for {
		first, err := d.from.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if first != mark {
			text, _ := io.ReadAll(io.LimitReader(d.from, mostError))
			return fmt.Errorf("the answer broke off: %.*q", mostError, string(first)+string(text))
		}
		d.pay(rowBytes)
		if row(); d.err != nil {
			return d.err
		}
	}
}

func (d *decoder) fail(err error) {
	switch {
	case d.err != nil:
	case memory.Scarce(err):
		d.err = err
	default:
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		d.err = fmt.Errorf("the answer is cut or longer than %d bytes: %w", mostAnswer, err)
	}
}

func (d *decoder) bytes(to []byte) {
	if d.pay(valueBytes); d.err != nil {
		return
	}
	if _, err := io.ReadFull(d.from, to); err != nil {
		clear(to)
		d.fail(err)
	}
}

func (d *decoder) uint64() uint64 {
	var b [8]byte
	d.bytes(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func (d *decoder) int64() int64 { return int64(d.uint64()) }

func (d *decoder) int32() int32 {
	var b [4]byte
	d.bytes(b[:])
	return int32(binary.LittleEndian.Uint32(b[:]))
}

// length returns the one of a string or array.
func (d *decoder) length(most uint64) int {
	if d.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(d.from)
	if err != nil {
		d.fail(err)
		return 0
	}
	if n > most {
		d.err = fmt.Errorf("the answer has a length of %d, where %d is the most", n, most)
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.length(mostText)
	if n <= 4096 {
		b := make([]byte, n)
		d.bytes(b)
		return string(b)
	}
	var b bytes.Buffer // grows with what is there, not with what the length says
	if _, err := io.CopyN(&b, d.from, int64(n)); err != nil {
		d.fail(err)
		return ""
	}
	return b.String()
}

// list returns an array.
func list[T any](d *decoder, entry func() T) []T {
	var all []T
	for n := d.length(mostArray); n > 0 && d.err == nil; n-- {
		all = append(all, entry())
	}
	return all
}
