// Ssescores shows the scores of games as they change, to those who have a look at them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/r3labs/sse/v2"
)

// broadcast serves the scores, which change twenty times a second.
func broadcast() (string, error) {
	server := sse.New()
	server.AutoReplay = false
	server.CreateStream("scores")
	go func() {
		for i := 0; ; i++ {
			server.Publish("scores", &sse.Event{Data: fmt.Appendf(nil, "home %d : %d guests", i/3, i/4)})
			time.Sleep(50 * time.Millisecond)
		}
	}()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/events", server.ServeHTTP)
	go func() { log.Fatal(http.Serve(l, mux)) }()
	return "http://" + l.Addr().String() + "/events", nil
}

// A viewer looks at the scores for some time.
type viewer struct{ seen *atomic.Int64 }

func (v viewer) watch(ctx context.Context, url string) {
	client := sse.NewClient(url)
	err := client.SubscribeWithContext(ctx, "scores", func(msg *sse.Event) {
		if len(msg.Data) > 0 {
			v.seen.Add(1)
		}
	})
	if err != nil && ctx.Err() == nil {
		log.Print(err)
	}
}

func main() {
	viewers := flag.Int("viewers", 2400, "how many look at the scores")
	flag.Parse()
	url, err := broadcast()
	if err != nil {
		log.Fatal(err)
	}
	var seen atomic.Int64
	for i := range *viewers {
		ctx, leave := context.WithCancel(context.Background())
		go viewer{&seen}.watch(ctx, url)
		time.AfterFunc(time.Duration(150+i%100)*time.Millisecond, leave)
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("seen:", seen.Load())
	fmt.Println("operations:", *viewers)
}
