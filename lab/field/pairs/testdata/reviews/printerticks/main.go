// Printerticks hands the jobs of an office to its printers.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

type job struct{ id, pages int }

// A printer prints what is in its tray.
type printer struct {
	mu    sync.Mutex
	tray  []job
	ready chan struct{}
	pages int
}

func (p *printer) submit(j job) {
	p.mu.Lock()
	p.tray = append(p.tray, j)
	p.mu.Unlock()
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// print empties the tray.
func (p *printer) print() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.tray {
		p.pages += j.pages
	}
	p.tray = p.tray[:0]
}

func (p *printer) watch(every time.Duration, closed <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.print()
		case <-closed:
			return
		}
	}
}

func (p *printer) wait(closed <-chan struct{}) {
	for {
		select {
		case <-p.ready:
			p.print()
		case <-closed:
			return
		}
	}
}

func main() {
	every := flag.Duration("every", 0, "look into trays at this `interval` rather than wait")
	how := flag.Duration("for", 5*time.Second, "how long the office is open")
	flag.Parse()
	closed := make(chan struct{})
	var printing sync.WaitGroup
	printers := make([]*printer, 40)
	for i := range printers {
		printers[i] = &printer{ready: make(chan struct{}, 1)}
		printing.Go(func() {
			if *every > 0 {
				printers[i].watch(*every, closed)
			} else {
				printers[i].wait(closed)
			}
		})
	}
	jobs := 0
	for until := time.Now().Add(*how); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		printers[jobs%len(printers)].submit(job{jobs, 1 + jobs%20})
		jobs++
	}
	close(closed)
	printing.Wait()
	fmt.Printf("operations: %d\n", jobs)
}
