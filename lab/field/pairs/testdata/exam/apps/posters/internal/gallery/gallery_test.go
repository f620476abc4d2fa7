package gallery

import (
	"testing"
	"time"

	"posters/internal/origin"
	"posters/internal/shard"
)

func TestPoster(t *testing.T) {
	base, err := origin.Listen(origin.Handler(time.Microsecond))
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range []Keyspace{ByGallery, ByTitle} {
		g := New(shard.New(16, 4<<20), origin.NewClient(base, 4), keys)
		for round := range 2 {
			for title := range 20 {
				p, err := g.Poster(title, 100)
				if err != nil || len(p.Data) != 1600 || p.Hit != (round == 1) {
					t.Fatal(keys, round, title, len(p.Data), p.Hit, err)
				}
			}
		}
	}
}
