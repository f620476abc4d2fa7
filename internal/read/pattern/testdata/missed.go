package testdata

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"
)

// missed-cache

type quoteKey struct {
	id   int
	text string
}

type quotes struct {
	mu    sync.Mutex
	kept  map[quoteKey]*[32]byte
	load  func(string) ([]byte, error)
	files map[string][]byte
	until map[string]time.Time
	all   sync.Map
	sizes map[string]int
}

func hashed(text string) *[32]byte {
	sum := sha256.Sum256([]byte(text))
	return &sum
}

func (q *quotes) get(id int, text string) *[32]byte {
	k := quoteKey{id, text}
	q.mu.Lock()
	v, ok := q.kept[k]
	q.mu.Unlock()
	if ok {
		return v
	}
	sum := hashed(text) // sick key-too-fine testdata.hashed
	q.mu.Lock()
	q.kept[k] = sum
	q.mu.Unlock()
	return sum
}

func (q *quotes) file(name string) ([]byte, error) {
	if b, ok := q.files[name]; ok && time.Now().Before(q.until[name]) {
		return b, nil
	}
	b, err := q.load(name) // sick missed-cache testdata.readQuotes
	if err != nil {
		return nil, err
	}
	q.files[name] = b
	return b, nil
}

func (q *quotes) shared(text string) *[32]byte {
	v, ok := q.all.Load(text)
	if !ok {
		sum := hashed(text) // sick missed-cache testdata.hashed
		v, _ = q.all.LoadOrStore(text, sum)
	}
	return v.(*[32]byte)
}

// key-too-fine

func (q *quotes) exact(id int, text string) *[32]byte {
	k := quoteKey{id, text}
	if v, ok := q.kept[k]; ok {
		return v
	}
	sum := salted(id, text) // well key-too-fine testdata.salted
	q.kept[k] = sum
	return sum
}

func salted(id int, text string) *[32]byte { return hashed(text[:id]) }

func (q *quotes) raw(line string) *[32]byte {
	text := strings.TrimSpace(line)
	v, ok := q.all.Load(line)
	if !ok {
		sum := hashed(text) // alike key-too-fine testdata.hashed
		q.all.Store(line, sum)
		return sum
	}
	return v.(*[32]byte)
}

func (q *quotes) both(id int, text string) *[32]byte {
	k := quoteKey{id, text}
	if v, ok := q.kept[k]; ok {
		return v
	}
	q.kept[quoteKey{0, text}] = hashed(text) // alike missed-cache testdata.hashed
	return nil
}

func (q *quotes) asked(id int, text string) *[32]byte {
	if v, ok := q.kept[quoteKey{id, text}]; ok && v != nil {
		return hashed(text) // alike missed-cache testdata.hashed
	}
	return nil
}

func (q *quotes) plain(text string) *[32]byte {
	return hashed(text) // well missed-cache testdata.hashed
}
