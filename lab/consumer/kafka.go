package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"
)

// source returns the broker that messages come from.
func (c *consumer) source(ctx context.Context) (source, error) {
	if c.brokers == "" {
		return newBroker(ctx, c.rate, c.fetch), nil
	}
	conn, err := kafka.DialContext(ctx, "tcp", c.brokers)
	if err != nil {
		return nil, fmt.Errorf("the broker %s: %w", c.brokers, err)
	}
	_, err = conn.ReadPartitions(c.topic) // a reader would wait for it without a word
	conn.Close()
	if err != nil {
		return nil, fmt.Errorf("topic %q at %s: %w\nhint: consumer -produce -brokers %s -topic %s", c.topic, c.brokers, err, c.brokers, c.topic)
	}
	// The first fetch answers at once, as those of the broker inside do.
	k := &kafkaSource{kafka.NewReader(kafka.ReaderConfig{Brokers: []string{c.brokers}, Topic: c.topic, MaxWait: fetched, QueueCapacity: 1000})}
	context.AfterFunc(ctx, func() { k.reader.Close() })
	return k, nil
}

// A kafkaSource reads a topic's first partition.
type kafkaSource struct{ reader *kafka.Reader }

func (k *kafkaSource) readMessage(ctx context.Context) (message, error) {
	m, err := k.reader.ReadMessage(ctx)
	return message{m.Offset, string(m.Key), m.Value}, err
}

// produce puts messages into the topic, the same that the broker inside makes. Their
// number follows the clock.
func (c *consumer) produce(ctx context.Context) error {
	conn, err := kafka.DialContext(ctx, "tcp", c.brokers)
	if err != nil {
		return fmt.Errorf("the broker %s: %w", c.brokers, err)
	}
	defer conn.Close()
	err = conn.CreateTopics(kafka.TopicConfig{Topic: c.topic, NumPartitions: 1, ReplicationFactor: 1})
	if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
		return fmt.Errorf("topic %q: %w", c.topic, err)
	}
	w := &kafka.Writer{Addr: kafka.TCP(c.brokers), Topic: c.topic, BatchTimeout: fetched, RequiredAcks: kafka.RequireOne, MaxAttempts: 20}
	random := rand.New(rand.NewPCG(1, 2))
	tick := time.NewTicker(10 * fetched)
	defer tick.Stop()
	for begin, made := time.Now(), 0; made < c.messages; {
		due := c.messages
		if c.rate > 0 {
			<-tick.C
			due = min(due, int(time.Since(begin).Seconds()*float64(c.rate)))
		}
		var batch []kafka.Message
		for ; made < due && len(batch) < 5000; made++ {
			m := newMessage(random, int64(made))
			batch = append(batch, kafka.Message{Key: []byte(m.key), Value: m.value})
		}
		if err := w.WriteMessages(ctx, batch...); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}
