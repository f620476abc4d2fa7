// Package ops serves handlers as all services of the house are served: with a page for
// probes, counts of what was answered, and an end that waits for what is under way.
package ops

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// grace is how long requests may take when the service ends.
const grace = 2 * time.Second

// Counts are of answers since the start.
type Counts struct {
	Requests, Failed atomic.Int64
	Nanoseconds      atomic.Int64
}

// A recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is what is recorded, for those who flush it.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Wrap counts the answers of a handler.
func (c *Counts) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, rec := time.Now(), recorder{w, http.StatusOK}
		next.ServeHTTP(&rec, r)
		c.Requests.Add(1)
		c.Nanoseconds.Add(int64(time.Since(start)))
		if rec.status >= http.StatusInternalServerError {
			c.Failed.Add(1)
		}
	})
}

func (c *Counts) probe(w http.ResponseWriter, _ *http.Request) {
	n := c.Requests.Load()
	mean := time.Duration(c.Nanoseconds.Load() / max(1, n))
	fmt.Fprintf(w, "ok\nrequests %d\nfailed %d\nmean %s\n", n, c.Failed.Load(), mean)
}

// Serve serves a handler until the process is interrupted.
func Serve(addr string, h http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var c Counts
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", c.probe)
	mux.Handle("/", c.Wrap(h))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("listening on", l.Addr())
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		ended <- s.Shutdown(last)
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-ended; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	fmt.Printf("operations: %d\n", c.Requests.Load())
	return nil
}
