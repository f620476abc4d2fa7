// Diffrevisions compares revisions of documents line by line with go-diff, as the history of a wiki does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// revision is a document as it was after some changes.
func revision(document, changes int) string {
	var b strings.Builder
	for line := range 300 {
		if line%60 == changes*7%60 {
			fmt.Fprintf(&b, "Line %d was changed %d times.\n", line, changes)
			continue
		}
		if line%90 == changes%90 {
			continue
		}
		fmt.Fprintf(&b, "Line %d of document %d is as it was.\n", line, document)
	}
	return b.String()
}

// changed counts the lines in which two revisions differ.
func changed(d *diffmatchpatch.DiffMatchPatch, before, after string) (n int) {
	a, b, lines := d.DiffLinesToChars(before, after)
	for _, part := range d.DiffCharsToLines(d.DiffMain(a, b, false), lines) {
		if part.Type != diffmatchpatch.DiffEqual {
			n += strings.Count(part.Text, "\n")
		}
	}
	return n
}

func main() {
	rate := flag.Int("rate", 10, "comparisons a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var revisions []string
	for n := range 32 {
		revisions = append(revisions, revision(1, n))
	}
	d := diffmatchpatch.New()
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	total := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("lines: %d\noperations: %d\n", total, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		total += changed(d, revisions[n%len(revisions)], revisions[(n+1)%len(revisions)])
	}
}
