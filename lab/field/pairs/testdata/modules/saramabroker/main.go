// Saramabroker looks every now and then whether each of the brokers of Kafka can be
// reached.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"

	"github.com/Shopify/sarama"
)

// listen is a broker that hears what is said.
func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
	return l
}

func reachable(b *sarama.Broker, config *sarama.Config) (bool, error) {
	if err := b.Open(config); err != nil {
		return false, err
	}
	ok, err := b.Connected()
	if err != nil {
		return false, err
	}
	return ok, b.Close()
}

func main() {
	rounds := flag.Int("rounds", 15000, "how often it looks")
	flag.Parse()
	config := sarama.NewConfig()
	config.ClientID = "watchman"
	var brokers []*sarama.Broker
	for range 3 {
		brokers = append(brokers, sarama.NewBroker(listen().Addr().String()))
	}
	up := 0
	for n := range *rounds {
		ok, err := reachable(brokers[n%len(brokers)], config)
		if err != nil {
			log.Fatal(err)
		}
		if ok {
			up++
		}
	}
	fmt.Println("up:", up)
	fmt.Println("operations:", *rounds)
}
