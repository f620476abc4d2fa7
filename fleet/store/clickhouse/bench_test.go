package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
)

// simulated returns a plan of some processes of one service that send each minute.
func simulated(processes int, length time.Duration) simulate.Plan {
	return simulate.Plan{
		Seed: 1, Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Length: length, Step: time.Minute,
		Services: []simulate.Service{{Name: "cart", Processes: processes, Versions: []simulate.Version{
			{Name: "v1"}, {Name: "v2", Deploy: length / 2},
		}}},
	}
}

// fill writes a plan with 64 writers.
func fill(b *testing.B, s *Store, p simulate.Plan) (rows int64) {
	b.Helper()
	queue := make(chan *store.Batch, 64)
	var writers sync.WaitGroup
	for range 64 {
		writers.Go(func() {
			for batch := range queue {
				if err := insist(context.Background(), s, batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for batch := range p.Batches() {
		for _, profile := range batch.Profiles {
			rows += int64(len(profile.Samples))
		}
		queue <- batch
	}
	close(queue)
	writers.Wait()
	return rows
}

func benchOptions(b *testing.B) Options {
	o := options(b, 1)
	o.Gather = 0 // the default
	return o
}

// BenchmarkWrite is how long 64 writers that write at the same time wait.
func BenchmarkWrite(b *testing.B) {
	batches := slices.Collect(simulated(64, 10*time.Minute).Batches())
	s := mustOpen(b, benchOptions(b))
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

// BenchmarkIngest is how many rows a second a server of this machine keeps, the making of
// them included.
func BenchmarkIngest(b *testing.B) {
	plan := simulated(20, 30*time.Minute)
	for b.Loop() {
		s := mustOpen(b, benchOptions(b))
		begin := time.Now()
		rows := fill(b, s, plan)
		b.ReportMetric(float64(rows)/time.Since(begin).Seconds(), "rows/s")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStacks asks for the CPU profile of a day of one service, and of each of its
// two versions.
func BenchmarkStacks(b *testing.B) {
	for _, processes := range []int{1, 10} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			if processes > 1 && testing.Short() {
				b.Skip("ten million rows take a minute to write")
			}
			s := mustOpen(b, benchOptions(b))
			rows := fill(b, s, simulated(processes, 24*time.Hour))
			bytes, err := strconv.ParseInt(statement(b, s, "SELECT toUInt8(1), toString(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = "+
				quote(s.options.Database)), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			for name, versions := range map[string][]string{"all": {""}, "two versions": {"v1", "v2"}} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						for _, v := range versions {
							if _, err := s.Stacks(b.Context(), store.Selection{Service: "cart", Version: v, Type: store.CPU}); err != nil {
								b.Fatal(err)
							}
						}
					}
					b.ReportMetric(float64(rows), "rows")
					b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
					b.ReportMetric(float64(bytes)/float64(rows), "bytes/row")
					b.ReportMetric(float64(bytes)/float64(processes), "bytes/process-day")
				})
			}
		})
	}
}

// BenchmarkServices asks what a day of one service costs, by version.
func BenchmarkServices(b *testing.B) {
	s := mustOpen(b, benchOptions(b))
	fill(b, s, simulated(1, 24*time.Hour))
	for b.Loop() {
		if _, err := s.Services(b.Context(), store.Selection{}); err != nil {
			b.Fatal(err)
		}
	}
}
