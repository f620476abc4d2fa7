// Package wal is a log on disk. Records that come together are written and synced together.
package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// Options are the settings of a log.
type Options struct {
	Batch  int           // records that are written together at most
	Gather time.Duration // how long a batch is open for more; 0 takes those that are there
	Sync   bool
}

type record struct {
	data []byte
	done chan error
}

// A Log is safe for concurrent use.
type Log struct {
	o      Options
	file   *os.File
	queue  chan record
	closed chan error
}

// Create makes a log in a file.
func Create(path string, o Options) (*Log, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	l := &Log{o: o, file: f, queue: make(chan record, o.Batch), closed: make(chan error)}
	go l.run()
	return l, nil
}

// Append writes a record and returns when it is on disk.
func (l *Log) Append(data []byte) error {
	r := record{data: data, done: make(chan error, 1)}
	l.queue <- r
	return <-r.done
}

// Close writes what is left and closes the file.
func (l *Log) Close() error {
	close(l.queue)
	return errors.Join(<-l.closed, l.file.Close())
}

func (l *Log) run() {
	var batch []record
	for first := range l.queue {
		batch = l.gather(append(batch[:0], first))
		err := l.commit(batch)
		for _, r := range batch {
			r.done <- err
		}
	}
	l.closed <- nil
}

// gather adds to a batch what belongs to it.
func (l *Log) gather(batch []record) []record {
	var over <-chan time.Time
	if l.o.Gather > 0 {
		t := time.NewTimer(l.o.Gather)
		defer t.Stop()
		over = t.C
	}
	for len(batch) < l.o.Batch {
		if over == nil {
			select {
			case r, ok := <-l.queue:
				if !ok {
					return batch
				}
				batch = append(batch, r)
				continue
			default:
				return batch
			}
		}
		select {
		case r, ok := <-l.queue:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		case <-over:
			return batch
		}
	}
	return batch
}

func (l *Log) commit(batch []record) error {
	w := bufio.NewWriter(l.file)
	var head [8]byte
	for _, r := range batch {
		binary.LittleEndian.PutUint32(head[:], uint32(len(r.data)))
		binary.LittleEndian.PutUint32(head[4:], crc32.ChecksumIEEE(r.data))
		w.Write(head[:])
		w.Write(r.data)
	}
	if err := w.Flush(); err != nil || !l.o.Sync {
		return err
	}
	return l.file.Sync()
}

// Read calls f with the records of a file.
func Read(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	var head [8]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		data := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		if crc32.ChecksumIEEE(data) != binary.LittleEndian.Uint32(head[4:]) {
			return errors.New("wal: record does not match its checksum")
		}
		if err := f(data); err != nil {
			return err
		}
	}
}
