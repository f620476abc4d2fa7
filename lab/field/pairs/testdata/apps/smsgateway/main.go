// Smsgateway takes short messages from customers and gives each once to a carrier.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"smsgateway/internal/carrier"
	"smsgateway/internal/intake"
	"smsgateway/internal/routing"
	"smsgateway/internal/window"
)

var texts = []string{
	"Your parcel will come tomorrow between 9 and 12.", "Your code is 448 221. Never tell it to anybody.",
	"Reminder: dentist on Thursday, 14:30. Reply NO to cancel. We ask you to tell us a day before, so that others can come. Thank you, the practice at the market.",
	"Ваш заказ готов", "Table for 4 at 19:00 is confirmed.",
}

type source struct {
	rnd *rand.Rand
	buf []byte
	n   int
}

func (s *source) next() []byte {
	n := s.n
	if s.rnd.IntN(12) == 0 {
		n -= s.rnd.IntN(min(n+1, 4000))
	} else {
		s.n++
	}
	b := append(s.buf[:0], "ref-2026-"...)
	b = strconv.AppendInt(b, int64(1000000000+n), 10)
	b = append(b, "|shop"...)
	b = strconv.AppendInt(b, int64(n%500), 10)
	b = append(b, "|+"...)
	b = strconv.AppendInt(b, int64(1+s.rnd.IntN(98)), 10)
	b = append(b, " (0"...)
	b = strconv.AppendInt(b, int64(s.rnd.IntN(99999999)), 10)
	b = append(b, ")-10|"...)
	s.buf = append(b, texts[n%len(texts)]...)
	return s.buf
}

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second version of the window")
	room := flag.Int("room", 300000, "messages in the window")
	flag.Parse()

	var seen window.Window = window.NewRecent(*room)
	if *v2 {
		seen = window.NewRing(*room)
	}
	table := routing.NewTable(3000)
	var bind carrier.Bind
	src := &source{rnd: rand.New(rand.NewPCG(1, 2))}
	for range *room {
		if m, err := intake.Parse(src.next()); err == nil {
			seen.Seen(m.ID, strings.ToUpper(m.From), time.Now())
		}
	}
	var ops, twice, bad int
	for end := time.Now().Add(*d); time.Now().Before(end); ops++ {
		m, err := intake.Parse(src.next())
		if err != nil {
			bad++
			continue
		}
		if seen.Seen(m.ID, strings.ToUpper(m.From), time.Now()) {
			twice++
			continue
		}
		bind.Submit(m, table.Find(m.To))
	}
	if bad > ops/10 {
		log.Fatalf("%d of %d messages not understood", bad, ops)
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("parts: %d, twice: %d, remembered: %d, cost: %.2f\n", bind.Parts, twice, seen.Len(), bind.Cost)
}
