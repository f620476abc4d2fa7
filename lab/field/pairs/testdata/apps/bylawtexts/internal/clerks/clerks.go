// Package clerks plays the clerks who amend texts.
package clerks

import (
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

var words = strings.Fields(`the council may by resolution grant an exemption from this section where the
owner of adjacent land has given consent in writing fee waste water meter parcel tree market stall "licence"
shall be paid within thirty days & notice of appeal lies with the district office`)

func sentence(rng *rand.Rand) string {
	n := 6 + rng.Intn(9)
	out := make([]string, n)
	for i := range out {
		out[i] = words[rng.Intn(len(words))]
	}
	return strings.Join(out, " ") + "."
}

// Text makes a by-law of n lines.
func Text(rng *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		if i%12 == 0 {
			out[i] = fmt.Sprintf("§ %d %s", i/12+1, words[rng.Intn(len(words))])
			continue
		}
		out[i] = fmt.Sprintf("(%d) %s", i%12, sentence(rng))
	}
	return out
}

// Clerk amends one by-law now and then.
type Clerk struct {
	URL   string
	Name  string
	Lines []string
	Rng   *rand.Rand
}

// Work amends perSecond times for the time given, and returns how often it went well.
func (c *Clerk) Work(client *http.Client, perSecond float64, d time.Duration) int {
	done := 0
	start := time.Now()
	gap := time.Duration(float64(time.Second) / perSecond)
	for next := time.Duration(c.Rng.Int63n(int64(gap))); next < d; next += gap {
		time.Sleep(time.Until(start.Add(next)))
		at := c.Rng.Intn(len(c.Lines) - 6)
		for range 1 + c.Rng.Intn(3) {
			c.Lines[at+c.Rng.Intn(6)] = sentence(c.Rng)
		}
		req, err := http.NewRequest("PUT", c.URL+"/bylaws/"+c.Name, strings.NewReader(strings.Join(c.Lines, "\n")))
		if err != nil {
			return done
		}
		req.Header.Set("X-Clerk", "desk "+c.Name)
		resp, err := client.Do(req)
		if err != nil {
			continue
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			done++
		}
	}
	return done
}

// All lets the clerks work side by side.
func All(list []*Clerk, rate float64, d time.Duration) int {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(list)}}
	results := make([]int, len(list))
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() { results[i] = c.Work(client, rate/float64(len(list)), d) })
	}
	wg.Wait()
	sum := 0
	for _, n := range results {
		sum += n
	}
	return sum
}
