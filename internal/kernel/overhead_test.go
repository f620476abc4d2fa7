//go:build linux && (amd64 || arm64)

package kernel

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestOverhead measures what each source costs the program under watch: CPU
// time for the same work, as a ratio to that without a watch, rounds of all
// sources interleaved. It only tells, and only when asked: on a busy machine
// the figures are worth nothing.
//
//	GOWHY_KERNEL_OVERHEAD=1 go test -run TestOverhead -v ./internal/kernel
func TestOverhead(t *testing.T) {
	if os.Getenv("GOWHY_KERNEL_OVERHEAD") == "" {
		t.Skip("a measurement: set GOWHY_KERNEL_OVERHEAD=1")
	}
	const rounds = 7
	all := ways{wide: true, bpf: true}
	none := ways{}
	sources := []struct {
		name string
		ways ways
		opt  Options
	}{
		{"none", all, Options{}},
		{"cpu 99 Hz", all, Options{Hz: 99}},
		{"cpu 997 Hz", all, Options{Hz: 997}},
		{"offcpu", all, Options{OffCPU: true}},
		{"syscalls", all, Options{Syscalls: true}},
		{"all, 99 Hz", all, Options{Hz: 99, OffCPU: true, Syscalls: true}},
		{"cpu 99 Hz by threads", none, Options{Hz: 99}},
		{"offcpu by records", none, Options{OffCPU: true}},
	}
	for _, mode := range []string{"busy 200", "mixed 100000", "calls 300000", "wake 20000"} {
		used := make([][]float64, len(sources))
		for range rounds {
			for i, s := range sources {
				used[i] = append(used[i], watchedWork(t, mode, s.opt, s.ways).Seconds())
			}
		}
		for i, s := range sources {
			ratios := make([]float64, rounds)
			for n := range ratios {
				ratios[n] = used[i][n] / used[0][n]
			}
			slices.Sort(ratios)
			slices.Sort(used[i])
			t.Logf("%-14s %-22s ×%.3f (%.3f to %.3f)  %.1f ms", mode, s.name, ratios[rounds/2], ratios[1], ratios[rounds-2], 1000*used[i][rounds/2])
		}
	}
}

// watchedWork is the CPU time of a child's work under a watch.
func watchedWork(t *testing.T, mode string, o Options, w ways) time.Duration {
	c := startChild(t, mode)
	defer c.end()
	if o == (Options{}) {
		return c.work(t)
	}
	o.PID = c.cmd.Process.Pid
	s, err := start(o, w)
	if err != nil {
		t.Fatal(err)
	}
	used := c.work(t)
	if _, err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	return used
}
