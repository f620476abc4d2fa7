//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
)

// day returns a plan of some processes of one service that send each minute.
func day(processes int, length time.Duration) simulate.Plan {
	return simulate.Plan{
		Seed: 1, Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Length: length, Step: time.Minute,
		Services: []simulate.Service{{Name: "cart", Processes: processes, Versions: []simulate.Version{
			{Name: "v1"}, {Name: "v2", Deploy: length / 2},
		}}},
	}
}

// fill writes a plan with 16 writers, then flushes.
func fill(b *testing.B, s *Store, p simulate.Plan) (batches, rows int64) {
	b.Helper()
	queue := make(chan *store.Batch, 64)
	var writers sync.WaitGroup
	for range 16 {
		writers.Go(func() {
			for batch := range queue {
				if err := (eager{s}).Write(context.Background(), batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for batch := range p.Batches() {
		batches++
		for _, profile := range batch.Profiles {
			rows += int64(len(profile.Samples))
		}
		queue <- batch
	}
	close(queue)
	writers.Wait()
	if err := s.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	return batches, rows
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWrite is how long 64 writers that write at the same time wait.
func BenchmarkWrite(b *testing.B) {
	batches := slices.Collect(day(64, 10*time.Minute).Batches())
	s := mustOpen(b, b.TempDir(), Options{Memory: 1 << 30}) // nothing is flushed meanwhile
	var next atomic.Int64
	var mu sync.Mutex
	var waits []time.Duration
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(1)
			batch := *batches[n%int64(len(batches))]
			batch.ID = batchOf(int(n)).ID
			begin := time.Now()
			err := s.Write(b.Context(), &batch)
			mu.Lock()
			waits = append(waits, time.Since(begin))
			mu.Unlock()
			if err != nil && !errors.Is(err, store.ErrFull) {
				b.Error(err)
			}
		}
	})
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkIngest is how many rows a second of CPU keeps, segments and merges included.
func BenchmarkIngest(b *testing.B) {
	plan := day(20, 30*time.Minute)
	begin := cpuTime(b)
	for range plan.Batches() { // what the generator takes is not the store's
	}
	generator := cpuTime(b) - begin
	for b.Loop() {
		s := mustOpen(b, b.TempDir(), Options{})
		begin := cpuTime(b)
		_, rows := fill(b, s, plan)
		used := cpuTime(b) - begin - generator
		b.ReportMetric(float64(rows)/used.Seconds(), "rows/cpu-s")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStacks asks for the CPU profile of a day of one service.
func BenchmarkStacks(b *testing.B) {
	for _, processes := range []int{1, 10} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			if processes > 1 && testing.Short() {
				b.Skip("ten million rows take a minute to write")
			}
			s := mustOpen(b, b.TempDir(), Options{})
			_, rows := fill(b, s, day(processes, 24*time.Hour))
			for b.Loop() {
				if _, err := s.Stacks(b.Context(), store.Selection{Service: "cart", Type: store.CPU}); err != nil {
					b.Fatal(err)
				}
			}
			var bytes int64
			for _, g := range s.listed {
				bytes += g.bytes
			}
			b.ReportMetric(float64(rows), "rows")
			b.ReportMetric(float64(bytes)/float64(rows), "bytes/row")
			b.ReportMetric(float64(bytes)/float64(processes), "bytes/process-day")
			b.ReportMetric(float64(len(s.listed)), "segments")
		})
	}
}

// BenchmarkServices asks what a day of one service costs, by version.
func BenchmarkServices(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Options{})
	fill(b, s, day(1, 24*time.Hour))
	for b.Loop() {
		if _, err := s.Services(b.Context(), store.Selection{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.listed)), "segments")
}
