// Package farm plays the gauges of a tank farm.
package farm

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"tanklevels/internal/sentence"
)

// Run lets some gauges send, each a burst of levels every so often.
func Run(addr string, gauges int, every time.Duration, d time.Duration) error {
	var wg sync.WaitGroup
	errs := make(chan error, gauges)
	end := time.Now().Add(d)
	for n := range gauges {
		wg.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				errs <- err
				return
			}
			defer c.Close()
			rnd := rand.New(rand.NewPCG(uint64(n), 9))
			time.Sleep(time.Duration(rnd.Int64N(int64(every))))
			var out []byte
			serial := 0
			for next := time.Now(); next.Before(end); next = next.Add(every) {
				time.Sleep(time.Until(next))
				out = out[:0]
				for tank := range 12 {
					serial++
					out = level(out, rnd, n, tank, serial)
				}
				if _, err := c.Write(out); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

func level(out []byte, rnd *rand.Rand, gauge, tank, serial int) []byte {
	points := 0
	if tank%2 == 0 {
		points = 24
	}
	body := fmt.Sprintf("TKLVL,T%02d-%02d,%d,%d,%.2f,%.1f,%d", gauge, tank, serial, 200+rnd.IntN(5000), 8+rnd.Float64()*20, 720+rnd.Float64()*150, points)
	out = fmt.Appendf(out, "$%s*%02X\r\n", body, sentence.Sum(body))
	for range points {
		out = binary.BigEndian.AppendUint16(out, uint16(800+rnd.IntN(2000)))
	}
	return out
}
