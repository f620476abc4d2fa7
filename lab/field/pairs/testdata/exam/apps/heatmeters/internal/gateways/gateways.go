// Package gateways sends the readings of houses.
package gateways

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"heatmeters/internal/readings"
)

// A gateway stands in a house, with a client of its own.
type gateway struct {
	url    string
	client *http.Client
	rnd    *rand.Rand
}

// A Fleet are all gateways.
type Fleet struct{ gateways []*gateway }

// New returns n gateways that send to a server.
func New(url string, roots *x509.CertPool, n int) *Fleet {
	f := &Fleet{}
	for i := range n {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, IdleConnTimeout: time.Minute}
		f.gateways = append(f.gateways, &gateway{
			url:    fmt.Sprintf("%s/houses/h%03d/readings", url, i),
			client: &http.Client{Transport: transport, Timeout: 5 * time.Second},
			rnd:    rand.New(rand.NewSource(int64(i))),
		})
	}
	return f
}

// Send lets each gateway send so often, and returns how often all did.
func (f *Fleet) Send(every, d time.Duration) (int64, error) {
	var sent atomic.Int64
	errs := make(chan error, len(f.gateways))
	var wg sync.WaitGroup
	begun := time.Now()
	for i, g := range f.gateways {
		wg.Add(1)
		go func() {
			defer wg.Done()
			at := begun.Add(every * time.Duration(i) / time.Duration(len(f.gateways)))
			for ; at.Before(begun.Add(d)); at = at.Add(every) {
				time.Sleep(time.Until(at))
				if _, err := g.send(); err != nil {
					errs <- err
					return
				}
				sent.Add(1)
			}
			g.client.CloseIdleConnections()
		}()
	}
	wg.Wait()
	close(errs)
	return sent.Load(), <-errs
}

// send sends what the meters of the house say.
func (g *gateway) send() (a readings.Answer, err error) {
	batch := make([]readings.Reading, 12)
	for i := range batch {
		batch[i] = readings.Reading{Meter: i, Seconds: 15, Flow: 20 + 30*g.rnd.Float64(), Warm: 55 + 9*g.rnd.Float64(), Cold: 38 + 4*g.rnd.Float64()}
	}
	body, err := json.Marshal(batch)
	if err != nil {
		return a, err
	}
	request, err := http.NewRequest(http.MethodPut, g.url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r, err := g.client.Do(request)
	if err != nil {
		return a, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return a, fmt.Errorf("gateways: %s", r.Status)
	}
	if err = json.NewDecoder(r.Body).Decode(&a); err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return a, err
}
