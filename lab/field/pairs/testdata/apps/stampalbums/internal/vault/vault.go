// Package vault is the store of all albums.
package vault

import (
	"fmt"
	"strconv"
)

// Vault reads albums in their stored form.
type Vault struct{ n int }

// New opens a vault of n albums.
func New(n int) *Vault { return &Vault{n: n} }

// Len is the number of albums.
func (v *Vault) Len() int { return v.n }

var (
	colours = [...]string{"vermilion", "ultramarine", "olive", "sepia", "carmine", "violet"}
	lands   = [...]string{"Helvetia", "Sverige", "Magyar", "Eire", "Suomi", "Island"}
)

// Read returns an album's record.
func (v *Vault) Read(id int) ([]byte, error) {
	if id < 0 || id >= v.n {
		return nil, fmt.Errorf("vault: no album %d", id)
	}
	b := make([]byte, 0, 2048)
	x := uint32(id)*2654435761 + 1
	for i := range 40 {
		x = x*1664525 + 1013904223
		b = append(b, lands[(x>>8)%6]...)
		b = append(b, '|')
		b = append(b, colours[(x>>12)%6]...)
		b = append(b, '|')
		b = strconv.AppendInt(b, int64(1850+(x>>16)%150), 10)
		b = append(b, '|')
		b = strconv.AppendInt(b, int64((x>>5)%90000), 10)
		b = append(b, "|p"...)
		b = strconv.AppendInt(b, int64(11+i%4), 10)
		b = append(b, ",hinged\n"...)
	}
	return b, nil
}
