// Otellogspin logs what a machine's sensors measure over OpenTelemetry to a collector
// that is slow to answer.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/log"
	sdk "go.opentelemetry.io/otel/sdk/log"
)

// collector is a remote one.
type collector struct{ received atomic.Int64 }

func (c *collector) Export(ctx context.Context, records []sdk.Record) error {
	select {
	case <-time.After(400 * time.Millisecond):
		c.received.Add(int64(len(records)))
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (c *collector) Shutdown(context.Context) error   { return nil }
func (c *collector) ForceFlush(context.Context) error { return nil }

func measure(ctx context.Context, logger log.Logger, sensor int) {
	var r log.Record
	r.SetTimestamp(time.Now())
	r.SetSeverity(log.SeverityInfo)
	r.SetEventName(fmt.Sprintf("sensor %d reads %d degrees", sensor, sensor*7%30))
	logger.Emit(ctx, r)
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long sensors are read")
	flag.Parse()
	ctx := context.Background()
	c := &collector{}
	provider := sdk.NewLoggerProvider(sdk.WithProcessor(sdk.NewBatchProcessor(c)))
	logger := provider.Logger("example.com/sensors")
	n := 0
	tick := time.NewTicker(10 * time.Millisecond)
	for end := time.Now().Add(*length); time.Now().Before(end); {
		<-tick.C
		for range 60 {
			measure(ctx, logger, n%500)
			n++
		}
	}
	fmt.Println("received:", c.received.Load())
	fmt.Println("operations:", n)
}
