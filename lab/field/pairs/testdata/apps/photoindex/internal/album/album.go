// Package album has photos.
package album

import "fmt"

// A Photo has a name and what the camera wrote.
type Photo struct {
	Name string
	Data []byte
}

// An Album makes its photos when they are asked for.
type Album struct{ n int }

// New makes an album.
func New(n int) *Album { return &Album{n} }

// Len is how many photos it has.
func (a *Album) Len() int { return a.n }

// Read reads a photo.
func (a *Album) Read(i int) Photo {
	p := Photo{Name: fmt.Sprintf("img%06d", i), Data: make([]byte, 12000)}
	for k := 0; k < len(p.Data); k += 16 {
		p.Data[k] = byte(i*k + k>>8)
	}
	return p
}
