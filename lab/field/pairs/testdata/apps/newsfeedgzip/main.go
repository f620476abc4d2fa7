// Newsfeedgzip serves feeds of news, compressed for those who accept that.
package main

import (
	"flag"
	"log"
	"net/http"

	"newsfeedgzip/internal/compress"
	"newsfeedgzip/internal/feed"
	"newsfeedgzip/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	recycle := flag.Bool("recycle", true, "use compressors again")
	flag.Parse()
	store := feed.NewStore(60)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /feed/{section}", store.Handle)
	middleware := compress.Middleware{Recycle: *recycle}
	if err := ops.Serve(*addr, middleware.Wrap(mux)); err != nil {
		log.Fatal(err)
	}
}
