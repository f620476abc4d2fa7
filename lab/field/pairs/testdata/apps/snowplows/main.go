// Command snowplows dispatches a town's snow ploughs.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"snowplows/internal/board"
	"snowplows/internal/dispatch"
	"snowplows/internal/fleet"
	"snowplows/internal/route"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	each := flag.Bool("each", true, "variant of the board")
	count := flag.Int("ploughs", 900, "connected ploughs")
	flag.Parse()

	ploughs := fleet.Make(*count)
	c := &dispatch.Centre{Board: board.New(*count, *each), Grid: route.NewGrid(24)}
	var wg sync.WaitGroup
	for _, p := range ploughs {
		wg.Go(func() { c.Session(p) })
	}
	c.Run(ploughs, 2500*time.Microsecond, time.Now().Add(*span))
	time.Sleep(50 * time.Millisecond)
	c.Board.Close()
	wg.Wait()
	fmt.Printf("operations: %d\n", c.Sent.Load())
	fmt.Printf("%d orders driven, %d minutes, %d bytes sent\n", c.Driven.Load(), c.Minutes.Load(), c.Bytes.Load())
}
