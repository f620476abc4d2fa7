package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// More that is well: kept as it is meant to be, or let go of as it should be.
var fineOthers = []program{
	{"shards-fine", "a full cache of sixteen parts, each with its lock", runShards},
	{"expiring-fine", "entries that a sweep drops when they are old", runExpiring},
	{"churn-fine", "a map from which as much is deleted as is put in", runChurn},
	{"sorted-fine", "a sorted list into which one goes for each that leaves", runSorted},
	{"trie-fine", "a tree of prefixes that is looked into", runTrie},
	{"matrix-fine", "two matrices that are multiplied row by row", runMatrix},
	{"bitset-fine", "a set of bits", runBitset},
	{"lines-fine", "all lines of a text, as parts of it", runLines},
	{"chunks-fine", "parts of blocks, of which none is left out", runChunks},
	{"buffers-fine", "a thousand goroutines that each have a buffer and use it", runBuffers},
	{"requests-fine", "contexts that are cancelled when their work is done", runRequests},
	{"closed-fine", "files that are closed, and would be by their finalizers", runClosed},
	{"grown-fine", "slices that grew by appending", runGrown},
	{"snapshot-fine", "a copy of a table that a newer one replaces", runSnapshot},
	{"sparse-fine", "maps that are made with room for all that comes", runSparse},
}

// A shard is a part of a cache.
type shard struct {
	mu   sync.Mutex
	at   map[int][]byte
	ring []int // keys, the oldest at next
	next int
}

func (s *shard) put(key int, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, s.ring[s.next])
	s.at[key], s.ring[s.next] = b, key
	s.next = (s.next + 1) % len(s.ring)
}

var shards [16]*shard

func runShards() error {
	for i := range shards {
		shards[i] = &shard{at: map[int][]byte{}, ring: make([]int, held/piece/len(shards))}
	}
	put := func(i int) { shards[i%len(shards)].put(i+1, filled(piece)) }
	for i := 0; i < held/piece; i++ {
		put(i)
	}
	often(func(i int) { put(held/piece + i) })
	return nil
}

// aged is an entry with its time.
type aged struct {
	put  time.Time
	text []byte
}

var expiring = struct {
	sync.Mutex
	at map[int]aged
}{at: map[int]aged{}}

func runExpiring() error {
	often(func(i int) {
		expiring.Lock()
		defer expiring.Unlock()
		expiring.at[i] = aged{time.Now(), filled(piece)}
		if i%20 > 0 {
			return
		}
		for key, a := range expiring.at {
			if time.Since(a.put) > time.Second {
				delete(expiring.at, key)
			}
		}
	})
	return nil
}

var churned = map[int][]byte{}

func runChurn() error {
	const most = held / piece
	for i := 0; i < most; i++ {
		churned[i] = filled(piece)
	}
	often(func(i int) {
		delete(churned, i)
		churned[most+i] = filled(piece)
	})
	return nil
}

var sorted []string

func runSorted() error {
	for i := 0; i < held/512; i++ {
		sorted = append(sorted, fmt.Sprintf("%0512d", 2*i))
	}
	often(func(i int) {
		one := fmt.Sprintf("%0512d", 2*i+1)
		at := sort.SearchStrings(sorted, one)
		copy(sorted[:at], sorted[1:at]) // the first leaves
		if at > 0 {
			sorted[at-1] = one
		}
	})
	return nil
}

// A prefix is a node of a tree of texts.
type prefix struct {
	next [8]*prefix
	ends bool
}

var words = &prefix{}

func runTrie() error {
	letters := func(i int, each func(l int)) {
		for n := 0; n < 9; n++ {
			each(i >> (3 * n) & 7)
		}
	}
	for i := 0; i < 700_000; i++ {
		at := words
		letters(i*2654435761%(1<<27), func(l int) {
			if at.next[l] == nil {
				at.next[l] = &prefix{}
			}
			at = at.next[l]
		})
		at.ends = true
	}
	collect()
	often(func(i int) {
		at := words
		letters(i, func(l int) {
			if at != nil {
				at = at.next[l]
			}
		})
	})
	return nil
}

