// Package verify compares files with their copies.
package verify

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// A Source has files and copies.
type Source interface {
	Folders() int
	Files() int
	Read(folder, file int, second bool, into []byte)
}

// A Result is what was found.
type Result struct{ Files, Different int }

const fileSize = 64 << 10

func folder(s Source, n int) (r Result) {
	buffer := make([]byte, fileSize)
	for f := range s.Files() {
		s.Read(n, f, false, buffer)
		one := sha256.Sum256(buffer)
		s.Read(n, f, true, buffer)
		if sha256.Sum256(buffer) != one {
			r.Different++
		}
		r.Files++
	}
	return r
}

// Run compares all folders with workers.
func Run(s Source, workers int) (total Result, err error) {
	if workers < 1 {
		return total, errors.New("nobody works")
	}
	jobs := make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for n := range jobs {
				r := folder(s, n)
				mu.Lock()
				total.Files += r.Files
				total.Different += r.Different
				mu.Unlock()
			}
		})
	}
	for n := range s.Folders() {
		jobs <- n
	}
	close(jobs)
	wg.Wait()
	return total, nil
}
