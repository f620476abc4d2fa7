// Membershipcards keeps the members of a club in memory and prints their cards.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"membershipcards/internal/cards"
	"membershipcards/internal/members"
)

func main() {
	n := flag.Int("members", 120000, "members of the club")
	prints := flag.Int("cards", 600000, "cards to print")
	percent := flag.Int("gc", 100, "how much the heap may grow between two collections, in percent")
	flag.Parse()
	debug.SetGCPercent(*percent)
	club := members.Load(*n)
	p := cards.Printer{Club: club}
	size := 0
	for i := range *prints {
		card, ok := p.Card(i * 7919 % *n)
		if !ok {
			fmt.Fprintln(os.Stderr, "no member", i)
			os.Exit(1)
		}
		size += len(card)
	}
	fmt.Println("bytes:", size)
	fmt.Printf("operations: %d\n", *prints)
}
