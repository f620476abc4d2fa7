// Adattribution joins the views of advertisements with the clicks on them, and reports how
// often those of a campaign are clicked.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"adattribution/internal/bus"
	"adattribution/internal/join"
	"adattribution/internal/report"
)

func main() {
	rate := flag.Int("rate", 9000, "views a second")
	length := flag.Duration("for", 7*time.Second, "how long views come")
	speed := flag.Int("speed", 60, "seconds of event time in a second")
	within := flag.Duration("within", 30*time.Second, "event time in which a click belongs to a view")
	idle := flag.Duration("idle-after", 0, "when the clock goes on without a partition that sends nothing; 0: never")
	flag.Parse()

	topic := bus.NewTopic(bus.Config{Rate: *rate, Speed: *speed, Partitions: 6, Regions: []string{"eu", "us", "ap"}})
	records := topic.Consume(*length)
	clock := join.NewClock(topic.Partitions(), *idle)
	campaigns := report.NewCampaigns()
	operator := join.NewOperator(clock, *within, campaigns.Add)
	for r := range records {
		if err := operator.Process(r.Partition, r.Value, time.Now()); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("joined:", operator.Joined(), "best:", campaigns.Best(3))
	fmt.Printf("operations: %d\n", topic.Sent())
}
