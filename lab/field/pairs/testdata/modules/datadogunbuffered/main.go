// Datadogunbuffered reads orders and counts them by country and value for a statsd
// agent.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/DataDog/datadog-go/statsd"
)

// orders writes lines like those of a message queue.
func orders(w io.WriteCloser, n int) {
	b := bufio.NewWriter(w)
	countries := []string{"de", "fr", "it", "pl", "es"}
	for i := range n {
		fmt.Fprintf(b, "%d;%s;%d\n", i, countries[i%len(countries)], i*37%9000)
	}
	b.Flush()
	w.Close()
}

func process(line string, metrics *statsd.Client) error {
	fields := strings.Split(line, ";")
	if len(fields) != 3 {
		return fmt.Errorf("not an order: %q", line)
	}
	cents, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	tags := []string{"country:" + fields[1]}
	metrics.Count("orders.received", 1, tags, 1)
	metrics.Gauge("orders.value", float64(cents)/100, tags, 1)
	metrics.Timing("orders.time", time.Duration(cents)*time.Microsecond, tags, 1)
	return nil
}

func main() {
	n := flag.Int("orders", 120000, "how many orders come")
	flag.Parse()
	agent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := statsd.New(agent.LocalAddr().String())
	if err != nil {
		log.Fatal(err)
	}
	r, w := io.Pipe()
	go orders(w, *n)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if err := process(lines.Text(), metrics); err != nil {
			log.Fatal(err)
		}
	}
	metrics.Close()
	fmt.Println("operations:", *n)
}
