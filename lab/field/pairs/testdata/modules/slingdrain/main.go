// Slingdrain asks a warehouse's HTTP interface how much is there of each article; for
// many articles the answer is that there is no such thing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/dghubble/sling"
)

type stock struct {
	Article int    `json:"article"`
	Pieces  int    `json:"pieces"`
	Shelf   string `json:"shelf"`
}

// serve is the warehouse.
func serve(w http.ResponseWriter, r *http.Request) {
	article, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/stock/"))
	if err != nil || article%2 == 1 {
		http.Error(w, "no such article: "+strings.Repeat(r.URL.Path, 20), http.StatusNotFound)
		return
	}
	json.NewEncoder(w).Encode(stock{article, article * 3 % 100, fmt.Sprint("shelf ", article%40)})
}

type warehouse struct{ api *sling.Sling }

func (w *warehouse) stock(article int) (s stock, found bool, err error) {
	resp, err := w.api.New().Get("stock/"+strconv.Itoa(article)).Receive(&s, nil)
	if err != nil {
		return s, false, err
	}
	return s, resp.StatusCode == http.StatusOK, nil
}

func main() {
	n := flag.Int("articles", 12000, "how many articles are asked for")
	flag.Parse()
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	w := &warehouse{sling.New().Base(server.URL + "/")}
	pieces, missing := 0, 0
	for article := range *n {
		s, found, err := w.stock(article)
		if err != nil {
			log.Fatal(err)
		}
		if !found {
			missing++
		}
		pieces += s.Pieces
	}
	fmt.Println("pieces:", pieces, "missing:", missing)
	fmt.Println("operations:", *n)
}
