package main

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Pairs are of one round: a slow machine in one round moves no ratio.
func TestCostRowPairsRounds(t *testing.T) {
	windows := []Window{
		{Target: "t", Recorded: unrecorded, Round: 0, Ops: 100, CPU: 1, Wall: 1},
		{Target: "t", Recorded: "proc", Round: 0, Ops: 100, CPU: 1.1, Wall: 1, Recorder: 0.11, Bytes: 1000},
		{Target: "t", Recorded: unrecorded, Round: 1, Ops: 50, CPU: 1, Wall: 1},
		{Target: "t", Recorded: "proc", Round: 1, Ops: 40, CPU: 1, Wall: 1, Recorder: 0.3, Bytes: 3000},
		{Target: "other", Recorded: "proc", Round: 1, Ops: 1, CPU: 1, Wall: 1},
	}
	row, ok := costRow(windows, "t", "proc")
	if !ok {
		t.Fatal("no row")
	}
	near := func(name string, got, want float64) {
		if got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("least CPU per operation", row.CPUPerOp.Low, 1.1)
	near("most CPU per operation", row.CPUPerOp.High, 1.25)
	near("lower rate", row.Rate.Low, 0.8)
	near("recorder", row.Recorder.Median, 0.2)
	near("bytes", row.Bytes, 2000)
	if _, ok := costRow(windows, "other", "proc"); ok {
		t.Error("a window without a pair made a row")
	}
}

func TestOverheadReport(t *testing.T) {
	windows := []Window{
		{Target: "http", Recorded: unrecorded, Ops: 100, CPU: 1, Wall: 1},
		{Target: "http", Recorded: withoutTrace, Ops: 100, CPU: 1.2, Wall: 1},
		{Target: "http", Recorded: withTrace, Ops: 100, CPU: 1.3, Wall: 1},
		{Target: "compute", Recorded: unrecorded, Ops: 100, CPU: 1, Wall: 1},
		{Target: "compute", Recorded: withoutTrace, Ops: 100, CPU: 1.01, Wall: 1},
		{Target: "compute", Recorded: withTrace, Ops: 100, CPU: 1.02, Wall: 1, Recorder: 0.051},
	}
	var b bytes.Buffer
	if err := newOverhead(options{rounds: 1, windowed: time.Second}, windows).writeReport(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| compute | 1.010 (1.010–1.010) | met | 1.020 (1.020–1.020) | 5.0 % |",
		"| http | 1.200 (1.200–1.200) | missed | 1.300 (1.300–1.300) | 0.0 % |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %s:\n%s", want, b.String())
		}
	}
}

// Each program counts what it finished, and ends when it is told to.
func TestTargetsWork(t *testing.T) {
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var ops atomic.Int64
			done := make(chan error, 1)
			go func() { done <- target.work(ctx, &ops) }()
			for ops.Load() < 10 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-done; err != nil || ops.Load() < 10 {
				t.Errorf("%d operations, %v; want 10 or more", ops.Load(), err)
			}
		})
	}
}
