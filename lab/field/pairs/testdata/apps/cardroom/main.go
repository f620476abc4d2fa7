// Command cardroom runs a room of card players.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"cardroom/internal/crowd"
	"cardroom/internal/room"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 300, "players per second")
	notes := flag.Bool("notes", true, "tell players of idle seats")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	m := room.New(250*time.Millisecond, *notes)
	var w crowd.Wire
	players := crowd.Run(ctx, m, &w, *rate)
	fmt.Printf("operations: %d\n", m.Hands)
	fmt.Printf("%d players, %d seated, %d swept, %d kB sent\n", players, m.Seated(), m.Swept, w.Bytes()>>10)
}
