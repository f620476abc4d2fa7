// Package vault keeps the versions of configurations.
package vault

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"sync"
)

// Version is one version of a configuration, packed.
type Version struct {
	Sum    [32]byte
	Packed []byte
	Gone   int // lines that the version before had
	New    int // lines that it had not
}

// Vault has the last versions of each device.
type Vault struct {
	mu    sync.Mutex
	last  map[string][]byte
	kept  map[string][]Version
	Depth int
}

// New makes a vault with room for depth versions of a device.
func New(depth int) *Vault {
	return &Vault{last: make(map[string][]byte), kept: make(map[string][]Version), Depth: depth}
}

// Put files a configuration.
func (v *Vault) Put(name string, text []byte) (Version, error) {
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	zw.Write(text)
	if err := zw.Close(); err != nil {
		return Version{}, err
	}
	ver := Version{Sum: sha256.Sum256(text), Packed: packed.Bytes()}

	v.mu.Lock()
	defer v.mu.Unlock()
	ver.Gone, ver.New = compare(v.last[name], text)
	v.last[name] = text
	list := append(v.kept[name], ver)
	if len(list) > v.Depth {
		list = append(list[:0], list[len(list)-v.Depth:]...)
	}
	v.kept[name] = list
	return ver, nil
}

func compare(old, now []byte) (gone, fresh int) {
	count := make(map[string]int)
	for line := range bytes.Lines(old) {
		count[string(line)]++
	}
	for line := range bytes.Lines(now) {
		if count[string(line)]--; count[string(line)] < 0 {
			fresh++
		}
	}
	for _, n := range count {
		gone += max(0, n)
	}
	return gone, fresh
}
