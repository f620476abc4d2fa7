// Command inboxfilters delivers mail by the filters of its users.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"inboxfilters/internal/account"
	"inboxfilters/internal/delivery"
	"inboxfilters/internal/mail"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	users := flag.Int("users", 260, "users with settings")
	rate := flag.Int("rate", 500, "messages a second")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()
	if err := run(*length, *users, *rate, *v2); err != nil {
		log.Fatal(err)
	}
}

func run(length time.Duration, users, rate int, v2 bool) error {
	dir, err := os.MkdirTemp("", "inboxfilters")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := account.Write(dir, users, 45); err != nil {
		return err
	}
	begin := time.Now()
	s, err := delivery.Open(dir, v2)
	if err != nil {
		return err
	}
	ready := time.Since(begin)

	rnd := rand.New(rand.NewPCG(1, 6))
	start, n := time.Now(), 0
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for now := start; now.Sub(start) < length; now = <-t.C {
		for due := int(now.Sub(start).Seconds() * float64(rate)); n < due; n++ {
			user := account.User(min(rnd.IntN(30)*rnd.IntN(4)/3, users-1))
			if err := s.Deliver(mail.Sample(rnd, user)); err != nil {
				return err
			}
		}
	}
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("folders with mail: %d, ready after %v\n", s.Folders(), ready.Round(time.Millisecond))
	return nil
}
