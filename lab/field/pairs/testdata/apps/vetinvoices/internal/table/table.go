// Package table reads the result sets that the practice server sends.
package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
)

// Rows is a result set in transfer form: a header of column names and rows of texts.
type Rows struct {
	Columns []string
	data    []byte
	row     []string
}

// Open reads the header of a result set.
func Open(data []byte) (*Rows, error) {
	if len(data) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	n := int(data[0])
	r := &Rows{data: data[1:], row: make([]string, n)}
	for range n {
		s, err := r.text()
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, s)
	}
	return r, nil
}

func (r *Rows) text() (string, error) {
	if len(r.data) < 2 {
		return "", io.ErrUnexpectedEOF
	}
	n := int(binary.BigEndian.Uint16(r.data))
	if len(r.data) < 2+n {
		return "", io.ErrUnexpectedEOF
	}
	s := string(r.data[2 : 2+n])
	r.data = r.data[2+n:]
	return s, nil
}

// Next returns the next row, or io.EOF.
func (r *Rows) Next() ([]string, error) {
	if len(r.data) == 0 {
		return nil, io.EOF
	}
	for i := range r.row {
		s, err := r.text()
		if err != nil {
			return nil, err
		}
		r.row[i] = s
	}
	return r.row, nil
}

// Make returns the encoded treatments of one month.
func Make(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	put := func(s string) { b.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)) }
	cols := []string{"id", "owner", "animal", "species", "treatment", "units", "unit_price", "vat", "emergency"}
	b.WriteByte(byte(len(cols)))
	for _, c := range cols {
		put(c)
	}
	species, what := []string{"dog", "cat", "horse"}, []string{"vaccination", "dental", "x-ray", "castration"}
	for i := range n {
		for _, s := range []string{
			fmt.Sprint(i), fmt.Sprintf("owner-%03d", r.IntN(60)), fmt.Sprintf("animal-%04d", r.IntN(300)),
			species[r.IntN(len(species))], what[r.IntN(len(what))], fmt.Sprint(1 + r.IntN(4)),
			fmt.Sprintf("%.2f", 8+90*r.Float64()), "0.19", fmt.Sprint(r.IntN(9) == 0),
		} {
			put(s)
		}
	}
	return b.Bytes()
}
