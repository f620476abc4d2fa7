// Package travellers plays people who search.
package travellers

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"farefinder/internal/fares"
)

// Searches makes n addresses as the forms of our partners make them.
func Searches(n int) []string {
	rng := rand.New(rand.NewPCG(2, 71))
	out := make([]string, n)
	for i := range out {
		from := rng.IntN(len(fares.Cities))
		to := (from + 1 + rng.IntN(len(fares.Cities)-1)) % len(fares.Cities)
		q := url.Values{
			"from": {strings.ToLower(fares.Cities[from])}, "to": {fares.Cities[to]}, "date": {fmt.Sprintf("2026-0%d-1%d", 1+rng.IntN(9), rng.IntN(10))},
			"adults": {strconv.Itoa(1 + rng.IntN(3))}, "children": {strconv.Itoa(rng.IntN(3))}, "stops": {strconv.Itoa(rng.IntN(3))},
			"price": {strconv.Itoa(400 + rng.IntN(2000))}, "earliest": {strconv.Itoa(rng.IntN(600))}, "latest": {strconv.Itoa(900 + rng.IntN(540))},
			"bags": {strconv.Itoa(rng.IntN(2))}, "sort": {"price"}, "limit": {"10"}, "currency": {"EUR"}, "market": {"de-DE"},
			"carriers": {"AX,BQ,CV,DN"}, "utm_source": {"partner mail"}, "utm_campaign": {"spring & summer 2026"},
			"session": {fmt.Sprintf("%016x", rng.Uint64())},
		}
		out[i] = "/search?" + q.Encode()
	}
	return out
}

// Search asks for one page.
func Search(client *http.Client, url string) (int64, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("search: %s", resp.Status)
	}
	return n, err
}
