// Runewidthwrap sets the chapters of a book for a terminal.
package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// chapter is a text of n words, without any ends of lines.
func chapter(n int) string {
	words := []string{"The", "house", "stood", "alone", "above", "the", "river,", "and", "nobody", "had", "lived", "there", "since", "the", "flood."}
	var b strings.Builder
	for i := range n {
		b.WriteString(words[(i*7+i/13)%len(words)])
		b.WriteByte(' ')
	}
	return b.String()
}

// page has the title in the middle and the text below.
func page(title, text string, width int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", (width-runewidth.StringWidth(title))/2))
	b.WriteString(title)
	b.WriteString("\n\n")
	b.WriteString(runewidth.Wrap(text, width))
	return b.String()
}

func main() {
	chapters := flag.Int("chapters", 40, "how many are set")
	words := flag.Int("words", 3500, "words of a chapter")
	flag.Parse()
	lines := 0
	for i := range *chapters {
		lines += strings.Count(page(fmt.Sprintf("Chapter %d", i+1), chapter(*words), 72), "\n")
	}
	fmt.Println("lines:", lines)
	fmt.Printf("operations: %d\n", *chapters)
}
