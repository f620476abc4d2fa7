// Package load plays the readers.
package load

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Result is what the readers got.
type Result struct {
	Pages, Failed, Bytes int64
}

// Run lets readers ask for pages at a rate.
func Run(base string, slugs []string, rate int, length time.Duration) Result {
	var pages, failed, bytes atomic.Int64
	jobs := make(chan string, rate)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for slug := range jobs {
				n, err := get(client, base+"/threads/"+slug)
				if err != nil {
					failed.Add(1)
					continue
				}
				pages.Add(1)
				bytes.Add(n)
			}
		})
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	rng := rand.New(rand.NewPCG(1, 2))
	for end := time.Now().Add(length); time.Now().Before(end); {
		<-tick.C
		jobs <- slugs[rng.IntN(len(slugs))]
	}
	close(jobs)
	wg.Wait()
	return Result{pages.Load(), failed.Load(), bytes.Load()}
}

func get(client *http.Client, url string) (int64, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.Copy(io.Discard, resp.Body)
}
