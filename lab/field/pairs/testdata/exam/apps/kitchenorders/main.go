// Kitchenorders takes the orders of a canteen over HTTP and has them cooked.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"kitchenorders/internal/counter"
	"kitchenorders/internal/kitchen"
	"kitchenorders/internal/menu"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	cooks := flag.Int("cooks", 24, "cooks in the kitchen")
	strike := flag.String("strike", "closing", "until when an order can be struck off: closing or serving")
	flag.Parse()

	policy, err := kitchen.ParseStrike(*strike)
	if err != nil {
		log.Fatal(err)
	}
	day, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	k := kitchen.Open(day, *cooks, policy)
	m := menu.Generate(60)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: counter.New(m, k), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-day.Done()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		server.Shutdown(ctx)
	}()
	fmt.Println("listening on", l.Addr())
	if err := server.Serve(l); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	fmt.Printf("served: %d\n", k.Served())
}
