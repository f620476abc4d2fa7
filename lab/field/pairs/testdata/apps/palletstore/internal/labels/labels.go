// Package labels checks and writes the labels of pallets.
package labels

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"palletstore/internal/bays"
)

// ErrCheck is returned for a number that was misread.
var ErrCheck = errors.New("check digit of SSCC is wrong")

// Digit is the check digit of the first 17 digits of an SSCC.
func Digit(sscc string) byte {
	sum := 0
	for i := range 17 {
		n := int(sscc[i] - '0')
		if i%2 == 0 {
			n *= 3
		}
		sum += n
	}
	return byte('0' + (10-sum%10)%10)
}

// Check says whether an SSCC is right.
func Check(sscc string) error {
	if len(sscc) != 18 || Digit(sscc) != sscc[17] {
		return ErrCheck
	}
	return nil
}

// Printer draws the labels as bitmaps of bars.
type Printer struct {
	buf  bytes.Buffer
	rows [96][64]byte
}

// Print returns the digest of the printed label.
func (p *Printer) Print(t *bays.Pallet, at bays.Place) [32]byte {
	p.buf.Reset()
	fmt.Fprintf(&p.buf, "^XA^FO40,40^A0N,50,50^FD%s^FS", t.Goods)
	fmt.Fprintf(&p.buf, "^FO40,120^FD%03d-%02d-%02d^FS^FO40,180^FD%d kg^FS", at.Bay, at.Level, at.Pos, t.Kg)
	for y := range p.rows {
		row := &p.rows[y]
		for x := range row {
			c := t.SSCC[(x*8/29)%len(t.SSCC)]
			row[x] = c<<(x%5) ^ c>>(x%3)
			if y > 80 {
				row[x] &= byte(y)
			}
		}
		p.buf.Write(row[:])
	}
	p.buf.WriteString("^XZ")
	return sha256.Sum256(p.buf.Bytes())
}
