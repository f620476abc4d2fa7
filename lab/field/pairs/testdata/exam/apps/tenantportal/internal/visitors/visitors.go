// Package visitors looks at the portal as browsers do.
package visitors

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"sync"
	"sync/atomic"
	"time"
)

// Visitors look at pages with panels.
type Visitors struct {
	base   string
	panels []string
}

// New returns visitors of a portal.
func New(base string, panels []string) *Visitors { return &Visitors{base, panels} }

// Browse lets n visitors look at so many pages each, and returns how many there were.
func (v *Visitors) Browse(n, each int) (int64, error) {
	var pages atomic.Int64
	errs := make(chan error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			client := Browser(len(v.panels))
			defer client.CloseIdleConnections()
			for page := range each {
				if _, err := v.Page(client, fmt.Sprintf("f%03d", (i*13+page)%200)); err != nil {
					errs <- err
					return
				}
				pages.Add(1)
				time.Sleep(30 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	close(errs)
	return pages.Load(), <-errs
}

// Browser returns a client with cookies.
func Browser(connections int) *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: 10 * time.Second}
}

// Page asks for the page of a flat and then for its panels, all at once.
func (v *Visitors) Page(client *http.Client, flat string) ([]string, error) {
	if _, err := get(client, v.base+"/flats/"+flat); err != nil {
		return nil, err
	}
	panels, errs := make([]string, len(v.panels)), make([]error, len(v.panels))
	var wg sync.WaitGroup
	for i, name := range v.panels {
		wg.Go(func() { panels[i], errs[i] = get(client, v.base+"/panels/"+name) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return panels, nil
}

func get(client *http.Client, url string) (string, error) {
	r, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("visitors: %s: %s", url, r.Status)
	}
	return string(body), err
}
