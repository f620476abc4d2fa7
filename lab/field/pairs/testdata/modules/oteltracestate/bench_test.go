package oteltracestate

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

var carrier = propagation.MapCarrier{
	"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	"tracestate":  "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE,vendor@sys=abc123,acme=1f,zone=eu-west-1b,shop=x",
}

// receive is what a service does with the headers of a request.
func receive(headers propagation.MapCarrier) (trace.SpanContext, error) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), headers)
	span := trace.SpanContextFromContext(ctx)
	state, err := span.TraceState().Insert("acme", "2a")
	if err != nil {
		return span, err
	}
	return span.WithTraceState(state), nil
}

func BenchmarkReceive(b *testing.B) {
	for b.Loop() {
		if _, err := receive(carrier); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkForward(b *testing.B) {
	span, err := receive(carrier)
	if err != nil {
		b.Fatal(err)
	}
	ctx := trace.ContextWithSpanContext(context.Background(), span)
	for b.Loop() {
		propagation.TraceContext{}.Inject(ctx, propagation.MapCarrier{})
	}
}
