// Otelinstruments weighs parcels and records the weights with the SDK of OpenTelemetry,
// which is read once a second.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

type scales struct{ meters metric.MeterProvider }

func (s *scales) weigh(ctx context.Context, parcel int) error {
	meter := s.meters.Meter("example.com/scales")
	weights, err := meter.Float64Histogram("parcel.weight", metric.WithUnit("g"))
	if err != nil {
		return err
	}
	parcels, err := meter.Int64Counter("parcels")
	if err != nil {
		return err
	}
	kind := metric.WithAttributes(attribute.Bool("express", parcel%4 == 0))
	weights.Record(ctx, float64(parcel*31%5000), kind)
	parcels.Add(ctx, 1, kind)
	return nil
}

// report reads the metrics each second until the context ends.
func report(ctx context.Context, reader sdk.Reader) {
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			var rm metricdata.ResourceMetrics
			if err := reader.Collect(ctx, &rm); err != nil {
				log.Print(err)
			}
		}
	}
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long parcels come")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), *length)
	defer stop()
	reader := sdk.NewManualReader()
	s := &scales{sdk.NewMeterProvider(sdk.WithReader(reader))}
	go report(ctx, reader)
	n := 0
	for tick := time.NewTicker(time.Millisecond); ctx.Err() == nil; {
		<-tick.C
		for range 60 {
			if err := s.weigh(ctx, n); err != nil {
				log.Fatal(err)
			}
			n++
		}
	}
	fmt.Println("operations:", n)
}
