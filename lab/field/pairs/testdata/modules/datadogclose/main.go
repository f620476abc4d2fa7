// Datadogclose runs jobs of customers, each of which reports to the statsd agent of its
// customer and says goodbye to it in the end.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/DataDog/datadog-go/statsd"
)

type job struct {
	customer string
	rows     int
}

func run(j job, agent string) error {
	metrics, err := statsd.New(agent, statsd.WithNamespace(j.customer+"."), statsd.WithBufferPoolSize(4))
	if err != nil {
		return err
	}
	defer metrics.Close()
	start := time.Now()
	sum := sha256.Sum256([]byte(j.customer))
	for range j.rows {
		sum = sha256.Sum256(sum[:])
	}
	metrics.Count("rows", int64(j.rows), nil, 1)
	metrics.Timing("job", time.Since(start), []string{"kind:import"}, 1)
	return nil
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long jobs come")
	flag.Parse()
	agent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	ticks := time.NewTicker(4 * time.Millisecond)
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		<-ticks.C
		if err := run(job{fmt.Sprintf("customer%d", n%50), 500}, agent.LocalAddr().String()); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("operations:", n)
}
