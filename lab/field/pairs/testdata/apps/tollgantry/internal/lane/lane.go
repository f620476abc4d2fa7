// Package lane handles the vehicles of one lane.
package lane

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"time"

	"tollgantry/internal/ledger"
	"tollgantry/internal/plates"
	"tollgantry/internal/tariff"
)

type Lane struct {
	Passed int
	Cents  int64
	Spent  time.Duration

	no     int
	reader plates.Reader
	table  *tariff.Table
	book   *ledger.Book
	buf    bytes.Buffer
	zw     *flate.Writer
}

func New(no int, r plates.Reader, t *tariff.Table, b *ledger.Book) *Lane {
	zw, _ := flate.NewWriter(nil, flate.BestSpeed)
	return &Lane{no: no, reader: r, table: t, book: b, zw: zw}
}

// Run charges vehicles until ctx ends.
func (l *Lane) Run(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		r := l.reader.Read(l.no)
		proof, err := l.proof(r)
		if err != nil {
			continue
		}
		cents := l.table.Price(l.no, r.Plate, r.Axles)
		if err := l.book.Append(ledger.Entry{Gantry: l.no, Plate: r.Plate, Proof: proof, Cents: cents}); err != nil {
			continue
		}
		l.Passed++
		l.Cents += cents
		l.Spent += time.Since(begun)
	}
}

// proof packs the picture and returns what identifies it.
func (l *Lane) proof(r plates.Reading) (sum [32]byte, err error) {
	l.buf.Reset()
	l.zw.Reset(&l.buf)
	l.zw.Write([]byte(r.Plate))
	if _, err = l.zw.Write(r.Frame); err != nil {
		return sum, err
	}
	if err = l.zw.Close(); err != nil {
		return sum, err
	}
	return sha256.Sum256(l.buf.Bytes()), nil
}
