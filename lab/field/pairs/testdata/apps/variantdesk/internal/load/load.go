// Package load plays the storefronts.
package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"variantdesk/internal/api"
)

// Run sends about perSecond requests for the time given, and returns how many were answered.
func Run(url string, perSecond int, d time.Duration) int64 {
	const shops = 8
	var ok atomic.Int64
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: shops}}
	for s := range shops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewSource(int64(s)))
			gap := time.Second * shops / time.Duration(perSecond)
			start := time.Now()
			for next := time.Duration(s) * gap / shops; next < d; next += gap {
				time.Sleep(time.Until(start.Add(next)))
				if ask(client, url, rng) {
					ok.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	return ok.Load()
}

func ask(c *http.Client, url string, rng *rand.Rand) bool {
	pages := []string{"home", "list", "product", "basket", "checkout", "account"}
	body, _ := json.Marshal(api.Request{
		Visitor: fmt.Sprintf("v-%08x", rng.Intn(1<<20)),
		Page:    pages[rng.Intn(len(pages))],
		Country: []string{"de", "fr", "it"}[rng.Intn(3)],
		Device:  map[string]string{"os": "android", "app": "5.2.1", "lang": "de-DE"},
	})
	resp, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK
}
