// Granarysilos grades deliveries of grain and reports them to the offices of silos.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"granarysilos/internal/consumer"
	"granarysilos/internal/sink"
	"granarysilos/internal/topic"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	each := flag.Bool("each", true, "consume with RunEach")
	flag.Parse()
	if err := run(*length, *each); err != nil {
		log.Fatal(err)
	}
}

func run(length time.Duration, each bool) error {
	takes := []time.Duration{4, 6, 5, 18, 6, 4}
	c := &consumer.Consumer{Parts: topic.Open(len(takes)), Batch: 20}
	for _, t := range takes {
		addr, err := sink.Serve(t * time.Millisecond)
		if err != nil {
			return err
		}
		o, err := sink.Dial(addr)
		if err != nil {
			return err
		}
		c.Offices = append(c.Offices, o)
	}
	end := time.Now().Add(length)
	work := c.Run
	if each {
		work = c.RunEach
	}
	if err := work(end); err != nil {
		return err
	}
	var all int64
	for _, p := range c.Parts {
		all += p.Committed()
	}
	fmt.Printf("operations: %d\n", all)
	for _, p := range c.Parts {
		fmt.Printf("silo %d: %d deliveries\n", p.ID, p.Committed())
	}
	return nil
}
