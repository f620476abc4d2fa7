package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

// A message is what a broker delivers.
type message struct {
	offset int64
	key    string
	value  []byte
}

// fetched is how long a broker usually collects messages before it answers a fetch.
const fetched = time.Millisecond

// A broker stands for Kafka: messages arrive at a rate and are delivered in
// batches, as a fetch request's answer brings them.
type broker struct {
	batches chan []message
	current []message
}

func newBroker(ctx context.Context, rate int, fetch time.Duration) *broker {
	b := &broker{batches: make(chan []message, 16)}
	go b.deliver(ctx, rate, cmp.Or(fetch, fetched))
	return b
}

// deliver makes messages until ctx ends. Their number follows the clock, not
// the ticks: late ticks bring larger batches.
func (b *broker) deliver(ctx context.Context, rate int, fetch time.Duration) {
	tick := time.NewTicker(fetch)
	defer tick.Stop()
	random := rand.New(rand.NewPCG(1, 2)) // the same messages in every run
	begin, made := time.Now(), 0
	for {
		due := made + 256
		if rate > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			due = int(time.Since(begin).Seconds() * float64(rate))
		}
		if due <= made {
			continue
		}
		batch := make([]message, 0, due-made)
		for ; made < due; made++ {
			batch = append(batch, newMessage(random, int64(made)))
		}
		select {
		case b.batches <- batch:
		case <-ctx.Done():
			return
		}
	}
}

func newMessage(random *rand.Rand, offset int64) message {
	const letters = "abcdefghijklmnop"
	value := make([]byte, 128)
	for i := 0; i < len(value); i += 8 {
		r := random.Uint64()
		for j := range 8 {
			value[i+j] = letters[r>>(8*j)&15]
		}
	}
	return message{offset, string(value[:4]), value}
}

// readMessage returns the next message, waiting for one until ctx ends.
func (b *broker) readMessage(ctx context.Context) (message, error) {
	for len(b.current) == 0 {
		select {
		case b.current = <-b.batches:
		case <-ctx.Done():
			return message{}, ctx.Err()
		}
	}
	m := b.current[0]
	b.current = b.current[1:]
	return m, nil
}
