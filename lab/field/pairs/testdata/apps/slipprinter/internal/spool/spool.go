// Package spool passes commands on to the printers of the shops.
package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"sync/atomic"
)

// Queue hands commands on in frames.
type Queue struct {
	head   []byte
	Jobs   atomic.Int64
	In     atomic.Int64
	Frames atomic.Int64
	check  uint32
	seal   [sha256.Size]byte
}

// Send hands a job on. Each frame carries a checksum of its own,
// and the jobs of a queue are sealed one after the other.
func (q *Queue) Send(job []byte) error {
	const frame = 1024
	h := sha256.New()
	h.Write(q.seal[:])
	h.Write(job)
	h.Sum(q.seal[:0])
	q.In.Add(int64(len(job)))
	for len(job) > 0 {
		n := min(frame, len(job))
		sum := crc32.ChecksumIEEE(job[:n])
		q.head = binary.LittleEndian.AppendUint32(q.head[:0], uint32(n))
		q.head = binary.LittleEndian.AppendUint32(q.head, sum)
		q.head = binary.LittleEndian.AppendUint32(q.head, uint32(bytes.Count(job[:n], []byte{0x1b})))
		q.check = crc32.Update(q.check, crc32.IEEETable, q.head)
		q.Frames.Add(1)
		job = job[n:]
	}
	q.Jobs.Add(1)
	return nil
}
