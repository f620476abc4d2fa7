// Blackfridaydocs renders the pages of a handbook with blackfriday.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"

	"github.com/russross/blackfriday/v2"
)

func chapter(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Chapter %d\n\n", n)
	for i := range 12 {
		fmt.Fprintf(&b, "## Part %d\n\nTurn the *valve* and wait for `%d` seconds.\n\n* one\n* two\n\n", i, i*n)
	}
	return b.Bytes()
}

func main() {
	flag.Parse()
	pages := make([][]byte, 20)
	for i := range pages {
		pages[i] = chapter(i)
	}
	pace(func(n int) error {
		if len(blackfriday.Run(pages[n%len(pages)])) == 0 {
			return errors.New("a page is empty")
		}
		return nil
	})
}
