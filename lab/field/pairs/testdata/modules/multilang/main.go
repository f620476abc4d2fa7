// Multilang counts the languages that the readers of a site ask for, out of its log.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"

	"golang.org/x/text/language"
)

var offered = []language.Tag{language.English, language.German, language.French, language.Dutch, language.Polish}

// accessLog is a log of n requests, a few of which come from a client that is broken.
func accessLog(n int) io.Reader {
	wanted := []string{"de-DE,de;q=0.9,en;q=0.7", "fr-CH, fr;q=0.9, en;q=0.8, *;q=0.5", "nl", "pl,en-US;q=0.7,en;q=0.3"}
	broken := "de-t" + strings.Repeat("-abc", 15000)
	var b strings.Builder
	for i := range n {
		header := wanted[i%len(wanted)]
		if i%400 == 399 {
			header = broken
		}
		fmt.Fprintf(&b, "10.0.%d.%d\t/news/%d\t%s\n", i%7, i%250, i, header)
	}
	return strings.NewReader(b.String())
}

type counter struct {
	matcher language.Matcher
	readers map[string]int
	strange int
}

func (c *counter) add(line string) {
	fields := strings.Split(line, "\t")
	tags, _, err := language.ParseAcceptLanguage(fields[2])
	if err != nil {
		c.strange++
		return
	}
	_, i, _ := c.matcher.Match(tags...)
	c.readers[offered[i].String()]++
}

func (c *counter) read(r io.Reader) (n int, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		c.add(lines.Text())
		n++
	}
	return n, lines.Err()
}

func main() {
	requests := flag.Int("requests", 150000, "lines of the log")
	flag.Parse()
	c := &counter{matcher: language.NewMatcher(offered), readers: map[string]int{}}
	n, err := c.read(accessLog(*requests))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.readers, c.strange)
	fmt.Printf("operations: %d\n", n)
}
