// Librarytransports lends books, after asking a catalogue whether they are there.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"
)

type copies struct {
	ISBN string `json:"isbn"`
	Left int    `json:"left"`
}

// catalogue is another server of the library.
func catalogue() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books/{isbn}", func(w http.ResponseWriter, r *http.Request) {
		isbn := r.PathValue("isbn")
		if err := json.NewEncoder(w).Encode(copies{isbn, len(isbn) % 7}); err != nil {
			log.Print(err)
		}
	})
	go func() { log.Fatal(http.Serve(l, mux)) }()
	return "http://" + l.Addr().String(), nil
}

type desk struct {
	catalogue string
	client    *http.Client
}

func newClient() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: time.Second}).DialContext,
		TLSHandshakeTimeout: time.Second,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     3 * time.Second,
	}}
}

// left is how many copies of a book are there.
func (d *desk) left(isbn string) (int, error) {
	client := d.client
	if client == nil {
		client = newClient()
	}
	resp, err := client.Get(d.catalogue + "/books/" + url.PathEscape(isbn))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var c copies
	err = json.NewDecoder(resp.Body).Decode(&c)
	return c.Left, err
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	fresh := flag.Bool("fresh", false, "a client for each question")
	flag.Parse()
	base, err := catalogue()
	if err != nil {
		log.Fatal(err)
	}
	d := &desk{catalogue: base}
	if !*fresh {
		d.client = newClient()
	}
	http.HandleFunc("POST /lend", func(w http.ResponseWriter, r *http.Request) {
		n, err := d.left(r.FormValue("isbn"))
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
		case n == 0:
			http.Error(w, "all copies are lent", http.StatusConflict)
		default:
			fmt.Fprintln(w, "lent; left:", n-1)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
