package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

// An engine is one consumer: it reads messages, matches them and writes what
// came of them.
//
//	topic → read and commit → concurrency × match → write → database
//
// Reading is one goroutine, as a Reader of kafka-go is used; so is writing.
type engine struct {
	config
	reader *kafka.Reader
	store  *store
	rules  []rule
	read   int             // messages
	open   []kafka.Message // read, not committed
	wrong  atomic.Int64    // messages that are no orders
}

// Settings of the client that are no part of the story: they let a group form,
// and a program end, in a fraction of a second.
const (
	maxWait   = 250 * time.Millisecond
	heartbeat = 100 * time.Millisecond
	backoff   = 50 * time.Millisecond
	attempts  = 200 // to join the group: a broker that has just started loads its groups first
)

// newEngine opens what an engine needs. It is to be closed by [engine.close].
func newEngine(ctx context.Context, c config) (*engine, error) {
	rules, err := parseRules(rulesText)
	if err != nil {
		return nil, err
	}
	s, err := openStore(ctx, c.db)
	if err != nil {
		return nil, err
	}
	settings := kafka.ReaderConfig{
		Brokers: []string{c.brokers}, GroupID: c.topic, Topic: c.topic, StartOffset: kafka.FirstOffset,
		MaxWait: maxWait, HeartbeatInterval: heartbeat, JoinGroupBackoff: backoff, MaxAttempts: attempts,
		ReadBackoffMin: time.Millisecond, ReadBackoffMax: backoff,
	}
	if c.commit == async {
		settings.CommitInterval = c.interval
	}
	return &engine{config: c, reader: kafka.NewReader(settings), store: s, rules: rules}, nil
}

func (e *engine) close() error { return errors.Join(e.reader.Close(), e.store.close()) }

// run works until so many messages as -messages were read, or ctx ends; what
// was read is written.
func (e *engine) run(ctx context.Context) error {
	messages := make(chan []byte, 64)
	decisions := make(chan decision, 256)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	var workers, writer sync.WaitGroup
	for range e.concurrency {
		workers.Go(func() {
			if err := e.work(messages, decisions); err != nil {
				fail(err)
			}
		})
	}
	writer.Go(func() {
		if err := e.write(context.WithoutCancel(ctx), decisions); err != nil {
			fail(err)
		}
	})
	err := e.consume(ctx, messages)
	close(messages)
	workers.Wait()
	close(decisions)
	writer.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// consume reads messages and hands them to the workers.
func (e *engine) consume(ctx context.Context, messages chan<- []byte) error {
	for e.messages == 0 || e.read < e.messages {
		m, err := e.next(ctx)
		if err != nil {
			return err
		}
		e.read++
		messages <- m.Value
	}
	return nil
}

// next reads one message and commits it, or so many as -commit-every. This is
// what ReadMessage of kafka-go does for every message. With -commit async the
// commit is only noted, and the client commits what was noted at intervals.
func (e *engine) next(ctx context.Context) (kafka.Message, error) {
	m, err := e.reader.FetchMessage(ctx)
	if err != nil {
		return m, err
	}
	e.open = append(e.open, m)
	if len(e.open) < e.every {
		return m, nil
	}
	// What was read is to be committed and worked on also when ctx has ended.
	err = e.reader.CommitMessages(context.WithoutCancel(ctx), e.open...) // want serialwait
	e.open = e.open[:0]
	return m, err
}

// work matches messages until there are no more. Of an error, the messages
// after it are taken and left, so that the reader does not wait for ever.
func (e *engine) work(messages <-chan []byte, decisions chan<- decision) (err error) {
	m := matcher{rules: e.rules, compile: e.compile == each}
	var o order // one for all messages: its slice is filled again
	for value := range messages {
		o = order{Items: o.Items[:0]}
		if json.Unmarshal(value, &o) != nil {
			e.wrong.Add(1)
			continue
		}
		d, failed := m.match(&o)
		if failed != nil {
			err = failed
			continue
		}
		decisions <- d
	}
	return err
}

// linger is how long a decision waits for others to be written with.
const linger = 50 * time.Millisecond

// write writes decisions in batches until there are no more.
func (e *engine) write(ctx context.Context, decisions <-chan decision) (err error) {
	batch := make([]decision, 0, e.batch)
	flush := func() {
		if len(batch) > 0 && err == nil {
			err = e.store.write(ctx, batch)
		}
		batch = batch[:0]
	}
	late := time.NewTimer(linger)
	defer late.Stop()
	for {
		select {
		case d, ok := <-decisions:
			if !ok {
				flush()
				return err
			}
			if len(batch) == 0 {
				late.Reset(linger)
			}
			if batch = append(batch, d); len(batch) == e.batch {
				flush()
			}
		case <-late.C:
			flush()
		}
	}
}

func (e *engine) String() string {
	return fmt.Sprintf("%d messages, %d of them no orders", e.read, e.wrong.Load())
}
