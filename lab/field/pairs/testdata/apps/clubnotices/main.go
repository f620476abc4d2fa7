// clubnotices sends the notices of a sports association to its clubs.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"clubnotices/internal/clubs"
	"clubnotices/internal/courier"
	"clubnotices/internal/inbox"
	"clubnotices/internal/notice"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the courier")
	rate := flag.Int("rate", 50, "notices per second")
	flag.Parse()

	box, err := inbox.Start(4)
	if err != nil {
		log.Fatal(err)
	}
	dir := clubs.Load(40, 2500, box.Addrs())
	c := courier.New(dir, courier.Options{V2: *v2, Tries: 3})
	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	desk := notice.NewDesk(c.Deliver, dir)
	desk.Run(ctx, *rate, 4)

	sent, failed := desk.Counts()
	fmt.Printf("operations: %d\n", sent)
	fmt.Printf("failed: %d, second tries: %d\n", failed, c.Retries())
	fmt.Printf("received: %d, of these with wrong seal: %d\n", box.Received(), box.Wrong())
}
