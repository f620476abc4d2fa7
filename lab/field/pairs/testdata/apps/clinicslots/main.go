// Command clinicslots answers wishes for appointments at clinics around the world.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata"

	"clinicslots/internal/book"
	"clinicslots/internal/feed"
	"clinicslots/internal/notice"
	"clinicslots/internal/zones"
)

type desk struct {
	book     *book.Book
	letters  *notice.Writer
	done     atomic.Int64
	accepted atomic.Int64
	written  atomic.Int64
}

func (d *desk) handle(line string, buf *bytes.Buffer) error {
	r, err := feed.Parse(line)
	if err != nil {
		return err
	}
	s, err := d.book.Place(r)
	if err != nil {
		return err
	}
	buf.Reset()
	err = d.letters.Letter(buf, r, s)
	d.done.Add(1)
	d.written.Add(int64(buf.Len()))
	if s.Accepted {
		d.accepted.Add(1)
	}
	return err
}

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 8000, "wishes per second")
	table := flag.Bool("table", true, "use the clock table")
	flag.Parse()

	var clock zones.Clock = zones.System{}
	if *table {
		clock = zones.NewTable()
	}
	d := &desk{book: book.New(clock, 240), letters: notice.NewWriter("northern-lights")}
	lines := feed.Lines(20000, 240)

	in := make(chan string, 1024)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var buf bytes.Buffer
			for line := range in {
				if err := d.handle(line, &buf); err != nil {
					log.Print(err)
				}
			}
		})
	}

	start, sent := time.Now(), 0
	for now := range time.Tick(10 * time.Millisecond) {
		since := now.Sub(start)
		if since > *length {
			break
		}
		for due := int(since.Seconds() * float64(*rate)); sent < due; sent++ {
			in <- lines[sent%len(lines)]
		}
	}
	close(in)
	wg.Wait()

	fmt.Printf("operations: %d\n", d.done.Load())
	fmt.Printf("accepted %d, letters of %d kB\n", d.accepted.Load(), d.written.Load()>>10)
}
