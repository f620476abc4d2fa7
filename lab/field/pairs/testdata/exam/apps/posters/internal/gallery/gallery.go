// Package gallery shows the posters of films.
package gallery

import (
	"fmt"
	"hash/crc32"

	"posters/internal/shard"
)

// An Artist draws what nobody has drawn yet.
type Artist interface {
	Draw(title, width int) ([]byte, error)
}

// A Keyspace says what the key of a poster is.
type Keyspace string

// The keyspaces: posters are dropped with all others of the gallery, or with their title.
const (
	ByGallery Keyspace = "gallery"
	ByTitle   Keyspace = "title"
)

// A Gallery keeps posters in a cache.
type Gallery struct {
	cache  *shard.Cache
	artist Artist
	keys   Keyspace
}

// New returns a gallery.
func New(c *shard.Cache, a Artist, keys Keyspace) *Gallery {
	return &Gallery{cache: c, artist: a, keys: keys}
}

func (g *Gallery) key(title, width int) string {
	if g.keys == ByTitle {
		return fmt.Sprintf("posters:{%d}:%d", title, width)
	}
	return fmt.Sprintf("{posters}:%d:%d", title, width)
}

// A Poster is what is shown.
type Poster struct {
	Data []byte
	Sum  uint32
	Hit  bool
}

// Poster returns a poster and its sum.
func (g *Gallery) Poster(title, width int) (Poster, error) {
	data, hit, err := g.cache.Get(g.key(title, width), func() ([]byte, error) {
		return g.artist.Draw(title, width)
	})
	if err != nil {
		return Poster{}, fmt.Errorf("poster of title %d: %w", title, err)
	}
	return Poster{Data: data, Sum: crc32.ChecksumIEEE(data), Hit: hit}, nil
}
