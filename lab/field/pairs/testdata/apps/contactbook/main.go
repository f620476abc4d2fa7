// Contactbook finds contacts by a part of their names, while somebody types.
package main

import (
	"flag"
	"log"

	"contactbook/internal/api"
	"contactbook/internal/contacts"
	"contactbook/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	n := flag.Int("contacts", 4000, "contacts in the book")
	folded := flag.Bool("folded", true, "keep names as they are compared")
	flag.Parse()
	book := contacts.NewBook(*folded)
	for i := range *n {
		book.Add(contacts.Generate(i))
	}
	if err := ops.Serve(*addr, api.Handler(book)); err != nil {
		log.Fatal(err)
	}
}
