// Package readers reads discussions and takes part in them, as the readers of a newspaper do.
package readers

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"discussions/internal/forum"
)

// A Crowd are the readers.
type Crowd struct {
	base     string
	client   *http.Client
	articles int
}

// New returns readers of a server.
func New(base string, client *http.Client, articles int) *Crowd {
	return &Crowd{base, client, articles}
}

// Read lets n readers look at one article after the other.
func (c *Crowd) Read(n int, d time.Duration) (int64, error) {
	var visits atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, n)
	end := time.Now().Add(d)
	for reader := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := reader; time.Now().Before(end); i += 7 {
				if err := c.visit(forum.Slug(i%c.articles), i); err != nil {
					errs <- err
					return
				}
				visits.Add(1)
			}
		}()
	}
	wg.Wait()
	close(errs)
	return visits.Load(), <-errs
}

// visit looks at an article's discussion, and now and then writes something.
func (c *Crowd) visit(slug string, i int) error {
	url := c.base + "/articles/" + slug
	if err := read(c.client.Get(url + "/summary")); err != nil {
		return err
	}
	if err := read(c.client.Get(url + "/discussion")); err != nil {
		return err
	}
	if i%500 == 499 {
		body := fmt.Sprintf(`{"by":"reader%d","text":"I take the bus."}`, i)
		return read(c.client.Post(url+"/discussion", "application/json", strings.NewReader(body)))
	}
	return nil
}

func read(r *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode >= 300 {
		return fmt.Errorf("readers: %s", r.Status)
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err
}
