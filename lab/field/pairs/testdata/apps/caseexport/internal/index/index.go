// Package index notes the words of papers, for the search of the archive.
package index

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
)

// Index counts in which papers words are.
type Index struct {
	slots [1 << 14]uint32
	Words int
}

// Add notes a paper and returns its seal.
func (x *Index) Add(text []byte) string {
	h := fnv.New32a()
	start := -1
	for i, c := range text {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			if i-start > 3 {
				h.Reset()
				h.Write(text[start:i])
				x.slots[h.Sum32()%uint32(len(x.slots))]++
				x.Words++
			}
			start = -1
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
