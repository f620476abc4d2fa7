// Phrasebook translates the sentences of a menu into the language that was asked for.
package main

import (
	"flag"
	"fmt"
	"log"

	"phrasebook/internal/dictionary"
	"phrasebook/internal/translate"
)

func main() {
	language := flag.String("language", "l07", "the language")
	phrases := flag.Int("phrases", 60000, "phrases of each language")
	sentences := flag.Int("sentences", 3000, "sentences to translate")
	all := flag.Bool("all", false, "load all languages")
	flag.Parse()
	shelf := dictionary.Shelf{Phrases: *phrases}
	var err error
	if *all {
		err = shelf.LoadAll()
	} else {
		err = shelf.Load(*language)
	}
	if err != nil {
		log.Fatal(err)
	}
	t, err := translate.New(&shelf, *language)
	if err != nil {
		log.Fatal(err)
	}
	letters := 0
	for i := range *sentences {
		letters += len(t.Sentence(fmt.Sprintf("w%d w%d w%d", i, i*3, i*7)))
	}
	fmt.Println("letters:", letters)
	fmt.Printf("operations: %d\n", *sentences)
}
