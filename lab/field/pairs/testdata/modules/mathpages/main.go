// Mathpages makes plain texts of pages with formulas, which users have uploaded.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"golang.org/x/net/html"
)

// page is an exported page, whose formulas carry their source with them.
func page(formulas, source int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Notes</title><h1>Notes</h1>")
	note := strings.Repeat("application/X-Formula;Source=", source/29)
	for i := range formulas {
		fmt.Fprintf(&b, `<p>Formula %d: <math><annotation-xml encoding="%s">`, i, note)
		for k := range 40 {
			fmt.Fprintf(&b, "<ci>x%d</ci>", k)
		}
		b.WriteString("</annotation-xml></math></p>")
	}
	return b.String()
}

// text is what a page says.
func text(n *html.Node, b *strings.Builder) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		text(c, b)
	}
}

func convert(source string) (string, error) {
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	text(root, &b)
	return b.String(), nil
}

func main() {
	pages := flag.Int("pages", 60, "pages to convert")
	flag.Parse()
	size := 0
	for i := range *pages {
		out, err := convert(page(20, 6000+i*50))
		if err != nil {
			log.Fatal(err)
		}
		size += len(out)
	}
	fmt.Println("letters:", size)
	fmt.Printf("operations: %d\n", *pages)
}
