// Package trace carries what belongs to one movement through the calls.
package trace

import (
	"context"
	"time"
)

type spanKey struct{}
type terminalKey struct{}

// Span is the record of one movement's way through the service.
type Span struct {
	Partition int
	Offset    int
	Began     time.Time
	Notes     []Note
}

// Note is something that happened within a span.
type Note struct {
	At   time.Duration
	Text string
}

// WithTerminal names the terminal in ctx.
func WithTerminal(ctx context.Context, code string) context.Context {
	return context.WithValue(ctx, terminalKey{}, code)
}

// Terminal returns the terminal's code.
func Terminal(ctx context.Context) string {
	code, _ := ctx.Value(terminalKey{}).(string)
	return code
}

// Start begins a span.
func Start(ctx context.Context, partition, offset int) context.Context {
	return context.WithValue(ctx, spanKey{}, &Span{
		Partition: partition,
		Offset:    offset,
		Began:     time.Now(),
		Notes:     make([]Note, 0, 8),
	})
}

// Annotate adds a note to the span of ctx.
func Annotate(ctx context.Context, text string) {
	if s, ok := ctx.Value(spanKey{}).(*Span); ok {
		s.Notes = append(s.Notes, Note{At: time.Since(s.Began), Text: text})
	}
}
