// Helpdesk takes tickets with attachments and keeps the newest of them. What is still being
// written when the service is stopped goes into a journal.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"helpdesk/internal/drafts"
	"helpdesk/internal/tickets"
	"helpdesk/internal/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	rescue := flag.String("rescue", "hooks", "how open drafts are found at the end: hooks or registry")
	keep := flag.Int("keep", 2000, "how many tickets are kept")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	desk, err := drafts.NewDesk(ctx, *rescue, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: web.Routes(desk, tickets.NewStore(*keep)), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(last)
	}()
	fmt.Println("listening on", l.Addr())
	if err := server.Serve(l); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
