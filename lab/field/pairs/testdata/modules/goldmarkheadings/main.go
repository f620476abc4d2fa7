// Goldmarkheadings renders the notes of a project, one page for each year, with links to
// the headings.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
)

// notes are a year's releases, each with the same headings.
func notes(year, releases int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Releases of %d\n\n", year)
	for i := range releases {
		fmt.Fprintf(&b, "## %d.%d\n\nReleased on a *%s*.\n\n", year, i, []string{"Monday", "Tuesday", "Friday"}[i%3])
		for _, part := range []string{"Added", "Changed", "Fixed"} {
			fmt.Fprintf(&b, "### %s\n\n- `option-%d` of the **server**, see [the manual](https://example.com/%d)\n\n", part, i, i)
		}
	}
	return []byte(b.String())
}

func render(md goldmark.Markdown, text []byte) (int, error) {
	var page bytes.Buffer
	if err := md.Convert(text, &page); err != nil {
		return 0, err
	}
	return page.Len(), nil
}

func main() {
	pages := flag.Int("pages", 8, "how many are rendered")
	releases := flag.Int("releases", 1200, "releases in a page")
	flag.Parse()
	md := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	size := 0
	for i := range *pages {
		n, err := render(md, notes(2000+i, *releases))
		if err != nil {
			log.Fatal(err)
		}
		size += n
	}
	fmt.Println("bytes:", size)
	fmt.Printf("operations: %d\n", *pages)
}
