// Protobufevents encodes batches of events with google.golang.org/protobuf and decodes them, as two ends of a
// pipe do.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// events is a batch of them.
func events(n int) (*structpb.ListValue, error) {
	all := make([]any, 0, 50)
	for i := range 50 {
		all = append(all, map[string]any{
			"name": "event" + strconv.Itoa(n*i%23), "user": float64(n*50 + i),
			"values": []any{float64(i), float64(i * n), "text"}, "ok": i%7 != 0,
		})
	}
	return structpb.NewList(all)
}

// receive counts the good events of a batch.
func receive(text []byte) (good int, err error) {
	var batch structpb.ListValue
	if err := proto.Unmarshal(text, &batch); err != nil {
		return 0, err
	}
	for _, e := range batch.Values {
		if e.GetStructValue().GetFields()["ok"].GetBoolValue() {
			good++
		}
	}
	return good, nil
}

func main() {
	rate := flag.Int("rate", 10, "batches a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var batches []*structpb.ListValue
	for n := range 20 {
		b, err := events(n)
		if err != nil {
			log.Fatal(err)
		}
		batches = append(batches, b)
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var text []byte
	good := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("good: %d\noperations: %d\n", good, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		var err error
		if text, err = (proto.MarshalOptions{}).MarshalAppend(text[:0], batches[n%len(batches)]); err != nil {
			log.Fatal(err)
		}
		g, err := receive(text)
		if err != nil {
			log.Fatal(err)
		}
		good += g
	}
}
