// Wordhandover counts the words of a library with a reader and a counter beside it.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
)

func library(pages int) io.Reader {
	var b strings.Builder
	for i := range pages {
		fmt.Fprintf(&b, "on page %d the old man of chapter %d went to the sea with %d fish and a boat\n", i, i/30, i%17)
	}
	return strings.NewReader(b.String())
}

// words sends each word of a book.
func words(r io.Reader, out chan<- string) error {
	defer close(out)
	in := bufio.NewScanner(r)
	in.Split(bufio.ScanWords)
	for in.Scan() {
		out <- in.Text()
	}
	return in.Err()
}

// batches sends words by the hundreds.
func batches(r io.Reader, out chan<- []string) error {
	defer close(out)
	in := bufio.NewScanner(r)
	in.Split(bufio.ScanWords)
	batch := make([]string, 0, 512)
	for in.Scan() {
		if batch = append(batch, in.Text()); len(batch) == cap(batch) {
			out <- batch
			batch = make([]string, 0, 512)
		}
	}
	out <- batch
	return in.Err()
}

func countEach(r io.Reader, counts map[string]int) {
	c := make(chan string)
	go func() {
		if err := words(r, c); err != nil {
			log.Print(err)
		}
	}()
	for w := range c {
		counts[w]++
	}
}

func countBatches(r io.Reader, counts map[string]int) {
	c := make(chan []string, 4)
	go func() {
		if err := batches(r, c); err != nil {
			log.Print(err)
		}
	}()
	for batch := range c {
		for _, w := range batch {
			counts[w]++
		}
	}
}

func main() {
	each := flag.Bool("each", false, "hand over each word by itself")
	books := flag.Int("books", 60, "how many books there are")
	flag.Parse()
	count, total := countBatches, 0
	if *each {
		count = countEach
	}
	for range *books {
		counts := map[string]int{}
		count(library(5000), counts)
		for _, n := range counts {
			total += n
		}
	}
	fmt.Printf("operations: %d\n", total)
}
