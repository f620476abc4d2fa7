// Package dispatch gives reports to workers and keeps the order of each light.
package dispatch

import (
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"

	"lighthouselogs/internal/chart"
	"lighthouselogs/internal/registry"
	"lighthouselogs/internal/report"
)

// Dispatcher has a queue for each worker.
type Dispatcher struct {
	queues []chan *report.Report
	wg     sync.WaitGroup
	done   atomic.Int64
	whole  bool
}

// Start connects the workers.
func Start(workers int, addr string, c *chart.Chart, whole bool) (*Dispatcher, error) {
	d := &Dispatcher{whole: whole}
	for range workers {
		cl, err := registry.Dial(addr)
		if err != nil {
			return nil, err
		}
		q := make(chan *report.Report, 32)
		d.queues = append(d.queues, q)
		d.wg.Go(func() { d.work(q, cl, c) })
	}
	return d, nil
}

func (d *Dispatcher) work(q <-chan *report.Report, cl *registry.Client, c *chart.Chart) {
	defer cl.Close()
	for r := range q {
		miles, err := cl.Record(r.Light)
		if err != nil {
			continue
		}
		c.Mark(r, miles)
		d.done.Add(1)
	}
}

func (d *Dispatcher) queue(id string) chan<- *report.Report {
	key := id
	if !d.whole {
		key, _, _ = strings.Cut(id, "-")
	}
	h := fnv.New32a()
	h.Write([]byte(key))
	return d.queues[h.Sum32()%uint32(len(d.queues))]
}

// Submit hands a report to its worker.
func (d *Dispatcher) Submit(r *report.Report) {
	d.queue(r.Light) <- r
}

// Wait ends the workers and returns how many reports were recorded.
func (d *Dispatcher) Wait() int64 {
	for _, q := range d.queues {
		close(q)
	}
	d.wg.Wait()
	return d.done.Load()
}
