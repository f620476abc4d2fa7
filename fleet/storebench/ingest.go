package main

import (
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/store/embedded"
)

// measureIngest keeps two hours of a hundred processes of twenty services.
func measureIngest(ctx context.Context, dir string) ([]Figure, error) {
	f, err := fill(ctx, dir, services(20, 5, 2*time.Hour), few)
	if err != nil {
		return nil, err
	}
	return []Figure{
		{Name: "rows of ingest", Unit: "rows", Value: float64(f.rows)},
		{Name: "rows kept by a second of CPU, segments and merges included", Unit: "rows/s", Value: float64(f.rows) / f.used.Seconds(), Bar: 3e6, AtLeast: true},
	}, f.Close()
}

// growth keeps rows of ten processes of one service, for as long as that takes.
func growth(rows int) func(ctx context.Context, dir string) ([]Figure, error) {
	const processes, rowsOfBatch = 10, 879
	length := time.Duration(rows/processes/rowsOfBatch) * time.Minute
	return func(ctx context.Context, dir string) ([]Figure, error) {
		f, err := fill(ctx, dir, services(1, processes, length), few)
		if err != nil {
			return nil, err
		}
		files, bytes, err := segments(f.dir)
		if err != nil {
			return nil, err
		}
		of := " at 10^" + string(rune('0'+exponent(rows))) + " rows"
		return []Figure{
			{Name: "CPU of a million rows" + of, Unit: "s", Value: f.used.Seconds() / float64(f.rows) * 1e6},
			{Name: "files of segments" + of, Unit: "files", Value: float64(files)},
			{Name: "bytes of a row" + of, Unit: "bytes", Value: float64(bytes) / float64(f.rows)},
		}, f.Close()
	}
}

func exponent(n int) int {
	e := 0
	for ; n >= 10; n /= 10 {
		e++
	}
	return e
}

// segments returns how many files a store has and how long they are together.
func segments(dir string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(filepath.Join(dir, "segments"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return err
	})
	return files, bytes, err
}

// measureAcknowledge returns how long each of 64 writers waits that write as fast as they
// can.
func measureAcknowledge(ctx context.Context, dir string) ([]Figure, error) {
	const clients, each = 64, 40
	batches := slices.Collect(services(1, clients, 10*time.Minute).Batches())
	s, err := embedded.Open(filepath.Join(dir, "data"), embedded.Options{})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var waits []time.Duration
	var failed error
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := range each {
				number := client*each + i
				b := *batches[number%len(batches)]
				binary.LittleEndian.PutUint64(b.ID[:], uint64(number))
				begin := time.Now()
				err := patient(ctx, s, &b)
				mu.Lock()
				waits = append(waits, time.Since(begin))
				if err != nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if failed != nil {
		return nil, failed
	}
	slices.Sort(waits)
	millis := func(percent int) float64 { return waits[len(waits)*percent/100].Seconds() * 1000 }
	return []Figure{
		{Name: "acknowledged, p50 of 64 writers", Unit: "ms", Value: millis(50), Bar: 20},
		{Name: "acknowledged, p99 of 64 writers", Unit: "ms", Value: millis(99), Bar: 100},
	}, s.Close()
}

// peakMemory returns the peak of the process's resident memory, in bytes; 0 where the system does
// not say.
func peakMemory() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if kilobytes, is := strings.CutPrefix(line, "VmHWM:"); is {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kilobytes), " kB"), 64) // 0 where it is none
			return 1024 * n
		}
	}
	return 0
}
