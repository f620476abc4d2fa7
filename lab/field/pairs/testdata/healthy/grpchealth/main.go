// Grpchealth tells over gRPC which of many services are healthy; with -client it is a monitor that asks.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

const services = 100

// monitor asks at a rate, some questions at a time.
func monitor(ctx context.Context, addr string, rate int) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	questions := make(chan struct{}, 64)
	var done atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range questions {
				one, cancel := context.WithTimeout(context.Background(), time.Second)
				_, err := client.List(one, &healthpb.HealthListRequest{})
				cancel()
				if err != nil {
					log.Print(err)
					continue
				}
				done.Add(1)
			}
		})
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		select {
		case <-ctx.Done():
		case <-next.C:
			questions <- struct{}{}
			next.Reset(time.Until(start.Add(time.Duration(i+1) * time.Second / time.Duration(rate))))
		}
	}
	close(questions)
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	client := flag.String("client", "", "ask the server at this address")
	rate := flag.Int("rate", 100, "questions a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *client != "" {
		if err := monitor(ctx, *client, *rate); err != nil {
			log.Fatal(err)
		}
		return
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	state := health.NewServer()
	for i := range services {
		state.SetServingStatus("service"+strconv.Itoa(i), healthpb.HealthCheckResponse_SERVING)
	}
	var answered atomic.Int64
	count := func(ctx context.Context, in any, _ *grpc.UnaryServerInfo, answer grpc.UnaryHandler) (any, error) {
		answered.Add(1)
		return answer(ctx, in)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(count))
	healthpb.RegisterHealthServer(server, state)
	go func() {
		<-ctx.Done()
		state.Shutdown()
		server.GracefulStop()
	}()
	fmt.Println("listening")
	if err := server.Serve(l); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", answered.Load())
}
