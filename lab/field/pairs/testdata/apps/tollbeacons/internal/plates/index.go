// Package plates keeps which number plates were seen where.
package plates

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"
)

// Index counts the sightings by district.
type Index struct {
	key []byte

	mu        sync.Mutex
	districts map[string]int
	trouble   map[string]int
	total     int
}

// NewIndex makes an index whose receipts are signed with key.
func NewIndex(key []byte) *Index {
	return &Index{key: key, districts: make(map[string]int), trouble: make(map[string]int)}
}

// Sighted notes a plate and returns the receipt.
func (x *Index) Sighted(by string, plate []byte) []byte {
	m := hmac.New(sha256.New, x.key)
	m.Write([]byte(by))
	m.Write(plate)
	sum := m.Sum(nil)
	for range 16 {
		m.Reset()
		m.Write(sum)
		sum = m.Sum(sum[:0])
	}
	x.mu.Lock()
	x.districts[string(plate[:2])]++
	x.total++
	x.mu.Unlock()
	return sum
}

// Trouble counts a broken session of a beacon.
func (x *Index) Trouble(by string) {
	x.mu.Lock()
	x.trouble[by]++
	x.mu.Unlock()
}

// Totals returns the number of sightings, of districts and of broken sessions.
func (x *Index) Totals() (sightings, districts, broken int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range x.trouble {
		broken += n
	}
	return x.total, len(x.districts), broken
}
