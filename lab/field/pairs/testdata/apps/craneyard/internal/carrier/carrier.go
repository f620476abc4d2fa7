// Package carrier drives.
package carrier

import (
	"hash/fnv"
	"time"

	"craneyard/internal/dispatch"
	"craneyard/internal/plan"
	"craneyard/internal/yard"
)

// Engine moves a carrier.
type Engine interface {
	Travel(metres int)
}

// Wheels is a carrier in quick motion.
type Wheels struct{ Speed int }

func (w Wheels) Travel(metres int) {
	time.Sleep(20*time.Millisecond + time.Duration(metres/w.Speed)*200*time.Microsecond)
}

type Carrier struct {
	Moves, Metres int

	no     int
	desk   *dispatch.Desk
	plan   *plan.Planner
	engine Engine
	log    uint64
}

func New(no int, y *yard.Yard, d *dispatch.Desk, e Engine) *Carrier {
	return &Carrier{no: no, desk: d, plan: plan.NewPlanner(y), engine: e}
}

// Drive works until the shift is over.
func (c *Carrier) Drive() {
	for {
		m, ok := c.desk.Take()
		if !ok {
			return
		}
		n := c.plan.Length(m)
		c.engine.Travel(n)
		c.Moves++
		c.Metres += n
		c.note(m)
	}
}

func (c *Carrier) note(m plan.Move) {
	h := fnv.New64a()
	for k := range 1500 {
		h.Write([]byte{byte(m.Box), byte(m.Box >> 8), byte(m.From.Row), byte(m.From.Bay), byte(m.To.Row), byte(m.To.Bay), byte(k)})
	}
	c.log ^= h.Sum64()
}
