// Goldmarkmanuals renders the chapters of a manual to HTML with goldmark, at a rate, as editors save them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// chapter writes the Markdown of one.
func chapter(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Chapter %d\n\n", n)
	for s := range 12 {
		fmt.Fprintf(&b, "## Section %d.%d\n\nThe *valve* of part **%d** opens [slowly](https://example.org/%d).\n\n", n, s, s*7, s)
		b.WriteString("- turn it left\n- wait for `ready`\n- turn it right\n\n| part | count |\n|---|---|\n| screw | 4 |\n| nut | 8 |\n\n")
		b.WriteString("```\nstart --slow\n```\n\n")
	}
	return b.Bytes()
}

func main() {
	rate := flag.Int("rate", 10, "chapters a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var chapters [][]byte
	for n := range 40 {
		chapters = append(chapters, chapter(n))
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var page bytes.Buffer
	size := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("bytes: %d\noperations: %d\n", size, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		page.Reset()
		if err := markdown.Convert(chapters[n%len(chapters)], &page); err != nil {
			log.Fatal(err)
		}
		size += page.Len()
	}
}
