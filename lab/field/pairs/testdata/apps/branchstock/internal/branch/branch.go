// Package branch plays the branches of a chain of hardware shops, each with a service of its own.
package branch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Article is on the shelves of a branch.
type Article struct {
	SKU   string  `json:"sku"`
	Title string  `json:"title"`
	Price float64 `json:"price"`
	Count int     `json:"count"`
}

var (
	things = []string{"hammer", "drill", "hinge", "paint", "tile", "brush", "plug", "hose", "valve", "ladder", "bucket", "screw"}
	traits = []string{"steel", "white", "long", "heavy", "cordless", "brass", "outdoor", "small", "double", "quiet"}
)

// Stock makes the articles of a branch.
func Stock(no, n int) []Article {
	rnd := rand.New(rand.NewPCG(uint64(no), 70))
	out := make([]Article, n)
	for i := range out {
		out[i] = Article{SKU: fmt.Sprintf("%05d-%02d", rnd.IntN(4000), rnd.IntN(20)), Count: rnd.IntN(60), Price: 1 + float64(rnd.IntN(20000))/100,
			Title: traits[rnd.IntN(len(traits))] + " " + traits[rnd.IntN(len(traits))] + " " + things[rnd.IntN(len(things))]}
	}
	return out
}

// Handler serves the stock of all branches at /branch/N/stock, over lines that take a while.
func Handler(articles int, delay time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		no, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/branch/"), "/stock"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		time.Sleep(delay + time.Duration(no%7)*time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(Stock(no, articles))
	})
}
