package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A world is what engines live in: the broker with their topic, the producer
// and the database. Broker and producer are processes of their own, as in the
// story, so that what is recorded of this one is the engine.
type world struct {
	config
	admin   *admin
	broker  *child   // nil when a Kafka was given
	engines []*child // when they are processes of their own
	dir     string   // temporary
}

// newWorld starts what there is not: a broker, the topic, a file for the
// database. It is to be closed by [world.close].
func newWorld(ctx context.Context, c config) (_ *world, err error) {
	w := &world{config: c}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.brokers == "" {
		if w.broker, err = start(w.args(modeBroker), true); err != nil {
			return nil, err
		}
		w.brokers = w.broker.ready
	}
	if w.db == "" {
		if w.dir, err = os.MkdirTemp("", "ruleengine-"); err != nil {
			return nil, err
		}
		w.db = filepath.Join(w.dir, "decisions.db")
	}
	w.topic = fmt.Sprintf("ruleengine-%d-%x", os.Getpid(), time.Now().UnixNano())
	w.admin, err = newAdmin(ctx, w.config)
	return w, err
}

// close ends everything: the engines, their topic, the broker.
func (w *world) close() error {
	var errs []error
	for _, c := range w.engines {
		errs = append(errs, c.stop())
	}
	if w.admin != nil {
		errs = append(errs, w.admin.close())
	}
	if w.broker != nil {
		errs = append(errs, w.broker.stop())
	}
	if w.dir != "" {
		errs = append(errs, os.RemoveAll(w.dir))
	}
	return errors.Join(errs...)
}

// run produces and consumes -messages.
func (w *world) run(ctx context.Context, evidence *observed.Evidence, out io.Writer) error {
	producing, err := start(w.args(modeProduce), false)
	if err != nil {
		return err
	}
	produced := make(chan error, 1)
	go func() { produced <- producing.wait() }()
	if w.rate == 0 {
		if err := <-produced; err != nil {
			return fmt.Errorf("the producer: %w", err)
		}
		produced <- nil
	}
	if w.processes == 1 {
		err = consume(ctx, w.config, evidence, out)
	} else {
		err = w.share(ctx, out)
	}
	if ctx.Err() != nil {
		_ = producing.stdin.Close() // or it would go on to the end
	}
	return errors.Join(err, <-produced)
}

// startEngines starts the processes that share the topic, and calls failed when
// one of them ends.
func (w *world) startEngines(ctx context.Context, failed func(error)) error {
	s, err := openStore(ctx, w.db) // made once, not by all of them at the same time
	if err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return err
	}
	w.messages = 0 // how many each of them gets nobody knows before
	for range w.processes {
		c, err := start(w.args(modeEngine), false)
		if err != nil {
			return err
		}
		w.engines = append(w.engines, c)
		go func() { failed(fmt.Errorf("an engine ended before its time: %w", cmp.Or(c.wait(), io.EOF))) }()
	}
	return w.admin.formed(ctx, w.processes)
}

// share lets several processes consume all messages.
func (w *world) share(ctx context.Context, out io.Writer) error {
	messages := w.messages
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	if err := w.startEngines(ctx, failed); err != nil {
		return err
	}
	begin := time.Now()
	for {
		offsets, err := w.admin.committed(ctx, w.partitions)
		if err != nil {
			return err
		}
		done := 0
		for _, o := range offsets {
			done += int(o)
		}
		if done >= messages {
			elapsed := time.Since(begin)
			fmt.Fprintf(out, "%d messages by %d processes: %v\noperations: %d\n", done, w.processes, elapsed.Round(time.Millisecond), done)
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// feed answers lines, see [feeder].
func (w *world) feed(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	if err := w.startEngines(ctx, failed); err != nil {
		return err
	}
	p, err := newProducer(w.config)
	if err != nil {
		return err
	}
	f := &feeder{admin: w.admin, producer: p}
	return errors.Join(f.feed(ctx, in, out), p.close(ctx))
}
