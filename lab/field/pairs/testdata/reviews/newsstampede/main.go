// Newsstampede shows the front page of a newspaper, which is made anew ten times a
// second.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

type story struct {
	title string
	reads int
	words []string
}

func newsroom() (all []story) {
	for i := range 12000 {
		all = append(all, story{fmt.Sprintf("Story %d", i), i * 7919 % 10007, strings.Fields(strings.Repeat("lorem ipsum dolor ", 8))})
	}
	return all
}

// frontPage chooses the stories that matter now.
func frontPage(all []story, now time.Time) string {
	scores := map[string]float64{}
	for i, s := range all {
		fresh := 1 + float64((i*31+now.Second())%100)
		scores[s.title] = float64(s.reads) / fresh * float64(len(s.words))
	}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b story) int { return cmp.Compare(scores[b.title], scores[a.title]) })
	var b strings.Builder
	for _, s := range sorted[:40] {
		fmt.Fprintf(&b, "<h2>%s</h2><p>%s</p>\n", s.title, strings.Join(s.words, " "))
	}
	return b.String()
}

type cache struct {
	mu     sync.Mutex
	page   string
	made   time.Time
	making bool
	stale  bool // an old page will do while one makes a new one
	make   func() string
}

const lifetime = 100 * time.Millisecond

func (c *cache) get() string {
	c.mu.Lock()
	if c.page != "" && (time.Since(c.made) < lifetime || c.stale && c.making) {
		defer c.mu.Unlock()
		return c.page
	}
	c.making = true
	c.mu.Unlock()
	page := c.make()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.page, c.made, c.making = page, time.Now(), false
	return page
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	fresh := flag.Bool("fresh", false, "never show an old page")
	flag.Parse()
	all := newsroom()
	c := &cache{stale: !*fresh, make: func() string { return frontPage(all, time.Now()) }}
	http.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.get()) })
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
