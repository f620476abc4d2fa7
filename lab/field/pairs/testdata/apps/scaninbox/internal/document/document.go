// Package document makes and checks scanned documents.
package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// Scan is a document as the scanner sends it.
type Scan struct {
	ID    string
	Pages [][]byte
}

// ErrTooLarge is returned for documents beyond the size of an inbox.
var ErrTooLarge = errors.New("document: too large")

// Sample makes a plausible scan.
func Sample(r *rand.Rand, n int) Scan {
	s := Scan{ID: fmt.Sprintf("D%07d", n)}
	pages := 2 + r.IntN(3)
	if r.IntN(12) == 0 {
		pages = 9 + r.IntN(3)
	}
	for p := range pages {
		line := fmt.Appendf(nil, "page %d of %s, account %08d;", p, s.ID, r.IntN(1e8))
		s.Pages = append(s.Pages, bytes.Repeat(line, 60))
	}
	return s
}

// AppendPage encodes one page with its length and sum.
func AppendPage(b []byte, page []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(page)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(page))
	return append(b, page...)
}
