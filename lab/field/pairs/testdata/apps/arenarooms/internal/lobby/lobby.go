// Package lobby opens arenas, runs them and reports how they went.
package lobby

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"

	"arenarooms/internal/metrics"
	"arenarooms/internal/replay"
	"arenarooms/internal/room"
)

// Lobby runs the arenas.
type Lobby struct {
	Registry *metrics.Registry
	Kept     bool
	Pause    time.Duration

	Rounds, Bytes metrics.Counter
	open          atomic.Int64
	serial        atomic.Uint64
}

// New makes a lobby with its own gauges.
func New(reg *metrics.Registry, kept bool) *Lobby {
	l := &Lobby{Registry: reg, Kept: kept, Pause: 15 * time.Millisecond}
	reg.GaugeFunc("rooms_open", "all", func() float64 { return float64(l.open.Load()) })
	reg.GaugeFunc("rounds_total", "all", func() float64 { return float64(l.Rounds.Value()) })
	return l
}

// Play opens an arena for n fighters and runs it to its end.
func (l *Lobby) Play(n int) error {
	serial := l.serial.Add(1)
	r := room.New(fmt.Sprintf("arena-%06d", serial), n, serial)
	gauges := l.publish(r)
	l.open.Add(1)
	defer l.open.Add(-1)
	if l.Kept {
		defer l.Registry.Drop(gauges...)
	}

	var frame bytes.Buffer
	for r.Alive() > 2 && r.Rounds() < 20 {
		r.Round()
		if _, err := replay.Frame(&frame, r); err != nil {
			return err
		}
		l.Rounds.Add(1)
		l.Bytes.Add(frame.Len())
		frame.Reset()
		time.Sleep(l.Pause)
	}
	return nil
}

// publish makes the arena visible to scrapers.
func (l *Lobby) publish(r *room.Room) []*metrics.Gauge {
	return []*metrics.Gauge{
		l.Registry.GaugeFunc("room_alive", r.Name, func() float64 { return float64(r.Alive()) }),
		l.Registry.GaugeFunc("room_rounds", r.Name, func() float64 { return float64(r.Rounds()) }),
		l.Registry.GaugeFunc("room_peak", r.Name, func() float64 { return float64(r.Peak()) }),
	}
}
