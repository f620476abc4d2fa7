// Moderation marks comments that have words which a forum does not want.
package main

import (
	"flag"
	"fmt"
	"log"

	"moderation/internal/comments"
	"moderation/internal/words"
)

func main() {
	rounds := flag.Int("rounds", 30, "how often the comments are checked")
	listed := flag.Bool("words", false, "look words up instead of matching them")
	flag.Parse()
	all := comments.Generate(400)
	list := words.List(300)
	var check comments.Checker
	if *listed {
		check = words.NewSet(list)
	} else {
		p, err := words.NewPattern(list)
		if err != nil {
			log.Fatal(err)
		}
		check = p
	}
	marked := 0
	for range *rounds {
		marked += comments.Mark(all, check)
	}
	fmt.Println("marked:", marked)
	fmt.Printf("operations: %d\n", *rounds*len(all))
}
