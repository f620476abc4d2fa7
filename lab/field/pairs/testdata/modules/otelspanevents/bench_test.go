package otelspanevents

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// counter is where spans go.
type counter struct {
	spans, events int
}

func (c *counter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		c.spans++
		c.events += len(s.Events())
	}
	return nil
}

func (c *counter) Shutdown(context.Context) error { return nil }

var errStep = errors.New("the step has to be done again")

func job(ctx context.Context, tracer trace.Tracer, id, steps int) {
	_, span := tracer.Start(ctx, "job", trace.WithAttributes(attribute.Int("id", id)))
	defer span.End()
	for step := range steps {
		span.SetAttributes(attribute.Int("step", step), attribute.String("state", "running"))
		if step%7 == 6 {
			span.RecordError(errStep)
			continue
		}
		span.AddEvent("step done", trace.WithAttributes(attribute.Int("step", step)))
	}
	span.SetAttributes(attribute.String("state", "done"))
}

func BenchmarkJobs(b *testing.B) {
	c := &counter{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(c))
	tracer := provider.Tracer("jobs")
	ctx, id := context.Background(), 0
	for b.Loop() {
		job(ctx, tracer, id, 20)
		id++
	}
	if err := provider.Shutdown(ctx); err != nil || c.events == 0 {
		b.Fatal(err)
	}
}
