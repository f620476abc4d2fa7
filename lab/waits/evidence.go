package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// evidenceLeft is the line that says that the evidence is there.
const evidenceLeft = "evidence is left"

const (
	settleTime = time.Second // how a program begins is not what it is about
	traceTime  = 3 * time.Second
)

// leave writes what a program can write of itself: a trace of some seconds, and then a
// goroutine profile. It has no server and no agent, so that whoever looks from outside
// sees the program alone.
func leave(ctx context.Context, dir string) error {
	wait(ctx, settleTime)
	f, err := os.Create(filepath.Join(dir, "trace"))
	if err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		return errors.Join(err, f.Close())
	}
	wait(ctx, traceTime)
	trace.Stop()
	if err := f.Close(); err != nil {
		return err
	}
	for range 2 { // a dump counts minutes from the collection before the one that saw a goroutine wait
		runtime.GC()
	}
	if f, err = os.Create(filepath.Join(dir, "goroutine.pb.gz")); err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("goroutine").WriteTo(f, 0), f.Close())
}

// wait waits for a time, or for the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
