// Pongopages is a site of a club, rendered with templates of pongo2 that are parsed once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/flosch/pongo2/v6"
)

var page = pongo2.Must(pongo2.FromString(`<!doctype html>
<title>{{ club|title }}</title>
<h1>Results of {{ club|title }}</h1>
<table>
{% for g in games %}<tr class="{% cycle "odd" "even" %}"><td>{{ g.Against }}</td><td>{{ g.Won }}:{{ g.Lost }}</td>
<td>{% if g.Won > g.Lost %}won{% else %}lost{% endif %}</td></tr>
{% endfor %}</table>
<p>{{ games|length }} games</p>
`))

type game struct {
	Against   string
	Won, Lost int
}

func season() []game {
	out := make([]game, 0, 30)
	for i := range 30 {
		out = append(out, game{"Club " + strconv.Itoa(i), i % 5, i % 3})
	}
	return out
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	games := season()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /clubs/{club}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := page.ExecuteWriter(pongo2.Context{"club": r.PathValue("club"), "games": games}, w); err != nil {
			log.Print(err)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
