// Logintokens keeps who is logged in, and for how long.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"logintokens/internal/ops"
	"logintokens/internal/session"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	users := flag.Int("users", 15000, "users who are logged in")
	every := flag.Duration("sweep", time.Second, "how often ended sessions are removed; 0 is at each look")
	flag.Parse()
	store := session.NewStore(*every)
	for i := range *users {
		store.Begin(fmt.Sprintf("user-%06d", i), time.Hour+time.Duration(i)*time.Second)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		s, ok := store.Get(session.Token(r.FormValue("user")))
		if !ok {
			http.Error(w, "log in", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "%s until %s\n", s.User, s.Until.Format(time.TimeOnly))
	})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
