// Healthgates is the gateway in front of eight services. It tells the load balancer
// whether they are well, each time when that asks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/hellofresh/health-go/v5"
)

type backend struct {
	name  string
	asked int
}

// check looks at the last answer that the backend gave.
func (b *backend) check(ctx context.Context) error {
	b.asked++
	if b.asked%1000 == 999 {
		return errors.New(b.name + " is busy")
	}
	return ctx.Err()
}

func gate() (*health.Health, error) {
	h, err := health.New(health.WithComponent(health.Component{Name: "gateway", Version: "v3.2"}))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"users", "orders", "stock", "prices", "mails", "search", "images", "bills"} {
		b := &backend{name: name}
		err := h.Register(health.Config{Name: name, Timeout: 30 * time.Second, SkipOnErr: true, Check: b.check})
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

func main() {
	questions := flag.Int("questions", 40_000, "how often the load balancer asks")
	flag.Parse()
	h, err := gate()
	if err != nil {
		log.Fatal(err)
	}
	well := 0
	for i := range *questions {
		if h.Measure(context.Background()).Status == health.StatusOK {
			well++
		}
		if i%20 == 19 {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("well:", well)
	fmt.Println("operations:", *questions)
}
