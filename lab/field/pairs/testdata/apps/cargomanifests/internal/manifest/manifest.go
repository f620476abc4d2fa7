// Package manifest reads and prints lines of cargo manifests.
package manifest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Entry is one consignment.
type Entry struct {
	Number  int
	Shipper string
	Code    string
	Weight  float64
	Value   int64
	Duty    int64
	Mark    string
}

var errFields = errors.New("manifest: wrong number of fields")

// Parse reads one line of a manifest.
func Parse(line string) (*Entry, error) {
	f := strings.Split(line, ";")
	if len(f) != 5 {
		return nil, errFields
	}
	n, err := strconv.Atoi(f[0])
	if err != nil {
		return nil, err
	}
	w, err := strconv.ParseFloat(f[3], 64)
	if err != nil {
		return nil, err
	}
	v, err := strconv.ParseInt(f[4], 10, 64)
	if err != nil {
		return nil, err
	}
	return &Entry{Number: n, Shipper: f[1], Code: f[2], Weight: w, Value: v}, nil
}

// Stamp computes the mark of an entry.
func Stamp(e *Entry) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s/%.2f/%d/%d", e.Number, e.Shipper, e.Code, e.Weight, e.Value, e.Duty))
	for i := 0; i < 40; i++ {
		sum = sha256.Sum256(sum[:])
	}
	e.Mark = hex.EncodeToString(sum[:8])
}

// Printer writes the settled manifest.
type Printer struct{ w *bufio.Writer }

// NewPrinter prints to w.
func NewPrinter(w io.Writer) *Printer { return &Printer{bufio.NewWriter(w)} }

// Print writes one entry.
func (p *Printer) Print(e *Entry) error {
	_, err := fmt.Fprintf(p.w, "%06d %-14s %s %9.2f %8d %6d %s\n", e.Number, e.Shipper, e.Code, e.Weight, e.Value, e.Duty, e.Mark)
	return err
}

// Close flushes.
func (p *Printer) Close() error { return p.w.Flush() }

// Line makes the n-th line of a test manifest.
func Line(rnd *rand.Rand, n int) string {
	return fmt.Sprintf("%d;shipper-%03d;%04d.%02d;%.2f;%d", n, rnd.IntN(400), 1000+rnd.IntN(8900), rnd.IntN(99), rnd.Float64()*900, 100+rnd.IntN(90000))
}
