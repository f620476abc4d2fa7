// Statuspages shows how the services of a company are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"statuspages/internal/services"
)

// options are those of the server.
type options struct {
	addr    string
	linger  time.Duration
	persist bool
}

func serve(ctx context.Context, o options, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: o.linger}
	s.SetKeepAlivesEnabled(o.persist)
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	fmt.Println("listening on", l.Addr())
	go func() {
		<-ctx.Done()
		_ = s.Close() // it ends anyway
	}()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "where to serve")
	flag.DurationVar(&o.linger, "linger", time.Minute, "how long an idle connection is kept")
	flag.BoolVar(&o.persist, "persist", true, "keep connections for further requests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	mux.Handle("GET /status", services.NewPage(12))
	if err := serve(ctx, o, mux); err != nil {
		log.Print(err)
	}
}
