// Package clients stands for the portals that send claims.
package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"claimsdesk/internal/claim"
	"claimsdesk/internal/tariff"
)

// Claims makes the bodies of n claims.
func Claims(n, codes int) ([][]byte, error) {
	rng := rand.New(rand.NewPCG(21, 2))
	out := make([][]byte, 0, n)
	for i := range n {
		c := claim.Claim{Number: fmt.Sprintf("C-%07d", i), Policy: fmt.Sprintf("P-%05d", rng.IntN(90000))}
		for range 2 + rng.IntN(12) {
			c.Items = append(c.Items, claim.Item{Code: tariff.Code(rng.IntN(codes)), Amount: rng.Int64N(40000), Count: 1 + rng.IntN(3)})
		}
		for k := range 1 + rng.IntN(3) {
			data := make([]byte, 2000+rng.IntN(7000))
			for j := range data {
				data[j] = byte(rng.Uint32())
			}
			sum := sha256.Sum256(data)
			c.Receipt = append(c.Receipt, claim.Attachment{Name: fmt.Sprintf("scan%d.jp2", k), Sum: hex.EncodeToString(sum[:]), Data: data})
		}
		raw, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// Run sends claims at a rate from several portals and returns how many were settled.
func Run(settle func([]byte) (int64, error), bodies [][]byte, portals, rate int, end time.Time) int64 {
	var wg sync.WaitGroup
	var done atomic.Int64
	gap := time.Second * time.Duration(portals) / time.Duration(rate)
	for p := range portals {
		wg.Go(func() {
			next := time.Now().Add(gap * time.Duration(p) / time.Duration(portals))
			for n := p; next.Before(end) && time.Now().Before(end); n += portals {
				time.Sleep(time.Until(next))
				next = next.Add(gap)
				if _, err := settle(bodies[n%len(bodies)]); err != nil {
					log.Print(err)
					continue
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return done.Load()
}
