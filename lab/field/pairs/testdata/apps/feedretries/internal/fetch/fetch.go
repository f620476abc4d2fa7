// Package fetch fetches feeds.
package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Fetcher fetches from one server.
type Fetcher struct {
	URL      string
	Workers  int
	Attempts int
	Wait     time.Duration
	Client   *http.Client
}

func (f *Fetcher) once(ctx context.Context, feed int) (ok bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/feeds/%d", f.URL, feed), nil)
	if err != nil {
		return false, err
	}
	resp, err := f.Client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK, err
}

// one tries until the server has time.
func (f *Fetcher) one(ctx context.Context, feed int) error {
	wait := f.Wait
	for range f.Attempts {
		ok, err := f.once(ctx, feed)
		if ok || err != nil {
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Second)
	}
	return fmt.Errorf("feed %d: the server had no time", feed)
}

// All fetches all feeds and counts them.
func (f *Fetcher) All(ctx context.Context, n int) (int64, error) {
	jobs, failed := make(chan int), make(chan error, f.Workers)
	var fetched atomic.Int64
	var wg sync.WaitGroup
	for range f.Workers {
		wg.Go(func() {
			for feed := range jobs {
				if err := f.one(ctx, feed); err != nil {
					failed <- err
					return
				}
				fetched.Add(1)
			}
		})
	}
	for i := range n {
		select {
		case jobs <- i:
		case err := <-failed:
			return fetched.Load(), err
		}
	}
	close(jobs)
	wg.Wait()
	return fetched.Load(), nil
}
