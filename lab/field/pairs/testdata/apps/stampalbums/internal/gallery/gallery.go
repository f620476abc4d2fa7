// Package gallery values albums for its visitors.
package gallery

import (
	"encoding/json"
	"hash/crc32"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"stampalbums/internal/album"
	"stampalbums/internal/shelf"
	"stampalbums/internal/vault"
)

type line struct {
	Land   string
	Stamps int
	Oldest int
	Cents  int
}

// Gallery answers requests.
type Gallery struct {
	vault *vault.Vault
	shelf *shelf.Shelf

	asked, hits, value atomic.Int64
	check              atomic.Uint32
}

// New makes a gallery.
func New(v *vault.Vault, s *shelf.Shelf) *Gallery { return &Gallery{vault: v, shelf: s} }

// Warm fills the shelf with the most popular albums.
func (g *Gallery) Warm() {
	for id := 0; id < g.vault.Len() && !g.shelf.Full(8<<10); id++ {
		g.album(id)
	}
}

func (g *Gallery) album(id int) (*album.Album, error) {
	g.asked.Add(1)
	if a, ok := g.shelf.Get(id); ok {
		g.hits.Add(1)
		return a, nil
	}
	rec, err := g.vault.Read(id)
	if err != nil {
		return nil, err
	}
	a, err := album.Decode(id, rec)
	if err != nil {
		return nil, err
	}
	g.shelf.Put(a)
	return a, nil
}

// Valuation renders the value of an album.
func (g *Gallery) Valuation(id int) ([]byte, error) {
	a, err := g.album(id)
	if err != nil {
		return nil, err
	}
	var lines []line
	a.Lands(func(land string, stamps []*album.Stamp) {
		l := line{Land: land, Stamps: len(stamps), Oldest: 9999}
		for _, s := range stamps {
			l.Oldest = min(l.Oldest, s.Year)
			l.Cents += s.Cents * (2100 - s.Year) / 100
		}
		g.value.Add(int64(l.Cents))
		lines = append(lines, l)
	})
	return json.Marshal(map[string]any{"album": a.ID, "lands": lines})
}

// Serve answers visitors for a while and returns how many.
func (g *Gallery) Serve(d time.Duration, visitors int) int64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for v := range visitors {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(v), 9))
			pick := rand.NewZipf(rnd, 1.25, 1, uint64(g.vault.Len()-1))
			for time.Now().Before(end) {
				b, err := g.Valuation(int(pick.Uint64()))
				if err != nil {
					continue
				}
				g.check.Add(crc32.ChecksumIEEE(b))
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load()
}

// HitRate is the share of albums that were on the shelf.
func (g *Gallery) HitRate() float64 { return 100 * float64(g.hits.Load()) / float64(g.asked.Load()) }

// Value is the sum of all valuations.
func (g *Gallery) Value() int64 { return g.value.Load() }
