// Syslogpackets takes lines of machines over UDP and counts them by what they say.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"syslogpackets/internal/collect"
	"syslogpackets/internal/machines"
)

func main() {
	seconds := flag.Int("seconds", 5, "how long it collects")
	rate := flag.Int("rate", 60000, "lines a second")
	spread := flag.Bool("spread", false, "handle each packet beside the others")
	flag.Parse()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.SetReadBuffer(4 << 20); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*seconds)*time.Second)
	defer cancel()
	go machines.Send(ctx, c.LocalAddr().String(), *rate)
	s := collect.Server{Conn: c, Spread: *spread}
	n, err := s.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("errors:", s.Count("error"))
	fmt.Printf("operations: %d\n", n)
}
