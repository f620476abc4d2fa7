// Package visitors looks for flats.
package visitors

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Result is what the visitors saw.
type Result struct {
	mu    sync.Mutex
	Took  []time.Duration
	Bytes int64
	Bad   int
}

// Browse sends rate searches a second for a while.
func Browse(base string, dur time.Duration, rate int) *Result {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 5 * time.Second}
	res := &Result{}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	wishes := []string{"balcony", "park", "quiet", "south", "lift"}
	var wg sync.WaitGroup
	end := time.Now().Add(dur)
	for i := 0; time.Now().Before(end); i++ {
		<-tick.C
		url := fmt.Sprintf("%s/search?user=%c%d&rooms=%d&rent=%d&wish=%s", base, 'a'+i%26, i, 1+i%4, 700+i%900, wishes[i%len(wishes)])
		wg.Go(func() { res.get(c, url) })
	}
	wg.Wait()
	slices.Sort(res.Took)
	return res
}

func (res *Result) get(c *http.Client, url string) {
	t0 := time.Now()
	resp, err := c.Get(url)
	var n int64
	if err == nil {
		n, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	took := time.Since(t0)
	res.mu.Lock()
	defer res.mu.Unlock()
	if err != nil || resp.StatusCode != http.StatusOK {
		res.Bad++
		return
	}
	res.Took = append(res.Took, took)
	res.Bytes += n
}
