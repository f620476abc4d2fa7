// Package scanner plays the scanners of the offices.
package scanner

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Result of a run.
type Result struct {
	Done, Refused int
	Spent         time.Duration
}

// Mean time of an answer.
func (r Result) Mean() time.Duration { return r.Spent / time.Duration(max(1, r.Done+r.Refused)) }

// Run sends pages at the rate for the duration.
func Run(url string, rate int, d time.Duration) Result {
	tr := &http.Transport{MaxIdleConnsPerHost: 16}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: 10 * time.Second}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var res Result
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 9))
			end := time.After(d)
			for {
				select {
				case <-end:
					return
				case <-tick.C:
				}
				start := time.Now()
				ok := send(client, fmt.Sprintf("%s/pages/office%02d", url, rnd.IntN(40)), page(rnd))
				mu.Lock()
				if ok {
					res.Done++
				} else {
					res.Refused++
				}
				res.Spent += time.Since(start)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return res
}

func send(c *http.Client, url string, body []byte) bool {
	resp, err := c.Post(url, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}

// page is a few lines of grey values; one in fifty is too large.
func page(rnd *rand.Rand) []byte {
	n := 18<<10 + rnd.IntN(20<<10)
	if rnd.IntN(50) == 0 {
		n += 60 << 10
	}
	p := make([]byte, n)
	v := rnd.Uint64()
	for i := range p {
		v = v*6364136223846793005 + 1442695040888963407
		p[i] = byte(200 + v>>59)
		if i%13 < 3 {
			p[i] = byte(v >> 58)
		}
	}
	return p
}
