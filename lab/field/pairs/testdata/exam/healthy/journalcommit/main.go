// Journalcommit books transfers in a journal on the disk: all that wait are written and
// synced together, and none is acknowledged before.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"
	"sync"
)

// A transfer moves cents from one account to another.
type transfer struct{ from, to, cents uint64 }

const recordSize = 28

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode appends the transfer and its checksum to b.
func (t transfer) encode(b []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, t.from)
	b = binary.LittleEndian.AppendUint64(b, t.to)
	b = binary.LittleEndian.AppendUint64(b, t.cents)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// A batch is what is synced together; done is closed when it was.
type batch struct {
	records []byte
	done    chan struct{}
	err     error
}

// A journal has one batch that is written and one that fills in the meantime.
type journal struct {
	file *os.File
	wake chan struct{} // holds one token while records wait
	end  chan struct{}

	mu      sync.Mutex
	filling *batch
	closed  bool
	spare   []byte
}

func open(name string) (*journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, wake: make(chan struct{}, 1), end: make(chan struct{}), spare: make([]byte, 0, 64*recordSize)}
	j.filling = &batch{done: make(chan struct{}), records: make([]byte, 0, 64*recordSize)}
	go j.commit()
	return j, nil
}

var errClosed = errors.New("the journal is closed")

// book returns when the transfer is on the disk.
func (j *journal) book(t transfer) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return errClosed
	}
	b := j.filling
	first := len(b.records) == 0
	b.records = t.encode(b.records)
	j.mu.Unlock()
	if first {
		j.wake <- struct{}{}
	}
	<-b.done
	return b.err
}

// commit writes one batch after another.
func (j *journal) commit() {
	defer close(j.end)
	for range j.wake {
		j.mu.Lock()
		b := j.filling
		j.filling = &batch{done: make(chan struct{}), records: j.spare}
		j.mu.Unlock()
		if _, b.err = j.file.Write(b.records); b.err == nil {
			b.err = j.file.Sync()
		}
		j.mu.Lock()
		j.spare = b.records[:0]
		j.mu.Unlock()
		close(b.done)
	}
}

// close commits what waits; nobody may book any more.
func (j *journal) close() error {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	close(j.wake)
	<-j.end
	return j.file.Close()
}

func main() {
	dir := flag.String("dir", os.TempDir(), "where the journal is")
	tellers := flag.Int("tellers", 32, "how many book at a time")
	flag.Parse()
	j, err := open(filepath.Join(*dir, "journal"))
	if err != nil {
		log.Fatal(err)
	}
	pace(*tellers, func(_ context.Context, teller, n int) error {
		return j.book(transfer{uint64(teller), uint64(n % 1000), uint64(n%9000 + 1)})
	})
	if err := j.close(); err != nil {
		log.Fatal(err)
	}
}
