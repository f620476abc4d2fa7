package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/fleet/store/embedded"
)

// askingRows is of a day of a hundred processes of one service, about.
const (
	askingRows = 10_000_000
	askers     = 20
)

// fillDay keeps askingRows of one service, as a process of its own: its memory is not the
// server's.
func fillDay(ctx context.Context, dir string) error {
	const processes, rowsOfBatch = 10, 879
	f, err := fill(ctx, dir, services(1, processes, askingRows/processes/rowsOfBatch*time.Minute), few)
	if err != nil {
		return err
	}
	return f.Close()
}

// measureAsking takes the peak of a whole server that is asked for the flame graph of all rows
// beside twenty others, each of the rows of other processes and hours, again and again.
func measureAsking(ctx context.Context, dir string) ([]Figure, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, program, "-fill", dir)
	child.Stderr = os.Stderr
	if err := child.Run(); err != nil {
		return nil, err
	}
	s, err := embedded.Open(filepath.Join(dir, "data"), embedded.Options{Memory: server.TableBytes(floodMemory)})
	if err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(floodMemory)
	served, stop := context.WithCancel(ctx)
	defer stop()
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.Serve(served, s, server.Options{Listen: "127.0.0.1:0", Memory: floodMemory, Ready: func(a string) { address <- a }})
	}()
	a := asking{}
	select {
	case err = <-ended:
	case at := <-address:
		err = a.all(ctx, "http://"+at)
		stop()
		err = errors.Join(err, <-ended)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	of := fmt.Sprintf(" %d askers for flame graphs of 10^7 rows", askers+1)
	return []Figure{
		{Name: "peak memory of the server with" + of, Unit: "MB", Value: peakMemory() / (1 << 20), Bar: floodMemory>>20 + floodConstant},
		{Name: "answers to" + of, Unit: "answers", Value: float64(a.answered)},
		{Name: "answers of 503 to" + of, Unit: "answers", Value: float64(a.busy)},
		{Name: "slowest answer to" + of, Unit: "s", Value: a.slowest.Seconds()},
	}, nil
}

// asking is what those saw who asked.
type asking struct {
	mu             sync.Mutex
	answered, busy int
	slowest        time.Duration
}

// all asks at the same time. A begin within an hour makes the rows of that hour count, and a
// label those of all.
func (a *asking) all(ctx context.Context, url string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for i := range askers + 1 {
		group.Go(func() {
			for round := range 3 {
				from := start.Add(time.Duration(i+round) * 61 * time.Second)
				path := fmt.Sprintf("%s/api/v1/flame?service=service-00&type=cpu&from=%s&until=%s", url, from.Format(time.RFC3339), start.Add(30*24*time.Hour).Format(time.RFC3339))
				if i > 0 {
					path += "&label=" + []string{"region=east", "region=west"}[i%2]
				}
				if err := a.one(ctx, path); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (a *asking) one(ctx context.Context, path string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	begin := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch answer.StatusCode {
	case http.StatusOK:
		a.answered++
		a.slowest = max(a.slowest, time.Since(begin))
	case http.StatusServiceUnavailable:
		a.busy++
	default:
		return fmt.Errorf("%s: %d %.200s", path, answer.StatusCode, said)
	}
	return nil
}
