// Command scooterdesk is the desk of a scooter rental: it takes messages of
// the scooters, keeps the holds on them and assigns them to depots.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"scooterdesk/internal/depots"
	"scooterdesk/internal/holds"
	"scooterdesk/internal/riders"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	saved := flag.Int("saved", 280000, "holds in the snapshot")
	rate := flag.Int("rate", 16000, "messages per second")
	v2 := flag.Bool("v2", true, "use the second desk protocol")
	flag.Parse()

	desk := holds.NewDesk(depots.City(24), *v2)
	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	desk.Restore(riders.Snapshot(*saved))
	go desk.ExpireEvery(ctx, 5*time.Millisecond)

	city := riders.City{Desk: desk}
	city.Ride(ctx, *rate)

	s := desk.Stats()
	fmt.Printf("operations: %d\n", s.Handled)
	fmt.Printf("%d holds open, %d expired, %d released, %d messages refused, %.0f km to depots\n",
		s.Open, s.Expired, s.Released, s.Refused, s.Meters/1000)
}
