// Dirsync keeps the directory of an office up to date: it reads it again and again and
// tells who has changed.
package main

import (
	"flag"
	"fmt"

	"dirsync/internal/directory"
	"dirsync/internal/watch"
)

func main() {
	people := flag.Int("people", 3000, "people in the directory")
	rounds := flag.Int("rounds", 300, "how often it is read")
	revisions := flag.Bool("revisions", false, "believe revisions")
	flag.Parse()
	d := directory.New(*people)
	w := watch.New(d, *revisions)
	changed := 0
	for round := range *rounds {
		d.Move(round*7919%*people, fmt.Sprintf("room %d", round))
		for _, name := range w.Poll() {
			if name != "" {
				changed++
			}
		}
	}
	fmt.Println("changed:", changed)
	fmt.Printf("operations: %d\n", *rounds)
}
