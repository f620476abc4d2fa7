// Package members plays the people in the rooms.
package members

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"sync/atomic"
	"time"

	"clubchatter/internal/rooms"
	"clubchatter/internal/wire"
)

// Member counts what it gets.
type Member struct {
	name  string
	bytes *atomic.Int64
}

// Crowd makes the members of a room.
func Crowd(room string, n int, bytes *atomic.Int64) []rooms.Listener {
	out := make([]rooms.Listener, n)
	for i := range out {
		out[i] = &Member{name: fmt.Sprintf("%s-m%d", room, i), bytes: bytes}
	}
	return out
}

// Name is the member's name.
func (m *Member) Name() string { return m.name }

// Frame takes a frame.
func (m *Member) Frame(b []byte) { m.bytes.Add(int64(len(b))) }

var talk = strings.Fields(`training is off tonight who drives on saturday please bring the blue shirts
<kit> & towels see you at eight the pitch was wet again great match well played everyone thanks`)

func line(rng *rand.Rand, codes []string, room string) string {
	n := 8 + rng.Intn(20)
	out := make([]string, 0, n+2)
	for range n {
		out = append(out, talk[rng.Intn(len(talk))])
	}
	if rng.Intn(5) > 0 {
		out = append(out, codes[rng.Intn(len(codes))])
	}
	if rng.Intn(3) == 0 {
		out = append(out, fmt.Sprintf("@%s-m%d", room, rng.Intn(10)))
	}
	return strings.Join(out, " ")
}

// Chat posts perSecond lines to the hub for the time given, and returns how many it took.
func Chat(h *rooms.Hub, names []string, codes []string, perSecond int, d time.Duration) int {
	rng := rand.New(rand.NewSource(3))
	start := time.Now()
	n := 0
	for {
		el := time.Since(start)
		if el >= d {
			return n
		}
		for due := int(el.Seconds() * float64(perSecond)); n < due; n++ {
			room := names[rng.Intn(len(names))]
			raw, _ := json.Marshal(wire.Post{Room: room, From: room + "-m0", Text: line(rng, codes, room)})
			if h.Post(raw) != nil {
				return n
			}
		}
		time.Sleep(4 * time.Millisecond)
	}
}
