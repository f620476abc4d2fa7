// Bookinglogs books the seats of trains and keeps a journal of what it did.
package main

import (
	"flag"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const seats = 600

// A train knows which of its seats are taken on which legs.
type train struct {
	id    int
	taken [seats]uint32
}

// book finds a seat that is free on all legs from one stop to another.
func (t *train) book(from, to int, verbose bool) (seat int, ok bool) {
	legs := uint32(1)<<to - uint32(1)<<from
	for s := range t.taken {
		if t.taken[s]&legs == 0 {
			t.taken[s] |= legs
			if verbose {
				slog.Info("seat booked", "train", t.id, "seat", s, "from", from, "to", to)
			}
			return s, true
		}
		if verbose && s%100 == 0 {
			slog.Debug("seat taken", "train", t.id, "seat", s)
		}
	}
	if verbose {
		slog.Warn("train is full", "train", t.id, "from", from, "to", to)
	}
	return 0, false
}

func main() {
	verbose := flag.Bool("verbose", false, "log each booking")
	wishes := flag.Int("bookings", 300000, "how many bookings are asked for")
	dir := flag.String("dir", ".", "where the journal is")
	flag.Parse()
	journal, err := os.Create(filepath.Join(*dir, "journal.log"))
	if err != nil {
		log.Fatal(err)
	}
	defer journal.Close()
	slog.SetDefault(slog.New(slog.NewTextHandler(journal, nil)))
	r := rand.New(rand.NewPCG(5, 6))
	booked, day := 0, []*train{}
	for i := range *wishes {
		if i%20000 == 0 {
			day = day[:0]
			for id := range 20 {
				day = append(day, &train{id: id})
			}
			slog.Info("a day begins", "booked", booked)
		}
		from := r.IntN(18)
		if _, ok := day[r.IntN(len(day))].book(from, from+1+r.IntN(10), *verbose); ok {
			booked++
		}
	}
	fmt.Println("booked:", booked)
	fmt.Printf("operations: %d\n", *wishes)
}
