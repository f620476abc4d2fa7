// Orderrequests shows the orders of a customer, whose articles another server knows.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

type article struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Cents int    `json:"cents"`
}

func lookUp(id int) article { return article{id, fmt.Sprintf("article %d", id), id % 5000} }

func serve(w http.ResponseWriter, v any) {
	time.Sleep(2 * time.Millisecond) // its database
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

// articles is the other server.
func articles() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		serve(w, lookUp(id))
	})
	mux.HandleFunc("POST /articles", func(w http.ResponseWriter, r *http.Request) {
		var ids []int
		if err := json.NewDecoder(r.Body).Decode(&ids); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var all []article
		for _, id := range ids {
			all = append(all, lookUp(id))
		}
		serve(w, all)
	})
	go func() { log.Fatal(http.Serve(l, mux)) }()
	return "http://" + l.Addr().String(), nil
}

type shop struct {
	articles string
	client   *http.Client
}

func decode(resp *http.Response, v any) error {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("articles: %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

func (s *shop) each(ids []int) (all []article, err error) {
	for _, id := range ids {
		resp, err := s.client.Get(fmt.Sprintf("%s/articles/%d", s.articles, id))
		if err != nil {
			return nil, err
		}
		var one article
		if err := decode(resp, &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (s *shop) together(ids []int) (all []article, err error) {
	body, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Post(s.articles+"/articles", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return all, decode(resp, &all)
}

func ordered(customer int) (ids []int) {
	for i := range 25 {
		ids = append(ids, customer*31+i*17)
	}
	return ids
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	each := flag.Bool("each", false, "ask for each article")
	flag.Parse()
	base, err := articles()
	if err != nil {
		log.Fatal(err)
	}
	s := &shop{base, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	ask := s.together
	if *each {
		ask = s.each
	}
	http.HandleFunc("GET /orders/{customer}", func(w http.ResponseWriter, r *http.Request) {
		customer, err := strconv.Atoi(r.PathValue("customer"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		all, err := ask(ordered(customer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		sum := 0
		for _, a := range all {
			sum += a.Cents
		}
		fmt.Fprintf(w, "%d articles, %d.%02d\n", len(all), sum/100, sum%100)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
