// Package pages reads sorted records out of stored pages.
package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
)

// PageSize is how large a page is before its checksum.
const PageSize = 4096

// recordSize is eight bytes of reference and eight of cents.
const recordSize = 16

// A Record is a payment.
type Record struct {
	Ref   uint64
	Cents int64
}

// A Source gives the pages of a day, into a buffer; it returns 0 at the end.
type Source interface {
	Page(merchant, day, n int, into []byte) (int, error)
}

// ErrChecksum is that of a page which was damaged.
var ErrChecksum = errors.New("checksum of a page")

// Scan returns the records of a merchant's day in the order of their references.
func Scan(s Source, merchant, day int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		buf := make([]byte, PageSize+4)
		for page := 0; ; page++ {
			n, err := s.Page(merchant, day, page, buf)
			if err != nil {
				yield(Record{}, fmt.Errorf("merchant %d, page %d: %w", merchant, page, err))
				return
			}
			if n == 0 {
				return
			}
			if n < 4 || crc32.ChecksumIEEE(buf[:n-4]) != binary.BigEndian.Uint32(buf[n-4:n]) {
				yield(Record{}, fmt.Errorf("merchant %d, page %d: %w", merchant, page, ErrChecksum))
				return
			}
			for at := 0; at+recordSize <= n-4; at += recordSize {
				r := Record{
					Ref:   binary.BigEndian.Uint64(buf[at:]),
					Cents: int64(binary.BigEndian.Uint64(buf[at+8:])),
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Append adds a record to a page.
func Append(page []byte, r Record) []byte {
	page = binary.BigEndian.AppendUint64(page, r.Ref)
	return binary.BigEndian.AppendUint64(page, uint64(r.Cents))
}

// Seal adds the checksum.
func Seal(page []byte) []byte {
	return binary.BigEndian.AppendUint32(page, crc32.ChecksumIEEE(page))
}

// PerPage is how many records a page has room for.
func PerPage() int { return PageSize / recordSize }
