package demo

import (
	"bytes"
	"context"
	"strings"
	"time"
)

const (
	messageEvery = time.Millisecond
	messageSize  = 16 << 10
	// replyCopies is how often the text of a message is copied to answer it, as garbage: without
	// that there are too few collections in some seconds to tell a trend.
	replyCopies = 4
)

// titles are those of all messages by their number.
var titles map[int]string

// keepTitles receives messages at a steady rate and remembers the title of each.
func keepTitles(ctx context.Context, p *program) error {
	titles = map[int]string{}
	tick := time.NewTicker(messageEvery) // a busy machine makes it slower, and as even
	defer tick.Stop()
	for n, ok := p.next(ctx); ok; n, ok = p.next(ctx) {
		<-tick.C
		text := message(n)
		title := titleOf(text)
		if p.Fixed {
			title = strings.Clone(title)
		}
		titles[n] = title
		sink.Store(answer(text))
	}
	return nil
}

// message returns the text of a number.
func message(n int) string {
	return "The title\n" + strings.Repeat(string(rune('a'+n%26)), messageSize)
}

// titleOf returns the problem: the first line of a text is a part of it, and keeps all of it.
func titleOf(text string) string {
	title, _, _ := strings.Cut(text, "\n")
	return title
}

// answer computes something of a text.
func answer(text string) (sum uint64) {
	for range replyCopies {
		sum += uint64(len(bytes.ToUpper([]byte(text))))
	}
	return sum
}
