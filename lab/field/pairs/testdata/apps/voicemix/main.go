// Command voicemix mixes conference calls.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"voicemix/internal/calls"
	"voicemix/internal/mixer"
	"voicemix/internal/usage"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 110, "calls per second")
	most := flag.Int("most", 500, "records in a report")
	flag.Parse()

	acc, err := usage.StartAccounting()
	if err != nil {
		log.Fatal(err)
	}
	led, err := usage.Dial(acc.Addr(), 16, *most)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	rep := calls.Run(ctx, mixer.New(2<<20), led, *rate)
	fmt.Printf("operations: %d\n", rep.Calls)
	fmt.Printf("%d frames, level %.1f dB, %d codecs booked\n", rep.Frames, rep.Level, acc.Booked.Load())
}
