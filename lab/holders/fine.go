package main

import (
	"container/list"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
)

// What holds as much, and is well.
var fine = []program{
	{"cache-fine", "a cache that is full, and drops the oldest", runCache},
	{"pool-fine", "a sync.Pool that is used all the time", runPool},
	{"arena-fine", "an arena of its own, with offsets into it", runArena},
	{"table-fine", "a table that is read at the start", runTable},
	{"ring-fine", "the last messages, in a ring", runRing},
	{"copies-fine", "16 bytes of each message, copied", runCopies},
	{"garbage-fine", "work that holds nothing", runWork},
	{"queue-fine", "a long channel with a receiver that keeps up", runQueue},
	{"idle-fine", "two thousand goroutines that wait for work", runIdle},
	{"timers-fine", "timers that are stopped", runTimers},
}

// often calls something again and again: the program is at work, with a tenth of a CPU at most.
func often(work func(i int)) {
	go func() {
		for i := 0; ; i++ {
			work(i)
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

var (
	full  = &lru{order: list.New(), at: map[int]*list.Element{}, most: held / piece}
	ring  [held / piece][]byte
	arena []byte
	table []string
	bits  [][]byte
)

func runCache() error {
	for i := 0; i < full.most; i++ {
		full.put(i, filled(piece))
	}
	often(func(i int) { full.put(full.most+i, filled(piece)) })
	return nil
}

func runPool() error {
	often(func(int) {
		var taken []*[]byte
		for i := 0; i < 8; i++ {
			taken = append(taken, buffers.Get().(*[]byte))
		}
		for _, b := range taken {
			(*b)[0]++
			buffers.Put(b)
		}
	})
	return nil
}

func runArena() error {
	arena = make([]byte, 0, held)
	for len(arena) < held {
		arena = append(arena, filled(piece)...)
	}
	often(func(i int) { arena[i%len(arena)]++ })
	return nil
}

func runTable() error {
	for i := 0; i < held/256; i++ {
		table = append(table, fmt.Sprintf("%0256d", i))
	}
	collect()
	often(func(i int) { sort.SearchStrings(table, fmt.Sprintf("%0256d", i)) })
	return nil
}

func runRing() error {
	for i := range ring {
		ring[i] = filled(piece)
	}
	often(func(i int) { ring[i%len(ring)] = filled(piece) })
	return nil
}

func runCopies() error {
	often(func(int) {
		message := filled(piece)
		bits = append(bits, append([]byte(nil), head(message)...))
		if len(bits) > 1000 {
			bits = append([][]byte(nil), bits[500:]...)
		}
	})
	return nil
}

func runWork() error {
	often(func(i int) { _ = strings.Count(string(filled(piece)), fmt.Sprint(i)) })
	return nil
}

func runQueue() error {
	jobs := make(chan [1024]byte, held/1024)
	go func() {
		for range jobs {
		}
	}()
	often(func(i int) { jobs <- [1024]byte{byte(i)} })
	return nil
}

func runIdle() error {
	work := make(chan func())
	for i := 0; i < 2000; i++ {
		go func() {
			for do := range work {
				do()
			}
		}()
	}
	often(func(int) { work <- func() {} })
	return nil
}

func runTimers() error {
	var mu sync.Mutex
	late := 0
	often(func(int) {
		message := filled(piece)
		timer := time.AfterFunc(time.Minute, func() {
			mu.Lock()
			defer mu.Unlock()
			late += len(message)
		})
		timer.Stop()
	})
	return nil
}
