package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// A feeder puts each line that it reads into the topic, and answers it with a
// line when the consumers' lag says that they have taken it. Who feeds it sees
// the lag as the lines that are not answered yet.
type feeder struct {
	*admin
	*producer
	lines chan int // how many were put into the topic so far, the newest only
}

// The consumers' offsets are asked for at this distance while lines wait for an
// answer, and so long after the last line was read.
const (
	asking  = time.Millisecond
	parting = time.Second
)

// feed answers lines until there are no more, or ctx ends.
func (f *feeder) feed(ctx context.Context, in io.Reader, out io.Writer) error {
	f.lines = make(chan int, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.take(ctx, in); err != nil {
			cancel(err)
		}
	}()
	err := f.answer(ctx, out, ended)
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// maxLine bounds a message that is fed.
const maxLine = 1 << 20

// take puts lines into the topic. A number stands for the message with it.
func (f *feeder) take(ctx context.Context, in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 64<<10), maxLine)
	for s.Scan() {
		message := append([]byte(nil), s.Bytes()...)
		if id, err := strconv.ParseInt(s.Text(), 10, 64); err == nil {
			message = newMessage(id)
		}
		f.send(ctx, message)
		select {
		case <-f.lines: // an older count
		default:
		}
		f.lines <- f.sent
	}
	return s.Err()
}

// answer follows the consumers' offsets.
func (f *feeder) answer(ctx context.Context, out io.Writer, ended <-chan struct{}) error {
	w := bufio.NewWriter(out)
	var late <-chan time.Time // begins when the last line was read
	for sent, answered := 0, 0; ; {
		wait := (<-chan time.Time)(nil)
		if answered < sent {
			wait = time.After(asking)
		} else if late != nil && len(f.lines) == 0 {
			return nil
		}
		select {
		case sent = <-f.lines:
			continue
		case <-ended:
			ended, late = nil, time.After(parting)
			continue
		case <-late:
			return fmt.Errorf("%d of %d lines were not consumed a second after the last", sent-answered, sent)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-wait:
		}
		offsets, err := f.committed(ctx, f.partitions)
		if err != nil {
			return err
		}
		for ; answered < sent && offsets[answered%f.partitions] > int64(answered/f.partitions); answered++ {
			fmt.Fprintln(w, answered)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}
