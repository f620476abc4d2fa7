package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// measure runs the sides in turns and prints the middle of what each used, and the
// first divided by the second.
func measure(ctx context.Context, bed *testbed.Bed, s *specimen.Specimen, cache string, rounds int) error {
	sides := s.Sides()
	seen := make([]map[string][]float64, len(sides))
	for range rounds {
		for i, side := range sides {
			program, err := s.Build(ctx, cache, side.Name)
			if err != nil {
				return err
			}
			f, load, err := bed.Plain(ctx, s.Job(side, program, ""))
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, side.Name, err)
			}
			if seen[i] == nil {
				seen[i] = map[string][]float64{}
			}
			for name, v := range used(&f, load) {
				seen[i][name] = append(seen[i][name], v)
			}
		}
	}
	for _, metric := range append([]string{"operations", "cpu/operation"}, specimen.Metrics...) {
		if slices.ContainsFunc(seen, func(side map[string][]float64) bool { return len(side[metric]) == 0 }) {
			continue
		}
		fmt.Printf("  %-14s", metric)
		var middles []float64
		for i, side := range sides {
			m := median(seen[i][metric])
			middles = append(middles, m)
			fmt.Printf(" %s %-12.5g", side.Name, m)
		}
		if s.Kind != specimen.Healthy {
			fmt.Printf(" ×%.3g", middles[0]/middles[1])
		}
		fmt.Println()
	}
	return nil
}

// used returns what a run used, as the system and the program itself counted it.
func used(f *testbed.FinishedRun, load []byte) map[string]float64 {
	cpu := (f.State.UserTime() + f.State.SystemTime()).Seconds()
	out := map[string]float64{"cpu": cpu, "elapsed": f.Took.Seconds()}
	if r, ok := f.State.SysUsage().(*syscall.Rusage); ok {
		out["rss"] = float64(r.Maxrss) * float64(kilobyte)
		out["switches"] = float64(r.Nvcsw + r.Nivcsw)
	}
	n := testbed.Operations(f.Stdout)
	var l struct {
		Done    float64 `json:"done"`
		Latency []struct{ Q, NS float64 }
	}
	if json.Unmarshal(load, &l) == nil {
		n = max(n, l.Done)
		for _, at := range l.Latency {
			if at.Q == 0.99 {
				out["p99"] = at.NS / 1e9
			}
		}
	}
	if n > 0 {
		out["operations"], out["cpu/operation"] = n, cpu/n
	}
	for name, v := range benchmarks(f.Stdout) {
		out[name] = v
	}
	return out
}

const kilobyte = 1 << 10

var benchmarkFigure = regexp.MustCompile(`([0-9.]+) (ns/op|B/op|allocs/op)`)

// benchmarks returns the sums of what all benchmarks of a run say of an operation.
func benchmarks(stdout string) map[string]float64 {
	out := map[string]float64{}
	for _, m := range benchmarkFigure.FindAllStringSubmatch(stdout, -1) {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			out[m[2]] += v
		}
	}
	return out
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
