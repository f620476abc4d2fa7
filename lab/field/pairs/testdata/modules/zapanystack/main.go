// Zapanystack is a worker that starts a goroutine for each message, which logs what it did.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type message struct {
	topic string
	key   uint64
	at    time.Time
}

type worker struct {
	log  *zap.Logger
	busy sync.WaitGroup
	room chan struct{}
}

func newWorker() *worker {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	core := zapcore.NewCore(encoder, zapcore.AddSync(io.Discard), zap.InfoLevel)
	return &worker{log: zap.New(core), room: make(chan struct{}, 64)}
}

func (w *worker) handle(m message) {
	defer func() { <-w.room; w.busy.Done() }()
	h := fnv.New64a()
	fmt.Fprint(h, m.topic, m.key)
	w.log.Debug("handled", zap.Any("topic", m.topic), zap.Any("key", m.key), zap.Any("sum", h.Sum64()), zap.Any("at", m.at))
}

func (w *worker) run(n int) {
	topics := []string{"orders", "payments", "returns"}
	for i := range n {
		w.room <- struct{}{}
		w.busy.Add(1)
		go w.handle(message{topics[i%len(topics)], uint64(i), time.Unix(int64(i), 0)})
	}
	w.busy.Wait()
}

func main() {
	messages := flag.Int("messages", 1500000, "how many are handled")
	flag.Parse()
	newWorker().run(*messages)
	fmt.Printf("operations: %d\n", *messages)
}
