// Package journal keeps the record of what was handed out, in batches.
package journal

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"time"
)

const (
	maxBatch = 64
	linger   = 8 * time.Millisecond
)

type record struct {
	body []byte
	done chan error
}

// Journal appends records to a file.
type Journal struct {
	f       *os.File
	in      chan record
	gather  func(batch []record) []record
	Batches int
}

// Open returns the journal in the file; direct chooses how batches are gathered.
func Open(f *os.File, direct bool) *Journal {
	j := &Journal{f: f, in: make(chan record, maxBatch)}
	j.gather = j.fill
	if direct {
		j.gather = j.drain
	}
	go j.run()
	return j
}

// Append returns when the record is in the file.
func (j *Journal) Append(body []byte) error {
	r := record{body, make(chan error, 1)}
	j.in <- r
	return <-r.done
}

func (j *Journal) run() {
	var batch []record
	for r := range j.in {
		batch = j.gather(append(batch[:0], r))
		err := j.write(batch)
		for _, r := range batch {
			r.done <- err
		}
	}
}

// fill gathers records for a batch.
func (j *Journal) fill(batch []record) []record {
	t := time.NewTimer(linger)
	defer t.Stop()
	for len(batch) < maxBatch {
		select {
		case r := <-j.in:
			batch = append(batch, r)
		case <-t.C:
			return batch
		}
	}
	return batch
}

// drain gathers the records that came in during the last write.
func (j *Journal) drain(batch []record) []record {
	for len(batch) < maxBatch {
		select {
		case r := <-j.in:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func (j *Journal) write(batch []record) error {
	var buf []byte
	for _, r := range batch {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(r.body)))
		buf = binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(r.body))
		buf = append(buf, r.body...)
	}
	j.Batches++
	_, err := j.f.Write(buf)
	return err
}
