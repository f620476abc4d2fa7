// Slogaccess answers when a bus leaves, and logs each request with slog through a buffer,
// which is written every half second and at the end.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A sink is a buffer before a file, that several may use.
type sink struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Flush()
}

// every flushes the sink now and then.
func (s *sink) every(ctx context.Context, d time.Duration) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := s.flush(); err != nil {
				log.Print(err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// A recorder remembers what a handler answered.
type recorder struct {
	http.ResponseWriter
	status, bytes int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// logged logs the requests that next answers.
func logged(logger *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, rec := time.Now(), &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		level := slog.LevelInfo
		if rec.status >= 500 {
			level = slog.LevelError
		}
		logger.LogAttrs(r.Context(), level, "request", slog.String("method", r.Method), slog.String("path", r.URL.Path),
			slog.Int("status", rec.status), slog.Int("bytes", rec.bytes), slog.Duration("took", time.Since(start)))
	})
}

// timetable is when the buses of a line leave, in minutes of the day.
type timetable map[string][]int

func (t timetable) next(w http.ResponseWriter, r *http.Request) {
	minute, err := strconv.Atoi(r.PathValue("minute"))
	leaves, ok := t[r.PathValue("line")]
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	at, _ := slices.BinarySearch(leaves, minute)
	out := make([]byte, 0, 8*len("00:00\n"))
	for _, m := range leaves[at:min(at+8, len(leaves))] {
		out = fmt.Appendf(out, "%02d:%02d\n", m/60, m%60)
	}
	_, _ = w.Write(out)
}

func run(addr, dir string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f, err := os.OpenFile(filepath.Join(dir, "access.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	s := &sink{out: bufio.NewWriterSize(f, 64<<10)}
	defer func() { err = errors.Join(err, s.flush(), f.Close()) }()
	go s.every(ctx, 500*time.Millisecond)
	t := timetable{}
	for line := range 60 {
		leaves := make([]int, 0, 24*60/5)
		for m := line % 5; m < 24*60; m += 5 + line%15 {
			leaves = append(leaves, m)
		}
		t["line"+strconv.Itoa(line)] = leaves
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /buses/{line}/{minute}", t.next)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: logged(slog.New(slog.NewJSONHandler(s, nil)), mux), ReadHeaderTimeout: 5 * time.Second}
	idle := make(chan error, 1)
	context.AfterFunc(ctx, func() { idle <- srv.Shutdown(context.Background()) })
	fmt.Println("listening on", l.Addr())
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-idle
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	dir := flag.String("dir", os.TempDir(), "where the log is")
	flag.Parse()
	if err := run(*addr, *dir); err != nil {
		log.Fatal(err)
	}
}
