// Newsfeedgzip serves feeds of news, compressed for those who accept that.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"newsfeedgzip/internal/compress"
	"newsfeedgzip/internal/feed"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	recycle := flag.Bool("recycle", true, "use compressors again")
	flag.Parse()
	store := feed.NewStore(60)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /feed/{section}", store.Handle)
	middleware := compress.Middleware{Recycle: *recycle}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, middleware.Wrap(mux)))
}
