// Command skipasses admits skiers to lifts and follows their rides.
package main

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skipasses/internal/pass"
	"skipasses/internal/rides"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "variant of the store")
	skiers := flag.Int("skiers", 6000, "skiers on the mountain")
	flag.Parse()

	signer := pass.NewSigner("season-2026")
	texts := make([]string, *skiers)
	for i := range texts {
		kind := []string{"day", "season", "child", "staff"}[i%4]
		texts[i] = signer.Issue(pass.Pass{ID: fmt.Sprintf("P%07d", i), Kind: kind, Until: 1790000000})
	}
	desk := rides.NewDesk(signer, *v2)
	var ops, refused atomic.Int64
	var wg sync.WaitGroup
	stop := time.Now().Add(*dur)
	gates := 8
	for g := range gates {
		wg.Go(func() {
			var onLift []string
			for i := g; time.Now().Before(stop); i += gates {
				r, err := desk.Board(texts[i%len(texts)], (i/3)%16)
				ops.Add(1)
				if err != nil {
					refused.Add(1)
					continue
				}
				onLift = append(onLift, r.Pass)
				if len(onLift) == 60 {
					for _, id := range onLift {
						desk.Leave(id)
					}
					onLift = onLift[:0]
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("riding: %d full chairs: %d refused: %d\n", desk.Riding(), desk.Full(), refused.Load())
}
