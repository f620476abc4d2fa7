// Liveboard sends the scores of games to those who watch, in streams of lines.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"time"

	"liveboard/internal/games"
	"liveboard/internal/ops"
	"liveboard/internal/stream"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	leave := flag.Bool("leave", true, "forget watchers who left")
	flag.Parse()
	hub := games.NewHub(*leave)
	go func() {
		for i := 0; ; i++ {
			time.Sleep(4 * time.Millisecond)
			hub.Publish(games.Score{Game: fmt.Sprint("game-", i%3), Home: i % 80, Away: i % 77})
		}
	}()
	mux := http.NewServeMux()
	mux.Handle("GET /games/{game}", stream.Handler{Hub: hub, Scores: 3})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
