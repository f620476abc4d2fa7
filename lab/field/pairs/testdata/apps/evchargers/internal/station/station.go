// Package station simulates charge points.
package station

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"evchargers/internal/wire"
)

type Point struct {
	Answered int
	Spent    time.Duration

	no int
	r  *rand.Rand
}

func New(no int) *Point { return &Point{no: no, r: rand.New(rand.NewPCG(uint64(no), 3))} }

// Run reports meter values until ctx ends.
func (p *Point) Run(ctx context.Context, addr string, every time.Duration) error {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	in := bufio.NewReader(nc)
	pause := time.NewTimer(time.Duration(p.r.Int64N(int64(every))))
	defer pause.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
		pause.Reset(every)
		id := fmt.Sprintf("%04x-%06x", p.no, n)
		msg, err := wire.Call(id, "MeterValues", p.values(n))
		if err != nil {
			return err
		}
		begun := time.Now()
		if _, err := nc.Write(msg); err != nil {
			return err
		}
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		var c wire.Confirm
		if got, err := wire.Parse(line, &c); err != nil || got != id {
			return fmt.Errorf("answer to %s for %s: %v", got, id, err)
		}
		p.Answered++
		p.Spent += time.Since(begun)
	}
}

func (p *Point) values(n int) wire.MeterValues {
	mv := wire.MeterValues{Connector: 1 + p.no%2, Transaction: p.no*100 + n/50}
	for _, ph := range []string{"L1", "L2", "L3"} {
		mv.Samples = append(mv.Samples,
			wire.Sample{Measurand: "Voltage", Phase: ph, Value: 210 + p.r.Float64()*30, Unit: "V"},
			wire.Sample{Measurand: "Current.Import", Phase: ph, Value: p.r.Float64() * 16, Unit: "A"})
	}
	mv.Samples = append(mv.Samples, wire.Sample{Measurand: "Energy.Active.Import.Interval", Value: p.r.Float64() * 4000, Unit: "Wh"})
	return mv
}
