// Websocketprices sends prices to subscribers over coder/websocket when they ask for some; with -client it is a
// few of these.
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
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

type question struct {
	Symbols []string `json:"symbols"`
	Round   int      `json:"round"`
}

type price struct {
	Symbol string  `json:"symbol"`
	Bid    float64 `json:"bid"`
	Ask    float64 `json:"ask"`
}

func answer(q *question, out []price) []price {
	for i, s := range q.Symbols {
		mid := 100 + float64((q.Round*7+i*13)%100)/10
		out = append(out, price{s, mid - 0.01, mid + 0.01})
	}
	return out
}

// answered counts the questions, for the last line.
var answered atomic.Int64

func serve(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	var out []price
	for {
		var q question
		if err := wsjson.Read(r.Context(), c, &q); err != nil {
			return
		}
		out = answer(&q, out[:0])
		if err := wsjson.Write(r.Context(), c, out); err != nil {
			return
		}
		answered.Add(1)
	}
}

// subscribe asks at a rate over one connection until ctx ends.
func subscribe(ctx context.Context, url string, rate int) (n int, err error) {
	c, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return 0, err
	}
	defer c.CloseNow()
	q := question{}
	for i := range 100 {
		q.Symbols = append(q.Symbols, fmt.Sprintf("SYM%d", i))
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var prices []price
	for {
		select {
		case <-ctx.Done():
			return n, c.Close(websocket.StatusNormalClosure, "")
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(rate))))
		}
		q.Round++
		deadline, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := wsjson.Write(deadline, c, &q)
		if err == nil {
			err = wsjson.Read(deadline, c, &prices)
		}
		cancel()
		if err != nil {
			return n, err
		}
		n++
	}
}

func subscribers(ctx context.Context, url string, rate int) {
	const connections = 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range connections {
		wg.Go(func() {
			n, err := subscribe(ctx, url, max(1, rate/connections))
			if err != nil {
				log.Print(err)
			}
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", total)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	client := flag.String("client", "", "subscribe to this URL")
	rate := flag.Int("rate", 100, "questions a second of all subscribers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *client != "" {
		subscribers(ctx, *client, *rate)
		return
	}
	server := &http.Server{Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", answered.Load())
}
