// Package monitors has the bedside and the portable monitors of a hospital.
package monitors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"bedsidetrends/internal/api"
	"bedsidetrends/internal/trend"
)

// Result counts the reports.
type Result struct {
	Done, Failed, Warned atomic.Int64
}

// Run sends rate reports per second until end. A portable monitor gets a new
// number whenever it is plugged in and is mostly just pulled out afterwards.
func Run(url string, rate int, end time.Time) *Result {
	var res Result
	var wg sync.WaitGroup
	const gateways = 6
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: gateways}}
	pause := gateways * time.Second / time.Duration(rate)
	for g := range gateways {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 5))
			portable, left, plugged := "", 0, 0
			second := 0.0
			for at := time.Now(); at.Before(end); at = at.Add(pause) {
				time.Sleep(time.Until(at))
				second += 2
				id := fmt.Sprintf("bed-%d-%d", g, rnd.IntN(6))
				if rnd.IntN(3) == 0 {
					if left == 0 {
						if portable != "" && rnd.IntN(4) == 0 {
							discharge(client, url, portable)
						}
						plugged++
						portable, left = fmt.Sprintf("port-%d-%06d", g, plugged), 2+rnd.IntN(4)
					}
					left--
					id = portable
				}
				send(client, url, id, second, rnd, &res)
			}
		})
	}
	wg.Wait()
	return &res
}

func send(c *http.Client, url, id string, second float64, rnd *rand.Rand, res *Result) {
	rep := api.Report{Monitor: id}
	for i := range 8 {
		rep.Vitals = append(rep.Vitals, trend.Vitals{Second: second + float64(i)/4, Signs: [4]float64{
			60 + rnd.Float64()*45, 91 + rnd.Float64()*8, 98 + rnd.Float64()*40, 12 + rnd.Float64()*10}})
	}
	body, _ := json.Marshal(rep)
	req, _ := http.NewRequest("POST", url+"/vitals", bytes.NewReader(body))
	req.Header.Set("X-Signature", api.Sign(body))
	resp, err := c.Do(req)
	if err != nil {
		res.Failed.Add(1)
		return
	}
	defer resp.Body.Close()
	var ans struct{ Score int }
	if err := json.NewDecoder(resp.Body).Decode(&ans); err != nil || resp.StatusCode != http.StatusOK {
		res.Failed.Add(1)
		return
	}
	io.Copy(io.Discard, resp.Body)
	res.Done.Add(1)
	if ans.Score >= 3 {
		res.Warned.Add(1)
	}
}

func discharge(c *http.Client, url, id string) {
	req, _ := http.NewRequest("DELETE", url+"/monitors/"+id, nil)
	if resp, err := c.Do(req); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