var left, right []float64

func runMatrix() error {
	const side = 2048
	left, right = make([]float64, side*side), make([]float64, side*side)
	for i := range left {
		left[i], right[i] = math.Sqrt(float64(i)), float64(i)
	}
	often(func(i int) {
		row := left[i%side*side:][:side]
		for j := range row {
			row[j] = math.Mod(row[j]*right[j], 1024)
		}
	})
	return nil
}

var present []uint64

func runBitset() error {
	present = make([]uint64, held/8)
	often(func(i int) {
		for j := 0; j < 1000; j++ {
			at := (i*1000 + j) * 2654435761 % (held * 8)
			present[at/64] |= 1 << (at % 64)
		}
	})
	return nil
}

var textLines []string

func runLines() error {
	for i := 0; i < 8; i++ {
		var b strings.Builder
		for b.Len() < held/8 {
			fmt.Fprintf(&b, "%d: a line of a text that somebody reads\n", b.Len())
		}
		textLines = append(textLines, strings.Split(b.String(), "\n")...)
	}
	collect()
	often(func(i int) { _ = strings.Contains(textLines[i%len(textLines)], "nobody") })
	return nil
}

var records [][]byte

func runChunks() error {
	for i := 0; i < held/(1<<20); i++ {
		block := filled(1 << 20)
		for len(block) > 0 {
			records, block = append(records, block[:256:256]), block[256:]
		}
	}
	collect()
	often(func(i int) { records[i%len(records)][0]++ })
	return nil
}

func runBuffers() error {
	turns := make([]chan int, 1000)
	for i := range turns {
		turns[i] = make(chan int)
		go func(turn chan int) {
			buffer := filled(piece)
			for i := range turn {
				buffer[i%len(buffer)]++
			}
		}(turns[i])
	}
	often(func(i int) { turns[i%len(turns)] <- i })
	return nil
}

// A messageKey is what a context has a message by.
type messageKey struct{}

func runRequests() error {
	often(func(int) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		message := filled(piece)
		stop := context.AfterFunc(ctx, func() { message[0]++ })
		defer stop()
		child, done := context.WithCancel(context.WithValue(ctx, messageKey{}, message))
		defer done()
		_ = bytes.Count(child.Value(messageKey{}).([]byte), []byte{1})
	})
	return nil
}

func runClosed() error {
	often(func(int) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		defer f.Close()
		message := &[piece]byte{}
		runtime.SetFinalizer(message, func(m *[piece]byte) { m[0]++ })
	})
	return nil
}

var grown [][]int

func runGrown() error {
	for i := 0; i < 2000; i++ {
		var list []int
		for j := 0; j < 3000+i; j++ {
			list = append(list, j)
		}
		grown = append(grown, list)
	}
	collect()
	often(func(i int) { grown[i%len(grown)][0]++ })
	return nil
}

var snapshot atomic.Pointer[map[int][]byte]

func runSnapshot() error {
	take := func(version int) {
		m := map[int][]byte{}
		for i := 0; i < held/piece/2; i++ {
			m[i+version] = filled(piece)
		}
		snapshot.Store(&m)
	}
	take(0)
	often(func(i int) {
		if i%200 == 199 {
			take(i)
		}
		_ = len((*snapshot.Load())[i])
	})
	return nil
}

var roomy []map[int][8]int

func runSparse() error {
	for i := 0; i < 100; i++ {
		m := make(map[int][8]int, 12_000)
		for j := 0; j < 9_000; j++ {
			m[j] = [8]int{i}
		}
		roomy = append(roomy, m)
	}
	collect()
	often(func(i int) { roomy[i%len(roomy)][i%9_000] = [8]int{i} })
	return nil
}
