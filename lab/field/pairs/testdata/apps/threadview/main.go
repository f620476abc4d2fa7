// Command threadview serves the threads of a forum.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"threadview/internal/api"
	"threadview/internal/forum"
	"threadview/internal/load"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 150, "pages per second")
	comments := flag.Int("comments", 45, "comments of a thread")
	views := flag.Bool("views", true, "answer with views")
	flag.Parse()

	store := forum.Fill(200, *comments)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, api.New(store, *views))

	res := load.Run("http://"+ln.Addr().String(), store.Slugs(), *rate, *length)
	fmt.Printf("operations: %d\n", res.Pages)
	fmt.Printf("failed %d, %d kB sent\n", res.Failed, res.Bytes>>10)
}
