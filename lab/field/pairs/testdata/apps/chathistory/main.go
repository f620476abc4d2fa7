// Chathistory keeps what was said in the rooms of a chat, the newest first.
package main

import (
	"flag"
	"fmt"

	"chathistory/internal/history"
	"chathistory/internal/talk"
)

func main() {
	messages := flag.Int("messages", 60000, "what is said")
	rooms := flag.Int("rooms", 4, "rooms of the chat")
	keep := flag.String("keep", "ring", "how it is kept: ring or list")
	flag.Parse()
	var all []history.Room
	for range *rooms {
		if *keep == "list" {
			all = append(all, history.NewList(4000))
		} else {
			all = append(all, history.NewRing(4000))
		}
	}
	letters := 0
	for i := range *messages {
		room := all[i%*rooms]
		room.Say(talk.Message(i))
		if i%100 == 0 {
			for _, m := range room.Newest(20) {
				letters += len(m.Text)
			}
		}
	}
	fmt.Println("letters:", letters)
	fmt.Printf("operations: %d\n", *messages)
}
