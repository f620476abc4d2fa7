// Sessionsregistry is a shop that counts the visits of each customer in a session kept
// in a cookie.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/gorilla/sessions"
)

var store = sessions.NewCookieStore([]byte("a-key-of-thirty-two-bytes-length"))

func visit(w http.ResponseWriter, r *http.Request) {
	session, err := store.Get(r, "shop")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	visits, _ := session.Values["visits"].(int)
	session.Values["visits"] = visits + 1
	if err := session.Save(r, w); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, "you came %d times\n", visits+1)
}

func health(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "fine")
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("/visit", visit)
	mux.HandleFunc("/health", health)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, mux))
}
