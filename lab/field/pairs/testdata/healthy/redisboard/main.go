// Redisboard keeps the board of a game in Redis through go-redis, with pipelines; miniredis stands for the server.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

const players = 500

// play adds the points of a game and reads all of the player's, in one round trip.
func play(ctx context.Context, client *redis.Client, n int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	player := "player" + strconv.Itoa(n*7919%players)
	var last *redis.StringCmd
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HIncrBy(ctx, "points", player, int64(n%10))
		p.HIncrBy(ctx, "games", player, 1)
		p.Set(ctx, "seen:"+player, n, time.Minute)
		last = p.HGet(ctx, "points", player)
		return nil
	})
	if err != nil {
		return "", err
	}
	return last.Val(), nil
}

func main() {
	rate := flag.Int("rate", 10, "games a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), PoolSize: 4})
	defer client.Close()
	games := make(chan int, 32)
	var done atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range games {
				if _, err := play(context.Background(), client, n); err != nil {
					log.Print(err)
					continue
				}
				done.Add(1)
			}
		})
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
		case <-next.C:
			games <- n
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
	}
	close(games)
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
}
