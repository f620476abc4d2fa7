// Natsmeters sends the readings of meters through an embedded nats-server to a group of workers that sum them.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

type reading struct {
	Meter int       `json:"meter"`
	Hours []float64 `json:"hours"`
}

// sums are those of the meters; the workers share them.
type sums struct {
	mu      sync.Mutex
	byMeter map[int]float64
	n       atomic.Int64
}

func (s *sums) add(m *nats.Msg) {
	var r reading
	if err := json.Unmarshal(m.Data, &r); err != nil {
		log.Print(err)
		return
	}
	day := 0.0
	for _, v := range r.Hours {
		day += v
	}
	s.mu.Lock()
	s.byMeter[r.Meter] += day
	s.mu.Unlock()
	s.n.Add(1)
}

func embed() (*server.Server, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(5 * time.Second) {
		return nil, fmt.Errorf("the server did not start")
	}
	return s, nil
}

// send publishes readings at a rate, in rounds of a hundredth of a second.
func send(ctx context.Context, conn *nats.Conn, rate int) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	hours := make([]float64, 24)
	start, n := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return conn.FlushTimeout(2 * time.Second)
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(rate)); n < due && ctx.Err() == nil; n++ {
			for h := range hours {
				hours[h] = float64((n*h)%770) / 10
			}
			text, err := json.Marshal(reading{n % 1000, hours})
			if err != nil {
				return err
			}
			if err := conn.Publish("meters.readings", text); err != nil {
				return err
			}
		}
	}
}

func main() {
	rate := flag.Int("rate", 100, "readings a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	s, err := embed()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Shutdown()
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	all := &sums{byMeter: map[int]float64{}}
	for range 2 {
		if _, err := conn.QueueSubscribe("meters.*", "summing", all.add); err != nil {
			log.Fatal(err)
		}
	}
	if err := send(ctx, conn, *rate); err != nil {
		log.Fatal(err)
	}
	if err := conn.Drain(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", all.n.Load())
}
