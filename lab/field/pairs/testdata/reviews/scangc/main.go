// Scangc scans the pages of documents for the names in them, with little memory.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"unicode"
)

type document struct{ pages []string }

// dictionary has the names that are looked for.
func dictionary(n int) map[string][]string {
	out := map[string][]string{}
	for i := range n {
		out[fmt.Sprintf("Name%d", i)] = []string{fmt.Sprintf("person %d", i), fmt.Sprintf("town %d", i%900)}
	}
	return out
}

func scan(n int) document {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	var d document
	for range 6 {
		var b strings.Builder
		for range 300 {
			fmt.Fprintf(&b, "Name%d went to see word%d, ", r.IntN(60000), r.IntN(1000))
		}
		d.pages = append(d.pages, b.String())
	}
	return d
}

func names(d document, known map[string][]string) (n int) {
	for _, page := range d.pages {
		for _, word := range strings.FieldsFunc(page, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if _, ok := known[word]; ok {
				n++
			}
		}
	}
	return n
}

func main() {
	free := flag.Bool("free", false, "give memory back after each document")
	documents := flag.Int("documents", 1000, "how many documents are scanned")
	flag.Parse()
	known, found := dictionary(40000), 0
	for n := range *documents {
		found += names(scan(n), known)
		if *free {
			debug.FreeOSMemory()
		}
	}
	fmt.Println("names:", found)
	fmt.Printf("operations: %d\n", *documents)
}
