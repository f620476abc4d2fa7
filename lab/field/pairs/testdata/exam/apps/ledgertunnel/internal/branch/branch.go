// Package branch are the branches, which ask the ledger.
package branch

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Town has branches.
type Town struct {
	Addr      string
	Questions int // of a visit
}

// A Sum is about visits.
type Sum struct{ Visits, Answers, Cents int }

// visit asks what somebody at the counter wants to know, over a connection.
func (t *Town) visit(n int) (sum Sum, err error) {
	c, err := net.DialTimeout("tcp", t.Addr, 3*time.Second)
	if err != nil {
		return sum, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return sum, err
	}
	in := bufio.NewReaderSize(c, 1024)
	for q := range t.Questions {
		account := (n*31 + q*7) % 5000
		if q%3 == 2 {
			_, err = fmt.Fprintf(c, "book %d %d\n", account, 5)
		} else {
			_, err = fmt.Fprintf(c, "balance %d\n", account)
		}
		if err != nil {
			return sum, err
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return sum, err
		}
		var of, cents int
		if _, err := fmt.Sscanf(line, "ok %d %d", &of, &cents); err != nil || of != account {
			return sum, fmt.Errorf("branch: account %d: %q", account, line)
		}
		sum.Answers++
		sum.Cents += cents
		time.Sleep(3 * time.Millisecond) // the clerk's program draws it
	}
	sum.Visits = 1
	return sum, nil
}

// Open lets so many visitors come in a second.
func (t *Town) Open(rate int, span time.Duration) (total Sum, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := time.Now()
	for n := range int(float64(rate) * span.Seconds()) {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		wg.Add(1)
		go func() {
			defer wg.Done()
			sum, failed := t.visit(n)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				err = failed
			}
			total.Visits += sum.Visits
			total.Answers += sum.Answers
			total.Cents += sum.Cents
		}()
	}
	wg.Wait()
	return total, err
}
