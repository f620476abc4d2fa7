// Package depot plays the planning system of the depots.
package depot

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

	"crewroster/internal/api"
	"crewroster/internal/wire"
)

var stops = []string{"Halden", "Moss", "Ski", "Oslo S", "Lillestrøm", "Eidsvoll", "Hamar", "Otta", "Dombås", "Trondheim"}

type post struct {
	body []byte
	sig  string
}

// Planner sends duties.
type Planner struct {
	URL   string
	posts []post
	Sent  atomic.Int64
	Bad   atomic.Int64
}

// NewPlanner writes the messages of a day.
func NewPlanner(url string, key []byte) *Planner {
	p := &Planner{URL: url}
	rnd := rand.New(rand.NewPCG(7, 11))
	day := time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)
	for n := range 240 {
		crew := fmt.Sprintf("crew-%04d", rnd.IntN(900))
		var msg any = map[string]any{"kind": "release", "serial": n, "data": wire.Release{Crew: crew, Reason: "sick leave"}}
		if n%9 != 0 {
			a := wire.Assignment{Crew: crew, Depot: stops[rnd.IntN(len(stops))]}
			at, from := day.Add(time.Duration(rnd.IntN(300))*time.Minute), rnd.IntN(len(stops))
			for i := range 10 + rnd.IntN(14) {
				to := rnd.IntN(len(stops))
				end := at.Add(time.Duration(10+rnd.IntN(50)) * time.Minute)
				a.Legs = append(a.Legs, wire.Leg{Train: fmt.Sprintf("R%d", 1000+rnd.IntN(800)), From: stops[from], To: stops[to],
					Departs: at, Arrives: end, Metres: 4000 + rnd.IntN(90000), Role: "driver", Deadhead: i%5 == 4})
				at, from = end.Add(time.Duration(rnd.IntN(20))*time.Minute), to
			}
			msg = map[string]any{"kind": "assign", "serial": n, "data": a}
		}
		body, _ := json.Marshal(msg)
		p.posts = append(p.posts, post{body, api.Sign(key, body)})
	}
	return p
}

// Run sends rate messages a second from several depots.
func (p *Planner) Run(rate, depots int, d time.Duration) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: depots}}
	gap := time.Second * time.Duration(depots) / time.Duration(rate)
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for n := range depots {
		wg.Go(func() {
			next := time.Now().Add(gap * time.Duration(n) / time.Duration(depots))
			for i := n; next.Before(end); i += depots {
				time.Sleep(time.Until(next))
				next = next.Add(gap)
				p.send(client, p.posts[i%len(p.posts)])
			}
		})
	}
	wg.Wait()
}

func (p *Planner) send(client *http.Client, m post) {
	req, _ := http.NewRequest(http.MethodPost, p.URL, bytes.NewReader(m.body))
	req.Header.Set("X-Signature", m.sig)
	resp, err := client.Do(req)
	if err != nil {
		p.Bad.Add(1)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		p.Bad.Add(1)
	}
	p.Sent.Add(1)
}
