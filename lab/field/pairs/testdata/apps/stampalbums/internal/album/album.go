// Package album reads and values albums.
package album

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// Stamp is one item of an album.
type Stamp struct {
	Land, Colour string
	Year, Cents  int
	Marks        []string
}

// Album is a collector's album.
type Album struct {
	ID     int
	Stamps []*Stamp
	byLand map[string][]*Stamp
	size   int
}

// Decode reads a record.
func Decode(id int, rec []byte) (*Album, error) {
	a := &Album{ID: id, byLand: make(map[string][]*Stamp), size: len(rec)}
	for line := range bytes.Lines(rec) {
		f := strings.Split(strings.TrimSpace(string(line)), "|")
		if len(f) != 5 {
			return nil, fmt.Errorf("album %d: %d fields", id, len(f))
		}
		year, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, err
		}
		cents, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, err
		}
		s := &Stamp{Land: f[0], Colour: f[1], Year: year, Cents: cents, Marks: strings.Split(f[4], ",")}
		a.Stamps = append(a.Stamps, s)
		a.byLand[s.Land] = append(a.byLand[s.Land], s)
	}
	return a, nil
}

// Size is the album's size in bytes.
func (a *Album) Size() int { return a.size }

// Footprint is the room that the album takes in memory.
func (a *Album) Footprint() int {
	n := 512 + 3*cap(a.Stamps)*int(unsafe.Sizeof(uintptr(0)))
	for _, s := range a.Stamps {
		n += int(unsafe.Sizeof(*s)) + cap(s.Marks)*int(unsafe.Sizeof("")) + 48
	}
	return n
}

// Lands lists the lands of an album with their stamps.
func (a *Album) Lands(each func(land string, stamps []*Stamp)) {
	for l, s := range a.byLand {
		each(l, s)
	}
}
