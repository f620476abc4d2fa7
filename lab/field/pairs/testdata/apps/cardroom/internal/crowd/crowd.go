// Package crowd plays the players.
package crowd

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"cardroom/internal/room"
	"cardroom/internal/seat"
)

// Wire counts what goes out to the players.
type Wire struct{ n atomic.Int64 }

func (w *Wire) Write(p []byte) (int, error) {
	w.n.Add(int64(len(p)))
	return len(p), nil
}

func (w *Wire) Bytes() int64 { return w.n.Load() }

// Run lets players come at the given rate; each plays some hands, most say good-bye.
func Run(ctx context.Context, m *room.Room, w *Wire, rate int) (players int) {
	r := rand.New(rand.NewPCG(12, 4))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var table []*seat.Seat
	begin := time.Now()
	for ctx.Err() == nil {
		<-tick.C
		for due := int(time.Since(begin).Seconds() * float64(rate)); players < due; players++ {
			table = append(table, m.Join(w))
		}
		keep := table[:0]
		for _, s := range table {
			for range 2 {
				m.Play(s, r)
			}
			switch x := r.IntN(100); {
			case x < 8:
				m.Leave(s)
			case x < 12: // connection lost
			default:
				keep = append(keep, s)
			}
		}
		clear(table[len(keep):])
		table = keep
		m.Sweep(time.Now())
	}
	return players
}
