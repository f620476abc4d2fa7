// Command raidparties matches the parties of a game that want to raid.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"time"

	"raidparties/internal/gateway"
	"raidparties/internal/keep"
	"raidparties/internal/party"
	"raidparties/internal/queue"
)

func request(id uint64) []byte {
	p := party.Party{ID: id, Region: []string{"eu", "na", "sa", "jp"}[rand.IntN(4)]}
	for range 2 + rand.IntN(3) {
		pl := party.Player{Name: fmt.Sprintf("player-%05d", rand.IntN(90000)), Class: "mage", Wins: rand.IntN(300), Losses: rand.IntN(300)}
		for range 12 {
			pl.Gear = append(pl.Gear, party.Gear{Item: rand.IntN(5000), Level: rand.IntN(20)})
		}
		p.Players = append(p.Players, pl)
	}
	body, err := json.Marshal(p)
	if err != nil {
		log.Fatal(err)
	}
	return body
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "announce matches the second way")
	rate := flag.Int("rate", 5000, "parties in a second")
	flag.Parse()

	g := &gateway.Gateway{
		Queue:  queue.New(context.Background(), 2*time.Minute, *v2),
		Warden: &keep.Warden{Key: []byte("portcullis")},
	}
	bodies := make([][]byte, 500)
	for i := range bodies {
		bodies[i] = request(uint64(i))
	}
	var wg sync.WaitGroup
	begin := time.Now()
	for i := 0; time.Since(begin) < *dur; {
		for due := int(time.Since(begin).Seconds() * float64(*rate)); i < due; i++ {
			wg.Go(func() { g.Raid(bodies[i%len(bodies)]) })
		}
		time.Sleep(4 * time.Millisecond)
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", g.Matched.Load()+g.Left.Load())
	fmt.Printf("%d parties matched, %d left, %d failed, %d kB of passes\n", g.Matched.Load(), g.Left.Load(), g.Failed.Load(), g.Bytes.Load()/1024)
}
