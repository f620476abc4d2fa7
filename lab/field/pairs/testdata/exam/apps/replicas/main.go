// Replicas keeps the settings of a cluster, which a leader offers to its followers.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"time"

	"replicas/internal/follower"
	"replicas/internal/leader"
	"replicas/internal/state"
)

// change sets values, some in a second.
func change(s *state.State, names int, pause time.Duration) {
	for tick := time.NewTicker(pause); ; <-tick.C {
		s.Set(fmt.Sprintf("service/%d/replicas", rand.IntN(names)), fmt.Sprint(rand.IntN(20)))
	}
}

func main() {
	followers := flag.Int("followers", 4, "followers of the leader")
	names := flag.Int("names", 800, "settings that there are")
	streams := flag.Bool("streams", false, "send snapshots as streams")
	rate := flag.Int("rate", 120, "offers in a second")
	pause := flag.Duration("pause", 100*time.Millisecond, "time between two changes")
	d := flag.Duration("for", 6*time.Second, "how long")
	flag.Parse()
	s := state.New()
	for i := range *names {
		s.Set(fmt.Sprintf("service/%d/replicas", i), "1")
	}
	var addrs []string
	for range *followers {
		addr, err := follower.New().Listen()
		if err != nil {
			log.Fatal(err)
		}
		addrs = append(addrs, addr)
	}
	go change(s, *names, *pause)
	l := leader.New(s, leader.Options{Streams: *streams}, addrs)
	offered, taken, err := l.Run(*rate, *d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("taken:", taken, "bytes:", l.Sent.Bytes())
	fmt.Println("operations:", offered)
}
