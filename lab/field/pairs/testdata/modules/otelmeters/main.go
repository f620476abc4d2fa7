// Otelmeters sorts letters by their sender and counts them with OpenTelemetry; whether
// anybody collects the counters is not its business.
package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

type letter struct{ sender, text string }

// count makes the counter where it is used, as libraries do.
func count(ctx context.Context, name string, n int64) error {
	c, err := otel.Meter("example.com/letters").Int64Counter(name, metric.WithDescription("letters"))
	if err != nil {
		return err
	}
	c.Add(ctx, n)
	return nil
}

func sort(ctx context.Context, l letter, boxes map[string]int) error {
	domain := l.sender[strings.IndexByte(l.sender, '@')+1:]
	boxes[domain] += len(strings.Fields(l.text))
	if err := count(ctx, "letters.sorted", 1); err != nil {
		return err
	}
	return count(ctx, "letters.words", int64(len(l.text)))
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long letters come")
	flag.Parse()
	boxes := map[string]int{}
	ticks := time.NewTicker(time.Millisecond)
	n := 0
	for end := time.Now().Add(*length); time.Now().Before(end); {
		<-ticks.C
		for range 20 {
			l := letter{fmt.Sprintf("clerk@office%d.example", n%40), "please send us the paper of last week"}
			if err := sort(context.Background(), l, boxes); err != nil {
				panic(err)
			}
			n++
		}
	}
	fmt.Println("boxes:", len(boxes))
	fmt.Println("operations:", n)
}
