// Watermilltopics has questions answered over watermill's channels: whoever asks waits
// at a topic of his own for the answer.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
)

type desk struct{ bus *gochannel.GoChannel }

// answer takes questions until there are no more.
func (d *desk) answer(questions <-chan *message.Message) {
	for q := range questions {
		a := message.NewMessage(watermill.NewUUID(), append([]byte("re: "), q.Payload...))
		if err := d.bus.Publish(q.Metadata.Get("reply"), a); err != nil {
			log.Print(err)
		}
		q.Ack()
	}
}

func (d *desk) ask(ctx context.Context, text string) (string, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	id := watermill.NewUUID()
	answers, err := d.bus.Subscribe(ctx, "answers."+id)
	if err != nil {
		return "", err
	}
	q := message.NewMessage(id, []byte(text))
	q.Metadata.Set("reply", "answers."+id)
	if err := d.bus.Publish("questions", q); err != nil {
		return "", err
	}
	a := <-answers
	a.Ack()
	return string(a.Payload), nil
}

func main() {
	length := flag.Duration("length", 7*time.Second, "how long somebody asks")
	flag.Parse()
	d := &desk{gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: 16}, watermill.NopLogger{})}
	questions, err := d.bus.Subscribe(context.Background(), "questions")
	if err != nil {
		log.Fatal(err)
	}
	go d.answer(questions)
	n, letters := 0, 0
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		text, err := d.ask(context.Background(), fmt.Sprintf("where is parcel %d?", n))
		if err != nil {
			log.Fatal(err)
		}
		letters += len(text)
	}
	fmt.Println("letters:", letters)
	fmt.Println("operations:", n)
}
