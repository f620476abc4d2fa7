// Antsrelease works through batches of letters, each with a pool of workers of its own.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
)

// batch counts the words of letters with four workers.
func batch(letters []string) (int64, error) {
	pool, err := ants.NewPool(4)
	if err != nil {
		return 0, err
	}
	defer pool.Release()
	var words atomic.Int64
	var wg sync.WaitGroup
	for _, l := range letters {
		wg.Add(1)
		err := pool.Submit(func() {
			defer wg.Done()
			words.Add(int64(len(strings.Fields(l))))
		})
		if err != nil {
			return 0, err
		}
	}
	wg.Wait()
	return words.Load(), nil
}

func main() {
	batches := flag.Int("batches", 2500, "batches of letters")
	flag.Parse()
	letters := make([]string, 40)
	for i := range letters {
		letters[i] = strings.Repeat("dear sirs, we thank you ", 10+i)
	}
	words := int64(0)
	for range *batches {
		n, err := batch(letters)
		if err != nil {
			log.Fatal(err)
		}
		words += n
		time.Sleep(time.Millisecond) // the next batch comes
	}
	fmt.Println("words:", words)
	fmt.Printf("operations: %d\n", *batches)
}
