// Package planners asks as the planners of the works do.
package planners

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Totals is what the planners got.
type Totals struct {
	Answers, Bytes, Assemblies atomic.Int64
}

// Run asks at a rate until the end.
func Run(base string, planners, rate, machines int, end time.Time) *Totals {
	tr := &http.Transport{MaxIdleConnsPerHost: planners}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: 10 * time.Second}
	var t Totals
	var wg sync.WaitGroup
	gap := time.Second * time.Duration(planners) / time.Duration(rate)
	for p := range planners {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(p), 1))
			next := time.Now().Add(gap * time.Duration(p) / time.Duration(planners))
			for ; next.Before(end) && time.Now().Before(end); next = next.Add(gap) {
				time.Sleep(time.Until(next))
				if err := t.ask(client, base, rng, machines); err != nil {
					log.Print(err)
				}
			}
		})
	}
	wg.Wait()
	return &t
}

func (t *Totals) ask(c *http.Client, base string, rng *rand.Rand, machines int) error {
	var resp *http.Response
	var err error
	if m := rng.IntN(machines); rng.IntN(3) > 0 {
		resp, err = c.Get(fmt.Sprintf("%s/machines/%d", base, m))
	} else {
		order := fmt.Sprintf(`{"Machine":%d,"Count":%d}`, m, 1+rng.IntN(30))
		resp, err = c.Post(base+"/missing", "application/json", strings.NewReader(order))
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	t.Answers.Add(1)
	t.Bytes.Add(int64(len(body)))
	t.Assemblies.Add(int64(bytes.Count(body, []byte(`"parts"`))))
	return nil
}
