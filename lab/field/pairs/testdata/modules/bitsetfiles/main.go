// Bitsetfiles keeps, for each word of a catalogue, the set of the articles that have it.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"

	"github.com/bits-and-blooms/bitset"
)

const articles = 3000

// index are the sets of n words.
func index(n int) (sets []*bitset.BitSet) {
	for w := range n {
		s := bitset.New(articles)
		for a := w; a < articles; a += 3 + w%50 {
			s.Set(uint(a))
		}
		sets = append(sets, s)
	}
	return sets
}

// save writes all sets into one file.
func save(sets []*bitset.BitSet, file *bytes.Buffer) error {
	for _, s := range sets {
		if _, err := s.WriteTo(file); err != nil {
			return err
		}
	}
	return nil
}

// first reads the set of the first word and counts its articles.
func first(file []byte) (uint, error) {
	var s bitset.BitSet
	if _, err := s.ReadFrom(bytes.NewReader(file)); err != nil {
		return 0, err
	}
	return s.Count(), nil
}

func main() {
	rounds := flag.Int("rounds", 250, "how often the index is saved")
	flag.Parse()
	sets, total := index(5000), uint(0)
	var file bytes.Buffer
	for range *rounds {
		file.Reset()
		if err := save(sets, &file); err != nil {
			log.Fatal(err)
		}
		members, err := first(file.Bytes())
		if err != nil {
			log.Fatal(err)
		}
		total += members
	}
	fmt.Println("members:", total)
	fmt.Printf("operations: %d\n", *rounds*len(sets))
}
