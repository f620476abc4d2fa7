// Clubchatter is the chat of sports clubs.
package main

import (
	"flag"
	"fmt"
	"sync/atomic"
	"time"

	"clubchatter/internal/lexicon"
	"clubchatter/internal/members"
	"clubchatter/internal/rooms"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "kept form of codes")
	rate := flag.Int("rate", 2500, "posts per second")
	flag.Parse()

	codes := lexicon.NewSet(*kept)
	codes.Add("club", "SV Harbour 04")
	hub := rooms.NewHub()
	var bytes atomic.Int64
	var names []string
	for i := range 40 {
		name := fmt.Sprintf("club%02d", i)
		names = append(names, name)
		hub.Open(name, codes, members.Crowd(name, 24, &bytes))
	}
	members.Chat(hub, names, codes.Codes(), *rate, *d)
	n := hub.Close()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("frames of %d bytes on average\n", bytes.Load()/int64(max(n*24, 1)))
}
