package main

import "sync"

// What was used once, and is kept.
var emptied = []program{
	{"emptied-map", "a map that was large, of which all was deleted", emptyIndex},
	{"pool", "a sync.Pool after a burst", fillPool},
	{"fragmentation", "one small object in each eighth place, which keep the pages", fragment},
}

var index = map[uint64][120]byte{}

func emptyIndex() error {
	for i := uint64(0); i < held/128; i++ {
		index[i] = [120]byte{1}
	}
	for i := uint64(0); i < held/128; i++ {
		delete(index, i)
	}
	collect()
	return nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 1<<20); return &b }}

func fillPool() error {
	var burst []*[]byte
	for i := 0; i < held>>20; i++ {
		b := filled(1 << 20)
		burst = append(burst, &b)
	}
	for _, b := range burst {
		buffers.Put(b)
	}
	return nil
}

var kept []*[1024]byte

func fragment() error {
	var all []*[1024]byte
	for i := 0; i < 96<<10; i++ {
		all = append(all, &[1024]byte{1})
	}
	for i := 0; i < len(all); i += 8 {
		kept = append(kept, all[i])
	}
	all = nil
	collect()
	return nil
}
