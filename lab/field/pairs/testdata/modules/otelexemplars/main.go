// Otelexemplars takes letters of a traced mail service and records their sizes by
// sender with OpenTelemetry; what a letter says goes along in its context.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
)

type letterKey struct{}

// traced gives a letter the span that its sender has begun.
func traced(ctx context.Context, n int) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1, byte(n), byte(n >> 8), byte(n >> 16)}, SpanID: trace.SpanID{1, byte(n)},
		TraceFlags: trace.FlagsSampled,
	}))
}

type office struct{ sizes metric.Int64Histogram }

func (o *office) take(ctx context.Context, sender string) {
	letter := ctx.Value(letterKey{}).([]byte)
	words := len(strings.Fields(string(letter[:200])))
	o.sizes.Record(ctx, int64(len(letter)+words), metric.WithAttributes(attribute.String("sender", sender)))
}

func main() {
	n := flag.Int("letters", 60000, "how many letters come")
	flag.Parse()
	provider := sdk.NewMeterProvider(sdk.WithReader(sdk.NewManualReader()))
	sizes, err := provider.Meter("example.com/mail").Int64Histogram("letter.size")
	if err != nil {
		log.Fatal(err)
	}
	o := &office{sizes}
	start := time.Now()
	for i := range *n {
		letter := make([]byte, 32<<10)
		for j := range letter {
			letter[j] = "a letter of many words "[j%23]
		}
		ctx := context.WithValue(context.Background(), letterKey{}, letter)
		o.take(traced(ctx, i), fmt.Sprintf("clerk%d", i*7%1500))
	}
	fmt.Println("took:", time.Since(start))
	fmt.Println("operations:", *n)
}
