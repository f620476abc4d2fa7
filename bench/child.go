package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"

	xtrace "golang.org/x/exp/trace"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/testing/oracle"
)

// An answer is a little of what a contender found out, printed so that the
// work cannot be left out and a reader sees that all did the same.
type answer struct {
	Events     int64         `json:"events,omitempty"`
	Goroutines int64         `json:"goroutines,omitempty"`
	Waits      int64         `json:"waits,omitempty"` // in the blocking profiles
	Running    time.Duration `json:"running_ns,omitempty"`
	Runnable   time.Duration `json:"runnable_ns,omitempty"`
}

// runContender returns the measured process of a contender that has no binary of its own.
func runContender(ctx context.Context, name, path string, stdout io.Writer) error {
	var a answer
	var err error
	switch name {
	case subject:
		a, err = account(ctx, path)
	case pictureName:
		a, err = picture(ctx, path)
	case loopName:
		a, err = withFile(path, loop)
	case sumName:
		a, err = withFile(path, summarize)
	default:
		err = fmt.Errorf("%q cannot be run so", name)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(a)
}

// withProfile calls f, with a CPU profile written to path unless that is empty.
func withProfile(path string, f func() error) error {
	if path == "" {
		return f()
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return errors.Join(err, out.Close())
	}
	err = f()
	pprof.StopCPUProfile()
	return errors.Join(err, out.Close())
}

// account is gowhy's: the whole ledger and the four profiles.
func account(ctx context.Context, path string) (a answer, err error) {
	t, err := exectrace.Open(path)
	if err != nil {
		return a, err
	}
	defer t.Close()
	acc, err := t.Account(ctx, exectrace.Options{})
	if err != nil {
		return a, err
	}
	return answerOf(acc), nil
}

func answerOf(acc *exectrace.Accounts) (a answer) {
	for _, g := range acc.Info.Generations {
		a.Events += g.Events
	}
	for _, g := range acc.Groups {
		a.Goroutines += int64(g.Count)
		a.Running += g.Times.Running
		a.Runnable += g.Times.Runnable
	}
	for _, w := range acc.Waits {
		a.Waits += w.Count
	}
	return a
}

// picture returns what gowhy view does until something can be seen, and a look at
// single stretches of time in ten places, which reads the trace again there. It is
// not compared with anything: the profile that gowhy is compiled with has it.
func picture(ctx context.Context, path string) (a answer, err error) {
	t, err := exectrace.Open(path)
	if err != nil {
		return a, err
	}
	defer t.Close()
	var b timeline.Builder
	acc, err := t.Account(ctx, exectrace.Options{Keep: 200, Piece: b.Add, BarePieces: true})
	if err != nil {
		return a, err
	}
	tl := b.Timeline(t, nil)
	if tl == nil {
		return answerOf(acc), nil
	}
	defer tl.Close()
	for i := range time.Duration(10) {
		from := tl.Length() * i / 10
		if _, err := tl.Edges(ctx, from, from+tl.Length()/1000, nil); err != nil {
			return a, err
		}
	}
	return answerOf(acc), nil
}

func withFile(path string, read func(io.Reader) (answer, error)) (answer, error) {
	f, err := os.Open(path)
	if err != nil {
		return answer{}, err
	}
	defer f.Close()
	// The reference reads in pieces of 4 KiB unless given larger ones.
	return read(bufio.NewReaderSize(f, 1<<20))
}

// loop reads every event with the reference and does nothing with it.
func loop(r io.Reader) (a answer, err error) {
	events, err := xtrace.NewReader(r)
	if err != nil {
		return a, err
	}
	for {
		_, err := events.ReadEvent()
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.Events++
	}
}

// summarize returns what a tool built on the reference has to do for the same answer.
func summarize(r io.Reader) (a answer, err error) {
	report, err := oracle.Analyze(r, oracle.Options{})
	if err != nil {
		return a, err
	}
	for _, g := range report.Goroutines {
		a.Goroutines++
		a.Running += g.Running
		a.Runnable += g.Runnable
	}
	for _, profile := range report.Profiles {
		for _, record := range profile {
			a.Waits += int64(record.Count)
		}
	}
	return a, nil
}
