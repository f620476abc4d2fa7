package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// locked returns a table behind one lock that is read and written 20,000 times a
// second by four goroutines.
func locked(ctx context.Context) (int64, string, error) {
	var mu sync.RWMutex
	table := map[uint64]uint64{}
	var n atomic.Int64
	side(4, func(i int) {
		n.Add(arrivals(ctx, 5000, func(at int64) {
			key := score(uint64(at)<<2|uint64(i), 2000) % 10_000
			if at%10 == 0 {
				mu.Lock()
				table[key]++
				mu.Unlock()
				return
			}
			mu.RLock()
			_ = table[key]
			mu.RUnlock()
		}))
	})
	return n.Load(), fmt.Sprintf("%d keys", len(table)), nil
}

const (
	cacheItems = 16_000
	itemSize   = 4 << 10
)

// warmup looks things up in a cache that makes what it lacks. It fills up
// within the first seconds, to 64 MB, and stays.
func warmup(ctx context.Context) (int64, string, error) {
	cache := map[int][]byte{}
	random := rand.New(rand.NewPCG(9, 10))
	var made int
	n := arrivals(ctx, 40_000, func(int64) {
		id := random.IntN(cacheItems)
		item := cache[id]
		if item == nil {
			made++
			item = make([]byte, itemSize)
			for i := range item {
				item[i] = byte(id + i)
			}
			cache[id] = item
		}
		score(uint64(item[id%itemSize]), 1000)
	})
	return n, fmt.Sprintf("%d of %d items made", made, cacheItems), nil
}

// A record is one entry of the index, with pointers for the collector to follow.
type record struct {
	name string
	tags []string
	next *record // with the same first tag
}

// liveheap builds an index of a few hundred thousand records, some 60 MB, and
// then answers from it without allocating.
func liveheap(ctx context.Context) (int64, string, error) {
	const records = 200_000
	index := make(map[uint64]*record, records)
	byTag := map[string]*record{}
	for i := range uint64(records) {
		r := &record{name: "record " + strconv.FormatUint(i, 10), tags: []string{"tag " + strconv.FormatUint(i%1000, 10), "all"}}
		r.next, byTag[r.tags[0]] = byTag[r.tags[0]], r
		index[i] = r
	}
	var letters int
	n := arrivals(ctx, 10_000, func(query int64) {
		r := index[score(uint64(query), 1000)%records]
		for range 10 {
			if r == nil {
				break
			}
			letters += len(r.name) + len(r.tags)
			r = r.next
		}
	})
	runtime.KeepAlive(byTag)
	return n, fmt.Sprintf("%d letters read", letters), nil
}

// pooled encodes on all cores into buffers that a pool keeps.
func pooled(ctx context.Context) (int64, string, error) {
	type page struct {
		Title string
		Lines []int
	}
	content := &page{"a page", make([]int, 500)}
	for i := range content.Lines {
		content.Lines[i] = i * i
	}
	type encoder struct {
		text bytes.Buffer
		json *json.Encoder
	}
	pool := sync.Pool{New: func() any {
		e := &encoder{}
		e.json = json.NewEncoder(&e.text)
		return e
	}}
	var pages, size atomic.Int64
	side(runtime.GOMAXPROCS(0), func(int) {
		for ctx.Err() == nil {
			e := pool.Get().(*encoder)
			e.text.Reset()
			if e.json.Encode(content) == nil {
				pages.Add(1)
				size.Add(int64(e.text.Len()))
			}
			pool.Put(e)
		}
	})
	return pages.Load(), fmt.Sprintf("%d bytes of pages", size.Load()), nil
}

// A buffered writer is safe for many goroutines, and flushed from time to time.
type buffered struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.w.Write(p)
}

func (b *buffered) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.w.Flush()
}

// logger does small jobs and writes a line about each to a file, through a
// buffer that is flushed ten times a second.
func logger(ctx context.Context) (int64, string, error) {
	file, err := os.CreateTemp("", "controls-*.log")
	if err != nil {
		return 0, "", err
	}
	defer os.Remove(file.Name())
	out := &buffered{w: bufio.NewWriterSize(file, 64<<10)}
	log := slog.New(slog.NewJSONHandler(out, nil))
	var lines atomic.Int64
	var team sync.WaitGroup
	for i := range 4 {
		team.Go(func() {
			lines.Add(arrivals(ctx, 2500, func(n int64) {
				log.LogAttrs(ctx, slog.LevelInfo, "job done", slog.Int("worker", i), slog.Int64("job", n), slog.Uint64("score", score(uint64(n), 20_000)))
			}))
		})
	}
	team.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				out.flush() // an error stays with the writer and comes back at the end
			}
		}
	})
	team.Wait()
	if err := errors.Join(out.flush(), file.Close()); err != nil {
		return 0, "", err
	}
	return lines.Load(), "all lines written", nil
}

const (
	treeFiles = 100
	treeSize  = 256 << 10
)

// scan makes checksums of all files of a tree, round by round, as a backup
// does. The files are too many to be kept open, and its buffer is kept.
func scan(ctx context.Context) (read int64, _ string, _ error) {
	dir, err := os.MkdirTemp("", "controls-")
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	names, err := plant(dir)
	if err != nil {
		return 0, "", err
	}
	sum, buffer := sha256.New(), make([]byte, 128<<10)
	for ctx.Err() == nil {
		for _, name := range names {
			if err := digest(sum, name, buffer); err != nil {
				return 0, "", err
			}
			read++
		}
	}
	return read, fmt.Sprintf("checksum %x", sum.Sum(nil)[:4]), nil
}

// plant makes the tree.
func plant(dir string) (names []string, err error) {
	content := make([]byte, treeSize)
	for i := range treeFiles {
		fill(content, uint64(i))
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func digest(sum io.Writer, name string, buffer []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	// Without its other methods, a file is read through the buffer.
	_, err = io.CopyBuffer(sum, struct{ io.Reader }{f}, buffer)
	return err
}
