// Xmlfeeds reads feeds as XML and finds their newest entries with xmlquery.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
)

func feed(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<feed><title>News</title>")
	for i := range 20 {
		fmt.Fprintf(&b, `<entry id="%d"><title>Entry %d of %d</title><link href="/e/%d"/></entry>`, i, i, n, i)
	}
	b.WriteString("</feed>")
	return b.Bytes()
}

func main() {
	flag.Parse()
	titles, err := xpath.Compile("/feed/entry/title")
	if err != nil {
		log.Fatal(err)
	}
	texts := make([]string, 16)
	for i := range texts {
		texts[i] = string(feed(i))
	}
	pace(func(n int) error {
		doc, err := xmlquery.Parse(strings.NewReader(texts[n%len(texts)]))
		if err != nil {
			return err
		}
		if found := xmlquery.QuerySelectorAll(doc, titles); len(found) != 20 {
			return fmt.Errorf("%d titles, want 20", len(found))
		}
		return nil
	})
}
