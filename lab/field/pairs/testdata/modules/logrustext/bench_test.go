package logrustext

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

type worker struct {
	log *logrus.Entry
}

func newWorker(w io.Writer) *worker {
	l := logrus.New()
	l.SetOutput(w)
	l.SetFormatter(&logrus.TextFormatter{DisableColors: true, FullTimestamp: true})
	return &worker{l.WithFields(logrus.Fields{"service": "mail", "version": "2.4.1"})}
}

var errFull = errors.New("the mailbox is full")

// deliver sends a letter and says what became of it.
func (w *worker) deliver(id int, to string) {
	start := time.Now()
	log := w.log.WithField("id", id).WithField("to", to)
	if id%5 == 0 {
		log.WithError(errFull).Warn("the letter comes back")
		return
	}
	log.WithField("took", time.Since(start)).Info("the letter is delivered")
}

func BenchmarkDeliver(b *testing.B) {
	w, i := newWorker(io.Discard), 0
	for b.Loop() {
		w.deliver(i, "ann@example.com")
		i++
	}
}
