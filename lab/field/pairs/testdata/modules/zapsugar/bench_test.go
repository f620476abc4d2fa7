package zapsugar

import (
	"io"
	"strconv"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type queue struct {
	log  *zap.SugaredLogger
	sum  int
	last string
	seen map[int]bool
}

func newQueue() *queue {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.WarnLevel)
	return &queue{log: zap.New(core).Sugar(), seen: map[int]bool{}}
}

// handle adds an order once.
func (q *queue) handle(id, cents int) {
	q.log.Info("an order comes in")
	q.last = "order " + strconv.Itoa(id)
	if q.seen[id] {
		q.log.Warn("the order was there before")
		return
	}
	q.seen[id] = true
	q.sum += cents
}

func BenchmarkHandle(b *testing.B) {
	q, i := newQueue(), 0
	for b.Loop() {
		q.handle(i%512, i)
		i++
	}
}
