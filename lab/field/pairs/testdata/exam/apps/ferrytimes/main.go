// Ferrytimes lets the desks of a harbour ask replicas of a timetable when the next ferry goes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"ferrytimes/internal/desk"
	"ferrytimes/internal/dial"
	"ferrytimes/internal/replica"
	"ferrytimes/internal/timetable"
)

func main() {
	replicas := flag.Int("replicas", 4, "replicas of the timetable")
	travellers := flag.Int("travellers", 60, "travellers that come to the desks in a second")
	last := flag.Duration("for", 6*time.Second, "how long the desks are open")
	others := flag.String("others", "register", "what a race does with connections that come after the first: register or hang-up")
	flag.Parse()
	if err := run(*replicas, *travellers, *last, *others); err != nil {
		fmt.Fprintln(os.Stderr, "ferrytimes:", err)
		os.Exit(1)
	}
}

func run(replicas, travellers int, last time.Duration, others string) error {
	late, err := dial.ParseLate(others)
	if err != nil {
		return err
	}
	table := timetable.Generate(40)
	var addrs []string
	for i := range replicas {
		s, err := replica.Start(table, time.Duration(1+i)*time.Millisecond)
		if err != nil {
			return err
		}
		defer s.Close()
		addrs = append(addrs, s.Addr())
	}
	racer := dial.NewRacer(addrs, late)
	defer racer.Shutdown()
	d := desk.New(racer)

	ctx, cancel := context.WithTimeout(context.Background(), last+2*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Second / time.Duration(travellers))
	defer tick.Stop()
	var wg sync.WaitGroup
	n := 0
	for begin := time.Now(); time.Since(begin) < last; <-tick.C {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d.Advise(ctx, n)
		}()
		n++
	}
	wg.Wait()
	fmt.Printf("answers: %d, without: %d\n", d.Answers(), d.Failed())
	fmt.Printf("operations: %d\n", n)
	return nil
}
