package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

// An engine is one consumer: it reads messages, matches them and writes what
// came of them.
//
//	topic → read → concurrency × match → write → database → commit
//
// Reading is one goroutine, as a Reader of kafka-go is used; so is writing. A
// message is committed when what came of it is in the database: an engine that is
// killed leaves the others to the next one, which may do some of them again.
type engine struct {
	config
	reader   *kafka.Reader
	store    *store
	rules    []rule
	client   kafka.Client
	progress progress
	read     int                   // messages
	open     []kafka.Message       // that may be committed, and are not
	latest   map[int]kafka.Message // committed, by partition
	wrong    atomic.Int64          // messages that are no orders
}

// A result is what came of a message.
type result struct {
	decision
	message kafka.Message
	none    bool // it is no order
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
	if err := topicExists(ctx, c); err != nil {
		return nil, errors.Join(err, s.close())
	}
	settings := kafka.ReaderConfig{
		SessionTimeout: c.session, RebalanceTimeout: c.session,
		Brokers: []string{c.brokers}, GroupID: c.topic, Topic: c.topic, StartOffset: kafka.FirstOffset,
		MaxWait: maxWait, HeartbeatInterval: heartbeat, JoinGroupBackoff: backoff, MaxAttempts: attempts,
		ReadBackoffMin: time.Millisecond, ReadBackoffMax: backoff,
	}
	if c.commit == async {
		settings.CommitInterval = c.interval
	}
	return &engine{config: c, reader: kafka.NewReader(settings), client: kafka.Client{Addr: kafka.TCP(c.brokers)}, store: s, rules: rules,
		latest: map[int]kafka.Message{}}, nil
}

func (e *engine) close() error { return errors.Join(e.reader.Close(), e.store.close()) }

// run works until so many messages as -messages were read, or ctx ends; what
// was read is written.
func (e *engine) run(ctx context.Context) error {
	messages := make(chan kafka.Message, 64)
	results := make(chan result, e.batch) // the next batch, while one is written
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	var workers, writer sync.WaitGroup
	for range e.concurrency {
		workers.Go(func() {
			if err := e.work(messages, results); err != nil {
				fail(err)
			}
		})
	}
	writer.Go(func() { e.write(context.WithoutCancel(ctx), results, fail) })
	err := e.consume(ctx, messages)
	close(messages)
	workers.Wait()
	close(results)
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
func (e *engine) consume(ctx context.Context, messages chan<- kafka.Message) error {
	for e.messages == 0 || e.read < e.messages {
		m, err := e.reader.FetchMessage(ctx)
		if err != nil {
			return err
		}
		e.read++
		if e.when == onRead {
			// What was read is to be committed and worked on also when ctx has ended.
			if err := e.commit(context.WithoutCancel(ctx), m); err != nil {
				return err
			}
		} else {
			e.progress.fetched(m)
		}
		messages <- m
	}
	return nil
}

// commit commits messages, each by itself or so many as -commit-every at once, and
// waits for the broker. On reading, this is what ReadMessage of kafka-go does. With
// -commit async they are only noted, and the client commits at intervals.
func (e *engine) commit(ctx context.Context, messages ...kafka.Message) error {
	for _, m := range messages {
		if e.open = append(e.open, m); len(e.open) < e.every {
			continue
		}
		if err := e.commitOpen(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) commitOpen(ctx context.Context) error {
	if len(e.open) == 0 {
		return nil
	}
	err := e.reader.CommitMessages(ctx, e.open...) // want serialwait
	for _, m := range e.open {
		if m.Offset >= e.latest[m.Partition].Offset {
			e.latest[m.Partition] = m
		}
	}
	e.open = e.open[:0]
	for _, passing := range []error{kafka.RebalanceInProgress, kafka.IllegalGeneration, kafka.UnknownMemberId} {
		if errors.Is(err, passing) {
			return nil // whoever has the partition now reads them once more
		}
	}
	return err
}

// raise commits once more what an engine that had the partition before has set back:
// it commits what it still had under way when the group was formed anew, and the
// client says of no message of which group it was. All before a committed message is
// done, so that the later offset is always right.
func (e *engine) raise(ctx context.Context) error {
	if len(e.latest) == 0 {
		return nil
	}
	partitions := slices.Collect(maps.Keys(e.latest))
	answer, err := e.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: e.topic, Topics: map[string][]int{e.topic: partitions}})
	if err != nil {
		return nil // the next time is soon enough
	}
	var low []kafka.Message
	for _, p := range answer.Topics[e.topic] {
		if m := e.latest[p.Partition]; p.Error == nil && p.CommittedOffset <= m.Offset {
			low = append(low, m)
		}
	}
	if len(low) == 0 {
		return nil
	}
	e.open = append(e.open, low...)
	return e.commitOpen(ctx)
}

// work matches messages until there are no more. Of an error, the messages
// after it are taken and left, so that the reader does not wait for ever.
func (e *engine) work(messages <-chan kafka.Message, results chan<- result) (err error) {
	m := matcher{rules: e.rules, compile: e.compile == each}
	var o order // one for all messages: its slice is filled again
	for message := range messages {
		r := result{message: kafka.Message{Topic: message.Topic, Partition: message.Partition, Offset: message.Offset}}
		o = order{Items: o.Items[:0]}
		if json.Unmarshal(message.Value, &o) != nil {
			e.wrong.Add(1)
			r.none = true
		} else if r.decision, err = m.match(&o); err != nil {
			for range messages {
			}
			return err
		}
		results <- r
	}
	return nil
}

// raising is how often an engine without work looks whether its commits are still there.
const raising = 500 * time.Millisecond

// linger is how long a decision waits for others to be written with.
const linger = 50 * time.Millisecond

// write writes results in batches until there are no more, and commits what is
// written. After an error, nothing is written or committed any more.
func (e *engine) write(ctx context.Context, results <-chan result, fail func(error)) {
	batch := make([]result, 0, e.batch)
	var err error
	flush := func() {
		if err == nil && len(batch) > 0 {
			if err = e.finish(ctx, batch); err != nil {
				fail(err)
			}
		}
		batch = batch[:0]
	}
	late, idle := time.NewTimer(linger), time.NewTicker(raising)
	defer late.Stop()
	defer idle.Stop()
	busy := false
	for {
		select {
		case <-idle.C:
			if !busy && err == nil && e.when == onWritten {
				if err = e.raise(ctx); err != nil {
					fail(err)
				}
			}
			busy = false
		case r, ok := <-results:
			busy = true
			if !ok {
				flush()
				if err == nil {
					err = e.commitOpen(ctx)
				}
				if err != nil {
					fail(err)
				}
				return
			}
			if len(batch) == 0 {
				late.Reset(linger)
			}
			if batch = append(batch, r); len(batch) == e.batch {
				flush()
			}
		case <-late.C:
			flush()
		}
	}
}

// finish writes a batch and commits the messages that it was made of.
func (e *engine) finish(ctx context.Context, batch []result) error {
	if err := e.store.write(ctx, batch); err != nil || e.when == onRead {
		return err
	}
	for _, r := range batch {
		if err := e.commit(ctx, e.progress.done(r.message)...); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) String() string {
	return fmt.Sprintf("%d messages, %d of them no orders", e.read, e.wrong.Load())
}
