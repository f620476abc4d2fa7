// Contactforms takes the messages that visitors of a site write into a form.
package main

import (
	"flag"
	"log"
	"net/http"

	"contactforms/internal/form"
	"contactforms/internal/inbox"
	"contactforms/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	room := flag.Int("room", 4<<10, "bytes that are set aside for a message at first")
	flag.Parse()
	box := inbox.New(500)
	h := form.Handler{Inbox: box, Room: *room, Limit: 4 << 20}
	mux := http.NewServeMux()
	mux.Handle("POST /messages", h)
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
