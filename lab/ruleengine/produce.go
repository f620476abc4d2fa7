package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A producer puts messages into the topic, to its partitions in turn, so that
// message number i is at offset i / partitions of partition i % partitions.
type producer struct {
	client     *kgo.Client
	topic      string
	partitions int
	sent       int
	mu         sync.Mutex
	failed     error // first that was not taken
}

func newProducer(c config) (*producer, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(time.Millisecond), kgo.MetadataMinAge(backoff), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.RecordDeliveryTimeout(15*time.Second))
	if err != nil {
		return nil, err
	}
	return &producer{client: client, topic: c.topic, partitions: c.partitions}, nil
}

// send puts a message on its way.
func (p *producer) send(ctx context.Context, value []byte) {
	r := &kgo.Record{Topic: p.topic, Partition: int32(p.sent % p.partitions), Value: value}
	p.sent++
	p.client.Produce(ctx, r, func(_ *kgo.Record, err error) {
		if err != nil {
			p.fail(err)
		}
	})
}

func (p *producer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// close waits for what is on its way.
func (p *producer) close(ctx context.Context) error {
	err := p.client.Flush(ctx)
	p.client.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(err, p.failed)
}

// produce offers so many messages at a rate, or as fast as they are taken. Their
// number follows the clock, not the ticks.
func produce(ctx context.Context, c config) error {
	if err := topicExists(ctx, c); err != nil {
		return err
	}
	p, err := newProducer(c)
	if err != nil {
		return err
	}
	sending := context.WithoutCancel(ctx) // what was begun is sent
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); p.sent < c.messages && ctx.Err() == nil; {
		due := c.messages
		if c.rate > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
			due = min(due, int(time.Since(begin).Seconds()*float64(c.rate)))
		}
		for p.sent < due && ctx.Err() == nil {
			p.send(sending, newMessage(int64(p.sent)))
		}
	}
	return p.close(sending)
}
