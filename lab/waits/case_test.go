package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// The truth has a line for each program, in one order with them, and its verdict is
// what the name says.
func TestTruth(t *testing.T) {
	w, err := truth.ReadWaits(".")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string][]string{
		"stuck": {truth.WantStalled, truth.WantProblem}, // a leak goes on
		"slow":  {truth.WantProblem},
		"fine":  {truth.WantNone},
	}
	var names, known []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	fine := 0
	for _, p := range w.Programs {
		known = append(known, p.Name)
		kind := p.Name[strings.LastIndexByte(p.Name, '-')+1:]
		if !slices.Contains(verdicts[kind], p.Verdict) {
			t.Errorf("%s is %s; want %q", p.Name, p.Verdict, verdicts[kind])
		}
		if p.Verdict == truth.WantNone {
			fine++
		}
	}
	if !slices.Equal(names, known) {
		t.Errorf("the truth has %q; the programs are %q", known, names)
	}
	if len(names) < 40 || fine < 12 {
		t.Errorf("%d programs, %d of them fine; want 40 and 12", len(names), fine)
	}
}

// rests are programs that are fine and have nothing to do.
var rests = []string{"pool-fine", "server-fine"}

// A program that is stuck does nothing more, and the others go on.
func TestPrograms(t *testing.T) {
	w, err := truth.ReadWaits(".")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "waits")
	if err := testbed.GoBuild(t.Context(), ".", program, "."); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup // many at once: they wait
	room := make(chan struct{}, 30)
	for _, p := range w.Programs {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := attempt.Repeat(t, func() error { return goesOn(t.Context(), program, &p) }); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// goesOn runs a program; the error is that it does not do what its verdict says.
func goesOn(ctx context.Context, program string, p *truth.Wait) error {
	f, err := testbed.Run(ctx, program, "-case", p.Name, "-for", "3s")
	if err != nil {
		return err
	}
	var late int64
	if _, err := fmt.Sscanf(f.Stdout, "in the second half: %d\n", &late); err != nil {
		return fmt.Errorf("%s printed %q: %w", p.Name, f.Stdout, err)
	}
	if still := p.Verdict == truth.WantStalled || slices.Contains(rests, p.Name); still != (late == 0) {
		return fmt.Errorf("%s does %d steps in its second half; the truth is %s", p.Name, late, p.Verdict)
	}
	return nil
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"-case", "nobody"}, {"-case", "mutex-fine", "more"}, {"-case", "mutex-fine", "-procs", "0"}, {"-nothing"}, {"-case", "mutex-fine", "-evidence", "none/such"}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is no mistake", args)
		}
	}
	var help strings.Builder
	_ = run([]string{"-h"}, io.Discard, &help)
	for _, p := range programs {
		if !strings.Contains(help.String(), "  "+p.name+" ") {
			t.Errorf("the help does not list %s", p.name)
		}
	}
}
