// Package consumer reads one partition of the feed.
package consumer

import (
	"context"

	"quayevents/internal/manifest"
	"quayevents/internal/trace"
	"quayevents/internal/yard"
)

// Config says what a consumer reads.
type Config struct {
	Partition int
	V2        bool
}

// Consumer applies the records of its partition.
type Consumer struct {
	cfg      Config
	in       <-chan manifest.Record
	books    *yard.Books
	handled  int
	rejected int
}

// New makes a consumer.
func New(cfg Config, in <-chan manifest.Record, books *yard.Books) *Consumer {
	return &Consumer{cfg: cfg, in: in, books: books}
}

// Run applies records until the feed is closed.
func (c *Consumer) Run(ctx context.Context) {
	for rec := range c.in {
		if c.cfg.V2 {
			c.process(trace.Start(ctx, c.cfg.Partition, rec.Offset), rec)
			continue
		}
		ctx = trace.Start(ctx, c.cfg.Partition, rec.Offset)
		c.process(ctx, rec)
	}
}

func (c *Consumer) process(ctx context.Context, rec manifest.Record) {
	m, err := manifest.Parse(rec.Body)
	if err != nil {
		trace.Annotate(ctx, "rejected: "+err.Error())
		c.rejected++
		c.handled++
		return
	}
	trace.Annotate(ctx, "parsed "+m.Container)
	c.books.Apply(ctx, m)
	trace.Annotate(ctx, "applied "+m.Kind)
	c.handled++
}

// Counts returns how many records were handled and rejected.
func (c *Consumer) Counts() (handled, rejected int) { return c.handled, c.rejected }
