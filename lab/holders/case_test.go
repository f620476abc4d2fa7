package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// The truth has a line for each program, in one order with them, and its kind is what the
// name says.
func TestTruth(t *testing.T) {
	h, err := truth.ReadHolders(".")
	if err != nil {
		t.Fatal(err)
	}
	var names, known []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	fine := 0
	for _, p := range h.Programs {
		known = append(known, p.Name)
		if well := strings.HasSuffix(p.Name, "-fine"); well != (p.Kind == truth.WantNone) {
			t.Errorf("%s is of kind %s", p.Name, p.Kind)
		} else if well {
			fine++
		}
	}
	if !slices.Equal(names, known) {
		t.Errorf("the truth has %q; the programs are %q", known, names)
	}
	if len(names)-fine < 16 || fine < 25 {
		t.Errorf("%d programs, %d of them fine; want 16 that hold memory, and 25", len(names), fine)
	}
}

// Each program holds what it is to hold.
func TestPrograms(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("runs all programs")
	}
	h, err := truth.ReadHolders(".")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "holders")
	if err := testbed.GoBuild(t.Context(), ".", program, "."); err != nil {
		t.Fatal(err)
	}
	for _, p := range h.Programs {
		f, err := testbed.Run(t.Context(), program, "-case", p.Name, "-for", "50ms")
		if p.Name == "malloc" && err != nil && strings.Contains(err.Error(), "cgo") {
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		var use, system int64
		if _, err := fmt.Sscanf(f.Stdout, "holds it, with %d MiB in use and %d MiB from the system\n", &use, &system); err != nil {
			t.Errorf("%s printed %q: %v", p.Name, f.Stdout, err)
		}
		of := use
		switch p.Kind {
		case truth.HeldOutside, truth.WantNone: // the runtime does not count it, or it comes with time
			continue
		case truth.HeldByPages:
			of = system - use
		}
		if of < 64 {
			t.Errorf("%s holds %d MiB of %d, want 64", p.Name, of, system)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"-case", "nobody"}, {"-case", "lru", "more"}, {"-nothing"}} {
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
