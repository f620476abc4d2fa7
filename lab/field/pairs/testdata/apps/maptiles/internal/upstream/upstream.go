// Package upstream fetches tiles.
package upstream

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// A Fetcher fetches tiles from an origin.
type Fetcher struct {
	Base    string
	Client  *http.Client
	Workers int
	// Store puts a tile away, in the time that a disk takes.
	Store func(size int64)
}

// Region fetches n tiles and counts their bytes.
func (f *Fetcher) Region(n int) (int64, error) {
	jobs, failed := make(chan int, f.Workers), make(chan error, 1)
	var total atomic.Int64
	var wg sync.WaitGroup
	for range f.Workers {
		wg.Go(func() {
			for i := range jobs {
				size, err := f.tile(12, i%4096, i/4096)
				if err != nil {
					select {
					case failed <- err:
					default:
					}
				}
				total.Add(size)
				f.Store(size)
			}
		})
	}
	for i := range n {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return total.Load(), nil
	}
}

func (f *Fetcher) tile(z, x, y int) (int64, error) {
	resp, err := f.Client.Get(fmt.Sprintf("%s/%d/%d/%d", f.Base, z, x, y))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("tile %d/%d/%d: %s", z, x, y, resp.Status)
	}
	return io.Copy(io.Discard, resp.Body)
}
