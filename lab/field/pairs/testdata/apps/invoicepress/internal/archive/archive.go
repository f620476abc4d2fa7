// Package archive files documents with their check sums.
package archive

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"invoicepress/internal/scratch"
)

type entry struct {
	size int
	sum  uint32
}

// Cabinet is the ledger of the archive.
type Cabinet struct {
	mu      sync.Mutex
	entries map[int]entry
}

func New() *Cabinet { return &Cabinet{entries: make(map[int]entry)} }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File wraps a document for the archive and books it.
func (c *Cabinet) File(number int, doc []byte) {
	b := scratch.Get()
	defer scratch.Put(b)
	b.Write(binary.BigEndian.AppendUint32(b.AvailableBuffer(), uint32(number)))
	enc := base64.NewEncoder(base64.StdEncoding, b)
	enc.Write(doc)
	enc.Close()
	sum := crc32.Checksum(b.Bytes(), castagnoli)
	b.Write(binary.BigEndian.AppendUint32(b.AvailableBuffer(), sum))

	c.mu.Lock()
	c.entries[number] = entry{b.Len(), sum}
	c.mu.Unlock()
}

// Size returns the number of documents and their size.
func (c *Cabinet) Size() (n, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		size += e.size
	}
	return len(c.entries), size
}
