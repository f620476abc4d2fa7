// Flightzones computes how long flights take from the local times of their tickets.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"
	"time"
)

var zones = map[string]string{"ZRH": "Europe/Zurich", "JFK": "America/New_York", "NRT": "Asia/Tokyo", "SYD": "Australia/Sydney", "GRU": "America/Sao_Paulo"}

// A clock knows the time zones of airports.
type clock struct {
	loaded map[string]*time.Location
	keep   bool
}

func (c *clock) location(airport string) (*time.Location, error) {
	if l := c.loaded[airport]; l != nil {
		return l, nil
	}
	l, err := time.LoadLocation(zones[airport])
	if err == nil && c.keep {
		c.loaded[airport] = l
	}
	return l, err
}

// local reads the time of an airport.
func (c *clock) local(airport, text string) (time.Time, error) {
	l, err := c.location(airport)
	if err != nil {
		return time.Time{}, err
	}
	return time.ParseInLocation("2006-01-02 15:04", text, l)
}

func (c *clock) duration(ticket string) (time.Duration, error) {
	f := strings.Split(ticket, ",")
	if len(f) != 5 {
		return 0, fmt.Errorf("no ticket: %q", ticket)
	}
	off, err := c.local(f[1], f[2])
	if err != nil {
		return 0, err
	}
	on, err := c.local(f[3], f[4])
	return on.Sub(off), err
}

func tickets(n int) (all []string) {
	airports := []string{"ZRH", "JFK", "NRT", "SYD", "GRU"}
	for i := range n {
		at := time.Date(2026, 1, 1+i%300, i%24, i%60, 0, 0, time.UTC)
		all = append(all, fmt.Sprintf("LX%d,%s,%s,%s,%s", i, airports[i%5], at.Format("2006-01-02 15:04"), airports[i*3%5], at.Add(9*time.Hour).Format("2006-01-02 15:04")))
	}
	return all
}

func main() {
	load := flag.Bool("load", false, "load the zone of each ticket")
	rounds := flag.Int("rounds", 10, "how often all tickets are read")
	flag.Parse()
	c := &clock{map[string]*time.Location{}, !*load}
	all, longest := tickets(5000), time.Duration(0)
	for range *rounds {
		for _, t := range all {
			d, err := c.duration(t)
			if err != nil {
				log.Fatal(err)
			}
			longest = max(longest, d)
		}
	}
	fmt.Println("longest:", longest)
	fmt.Printf("operations: %d\n", *rounds*len(all))
}
