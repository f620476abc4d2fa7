// Package traffic plays the weighbridges of the quarries.
package traffic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"quarryweigh/internal/bridge"
)

// Run sends shifts at the given rate and returns how many were answered.
func Run(url string, bridges int, perSecond int, d time.Duration) (ops, slips int64) {
	var wg sync.WaitGroup
	var n, m atomic.Int64
	every := time.Second * time.Duration(bridges) / time.Duration(perSecond)
	end := time.Now().Add(d)
	for b := range bridges {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(b), 7))
			tick := time.NewTicker(every)
			defer tick.Stop()
			for i := 0; time.Now().Before(end); i++ {
				<-tick.C
				body, _ := json.Marshal(shift(rnd, b, i))
				resp, err := http.Post(url+"/weighings", "application/json", bytes.NewReader(body))
				if err != nil {
					continue
				}
				got, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					n.Add(1)
					m.Add(int64(bytes.Count(got, []byte(`"seal"`))))
				}
			}
		})
	}
	wg.Wait()
	return n.Load(), m.Load()
}

func shift(rnd *rand.Rand, b, i int) []bridge.Weighing {
	out := make([]bridge.Weighing, 24)
	for k := range out {
		out[k] = bridge.Weighing{
			Ticket:   fmt.Sprintf("%d-%06d-%02d", b, i, k),
			Plate:    fmt.Sprintf("QR %04d", rnd.IntN(9000)),
			Tariff:   fmt.Sprintf("m%02d/g%d", rnd.IntN(20), rnd.IntN(5)),
			Gross:    20000 + rnd.Float64()*20000,
			Tare:     9000 + rnd.Float64()*6000,
			Distance: rnd.Float64() * 120,
			Moisture: rnd.Float64() * 0.2,
			Axles:    2 + rnd.IntN(5),
		}
	}
	return out
}
