// Command newsmerge writes the monthly letter to all members of a club.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"newsmerge/internal/letters"
	"newsmerge/internal/mime"
	"newsmerge/internal/outbox"
	"newsmerge/internal/people"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	sets := flag.Bool("sets", true, "one form for each language")
	flag.Parse()

	members := people.Members(5000)
	press, err := letters.NewPress(*sets)
	if err != nil {
		log.Fatal(err)
	}
	box, err := outbox.New()
	if err != nil {
		log.Fatal(err)
	}
	var next atomic.Int64
	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var page, mail bytes.Buffer
			for time.Now().Before(stop) {
				m := &members[int(next.Add(1))%len(members)]
				page.Reset()
				mail.Reset()
				if err := press.Write(&page, m); err != nil {
					log.Fatal(err)
				}
				if err := mime.Pack(&mail, m, page.Bytes()); err != nil {
					log.Fatal(err)
				}
				if err := box.Add(mail.Bytes()); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", box.Mails)
	fmt.Printf("bundles %d, %d kB\n", box.Bundles, box.Bytes>>10)
}
