package main

import (
	"errors"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// A querylog writes a line of JSON for each query.
type querylog struct {
	how  string
	file *os.File
	temp bool // the file goes with the log

	mu      sync.Mutex
	pending []byte // lines that are not written yet
	spare   []byte // the other buffer
	err     error  // the first of writing
	wake    chan struct{}
	done    chan struct{}
	ended   chan struct{}
	lost    atomic.Int64
	// queue hands lines to the one that writes them: whoever has one waits.
	queue chan []byte
}

const (
	// maxPending bounds the lines that wait to be written. When the disk
	// cannot follow, lines are lost and counted, and answers go on.
	maxPending = 4 << 20
	// logDelay is how long the first of the pending lines waits for others.
	logDelay = 100 * time.Millisecond
)

// openLog opens the log; its writer runs until close.
func openLog(how, path string) (*querylog, error) {
	l := &querylog{how: how, wake: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{})}
	if how == "off" {
		close(l.ended)
		return l, nil
	}
	var err error
	if path == "" {
		l.file, err = os.CreateTemp("", "zonedns-*.log")
		l.temp = true
	} else {
		l.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if how == "queue" {
		l.queue = make(chan []byte)
		go l.writeEach()
		return l, nil
	}
	go l.write()
	return l, nil
}

// A logLine is what is logged of a query.
type logLine struct {
	at      time.Time
	client  netip.Addr
	country string // "" when not known
	name    string
	qtype   uint16
	rcode   int
	bytes   int
}

func (l *querylog) add(e logLine) {
	if l.how == "queue" {
		select {
		case l.queue <- e.append(nil):
		case <-l.done:
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= maxPending {
		l.lost.Add(1)
		return
	}
	first := len(l.pending) == 0
	l.pending = e.append(l.pending)
	switch {
	case l.how == "sync":
		l.flush(l.pending)
		l.pending = l.pending[:0]
	case first:
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// append makes the line. In a name any byte that is not plain is an escape of
// printable characters already, and their backslashes are quoted here.
func (e logLine) append(b []byte) []byte {
	b = append(b, `{"at":"`...)
	b = e.at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(b, `","client":"`...)
	b = e.client.AppendTo(b)
	b = append(b, `","country":`...)
	b = strconv.AppendQuoteToASCII(b, e.country)
	b = append(b, `,"name":`...)
	b = strconv.AppendQuoteToASCII(b, e.name)
	b = append(b, `,"type":"`...)
	if name, ok := dns.TypeToString[e.qtype]; ok {
		b = append(b, name...)
	} else {
		b = strconv.AppendUint(append(b, "TYPE"...), uint64(e.qtype), 10)
	}
	b = append(b, `","rcode":`...)
	b = strconv.AppendInt(b, int64(e.rcode), 10)
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, int64(e.bytes), 10)
	return append(b, "}\n"...)
}

// writeEach writes line by line, as the story's log does.
func (l *querylog) writeEach() {
	defer close(l.ended)
	for {
		select {
		case line := <-l.queue:
			if err := l.flush(line); err != nil && l.err == nil {
				l.err = err
			}
		case <-l.done:
			return
		}
	}
}

// write writes what is pending, some time after its first line.
func (l *querylog) write() {
	defer close(l.ended)
	for {
		select {
		case <-l.wake:
		case <-l.done:
			l.swap()
			return
		}
		select {
		case <-time.After(logDelay):
		case <-l.done:
		}
		l.swap()
	}
}

// swap writes the pending lines while others gather in the spare buffer.
func (l *querylog) swap() {
	l.mu.Lock()
	lines := l.pending
	l.pending, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	err := l.flush(lines)
	l.mu.Lock()
	l.spare = lines[:0]
	if l.err == nil {
		l.err = err
	}
	l.mu.Unlock()
}

func (l *querylog) flush(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if _, err := l.file.Write(lines); err != nil {
		l.lost.Add(1)
		return err
	}
	return nil
}

// close writes what is left.
func (l *querylog) close() error {
	if l.how == "off" {
		return nil
	}
	close(l.done)
	<-l.ended
	err := errors.Join(l.err, l.file.Close())
	if l.temp {
		err = errors.Join(err, os.Remove(l.file.Name()))
	}
	return err
}
