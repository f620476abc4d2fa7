// Corsheaders is an interface for browsers of other sites.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"
)

type weather struct {
	City    string  `json:"city"`
	Degrees float64 `json:"degrees"`
}

func forecast(w http.ResponseWriter, r *http.Request) {
	city := r.URL.Query().Get("city")
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(weather{city, float64(len(city)) * 3.5}); err != nil {
		log.Print(err)
	}
}

func serve(address string) error {
	c := cors.New(cors.Options{
		AllowedOrigins: []string{"https://weather.example"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "X-Request-Id"},
		AllowedMethods: []string{http.MethodGet, http.MethodPut},
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/forecast", forecast)
	fmt.Println("listening on", address)
	return http.ListenAndServe(address, c.Handler(mux))
}

// crawl asks for permission in the odd way of a crawler, for some time.
func crawl(address string, takes time.Duration) {
	asked := strings.Repeat(",", 200000)
	var crawlers sync.WaitGroup
	end := time.Now().Add(takes)
	for range 4 {
		crawlers.Go(func() {
			for time.Now().Before(end) {
				r, err := http.NewRequest(http.MethodOptions, address, nil)
				if err != nil {
					log.Fatal(err)
				}
				r.Header.Set("Origin", "https://weather.example")
				r.Header.Set("Access-Control-Request-Method", http.MethodPut)
				r.Header.Set("Access-Control-Request-Headers", asked)
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					log.Fatal(err)
				}
				answer.Body.Close()
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	crawlers.Wait()
}

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "where to listen")
	client := flag.String("client", "", "crawl this `URL` instead")
	flag.Parse()
	if *client != "" {
		crawl(*client, 4*time.Second)
		return
	}
	log.Fatal(serve(*address))
}
