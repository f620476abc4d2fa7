// Otelforceflush answers calls that are traced, and sends what was traced before each
// answer, but not for longer than the caller would wait.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// collector is a remote one, which is sometimes slow.
type collector struct{ calls int }

func (c *collector) Export(spans int) time.Duration {
	c.calls++
	if c.calls%2 == 0 {
		return 4 * time.Millisecond
	}
	return time.Duration(spans) * 10 * time.Microsecond
}

func (c *collector) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	time.Sleep(c.Export(len(spans)))
	return nil
}

func (c *collector) Shutdown(context.Context) error { return nil }

type service struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

func (s *service) call(ctx context.Context, n int) (sum int) {
	ctx, span := s.tracer.Start(ctx, "call", trace.WithAttributes(attribute.Int("n", n)))
	for i := range 3 {
		_, part := s.tracer.Start(ctx, "part")
		for j := range 2000 {
			sum += i * j
		}
		part.End()
	}
	span.End()
	return sum
}

// send sends the spans to the collector.
func (s *service) send() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	return s.provider.ForceFlush(ctx)
}

func main() {
	length := flag.Duration("length", 7*time.Second, "how long calls come")
	flag.Parse()
	provider := sdk.NewTracerProvider(sdk.WithBatcher(&collector{}))
	s := &service{provider, provider.Tracer("example.com/service")}
	n, late, sum := 0, 0, 0
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		sum += s.call(context.Background(), n)
		if s.send() != nil {
			late++
		}
	}
	fmt.Println("late:", late, "sum:", sum)
	fmt.Println("operations:", n)
}
