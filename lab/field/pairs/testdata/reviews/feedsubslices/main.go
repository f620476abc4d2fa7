// Feedsubslices reads the feeds of newspapers and remembers the identifiers of what it
// has seen.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"
)

// A reader remembers what it has seen, by the day.
type reader struct {
	clone bool
	seen  map[string]struct{}
	order []string
}

// download gets a feed.
func download(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<feed><id>urn:feed:%08d</id>\n", n)
	for i := range 80 {
		fmt.Fprintf(&b, "<entry><title>News %d of %d</title><body>%s</body></entry>\n", i, n, lorem)
	}
	b.WriteString("</feed>")
	return b.Bytes()
}

var lorem = strings.Repeat("lorem ipsum dolor sit amet ", 12)

func id(feed string) (string, bool) {
	_, rest, ok := strings.Cut(feed, "<id>")
	if !ok {
		return "", false
	}
	id, _, ok := strings.Cut(rest, "</id>")
	return id, ok
}

// read remembers a feed and reports whether it is new.
func (r *reader) read(feed string) (bool, error) {
	id, ok := id(feed)
	if !ok {
		return false, fmt.Errorf("no identifier in %.40q", feed)
	}
	if _, ok := r.seen[id]; ok {
		return false, nil
	}
	if r.clone {
		id = strings.Clone(id)
	}
	r.seen[id] = struct{}{}
	r.order = append(r.order, id)
	return true, nil
}

func main() {
	clone := flag.Bool("clone", false, "remember copies of identifiers")
	how := flag.Duration("for", 8*time.Second, "how long feeds are read")
	flag.Parse()
	r := &reader{clone: *clone, seen: map[string]struct{}{}}
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	until, fresh, n := time.Now().Add(*how), 0, 0
	for ; time.Now().Before(until); n++ {
		<-tick.C
		isNew, err := r.read(string(download(n - n%7)))
		if err != nil {
			log.Fatal(err)
		}
		if isNew {
			fresh++
		}
		if _, err := r.read(string(download(n))); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("new feeds:", fresh)
	fmt.Printf("operations: %d\n", n)
}
