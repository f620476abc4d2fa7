// Package archive stores what comes in as compressed objects.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"scaninbox/internal/document"
)

// Archive keeps the digests of its objects.
type Archive struct {
	limit int64

	mu      sync.Mutex
	objects map[string]string
	bytes   int64
}

// New makes an archive whose objects have at most limit bytes.
func New(limit int64) *Archive {
	return &Archive{limit: limit, objects: make(map[string]string)}
}

// Put stores what r has under a name.
func (a *Archive) Put(name string, r io.Reader) error {
	h := sha256.New()
	buf := make([]byte, 4096)
	var n int64
	for {
		k, err := r.Read(buf)
		h.Write(buf[:k])
		n += int64(k)
		if n > a.limit {
			return fmt.Errorf("archive: %s: %w", name, document.ErrTooLarge)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.objects[name] = hex.EncodeToString(h.Sum(nil))
	a.bytes += n
	if len(a.objects) > 2000 {
		for k := range a.objects {
			delete(a.objects, k)
			break
		}
	}
	return nil
}

// Stats returns how many objects and bytes there are.
func (a *Archive) Stats() (objects int, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.objects), a.bytes
}
