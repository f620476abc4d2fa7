// Resiliencydeadline asks a catalogue for prices; an answer that takes too long is
// replaced by the last known price.
package main

import (
	"flag"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/eapache/go-resiliency/deadline"
)

type catalogue struct {
	last  map[int]int
	limit *deadline.Deadline
}

// ask is the remote service: each third answer is late.
func ask(article int) int {
	if article%3 == 0 {
		time.Sleep(15 * time.Millisecond)
	}
	return article * 7 % 1000
}

func (c *catalogue) price(article int) (price int, late bool) {
	var answer atomic.Int64
	err := c.limit.Run(func(<-chan struct{}) error {
		history := make([]int, 200)
		for i := range history {
			history[i] = ask(article) + i
			if i == 0 && article%3 == 0 {
				break
			}
		}
		answer.Store(int64(history[0]))
		return nil
	})
	if err == deadline.ErrTimedOut {
		return c.last[article%100], true
	}
	c.last[article%100] = int(answer.Load())
	return int(answer.Load()), false
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long prices are asked for")
	flag.Parse()
	c := &catalogue{last: map[int]int{}, limit: deadline.New(time.Millisecond)}
	n, late, sum := 0, 0, 0
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		price, wasLate := c.price(n)
		sum += price
		if wasLate {
			late++
		}
	}
	fmt.Println("late:", late, "sum:", sum)
	fmt.Println("operations:", n)
}
