package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gowhy/gowhy/agent"
	"github.com/gowhy/gowhy/agent/recording"
)

// A program that serves HTTP with a mux of its own, on a port for engineers.
func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("GET /debug/gowhy/", agent.Handler())
	go func() {
		log.Println(http.ListenAndServe("127.0.0.1:6060", mux))
	}()
	// gowhy record -d 10s --url http://127.0.0.1:6060
}

// What gowhy record does: it asks the program for all sources of the same time,
// and gets a recording.
func ExampleHandler_record() {
	program := httptest.NewServer(agent.Handler())
	defer program.Close()
	answer, err := http.Get(program.URL + "/record?d=50ms&sources=heap,metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	r, err := recording.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("whole:", !r.Cut)
	for _, m := range r.Members {
		fmt.Println(m.Name)
	}
	// Output:
	// whole: true
	// build.txt
	// heap-start.pb.gz
	// metrics.jsonl
	// heap-end.pb.gz
}

// A program that ends by itself.
func ExampleFinish() {
	defer agent.Finish()
	// gowhy record -- ./program
}

// A service that keeps the ten seconds before an incident.
func ExampleWatch() {
	stop, err := agent.Watch(agent.Triggers{
		Dir:        "/var/tmp/shop-incidents",
		CPU:        0.9,
		Goroutines: 2,
		Heap:       2,
		Latency:    10 * time.Millisecond,
		Tasks:      map[string]time.Duration{"checkout": 2 * time.Second},
		OnEvent: func(e agent.Event) {
			log.Printf("%s %s was %g, over %g: gowhy %s (%v)", e.Kind, e.Task, e.Value, e.Limit, e.File, e.Err)
		},
	})
	if err != nil {
		log.Println("not watched:", err)
		return
	}
	defer stop()
}

// A task that is slow under a name of its own.
func ExampleTask() {
	checkout := func(ctx context.Context) {
		ctx, end := agent.Task(ctx, "checkout")
		defer end()
		<-ctx.Done()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	checkout(ctx)
}
