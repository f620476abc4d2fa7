// Amqpreceipts sends a receipt for each sale at the tills of a shop to a broker.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

type receipt struct {
	Number  int      `json:"number"`
	Till    int      `json:"till"`
	Cents   int      `json:"cents"`
	Article []string `json:"article"`
}

type sender struct{ channel *amqp.Channel }

func (s *sender) send(ctx context.Context, r receipt) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.channel.PublishWithContext(ctx, "sales", fmt.Sprintf("till.%d", r.Till), false, false, amqp.Publishing{
		ContentType: "application/json", Body: body,
	})
}

func main() {
	receipts := flag.Int("receipts", 120_000, "how many receipts are sent")
	flag.Parse()
	b, err := listen()
	if err != nil {
		log.Fatal(err)
	}
	conn, err := amqp.Dial(b.url())
	if err != nil {
		log.Fatal(err)
	}
	channel, err := conn.Channel()
	if err != nil {
		log.Fatal(err)
	}
	s := &sender{channel}
	for i := range *receipts {
		err := s.send(context.Background(), receipt{Number: i, Till: i % 5, Cents: i * 7 % 9000, Article: []string{"tea", "cup"}})
		if err != nil {
			log.Fatal(err)
		}
		if i%40 == 39 {
			time.Sleep(time.Millisecond)
		}
	}
	if err := conn.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("taken:", b.messages.Load())
	fmt.Println("operations:", *receipts)
}
